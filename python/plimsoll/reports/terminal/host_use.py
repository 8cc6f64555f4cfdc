"""What each level of a load cost the host, as a table: CPU time, blocks in and out, real time.

Model: one row per point that stands at a level, in the order of the levels, where CPU time was counted and there are two levels at least.
Blocks have 4,096 bytes. It is the table of the SAS workloads on mail and analytics servers: workflows × user, system, idle, wait, blocks,
real time.

    workload             target   threads  user  system  idle  wait  blocks in/s  blocks out/s  real time
    analytics-workflows  ./wf.dat       4  12 %     9 %  38 %  41 %       24,310         8,120     31.4 s
"""

from __future__ import annotations

from collections.abc import Sequence

from plimsoll.analysis.point.definition import runs_workflows
from plimsoll.analysis.point.host_use import BLOCK_BYTES, HostUse, host_use
from plimsoll.reports.terminal.screen import ANY, Screen
from plimsoll.reports.terminal.table import table
from plimsoll.result import Result
from plimsoll.units import count

#: One that is above is busy enough that what other programs got is worth a column.
_STOLEN_FROM = 0.5
_SHARES = ("user", "system", "idle", "wait")


def host_levels(results: Sequence[Result], screen: Screen = ANY) -> str:
    """The table; empty where no levels were measured on storage."""
    # Of workflows their own tables say the same.
    others = [result for result in results if not runs_workflows(result.job.definition)]
    levelled = [result for result in others if result.place.get("level") is not None and result.place.get("role", "point") == "point"]
    used = [(result, use) for result in levelled if (use := host_use(result)) is not None]
    if len({result.place["level"] for result, _ in used}) < 2:
        return ""
    stolen = any((use["steal_percent"] or 0) >= _STOLEN_FROM for _, use in used)
    shares = (*_SHARES, "steal") if stolen else _SHARES
    ordered = sorted(used, key=lambda item: (_subject(item[0]), item[0].place["level"]))
    head = ("workload", "target", "level", *shares, "blocks in/s", "blocks out/s", "real time")
    rows = [(*_subject(result), _level(result), *_figures(use, shares)) for result, use in ordered]
    note = f"CPU time of the whole host, all programs together; blocks of {BLOCK_BYTES:,} bytes; real time of the measured phase."
    return f"{table([head, *rows], left=3, screen=screen)}\n{screen.wrapped(note)}"


def _subject(result: Result) -> tuple[str, str]:
    return result.job.workload, str(result.place.get("configuration") or result.job.target)


def _level(result: Result) -> str:
    named = [name for name, value in (result.place.get("settings") or {}).items() if value == result.place["level"]]
    repeat = f" #{result.job.repeat}" if result.job.repeat > 1 else ""
    return f"{named[0] if named else 'level'} {result.place['level']:g}{repeat}"


def _figures(use: HostUse, shares: Sequence[str]) -> tuple[str, ...]:
    percents = [use.get(f"{name}_percent") for name in shares]
    blocks = (use["blocks_in_per_s"], use["blocks_out_per_s"])
    return (
        *("–" if value is None else f"{value:.0f} %" for value in percents),
        *("–" if value is None else count(value) for value in blocks),
        "–" if use["real_s"] is None else f"{use['real_s']:.1f} s",
    )
