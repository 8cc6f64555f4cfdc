"""Measures the points that a feed names, one after the other, and stores each; the stages go to a `Progress`.

Model: a feed is a generator: points out, results in, at the end what was found. Results of an
earlier, unfinished run are handed to the feed in place of a measurement, so that it goes on where that run stopped. A point that fails is
stored with its error and the feed decides what is next; a signal lets the running point end and starts no further one; a store that fails
ends everything, since results that cannot be kept are not worth measuring, and leaves a run that can go on. What was written to
precondition a target is written again when the target has to be made anew.

    outcome = conduct(feed, Setup(engine, run, listener, host, total=len(points)))
    outcome.exit_code
"""

from __future__ import annotations

import os
from collections import Counter, defaultdict, deque
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any

from plimsoll.analysis.point.definition import checks_journal
from plimsoll.engine.protocol import Engine
from plimsoll.errors import EXIT_POINT_FAILED, InputError, Interrupted, PlimsollError, StoreError
from plimsoll.host.target import target_facts, target_paths
from plimsoll.layouts.inventory import layout_of
from plimsoll.measure import Job, measure, unfinished
from plimsoll.points.ahead import Ahead, Kept, is_modelled
from plimsoll.points.brake import Brake
from plimsoll.points.cache_state import cache_state
from plimsoll.points.drivers import driver_of
from plimsoll.points.goals import goal_of
from plimsoll.points.listener import Progress
from plimsoll.points.outcome import Found, Outcome
from plimsoll.points.point import PlannedPoint
from plimsoll.points.preconditions import check_stamped
from plimsoll.points.setup import Setup
from plimsoll.points.targets import Targets
from plimsoll.records import dataclass
from plimsoll.result import Result
from plimsoll.silence import Hearer, heard
from plimsoll.store.writer import PointWriter
from plimsoll.stored import Cache, Coordinates, HostAt, Inspection, Interval, Sample, TargetFacts
from plimsoll.target import Target

#: Points out, results in, findings at the end.
Feed = Generator[PlannedPoint, Result, Sequence[Found]]


def conduct(feed: Feed, setup: Setup) -> Outcome:
    """Measure until the feed ends or a signal comes; whatever happens, the run's end is recorded."""
    outcome = Outcome()
    try:
        with (
            setup.run.held(),
            Brake(setup.listener.stopping) as brake,
            heard(_hearer(setup, brake)),
            Targets(setup, brake, outcome.left.append) as targets,
            _ahead(setup, brake) as ahead,
        ):
            Loop(setup, brake, targets, outcome, ahead).run(feed)
            outcome.interrupted = brake.pulled
    except BaseException as problem:
        # A full disk is no end: with room again, the run can go on. The store may be the very thing that fails now, too.
        with suppress(StoreError):
            setup.run.finish("interrupted" if isinstance(problem, StoreError | KeyboardInterrupt) else "failed")
        raise
    finally:
        feed.close()
        setup.progress.close()
    setup.run.finish(outcome.status, [found.to_json() for found in outcome.found])
    return outcome


@contextmanager
def _ahead(setup: Setup, brake: Brake) -> Iterator[Ahead | None]:
    """What measures points of models before they are asked for, where there are any; those of an earlier, unfinished run are there."""
    there = Counter(_key(result.place) for result in setup.stored)
    left = [point for point in setup.foreseen() if is_modelled(point) and not _one_less(there, _key(point.place))]
    if len(left) < 2 or setup.hands is None:
        yield None
        return
    with Ahead(left, setup.hands, brake) as ahead:
        yield ahead


def _one_less(there: Counter[str], key: str) -> bool:
    """Whether there is one of these; it is taken."""
    found = there[key] > 0
    there[key] -= found
    return found


def _hearer(setup: Setup, brake: Brake) -> Hearer:
    """Tells of a target that is looked at and gives no answer; nobody who has pulled the brake waits for it."""

    def hear(target: str, seconds: float) -> None:
        if brake.pulled:
            raise Interrupted(f"{target} gives no answer")
        setup.progress.silent({"target": target, "ns": round(seconds * 1e9), "waiting": None})

    return hear


