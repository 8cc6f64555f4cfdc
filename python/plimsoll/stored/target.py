"""What a target is and lies on, and the machine before it."""

# Annotations are evaluated here: as texts each would be compiled when its class is made, which every run would wait for.
from collections.abc import Mapping
from typing import Any, TypedDict

from plimsoll.stored.json import Counted, Json, Number


class Backing(TypedDict):
    """The file behind a loop device; ``type`` is that of its file system."""

    path: str
    type: str
    direct: bool


class Failure(TypedDict):
    """When a member of a modelled array is to fail, or a new drive to come."""

    time_s: Number
    member: int | str
    group: str


class Device(TypedDict, total=False):
    """A block device that a target lies on, and ``below`` which other one it lies, if any; facts that it does not tell are None. A version
    before told a sentence in their place."""

    name: str
    disk: str
    below: str | None
    backing: Backing
    model: str | None
    vendor: str | None
    serial: str | None
    firmware: str | None
    size_bytes: Any
    rotational: Any
    scheduler: str | None
    nr_requests: Any
    write_cache: str | None
    fua: Any
    read_ahead_bytes: Any
    request_bytes_max: Any
    logical_block_bytes: Any
    physical_block_bytes: Any
    discard_bytes_max: Any
    writeback_throttle_us: Any
    zoned: str | None
    numa_node: Any
    absent: dict[str, str]


class Mount(TypedDict):
    """Of a file system."""

    type: str
    source: str
    point: str
    options: str


class Filesystem(TypedDict, total=False):
    """That holds a target; a version before told a sentence in place of what it could not find out."""

    mount: Mount | str | None
    free_bytes: Any
    absent: dict[str, str]


class Medium(TypedDict):
    """What lies below a target and is no device of this host: memory, or elsewhere."""

    kind: str
    name: str


class PartInspection(TypedDict, total=False):
    """What is at one part of a target."""

    kind: str
    path: str
    exists: bool
    size_bytes: int
    logical_block_bytes: int
    direct: bool | None
    rotational: bool | None
    made_by_plimsoll: bool
    left_behind: bool
    sample: Json | None
    facts: Json | None


class Inspection(TypedDict, total=False):
    """What looking at a target tells, without touching it; after it was prepared, which files were made, too."""

    kind: str
    spec: str
    path: str | None
    exists: bool
    modelled: bool
    size_bytes: int
    logical_block_bytes: int
    rotational: bool | None
    made_by_plimsoll: bool
    left_behind: bool
    write_refusal: str | None
    parts: list[PartInspection]
    scratch: list[str]
    file_bytes: int
    changes_between_points: bool


class TargetFacts(Inspection, total=False):
    """The inspection, with what the host says of what stands behind the target."""

    devices: list[Device]
    devices_absent: str
    filesystem: Filesystem
    allocated_bytes: int
    apparent_bytes: int
    medium: Medium
    layout: Json
    failures: list[Failure] | None
    replacements: list[Failure] | None


def top_devices(facts: TargetFacts | None) -> list[Device]:
    """The devices that the parts of a target are on, each once. Only their counters may be added up: what lies below one of them, as
    the disk of a partition or that of a loop device's file, moves the same bytes again."""
    return [device for device in (facts or {}).get("devices") or () if not device.get("below")]


def counted_once(facts: TargetFacts | None, counters: Mapping[str, Counted]) -> list[Counted]:
    """Of what was counted of each device by its name, that which may be added up (`top_devices`)."""
    below = {str(device["name"]) for device in (facts or {}).get("devices") or () if device.get("below")}
    return [counted for name, counted in counters.items() if name not in below]


class HostFacts(TypedDict, total=False):
    """What the machine is."""

    machine: Json | None
    cpu: Json | None
    kernel: Json | None
    memory: Json | None
    os: Json | None
    numa: Json | None
    target: TargetFacts | None
