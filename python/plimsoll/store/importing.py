"""Keeps what another tool measured as a run: the same directories and files, with nothing of this machine in them.

Model: the run has no host, since where it was measured is not known; its versions say which tool measured it, and from which files it was
read. Points get their ids here; equal ones become repeats of each other. Either the whole run is stored or an error says what was not.

    path = import_points("results", Import(["plimsoll", "import", "a.json"], "fio", ["a.json"]), points)
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from plimsoll.result import Result
from plimsoll.store.writer import RunInfo, RunWriter

Json = dict[str, Any]


class Point(Protocol):
    """What is to be stored."""

    @property
    def result(self) -> Result:
        """The point."""

    @property
    def intervals(self) -> Sequence[Json]:
        """Its intervals, as far as they are known."""

    @property
    def monitor(self) -> Sequence[Json]:
        """Samples of a host, as far as they are known."""


@dataclass(frozen=True)
class Import:
    """What the run is called and where it comes from."""

    command: list[str]
    form: str
    files: Sequence[str]
    label: str | None = None


def import_points(out: str, about: Import, points: Sequence[Point]) -> str:
    """Store ``points`` as a run in ``out``; its directory. Raises `StoreError` when it cannot be written."""
    origins = sorted({str(point.result.versions.get("origin", about.form)) for point in points})
    info = RunInfo(
        name=f"import-{about.form}",
        command=about.command,
        points_planned=len(points),
        host={},
        versions={"origin": ", ".join(origins), "files": ", ".join(about.files)},
        label=about.label,
    )
    run = RunWriter.create(out, info)
    seen: Counter[str] = Counter()
    for point in points:
        result = _placed(point.result, run.next_point_id(point.result.job.workload), seen)
        with run.begin_point(replace(result, status="incomplete", error="The import of this point did not end.")) as writer:
            for interval in point.intervals:
                writer.interval(interval)
            for sample in point.monitor:
                writer.monitor(sample)
            writer.finish(result)
    run.finish("complete")
    return run.path


def _placed(result: Result, point_id: str, seen: Counter[str]) -> Result:
    """The result with its id; points of equal workload, options and place are numbered as repeats."""
    job = result.job
    key = json.dumps([job.workload, job.target, job.definition, result.place], sort_keys=True, default=str)
    seen[key] += 1
    return replace(result, id=point_id, job=replace(job, repeat=seen[key]))
