"""The columns of analytics in the table of points: what report 002 tells of a level, for each iteration, and what a core got.

Model: a point has the figures of its iterations' mean; what takes other levels, the stretch, is against the workflows of the same run and
side that ran alone.

    workflow_rows(results)["0003-sas-analytics"]["workflow_cpu_s"]
"""

from __future__ import annotations

from collections.abc import Sequence

from plimsoll.analysis.analytics.io_test import per_core, stream_seconds, tests_io
from plimsoll.analysis.analytics.levels import Iteration, Level, levels_of
from plimsoll.result import Result
from plimsoll.tables.column import NUMBER, TEXT, WHOLE, Column, Value

_MEGA = 1e6
COLUMNS = (
    Column("workflows", WHOLE, "", "analytics workflows that ran at the same time"),
    Column("workflows_failed", WHOLE, "", "those that did not come to their end"),
    Column("workflow_cpu_s", NUMBER, "s", "processor time of a workflow, the mean of those that came to their end"),
    Column("workflow_real_s", NUMBER, "s", "real time of a workflow, their mean"),
    Column("total_cpu_s", NUMBER, "s", "processor time of all workflows"),
    Column("total_real_s", NUMBER, "s", "from the first start to the last end"),
    Column("workflows_per_hour", NUMBER, "1/h", "workflows that came to their end, per hour"),
    Column("stretch", NUMBER, "", "real time of a workflow over that of one alone"),
    Column("blocks_in_per_2s", NUMBER, "", "blocks of 4,096 bytes that the target's devices read, a mean per 2 seconds"),
    Column("blocks_out_per_2s", NUMBER, "", "blocks that they wrote"),
    Column("device_mb_in_per_s", NUMBER, "MB/s", "the same in 10^6 bytes per second"),
    Column("device_mb_out_per_s", NUMBER, "MB/s", "the same, written"),
    Column("mb_per_s_per_core", NUMBER, "MB/s", "both, over physical cores; of the I/O test what a core wrote or read"),
    Column("limited_by", TEXT, "", "what limited the workflows of the level"),
)
Row = dict[str, Value]


def workflow_rows(results: Sequence[Result]) -> dict[str, Row]:
    """By the id of the point; empty where no workflows ran and no I/O test."""
    tested: dict[str, Row] = {
        result.id: {"mb_per_s_per_core": per_core(result) / _MEGA}
        for result in results
        if tests_io(result) and result.status == "complete" and stream_seconds(result)
    }
    return tested | {
        result.id: _row(level, [one for one in level.iterations if one.point == result.id], side.cores)
        for side in levels_of(results)
        for level in side.levels
        for result in level.results
    }


def _row(level: Level, iterations: Sequence[Iteration], cores: int | None) -> Row:
    def mean(name: str) -> float | None:
        known = [value for one in iterations if (value := getattr(one, name)) is not None]
        return sum(known) / len(known) if known else None

    alone_s = None if not level.stretch else (level.means["workflow_real_s"] or 0.0) / level.stretch
    real_s, moved = mean("workflow_real_s"), mean("bytes_per_s")
    rates = {name: mean(name) for name in ("bytes_in_per_s", "bytes_out_per_s")}
    return {
        "workflows": level.workflows,
        "workflows_failed": sum(one.failed for one in iterations),
        **{name: mean(name) for name in ("workflow_cpu_s", "workflow_real_s", "total_cpu_s", "total_real_s")},
        "workflows_per_hour": mean("per_hour"),
        "stretch": real_s / alone_s if real_s is not None and alone_s else None,
        "blocks_in_per_2s": mean("blocks_in"),
        "blocks_out_per_2s": mean("blocks_out"),
        "device_mb_in_per_s": None if rates["bytes_in_per_s"] is None else rates["bytes_in_per_s"] / _MEGA,
        "device_mb_out_per_s": None if rates["bytes_out_per_s"] is None else rates["bytes_out_per_s"] / _MEGA,
        "mb_per_s_per_core": moved / cores / _MEGA if moved is not None and cores else None,
        "limited_by": None if level.limit is None else level.limit.what,
    }
