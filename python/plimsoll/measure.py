"""One job → one result: drives the engine, watches the host meanwhile, and pushes everything out as it arises.

Model: the engine runs in a thread of its own and speaks through its callback, which adds a snapshot of the kernel's counters at each tick;
the calling thread receives the events in order, so storing or drawing never holds up an interval.
Limits: one job at a time per sink; a failing sink (full disk) aborts the job and raises.

    result = measure(job, engine, sink, control)
    result.totals["read"].iops
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import field, replace
from typing import TYPE_CHECKING, Protocol, cast

from plimsoll import calibration
from plimsoll.analysis.point.definition import arrival, checks_journal, concurrency, drawn_by_stream, offered_per_s
from plimsoll.analysis.point.observation import Observation
from plimsoll.analysis.point.summary import Summary
from plimsoll.engine.protocol import Control, Engine, Permission
from plimsoll.engine.protocol import Job as Order
from plimsoll.errors import InputError, PlimsollError, SafetyRefusal
from plimsoll.foreground import Push, served
from plimsoll.host.machine import versions
from plimsoll.host.target import monitored_devices
from plimsoll.monitor.sampler import Sampler, Snapshot, sample
from plimsoll.own_cost import OwnCost
from plimsoll.records import dataclass
from plimsoll.result import JobRecord, Result, Status, host_results, iso_time
from plimsoll.stored import Definition, Ended, EngineOutcome, HostFacts, Interval, Json, Options, Sample, Silence
from plimsoll.target import Target
from plimsoll.units import significant

if TYPE_CHECKING:
    from plimsoll.analysis.point.stopping_rule import Goal, Pursuit

#: Snapshots kept to find the one that an interval's boundary belongs to.
_SNAPSHOTS_KEPT = 32
#: Kinds of target, and backends, that live in virtual time.
_MODELLED = ("queue", "array")
_KILLED = "The run ended before this point did; what was measured until then is kept."
_STOPPED = "Stopped by a signal; what was measured until then is kept."


@dataclass(frozen=True)
class Job:
    """What is to be run. ``workload`` and ``options`` are canonical; ``host`` holds the facts of machine and ``target``.

    With a ``goal`` the point ends when it is reached, and the duration is the time limit. ``hosts`` measure it together, in place
    of this one.
    """

    id: str
    workload: Definition
    options: Options
    target: Target
    host: HostFacts
    permission: Permission | None = None
    repeat: int = 1
    goal: Goal | None = None
    hosts: tuple[str, ...] = ()

    @property
    def modelled(self) -> bool:
        """Whether the target lives in virtual time."""
        return (self.host.get("target") or {}).get("kind") in _MODELLED


class Sink(Protocol):
    """Where a measurement goes while it arises."""

    def interval(self, interval: Interval) -> None:
        """One interval of the record."""

    def monitor(self, sample: Sample) -> None:
        """What the host did in one interval."""


def unfinished(job: Job) -> Result:
    """The result before anything happened: what a killed process leaves behind."""
    threads, depth = concurrency(job.workload)
    offered = offered_per_s(job.workload)
    record = JobRecord(
        workload=job.workload["name"],
        title=job.workload.get("title") or job.workload["name"],
        group=job.workload.get("group") or "",
        target=job.target.text,
        seed=job.options.get("seed", 0),
        repeat=job.repeat,
        duration_s=float(job.options["duration"]),
        warmup_s=float(job.options["warmup"]),
        threads=threads * max(1, len(job.hosts)),
        queue_depth=depth,
        arrival=arrival(job.workload),
        definition=job.workload,
        options=job.options,
    )
    return Result(
        id=job.id,
        status="incomplete",
        error=_KILLED,
        started=iso_time(time.time()),
        modelled=job.modelled,
        job=record,
        host=job.host,
        versions=versions(),
        offered_per_s=sum(offered.values()) if offered else None,
    )


def measure(job: Job, engine: Engine, sink: Sink, control: Control, silent: Callable[[Silence], None] = lambda _: None) -> Result:
    """Run ``job`` to its end. A failure of the target or engine becomes part of the result; a failing sink raises.

    ``silent`` is told while the target gives no answer: its name, for how many nanoseconds, and how many requests wait, None while it is
    opened.
    `InputError` and `SafetyRefusal` are raised: the job was refused before its first request, so there is nothing to keep.
    """
    drawn = drawn_by_stream(job.workload)
    recording = _Recording(
        unfinished(job),
        sink,
        control,
        _pursuit(job),
        summary=Summary(drawn),
        observation=Observation(drawn),
        silent=silent,
        ready=bool(job.hosts),
    )
    request: Order = {
        "workload": job.workload,
        "job": job.options,
        "target": job.target,
        "permission": job.permission,
    }
    with _Watch(observes_host=not job.modelled and not job.hosts) as watch:
        outcome, failure = served(
            lambda push: watch.to_the_end(push, lambda hear: engine.run_job(request, hear, control)),
            recording.take,
            give_up=control.abort,
            quiet=recording.quiet,
        )
    if isinstance(failure, (InputError, SafetyRefusal)):
        raise failure
    unmeasured = (control.stopped and not recording.ended_by_goal) or checks_journal(job.workload)
    # What a request costs on each of several hosts stands in their own results.
    own_cost = None if job.hosts else calibration.load() or (None if unmeasured else calibration.quick(engine))
    return recording.result(outcome or {}, failure, own_cost)


def _pursuit(job: Job) -> Pursuit | None:
    """What pursues the job's goal; imported for those that have one."""
    if job.goal is None:
        return None
    from plimsoll.analysis.point.stopping_rule import Pursuit

    return Pursuit(job.goal, float(job.options["duration"]), modelled=job.modelled, drawn=drawn_by_stream(job.workload))


