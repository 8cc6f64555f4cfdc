"""The section of database durability: what each side kept of what it acknowledged, and its kills on a line of time.

Model: a side is a point: one trial on one configuration. A round is the time from a start to the restart after its kill; what was
acknowledged and what of it is there are counts over all rounds so far, since everything is looked for after each kill.
Limits: trials that were stored without their instants have no line of time.

    database_durability(members)["sides"][0]["rounds"][0]["found"]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from plimsoll.analysis.point.durability import faults, recoveries_s, section
from plimsoll.reports.view.experiments import Member


class DurabilityRound(TypedDict):
    """From a start of the database to its restart; instants are seconds from the start of the point."""

    number: int
    begin_s: float | None
    kill_s: float | None
    #: Null where it did not open again.
    open_s: float | None
    recovery_s: float | None
    #: In this round.
    acknowledged: int
    #: Of all rounds so far.
    acknowledged_so_far: int
    found: int
    lost: int
    under_way: str | None
    became: str | None
    #: In words; null when everything is there.
    wrong: str | None


class DurabilitySide(TypedDict):
    """One trial."""

    configuration: int
    point: int
    repeat: int
    engine: str
    kills: int
    kills_asked: int
    acknowledged: int
    found: int
    lost: int
    halves: int
    #: The shortest and the longest restart; null where it never opened again.
    recovery_s: tuple[float, float] | None
    #: What was wrong, each in a few words; none when it kept everything.
    faults: list[str]
    rounds: list[DurabilityRound]
    #: Version and settings that decide on it.
    settings: list[tuple[str, str]]


class DatabaseDurability(TypedDict):
    """Database durability on all sides."""

    sides: list[DurabilitySide]


#: Settings that are shown, where the engine has them.
_SETTINGS = ("version", "fsync", "synchronous_commit", "full_page_writes", "wal_sync_method", "checkpoint_threshold", "memory_limit")


def database_durability(members: Sequence[Member]) -> DatabaseDurability | None:
    """None where nothing was killed."""
    sides = [_side(member, said) for member in members if (said := section(member.result.engine)) is not None and said.get("rounds")]
    return {"sides": sides} if sides else None


def _side(member: Member, said: Mapping[str, Any]) -> DurabilitySide:
    engine, rounds = member.result.engine, _rounds(said)
    took = recoveries_s(engine)
    settings = said.get("settings") or {}
    return {
        "configuration": member.configuration,
        "point": member.index,
        "repeat": member.result.job.repeat,
        "engine": str((engine.get("backend") or {}).get("used") or ""),
        "kills": len(rounds),
        "kills_asked": int(said.get("kills_asked") or 0),
        "acknowledged": rounds[-1]["acknowledged_so_far"],
        "found": rounds[-1]["found"],
        "lost": rounds[-1]["lost"],
        "halves": sum(len(one.get("halves") or ()) for one in said["rounds"]),
        "recovery_s": (min(took), max(took)) if took else None,
        "faults": faults(engine),
        "rounds": rounds,
        "settings": [(name, str(settings[name])) for name in _SETTINGS if name in settings],
    }


def _rounds(said: Mapping[str, Any]) -> list[DurabilityRound]:
    found: list[DurabilityRound] = []
    acknowledged = lost = 0
    for number, one in enumerate(said["rounds"], 1):
        acknowledged += int(one["acknowledged"])
        lost += len(one.get("lost") or ()) + len(one.get("halves") or ())
        is_there = acknowledged if one.get("unopened") is None else 0
        found.append(
            {
                "number": number,
                **{name: one.get(name) for name in ("begin_s", "kill_s", "open_s", "recovery_s")},  # type: ignore[typeddict-item]
                "acknowledged": int(one["acknowledged"]),
                "acknowledged_so_far": acknowledged,
                "found": max(is_there - lost, 0),
                "lost": min(lost, acknowledged) if is_there else acknowledged,
                "under_way": one.get("under_way"),
                "became": one.get("became"),
                "wrong": _wrong(one),
            }
        )
    return found


def _wrong(one: Mapping[str, Any]) -> str | None:
    if one.get("unopened"):
        return "it did not open again"
    said = [f"{len(one[key])} {words}" for key, words in (("lost", "lost"), ("halves", "there by half")) if one.get(key)]
    return ", ".join([*said, *(["miscounted"] if one.get("miscounted") else [])]) or None
