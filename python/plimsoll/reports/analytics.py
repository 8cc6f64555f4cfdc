"""Analytics workflows in words: the sentence of a run, and the JSON of its levels.

Model: `plimsoll.analysis.analytics.levels` says what each side has. The sentence answers report 002's question: how far throughput grows
with workflows, what ends it, what a core gets of what is asked, and how much longer a workflow takes then.

    sentence(results, names_of(results))
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from plimsoll.analysis.analytics.guidance import judged
from plimsoll.analysis.analytics.levels import Level, Levels, levels_of
from plimsoll.analysis.analytics.limit import NOUNS
from plimsoll.analysis.point.workflows import section
from plimsoll.result import Estimate, Result, tells
from plimsoll.units import count, megabytes, three_digits


def sentence(results: Sequence[Result], names: Mapping[str, str]) -> str:
    """What was found of every side; empty without workflows, without full stop."""
    found = levels_of(results)
    if not found:
        return ""
    said = [f"{names.get(one.side, one.side)} {_of(one)}" for one in found]
    return f"{'. '.join(said)}; {banner(results)}"


def cards(results: Sequence[Result], names: Mapping[str, str]) -> list[tuple[str, str, str]]:
    """The figures of every side at which its throughput ends, or at its highest level: label, value and detail."""
    found = levels_of(results)
    said = []
    for one in found:
        side = f" of {names.get(one.side, one.side)}" if len(found) > 1 else ""
        level, last = one.end or one.best, one.levels[-1]
        at = f"{level.workflows:,} at a time"
        said.append((f"Throughput{side}", f"{count(level.per_hour.value)} /h", f"workflows per hour{_bounds(level.per_hour, count)}, {at}"))
        if level.bytes_per_s is not None:
            moved = f"in and out{_bounds(level.bytes_per_s, megabytes)}, {at}"
            said.append((f"Devices{side}", f"{megabytes(level.bytes_per_s.value)} MB/s", moved))
        if level.per_core is not None:
            said.append((f"Per core{side}", f"{megabytes(level.per_core.value)} MB/s", _judged(level)))
        if last.stretch is not None and last.workflows > 1:
            said.append((f"Stretch{side}", f"{three_digits(last.stretch)} ×", f"real time with {last.workflows:,} over that of one alone"))
        if level.limit is not None:
            said.append((f"Limited by{side}", NOUNS[level.limit.what], level.limit.words().partition(": ")[2] or level.limit.words()))
    return said


def document(results: Sequence[Result]) -> dict[str, Any]:
    """The key ``analytics`` of ``--json``; empty for other loads."""
    found = [one.to_json() for one in levels_of(results)]
    return {"analytics": {"banner": banner(results), "sides": found}} if found else {}


def banner(results: Sequence[Result]) -> str:
    """What has to stand wherever figures of workflows do, as their driver says it."""
    return next((str(said["banner"]) for result in results if (said := section(result.engine))), "")


def workflows_text(number: int) -> str:
    """``1 workflow``, ``64 workflows``."""
    return f"{number:,} workflow{'' if number == 1 else 's'}"


def _bounds(found: Estimate, shown: Callable[[float], str]) -> str:
    """The interval, where it says something: that of two iterations reaches from nothing to a multiple."""
    low, high = found.low, found.high
    return "" if low is None or high is None or not tells(low, high) else f" [{shown(low)}, {shown(high)}]"


def moved_text(rate: Estimate | None) -> str:
    """Bytes per second of the devices in MB/s, with their interval where there is one."""
    if rate is None:
        return "–"
    return f"{megabytes(rate.value)}{_bounds(rate, megabytes)}"


def _of(found: Levels) -> str:
    best, last = found.best, found.levels[-1]
    if len(found.levels) == 1:
        ended = "" if best.limit is None else f", limited by {_noun(best)}"
        return f"runs {count(best.per_hour.value)} workflows per hour, {workflows_text(best.workflows)} at a time{_moved(best)}{ended}"
    if found.end is None:
        grew = f"grows up to {workflows_text(last.workflows)}, the most that ran"
    else:
        by = "" if found.end.limit is None else f", where {_noun(found.end)} ends it"
        grew = f"grows up to {workflows_text(found.end.workflows)}{by}"
    reached = found.end or last
    times = "" if last.stretch is None else f"; with {last.workflows:,} a workflow takes {three_digits(last.stretch)} × as long as alone"
    failed = sum(level.failed for level in found.levels)
    lost = f"; {workflows_text(failed)} failed" if failed else ""
    wrong = sum(level.wrong for level in found.levels)
    astray = f"; {workflows_text(wrong)} found WRONG DATA" if wrong else ""
    return f"{grew}: {count(reached.per_hour.value)} workflows per hour{_moved(reached)}{times}{lost}{astray}"


def _judged(level: Level) -> str:
    """What a core got, against what is asked; where something else was the limit, less was asked of the storage."""
    assert level.per_core is not None
    said = judged(level.per_core)
    unasked = "misses" in said and level.limit is not None and level.limit.what != "storage"
    return f"{said} (storage was not the limit)" if unasked else said


def _noun(level: Level) -> str:
    return "" if level.limit is None else NOUNS[level.limit.what]


def _moved(level: Level) -> str:
    if level.bytes_per_s is None:
        return ""
    core = "" if level.per_core is None else f", {megabytes(level.per_core.value)} per core, which {_judged(level)}"
    return f" with {megabytes(level.bytes_per_s.value)} MB/s of the {'devices' if level.counted == 'devices' else 'host'}{core}"
