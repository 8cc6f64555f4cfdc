"""What RAID levels mean for who reads the document of an array without building it.

data_members({"level": "draid2", "devices": 32, "distributed_spares": 2})    # 8
"""

from __future__ import annotations

from plimsoll.stored import Json

#: Erasure coding, whose redundancy a document says.
ERASURE = "erasure"
#: How many members of a redundancy group may be missing; mirrors and erasure coding apart.
SURVIVED = {
    "raid0": 0,
    "raid1": 1,
    "raid10": 1,
    "raid5": 1,
    "raid50": 1,
    "raid6": 2,
    "raid60": 2,
    "raidz1": 1,
    "raidz2": 2,
    "raidz3": 3,
    "draid1": 1,
    "draid2": 2,
    "draid3": 3,
}
#: Data members of a declustered group, if there are so many.
_DATA_MEMBERS = 8


def parities(raid: Json) -> int:
    """How many members of a redundancy group may be missing; mirrors apart."""
    return int(raid.get("parities", 0)) if raid["level"] == ERASURE else SURVIVED.get(str(raid["level"]), 0)


def storing(groups: list[Json]) -> list[Json]:
    """Groups whose loss is one of data: all but those of flash caches that keep no writes."""
    caches = [group["flash_cache"] for group in groups if group.get("flash_cache")]
    copies = {cache["group"] for cache in caches if cache.get("writes") != "back"}
    return [group for group in groups if group["name"] not in copies]


def has_records(level: str) -> bool:
    """Whether data are records that are read and written as wholes: RAIDZ and dRAID."""
    return level.startswith("raidz") or is_declustered(level)


def is_declustered(level: str) -> bool:
    """Whether groups narrower than all members are spread over these: dRAID."""
    return level.startswith("draid")


def data_members(raid: Json) -> int:
    """Members that hold the data of a group of dRAID."""
    members = int(raid["devices"]) // int(raid.get("groups", 1))
    left = members - parities(raid) - int(raid.get("distributed_spares", 0))
    return int(raid.get("data_members", max(1, min(_DATA_MEMBERS, left))))
