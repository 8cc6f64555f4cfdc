"""Analytics workflows on a terminal: report 002's figures, a row per number of workflows, with what limited it and what a core got.

Model: two tables, since one of all figures would fit no screen: times and processors, then blocks and bandwidth. Each row is the mean of
the iterations at a level; both meanings of both times are there.

    print(workflows(results))
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from plimsoll.analysis.analytics.guidance import PUBLISHED, verdict
from plimsoll.analysis.analytics.levels import SUMMARY_S, Level, Levels, levels_of
from plimsoll.analysis.comparison.names import names_of
from plimsoll.analysis.point.host_use import BLOCK_BYTES
from plimsoll.reports.analytics import moved_text
from plimsoll.reports.terminal.screen import ANY, Screen
from plimsoll.reports.terminal.table import table
from plimsoll.result import Result
from plimsoll.units import count, megabytes, three_digits

_TIMES = ("CPU per workflow", "real per workflow", "CPU of all", "real of all", "stretch", "user", "system", "idle", "wait", "limited by")
_BLOCKS = ("blocks in", "blocks out", "MB/s in", "MB/s out", "MB/s", "per core", "asked", "programs' MB/s", "workflows/h")
_SAID = {"reaches": "reached", "misses": "missed", "too close to tell": "unclear"}


def workflows(results: Sequence[Result], screen: Screen = ANY) -> str:
    """The tables and how to read them; empty without workflows."""
    found = levels_of(results)
    if not found:
        return ""
    names = names_of(results)
    several = len(found) > 1
    head = ("target", "workflows") if several else ("workflows",)

    def rows(figures: Callable[[Level], tuple[str, ...]]) -> list[tuple[str, ...]]:
        return [
            (*((names.get(one.side, one.side),) if several else ()), f"{level.workflows:,}", *figures(level))
            for one in found
            for level in one.levels
        ]

    texts = [
        table([(*head, *_TIMES), *rows(_times)], left=len(head), screen=screen),
        table([(*head, *_BLOCKS), *rows(_blocks)], left=len(head), screen=screen),
        screen.wrapped(_note(found)),
        *[screen.wrapped(line) for one in found for line in _doubts(one)],
    ]
    return "\n\n".join(texts[:2]) + "\n" + "\n".join(filter(None, texts[2:]))


def _times(level: Level) -> tuple[str, ...]:
    means = level.means
    stretch = "–" if level.stretch is None else f"{three_digits(level.stretch)} ×"
    shares = (means[f"{name}_percent"] for name in ("user", "system", "idle", "wait"))
    return (
        *(_seconds(means[name]) for name in ("workflow_cpu_s", "workflow_real_s", "total_cpu_s", "total_real_s")),
        stretch,
        *("–" if share is None else f"{share:.0f} %" for share in shares),
        "–" if level.limit is None else level.limit.what,
    )


def _blocks(level: Level) -> tuple[str, ...]:
    means = level.means
    asked = "–"
    if level.per_core is not None:
        said = {word: verdict(level.per_core, value) for word, value in PUBLISHED.items()}
        asked = ", ".join(f"{megabytes(PUBLISHED[word])} {_SAID[found]}" for word, found in said.items())
    return (
        *("–" if means[name] is None else count(means[name] or 0.0) for name in ("blocks_in", "blocks_out")),
        *("–" if means[name] is None else megabytes(means[name] or 0.0) for name in ("bytes_in_per_s", "bytes_out_per_s")),
        moved_text(level.bytes_per_s),
        moved_text(level.per_core),
        asked,
        megabytes((means["moved_in_per_s"] or 0.0) + (means["moved_out_per_s"] or 0.0)),
        count(level.per_hour.value),
    )


def _seconds(value: float | None) -> str:
    return "–" if value is None else f"{three_digits(value)} s"


def _note(found: Sequence[Levels]) -> str:
    host = any(level.counted == "host" for one in found for level in one.levels)
    whose = "all block devices of this host" if host else "the target's devices"
    return (
        f"Means of the iterations at each level. Blocks have {BLOCK_BYTES:,} bytes, a mean per {SUMMARY_S:g} s; blocks and MB/s are those "
        f"of {whose}, per core over physical cores; programs' MB/s are what the workflows read and wrote, the page cache included. "
        "Stretch: real time of a workflow over that of one alone. MB are 10^6 bytes."
    )


def _doubts(one: Levels) -> list[str]:
    said = []
    for level in one.levels:
        if level.failed:
            asked = sum(each.workflows for each in level.iterations)
            said.append(f"{level.failed} of {asked} workflows failed with {level.workflows} at a time: their level is of the others.")
        if level.wrong:
            said.append(f"{level.wrong} workflows found WRONG DATA with {level.workflows} at a time.")
    return said