class _Watch:
    """Adds a snapshot of the host's counters to ``start`` and ``tick`` events, in the engine's own thread."""

    def __init__(self, *, observes_host: bool) -> None:
        self._sampler = Sampler() if observes_host else None

    def stamped(self, push: Push) -> Callable[[str, Json], None]:
        """An event callback for the engine."""

        def forward(kind: str, event: Json) -> None:
            if kind == "servers":
                if self._sampler is not None:
                    self._sampler.include(event["pids"])
                return
            if self._sampler is not None and kind in ("start", "tick"):
                event["snapshot"] = self._sampler.snapshot()
            push(kind, event)

        return forward

    def to_the_end(self, push: Push, run: Callable[[Callable[[str, Json], None]], EngineOutcome]) -> EngineOutcome:
        """What ``run`` returns; then the counters once more, since a job that ends with its amount has no tick there."""
        outcome = run(self.stamped(push))
        if self._sampler is not None:
            push("end", {"snapshot": self._sampler.snapshot()})
        return outcome

    def __enter__(self) -> _Watch:
        return self

    def __exit__(self, *_: object) -> None:
        if self._sampler is not None:
            self._sampler.close()


@dataclass
class _Recording:
    """Accumulates what the events say and passes it on to the sink."""

    skeleton: Result
    sink: Sink
    control: Control
    pursuit: Pursuit | None = None
    ended_by_goal: bool = False
    summary: Summary = field(default_factory=Summary)
    observation: Observation = field(default_factory=Observation)
    #: Whether the engine's next wait is for something else than the target: it is ready, or others prepare theirs.
    ready: bool = False
    start_ns: int = 0
    snapshots: deque[tuple[int, Snapshot]] = field(default_factory=lambda: deque(maxlen=_SNAPSHOTS_KEPT))
    measured: tuple[Snapshot, Snapshot] | None = None
    #: When the measured phase ended, as far as is known.
    measured_to_ns: int = 0
    silent: Callable[[Silence], None] = lambda _: None
    silence: Silence | None = None

    def take(self, kind: str, event: Json) -> None:
        """One event of the engine."""
        if kind == "ready":
            self.ready = True
        elif kind == "start":
            self.ready, self.start_ns = True, event["monotonic_ns"]
            self._keep(0, event.pop("snapshot", None))
        elif kind == "tick":
            self._tick(event)
        elif kind == "interval":
            self._interval(cast("Interval", event))
        elif kind == "end":
            self._end(event["snapshot"])
        elif kind == "silence":
            self._silence(cast("Silence", event))
        elif kind == "hosts" and (hear := getattr(self.sink, "hosts", None)) is not None:
            hear(event["hosts"])

    def quiet(self, seconds: float) -> None:
        """The engine has said nothing for so long; once it is ready it tells itself what of that is the target's silence."""
        if not self.ready:
            self.silent({"target": self.skeleton.job.target, "ns": round(seconds * 1e9), "waiting": None})

    def _silence(self, event: Silence) -> None:
        # Where nothing waits, the target is still being opened on a host of several: that is told, and no part of the measurement.
        if event["waiting"] is not None and (self.silence is None or event["ns"] > self.silence["ns"]):
            self.silence = event
        self.silent({"target": self.skeleton.job.target, **event})

    def result(self, outcome: EngineOutcome, failure: PlimsollError | None, own_cost: OwnCost | None) -> Result:
        """The result of all that was taken; what judges it is imported now that the load is over."""
        from plimsoll.analysis.point.verification import verified
        from plimsoll.analysis.validity.conclusion import conclude

        if self.silence is not None and not outcome.get("silence"):
            # Whoever was left without waiting for the target could not say it at the end.
            outcome = {**outcome, "silence": self.silence}
        status, error = _ending(outcome, failure, ended_by_goal=self.ended_by_goal)
        hosts = host_results(outcome.pop("hosts", []))
        used = (outcome.get("backend") or {}).get("used")
        finished = replace(
            self.skeleton,
            status=status,
            error=error,
            modelled=self.skeleton.modelled or used in _MODELLED,
            engine=outcome,
            calibration=None if own_cost is None else own_cost.figures,
            monitor=sample(*self.measured, self._devices()) if self.measured else {},
            hosts=hosts,
        )
        if status == "complete":
            finished = replace(finished, ended=self._ended(outcome))
        return verified(conclude(finished, self.summary, self.observation))

    def _ended(self, outcome: EngineOutcome) -> Ended:
        if outcome.get("stopped_by") == "amount" and not self.ended_by_goal:
            # The streams had an end of their own, which came before goal and duration.
            if (outcome.get("files") or {}).get("ran_out"):
                return {"by": "amount", "how": f"nothing was left to do after {significant(self.observation.elapsed_s)} s"}
            return {"by": "amount", "how": f"every stream had done its amount after {significant(self.observation.elapsed_s)} s"}
        return self.skeleton.ended if self.pursuit is None else self.pursuit.ended()

    def _interval(self, event: Interval) -> None:
        if self.pursuit is not None:
            event["phase"] = self.pursuit.phase_of(event)
        self.sink.interval(event)
        self.summary.add(event)
        self.observation.add(event)
        if event["phase"] == "measure":
            self._follow_measured_phase(event)
        # Who was stopped by a signal before stays interrupted.
        if self.pursuit is not None and self.pursuit.reached and not self.control.stopped:
            self.ended_by_goal = True
            self.control.stop()

    def _tick(self, event: Json) -> None:
        snapshot = event.pop("snapshot", None)
        if snapshot is None or not self.snapshots:
            return
        before = self.snapshots[-1][1]
        end_ns = event["monotonic_ns"] - self.start_ns
        self._keep(end_ns, snapshot)
        self.sink.monitor({"index": event["index"], "end_ns": end_ns, **sample(before, snapshot, self._devices())})

    def _keep(self, offset_ns: int, snapshot: Snapshot | None) -> None:
        if snapshot is not None:
            self.snapshots.append((offset_ns, snapshot))

    def _follow_measured_phase(self, interval: Interval) -> None:
        """Keep the two snapshots that lie nearest to the ends of the measured phase so far."""
        if self.snapshots:
            first = self.measured[0] if self.measured else self._nearest(interval["start_ns"])
            self.measured = (first, self._nearest(interval["end_ns"]))
            self.measured_to_ns = interval["end_ns"]

    def _end(self, snapshot: Snapshot) -> None:
        """The job is over: what was counted then belongs to the measured phase where no tick lies nearer to its end, or none at all."""
        self._keep(snapshot.monotonic_ns - self.start_ns, snapshot)
        if self.measured is not None:
            first, last = self.measured[0], self._nearest(self.measured_to_ns)
            self.measured = (first, snapshot if last is first else last)

    def _nearest(self, offset_ns: int) -> Snapshot:
        return min(self.snapshots, key=lambda kept: abs(kept[0] - offset_ns))[1]

    def _devices(self) -> list[str]:
        return monitored_devices(self.skeleton.host.get("target") or {})


def _ending(outcome: EngineOutcome, failure: PlimsollError | None, *, ended_by_goal: bool) -> tuple[Status, str | None]:
    """How the job ended, and the sentence when it did not end well."""
    if failure is not None:
        return "failed", str(failure)
    stopped_by = outcome.get("stopped_by")
    # The engine knows one way of being told to stop; that of the goal is no interruption.
    if stopped_by == "signal" and not ended_by_goal:
        return "interrupted", _STOPPED
    if stopped_by == "error":
        return "failed", _told_error(outcome)
    return "complete", None


def _told_error(outcome: EngineOutcome) -> str:
    """The first error; of a modelled array what it lost, since no device or kernel had a part in it."""
    from plimsoll.analysis.point.array import lost

    first, cause = outcome.get("first_error"), lost(outcome)
    if cause and isinstance(first, dict) and "op" in first and "offset" in first:
        return f"{first['op']} at byte {first['offset']} failed with {first.get('errno')}: {cause}"
    return _first_error(outcome)


def _first_error(outcome: EngineOutcome) -> str:
    first = outcome.get("first_error")
    if isinstance(first, dict):
        first = first.get("message") or ", ".join(f"{key} {value}" for key, value in first.items())
    return str(first or "The engine stopped at an error that it did not name.")