class Loop:
    """Feeds, measures, keeps."""

    def __init__(self, setup: Setup, brake: Brake, targets: Targets, outcome: Outcome, ahead: Ahead | None = None) -> None:
        self._ahead = ahead
        self._setup = setup
        self._brake = brake
        self._targets = targets
        self._outcome = outcome
        self._loaded = False
        self._stored: dict[str, deque[Result]] = defaultdict(deque)
        for result in setup.stored:
            self._stored[_key(result.place)].append(result)

    def run(self, feed: Feed) -> None:
        point = next(feed, None)
        while point is not None and not self._brake.pulled:
            result = self._taken(point) or self.measured(point)
            if result is None or self._brake.pulled:
                return
            try:
                point = feed.send(result)
            except StopIteration as end:
                self._outcome.found = end.value
                return

    def _taken(self, point: PlannedPoint) -> Result | None:
        """What an earlier, unfinished run measured at this place; a place asked for twice has two results."""
        waiting = self._stored.get(_key(point.place))
        if not point.place or not waiting:
            return None
        result = waiting.popleft()
        if point.place.get("role") == "precondition" and not self._is_there(point):
            return None
        self._outcome.keep(result)
        return result

    def _is_there(self, point: PlannedPoint) -> bool:
        """Whether the target still holds what was written to it; a layout went with the run that made it."""
        if point.target.layout:
            return False
        try:
            inspection = driver_of(point.workload, self._setup.engine).inspect_target(point.target)
        except PlimsollError:
            return False
        return all(os.path.exists(path) for path in target_paths(inspection))

    def measured(self, point: PlannedPoint) -> Result | None:
        """The point's result, stored; None when a signal came before the point began."""
        driver = self._driver_of(point)
        if point.left is not None and self._setup.total is None:
            self._setup.progress.expected(point.left)
        kept = None if self._ahead is None else self._ahead.taken(point)
        if kept is not None:
            return self._adopted(kept)
        try:
            if point.refusal is not None:
                raise InputError(point.refusal)
            self._targets.lay(point.target)
            check_stamped(point.workload, lambda: driver.inspect_target(point.target))
            as_it_stands = checks_journal(point.workload)
            inspection = driver.inspect_target(point.target) if as_it_stands else self._targets.prepared(driver, point)
        except StoreError:
            raise
        except PlimsollError as error:
            if self._brake.pulled:
                # Stopped while the scratch file was being filled: the point has not begun.
                return None
            return self._keep_failed(point, {"spec": point.target.text}, error)
        if not self._loaded:
            self._loaded = True
            self._setup.before_load()
        if point.target.document is not None:
            point = self._balanced(point, driver)
        return None if self._brake.pulled else self._run_point(point, driver, inspection)

    def _adopted(self, kept: Kept) -> Result:
        """A point that was measured elsewhere, as if it had been here."""
        setup = self._setup
        result = replace(kept.result, id=setup.run.next_point_id(kept.result.job.workload))
        setup.progress.begin(len(self._outcome.results) + 1, setup.total, result)
        setup.run.adopt_point(kept.folder, replace(kept.skeleton, id=result.id), result)
        self._outcome.keep(result, kept.failure_code or EXIT_POINT_FAILED)
        setup.progress.end(result)
        return result

    def _balanced(self, point: PlannedPoint, driver: Engine) -> PlannedPoint:
        """The point of a modelled array, in virtual time for long enough."""
        from plimsoll.points.balance import balanced

        return balanced(point, driver, self._brake.guard(driver.control()))

    def _run_point(self, point: PlannedPoint, driver: Engine, inspection: Inspection) -> Result:
        setup = self._setup
        cache = self._cache(point, driver, inspection)
        facts: TargetFacts = {**target_facts(inspection), **_layout(inspection), **_failures(point.target)}
        job = self._job(point, facts, goal_of(point, inspection))
        skeleton = replace(unfinished(job), place=point.place, cache=cache)
        if (announce := getattr(driver, "announce", None)) is not None:
            announce(point, job.id, setup.run.path)
        with setup.run.begin_point(skeleton) as writer:
            setup.progress.begin(len(self._outcome.results) + 1, setup.total, skeleton)
            control = self._brake.guard(driver.control())
            try:
                result = measure(job, driver, _Tee(writer, setup.progress), control, setup.progress.silent)
            except StoreError:
                raise
            except PlimsollError as refusal:
                return self._conclude(writer, replace(skeleton, status="failed", error=str(refusal)), refusal.exit_code)
            return self._conclude(writer, replace(result, place=point.place, cache=cache), EXIT_POINT_FAILED)

    def _cache(self, point: PlannedPoint, driver: Engine, inspection: Inspection) -> Cache:
        """What the caches hold when the point begins. A driver may bring that about, or know the files of its target."""
        own, files = getattr(driver, "cache_of", None), getattr(driver, "files_of", None)
        if own is not None:
            state: Cache = own(point.workload, point.target)
            return state
        return cache_state(point, inspection, None if files is None else files(point.target))

    def _keep_failed(self, point: PlannedPoint, target: TargetFacts, error: PlimsollError) -> Result:
        skeleton = replace(unfinished(self._job(point, target)), place=point.place)
        with self._setup.run.begin_point(skeleton) as writer:
            self._setup.progress.begin(len(self._outcome.results) + 1, self._setup.total, skeleton)
            return self._conclude(writer, replace(skeleton, status="failed", error=str(error)), error.exit_code)

    def _conclude(self, writer: PointWriter, result: Result, failure_code: int) -> Result:
        writer.finish(result)
        self._outcome.keep(result, failure_code)
        self._setup.progress.end(result)
        return result

    def _job(self, point: PlannedPoint, target: TargetFacts, goal: Any = None) -> Job:
        setup = self._setup
        job = Job(
            id=setup.run.next_point_id(point.workload["name"]),
            workload=point.workload,
            options=point.options,
            target=point.target,
            host={**setup.host, "target": target},
            permission=setup.permission_of(point.target),
            repeat=point.repeat,
            hosts=self._hosts(point),
        )
        return job if goal is None else replace(job, goal=goal)

    def _driver_of(self, point: PlannedPoint) -> Engine:
        """Who measures the point here; of several hosts none is loaded by a model."""
        engine = self._setup.engine
        return driver_of(point.workload, getattr(engine, "models", engine) if is_modelled(point) else engine)

    def _hosts(self, point: PlannedPoint) -> tuple[str, ...]:
        """Which hosts measure the point in place of this one."""
        hosts_of = getattr(self._driver_of(point), "hosts_of", None)
        return () if hosts_of is None else tuple(hosts_of(point.options))


@dataclass(frozen=True)
class _Tee:
    """Stores first, then shows."""

    writer: PointWriter
    progress: Progress

    def interval(self, interval: Interval) -> None:
        self.writer.interval(interval)
        self.progress.interval(interval)

    def monitor(self, sample: Sample) -> None:
        self.writer.monitor(sample)

    def hosts(self, hosts: list[HostAt]) -> None:
        """How far each of several hosts is."""
        self.writer.hosts(hosts)
        self.progress.hosts(hosts)


def _layout(inspection: Inspection) -> TargetFacts:
    """How the storage below a target was put together, where Plimsoll did that."""
    found = layout_of(target_paths(inspection))
    return {} if found is None else {"layout": found}


def _failures(target: Target) -> TargetFacts:
    """When members of a modelled array are to fail, and new drives to come, as facts of the target."""
    if target.document is None:
        return {}
    from plimsoll.catalog.composition.failures import scheduled

    facts: TargetFacts = {}
    if due := scheduled(target.document, "at"):
        facts["failures"] = due
    if due := scheduled(target.document, "replaced_at"):
        facts["replacements"] = due
    return facts


def _key(place: Coordinates) -> str:
    return str(place.get("key", ""))
