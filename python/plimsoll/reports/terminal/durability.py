"""Trials of database durability on a terminal: a row for each kill.

Model: a row says when the kill came, what had been acknowledged since the one before, what became of the refresh that was under way, how
long the restart took, and what was found.

    print(kills(results))
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from plimsoll.analysis.comparison.names import names_of
from plimsoll.analysis.point.durability import rounds
from plimsoll.reports.terminal.screen import ANY, Screen
from plimsoll.reports.terminal.table import table
from plimsoll.result import Result
from plimsoll.units import brief_duration

_HEAD = ("kill", "after", "acknowledged", "under way", "became", "restart", "found")


def kills(results: Sequence[Result], screen: Screen = ANY) -> str:
    """A row per kill of each point; empty without such."""
    own = [result for result in results if rounds(result.engine)]
    names = names_of(results)
    texts = []
    for result in own:
        rows = [_row(number, one) for number, one in enumerate(rounds(result.engine), 1)]
        title = f"{names[result.side]}, run {result.job.repeat}\n" if len(own) > 1 else ""
        texts.append(title + table([_HEAD, *rows], left=1, screen=screen))
    return "\n\n".join(texts)


def _row(number: int, one: Mapping[str, Any]) -> tuple[str, ...]:
    restart = one.get("recovery_s")
    return (
        str(number),
        brief_duration(float(one["moment_s"]) * 1e9),
        f"{one['acknowledged']:,}",
        one.get("under_way") or "–",
        one.get("became") or "–",
        "–" if restart is None else brief_duration(float(restart) * 1e9),
        _found(one),
    )


def _found(one: Mapping[str, Any]) -> str:
    if one.get("unopened"):
        return "DOES NOT OPEN"
    said = [f"{len(one[key])} {word}" for key, word in (("lost", "LOST"), ("halves", "BY HALF")) if one.get(key)]
    return ", ".join([*said, *(["MISCOUNTED"] if one.get("miscounted") else [])]) or "all there"
