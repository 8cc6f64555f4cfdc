"""Vdbench's status file: tab-separated events by which other programs wait for a run.

Model: the events of a run in order, with the instants at which ours began, left the warm-up and ended.

    status_text(runs(points))
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from plimsoll.formats.vdbench_output.rows import Run


def status_text(runs: Sequence[Run]) -> str:
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
    stamp = f"{when:%m/%d/%Y-%H:%M:%S}-{when.tzname() or 'UTC'}"
    return "\t".join([stamp, event, *([f"rd={name}", "For loops: None"] if name else [])])
