"""Trials of database durability in words and as JSON: what was kept over how many kills, and how long restarts took.

sentence(results, names)       # "pg kept all 1,204 commits that it had acknowledged over 10 kills; restarts took 310 ms to 520 ms"
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from plimsoll.analysis.point.durability import faults, recoveries_s, rounds, section, tries_durability
from plimsoll.result import Result
from plimsoll.units import brief_duration


def sentence(results: Sequence[Result], names: Mapping[str, str]) -> str:
    """What was found of each side; without full stop."""
    return "; ".join(_of_point(result, names.get(result.side, result.side)) for result in results if section(result.engine))


def _of_point(result: Result, name: str) -> str:
    said, kills = section(result.engine) or {}, len(rounds(result.engine))
    found = faults(result.engine)
    over = f"over {kills} {'kill' if kills == 1 else 'kills'}"
    if found:
        return f"{name} does not keep what it acknowledges: {found[0]} ({over})"
    times = recoveries_s(result.engine)
    took = f"; restarts took {brief_duration(min(times) * 1e9)} to {brief_duration(max(times) * 1e9)}" if times else ""
    return f"{name} kept all {said.get('acknowledged') or 0:,} commits that it had acknowledged {over}{took}"


def kept_of(result: Result) -> tuple[str, str]:
    """How many of how many acknowledged commits were there, and over how many kills."""
    said, kills = section(result.engine) or {}, len(rounds(result.engine))
    acknowledged = int(said.get("acknowledged") or 0)
    missing = sum(len(one.get("lost") or ()) + len(one.get("halves") or ()) for one in rounds(result.engine))
    if any(one.get("unopened") for one in rounds(result.engine)):
        missing = acknowledged
    times = recoveries_s(result.engine)
    took = f"; restarts took {brief_duration(min(times) * 1e9)} to {brief_duration(max(times) * 1e9)}" if times else ""
    return f"{max(acknowledged - missing, 0):,} of {acknowledged:,}", f"over {kills} {'kill' if kills == 1 else 'kills'}{took}"


def document(results: Sequence[Result]) -> dict[str, Any]:
    """The keys of ``--json``; empty for other loads."""
    points = [
        {
            "point": result.id,
            "kept": not faults(result.engine),
            "faults": faults(result.engine),
            "acknowledged": (section(result.engine) or {}).get("acknowledged"),
            "kills": list(rounds(result.engine)),
        }
        for result in results
        if tries_durability(result) and section(result.engine)
    ]
    return {"durability": points} if points else {}
