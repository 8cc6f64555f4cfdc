"""Runs the planned points one after the other and stores each; the stages go to a `Progress`.

Model: a point that fails is stored with its error and the next one runs; a signal lets the running point end and starts no further one;
a store that fails ends everything, since results that cannot be kept are not worth measuring.

    outcome = run_sequence(points, Setup(engine, run, progress, permission=None, keep=False))
    outcome.exit_code
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any

from plimsoll.cli.brake import Brake
from plimsoll.cli.planning import PlannedPoint
from plimsoll.engine import Engine, Json
from plimsoll.errors import EXIT_INTERRUPTED, EXIT_POINT_FAILED, PlimsollError, StoreError
from plimsoll.host.target import target_facts
from plimsoll.measure import Job, measure, unfinished
from plimsoll.reports.progress import Progress
from plimsoll.result import Result
from plimsoll.scratch import Wanted, prepared
from plimsoll.store.writer import PointWriter, RunWriter


@dataclass(frozen=True)
class Setup:
    """What all points of a run share."""

    engine: Engine
    run: RunWriter
    progress: Progress
    host: Json
    permission: Json | None = None
    keep: bool = False


@dataclass
class Outcome:
    """What became of a run."""

    results: list[Result] = field(default_factory=list)
    interrupted: bool = False
    failures: list[int] = field(default_factory=list)

    @property
    def status(self) -> str:
        """The run's status in the store."""
        if self.interrupted:
            return "interrupted"
        return "failed" if self.failures else "complete"

    @property
    def exit_code(self) -> int:
        """130 after a signal; the failures' own code when nothing but they happened and all agree; 4 when some points failed."""
        if self.interrupted:
            return EXIT_INTERRUPTED
        if not self.failures:
            return 0
        alike = len(set(self.failures)) == 1 and len(self.failures) == len(self.results)
        return self.failures[0] if alike else EXIT_POINT_FAILED


def run_sequence(points: Sequence[PlannedPoint], setup: Setup) -> Outcome:
    """Run all points; whatever happens, the run's end is recorded."""
    outcome = Outcome()
    try:
        with Brake() as brake:
            for target, group in groupby(enumerate(points, start=1), key=lambda item: item[1].target):
                _run_target(target, list(group), _Stage(setup, brake, outcome, len(points)))
                if brake.pulled:
                    break
            outcome.interrupted = brake.pulled
    except BaseException:
        _record_end(setup.run, "failed")
        raise
    finally:
        setup.progress.close()
    setup.run.finish(outcome.status)
    return outcome


@dataclass(frozen=True)
class _Stage:
    setup: Setup
    brake: Brake
    outcome: Outcome
    total: int


def _run_target(target: str, points: list[tuple[int, PlannedPoint]], stage: _Stage) -> None:
    """All points of one target, which is prepared once for them."""
    setup = stage.setup
    wanted = Wanted(target, points[0][1].options.get("size"), setup.permission, setup.keep)
    control = stage.brake.guard(setup.engine.control())

    def on_progress(done_bytes: int, total_bytes: int) -> None:
        setup.progress.preparing(target, done_bytes, total_bytes)

    try:
        with prepared(setup.engine, wanted, on_progress, control) as inspection:
            host = {**setup.host, "target": target_facts(inspection)}
            for place, point in points:
                _run_point(place, point, host, stage)
                if stage.brake.pulled:
                    return
    except StoreError:
        raise
    except PlimsollError as error:
        if stage.brake.pulled:
            # Stopped while the scratch file was being filled: no point has begun.
            return
        # The target cannot be prepared: each of its points is kept with the reason.
        host = {**setup.host, "target": {"spec": target}}
        for place, point in points:
            _keep_failed(place, point, host, stage, error)


def _run_point(place: int, point: PlannedPoint, host: Json, stage: _Stage) -> None:
    setup = stage.setup
    job = _job(point, host, setup)
    skeleton = unfinished(job)
    with setup.run.begin_point(skeleton) as writer:
        setup.progress.begin(place, stage.total, skeleton)
        control = stage.brake.guard(setup.engine.control())
        try:
            result = measure(job, setup.engine, _Tee(writer, setup.progress), control)
        except StoreError:
            raise
        except PlimsollError as refusal:
            _conclude(writer, replace(skeleton, status="failed", error=str(refusal)), stage, refusal.exit_code)
            return
        _conclude(writer, result, stage, EXIT_POINT_FAILED)


def _keep_failed(place: int, point: PlannedPoint, host: Json, stage: _Stage, error: PlimsollError) -> None:
    skeleton = unfinished(_job(point, host, stage.setup))
    with stage.setup.run.begin_point(skeleton) as writer:
        stage.setup.progress.begin(place, stage.total, skeleton)
        _conclude(writer, replace(skeleton, status="failed", error=str(error)), stage, error.exit_code)


def _conclude(writer: PointWriter, result: Result, stage: _Stage, failure_code: int) -> None:
    writer.finish(result)
    stage.outcome.results.append(result)
    if result.status == "failed":
        stage.outcome.failures.append(failure_code)
    stage.setup.progress.end(result)


def _job(point: PlannedPoint, host: Json, setup: Setup) -> Job:
    return Job(
        id=setup.run.next_point_id(point.workload["name"]),
        workload=point.workload,
        options=point.options,
        target=point.target,
        host=host,
        permission=setup.permission,
        repeat=point.repeat,
    )


@dataclass(frozen=True)
class _Tee:
    """Stores first, then shows."""

    writer: PointWriter
    progress: Progress

    def interval(self, interval: Json) -> None:
        self.writer.interval(interval)
        self.progress.interval(interval)

    def monitor(self, sample: dict[str, Any]) -> None:
        self.writer.monitor(sample)


@contextmanager
def _quiet() -> Iterator[None]:
    try:
        yield
    except StoreError:
        return


def _record_end(run: RunWriter, status: str) -> None:
    """Best effort: the store may be the very thing that failed."""
    with _quiet():
        run.finish(status)
