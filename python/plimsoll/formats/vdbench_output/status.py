"""Vdbench's status file: tab-separated events by which other programs wait for a run.

Model: the events of a run in order, with the instants at which ours began, left the warm-up and ended.

    status_text([run_of(point, "oltp-db")])
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from plimsoll.formats.vdbench_output.rows import Run
from plimsoll.formats.vdbench_output.table import when_of


def status_text(runs: Sequence[Run[Any]]) -> str:
    """The whole file."""
    lines = ["* Vdbench status, written by Plimsoll: timestamp, event, run definition, loops."]
    end: datetime | None = None
    for run in runs:
        warm = run.started + timedelta(seconds=run.course.result.job.warmup_s)
        end = run.started + timedelta(seconds=run.course.total_seconds)
        lines += [_event(run.started, "Starting", run.name), _event(warm, "Warmup done", run.name), _event(end, "Workload done", run.name)]
        lines.append(_event(end, "Slaves done", run.name))
    if end is not None:
        lines += [_event(end, "Shutting down slaves", ""), _event(end, "Vdbench complete", "")]
    return "\n".join(lines) + "\n"


def _event(when: datetime, event: str, name: str) -> str:
    return "\t".join([when_of(when), event, *([f"rd={name}", "For loops: None"] if name else [])])
