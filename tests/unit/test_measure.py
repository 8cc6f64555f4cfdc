"""One job to one result, over a scripted engine."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from plimsoll import calibration
from plimsoll.analysis.point.estimates import estimates
from plimsoll.analysis.point.stopping_rule import Amount, Goal, Precision
from plimsoll.analysis.point.summary import Summary
from plimsoll.engine.block import native
from plimsoll.errors import EngineError, InputError, SafetyRefusal, StoreError, TargetError
from plimsoll.foreground import served
from plimsoll.measure import Job, measure, unfinished
from plimsoll.monitor.sampler import Sampler
from plimsoll.own_cost import OwnCost
from plimsoll.target import Target
from support.said import Plimsoll
from support.scripted_engine import Script, ScriptedEngine


@dataclass
class Kept:
    """A sink that keeps everything, and may fail."""

    intervals: list[dict[str, Any]] = field(default_factory=list)
    samples: list[dict[str, Any]] = field(default_factory=list)
    fails_at: int | None = None

    def interval(self, interval: dict[str, Any]) -> None:
        if len(self.intervals) == self.fails_at:
            raise StoreError("intervals.jsonl: cannot be written.")
        self.intervals.append(interval)

    def monitor(self, sample: dict[str, Any]) -> None:
        self.samples.append(sample)


def job(engine: ScriptedEngine, stream: dict[str, Any] | None = None, **host: Any) -> Job:
    workload = engine.check_workload({"title": "Small", "stream": [{"name": "main", **(stream or {})}]}, "small.toml")
    return Job("0001-small", workload, engine.check_job({"duration": 1, "warmup": 0.2, "seed": 7}), Target("file:/x"), {"target": host})


def test_every_interval_reaches_the_sink_as_it_came(here: Path) -> None:
    engine, sink = ScriptedEngine(Script(intervals=10, warmup_intervals=2)), Kept()
    result = measure(job(engine), engine, sink, engine.control())
    assert [interval["index"] for interval in sink.intervals] == list(range(12))
    assert result.status == "complete" and result.error is None
    assert result.totals["read"].count == 1000


def test_the_engine_is_given_the_job_as_asked(here: Path) -> None:
    engine = ScriptedEngine()
    plain = job(engine, {"queue_depth": 4})
    measure(plain, engine, Kept(), engine.control())
    assert engine.jobs == [{"workload": plain.workload, "job": plain.options, "target": "file:/x", "permission": None}]


def test_the_record_says_what_was_asked(here: Path) -> None:
    engine = ScriptedEngine()
    record = measure(job(engine, {"queue_depth": 8, "threads": 2}), engine, Kept(), engine.control()).job
    assert (record.workload, record.title, record.target, record.seed) == ("small", "Small", "file:/x", 7)
    assert (record.duration_s, record.warmup_s, record.threads, record.queue_depth, record.arrival) == (1.0, 0.2, 2, 8, "closed")


def test_an_open_loop_says_what_it_offered(here: Path) -> None:
    engine = ScriptedEngine()
    result = measure(job(engine, {"arrival": "poisson", "rate": "20k"}), engine, Kept(), engine.control())
    assert (result.job.arrival, result.offered_per_s) == ("open", 20_000.0)


def test_host_counters_are_sampled_at_every_tick(here: Path) -> None:
    engine, sink = ScriptedEngine(Script(intervals=3, warmup_intervals=0)), Kept()
    result = measure(job(engine), engine, sink, engine.control())
    assert [sample["index"] for sample in sink.samples] == [0, 1, 2]
    assert [sample["end_ns"] for sample in sink.samples] == [100_000_000, 200_000_000, 300_000_000]
    assert result.monitor["seconds"] > 0


class EndsWithinAnInterval(ScriptedEngine):
    """Its amount is done before the first interval ends, so that there is no tick but the first."""

    def run_job(self, job: Any, on_event: Any, control: Any) -> Any:
        def without_ticks(kind: str, event: Any) -> None:
            if kind != "tick":
                on_event(kind, event)

        return super().run_job(job, without_ticks, control)


def test_a_job_that_ends_within_an_interval_has_what_the_host_did_meanwhile(here: Path) -> None:
    engine, sink = EndsWithinAnInterval(Script(intervals=1, warmup_intervals=0)), Kept()
    result = measure(job(engine), engine, sink, engine.control())
    assert result.monitor["seconds"] > 0


def test_samples_are_plain_data(here: Path) -> None:
    engine, sink = ScriptedEngine(), Kept()
    measure(job(engine), engine, sink, engine.control())
    assert json.loads(json.dumps(sink.samples)) == sink.samples
    assert json.loads(json.dumps(sink.intervals)) == sink.intervals


def test_a_model_is_not_compared_with_this_host(here: Path) -> None:
    engine, sink = ScriptedEngine(), Kept()
    result = measure(job(engine, kind="queue"), engine, sink, engine.control())
    assert result.modelled and sink.samples == [] and result.monitor == {}


def test_a_stop_keeps_everything_measured(here: Path) -> None:
    engine = ScriptedEngine(Script(intervals=10, warmup_intervals=0))
    control = engine.control()
    engine.scripts[0].on_interval = lambda index: control.stop() if index == 4 else None
    result = measure(job(engine), engine, Kept(), control)
    assert result.status == "interrupted"
    assert result.totals["read"].count == 500
    assert "interrupted" in {flag.name for flag in result.flags}


@pytest.mark.parametrize("error", [TargetError("/x: device gone."), EngineError("the ring broke.")])
def test_a_failure_is_a_result_with_what_came_before(here: Path, error: Exception) -> None:
    engine = ScriptedEngine(Script(warmup_intervals=0, raises=error, raises_at=3))
    result = measure(job(engine), engine, Kept(), engine.control())
    assert (result.status, result.error) == ("failed", str(error))
    assert result.totals["read"].count == 300


def test_an_engine_that_stops_at_an_error_names_it(here: Path) -> None:
    engine = ScriptedEngine(Script(outcome={"stopped_by": "error", "first_error": "read at 4096: EIO"}))
    result = measure(job(engine), engine, Kept(), engine.control())
    assert (result.status, result.error) == ("failed", "read at 4096: EIO")


@pytest.mark.parametrize("refusal", [InputError("region is too long."), SafetyRefusal("/dev/sdb is mounted.")])
def test_a_refusal_is_raised_because_nothing_was_touched(here: Path, refusal: Exception) -> None:
    engine = ScriptedEngine(Script(raises=refusal))
    with pytest.raises(type(refusal), match=str(refusal)):
        measure(job(engine), engine, Kept(), engine.control())


def test_a_failing_sink_aborts_the_job_and_is_heard(here: Path) -> None:
    engine = ScriptedEngine(Script(intervals=50))
    control = engine.control()
    with pytest.raises(StoreError, match="intervals"):
        measure(job(engine), engine, Kept(fails_at=2), control)
    assert control.aborted


def test_a_mistake_of_ours_is_not_hidden_in_a_result(here: Path) -> None:
    engine = ScriptedEngine(Script(raises=ZeroDivisionError()))  # type: ignore[arg-type]
    with pytest.raises(ZeroDivisionError):
        measure(job(engine), engine, Kept(), engine.control())


def test_own_cost_is_calibrated_once_after_the_first_point_and_remembered(here: Path) -> None:
    engine = ScriptedEngine()
    first = measure(job(engine), engine, Kept(), engine.control())
    second = measure(job(engine), engine, Kept(), engine.control())
    assert engine.calibrations == [calibration.QUICK_SECONDS]
    assert first.calibration == second.calibration == remembered()
    assert first.calibration is not None and first.calibration["nop"]["iops_per_core"] == 10e6


def test_a_damaged_calibration_is_made_anew(here: Path) -> None:
    path = Path(calibration.cache_path())
    path.parent.mkdir(parents=True)
    path.write_text("{")
    assert calibration.load() is None
    path.write_text('{"schema": "plimsoll.calibration/0"}')
    assert calibration.load() is None


#: What a machine that had no time left behind: nothing completed in the share of one part.
NOTHING = {"iops_per_core": 0.0, "ns_per_io": None, "qd1": {"iops_per_core": 0.0, "user_ns": 36000.0, "system_ns": 0.0}}
SOUND = {"iops_per_core": 40e6, "ns_per_io": 25.0, "qd1": {"iops_per_core": 40e6, "user_ns": 25.0, "system_ns": 0.0}}
SLOW = {"iops_per_core": 9_000.0}


def remembered() -> dict[str, Any] | None:
    cost = calibration.load()
    return None if cost is None else cost.figures


def busy(engine: ScriptedEngine, *figures: dict[str, Any]) -> ScriptedEngine:
    """An engine whose calibrations come to these, the last one for ever."""
    left = list(figures)

    def calibrate(seconds: float) -> OwnCost:
        engine.calibrations.append(seconds)
        return OwnCost(left.pop(0) if len(left) > 1 else left[0])

    engine.calibrate = calibrate  # type: ignore[method-assign]
    return engine


@pytest.mark.parametrize(
    "figures",
    [
        {"null": NOTHING, "nop": SOUND},
        {"null": SOUND, "nop": NOTHING},
        {"null": SOUND, "nop": {**SOUND, "qd128": NOTHING["qd1"]}},
        {"null": SLOW, "nop": None},
        {"null": {"iops_per_core": None}, "nop": None},
        {"null": {"iops_per_core": "many"}, "nop": None},
        {"nop": SOUND},
        {},
    ],
)
def test_a_calibration_that_measured_nothing_sensible_is_never_remembered_nor_taken(here: Path, figures: dict[str, Any]) -> None:
    engine = busy(ScriptedEngine(), figures)
    point = measure(job(engine), engine, Kept(), engine.control())
    assert point.calibration is None and not Path(calibration.cache_path()).exists()
    assert engine.calibrations == [calibration.QUICK_SECONDS * times for times in (1, 2, 4)]
    # One that an earlier version remembered.
    calibration.remember(OwnCost(figures))
    assert calibration.load() is None


def test_a_calibration_is_tried_again_until_it_measures_something(here: Path) -> None:
    engine = busy(ScriptedEngine(), {"null": NOTHING, "nop": None}, {"null": SOUND, "nop": None})
    point = measure(job(engine), engine, Kept(), engine.control())
    assert point.calibration is not None and point.calibration["null"] == SOUND
    assert remembered() == point.calibration and len(engine.calibrations) == 2


def test_calibrate_says_that_the_machine_is_too_busy(plimsoll: Plimsoll, engine: ScriptedEngine) -> None:
    busy(engine, {"null": NOTHING, "nop": NOTHING})
    said = plimsoll("calibrate", "--seconds", "0.1")
    assert said.code == 4 and not said.out
    assert said.err == (
        "plimsoll: what one I/O costs Plimsoll could not be measured: this machine has no processor time for it; "
        "calibrate when less else runs, or for longer (--seconds).\n"
    )
    calibration.remember(OwnCost({"null": NOTHING, "nop": NOTHING}))
    (check,) = [line for line in plimsoll("doctor").out.splitlines() if "own cost" in line]
    assert "has not been measured here" in check


def test_a_cache_that_cannot_be_written_costs_nothing_but_the_next_calibration(here: Path) -> None:
    (here / "cache").write_text("a file")
    assert calibration.save(OwnCost({"nop": {}})).figures["nop"] == {}
    assert calibration.load() is None


def test_what_a_killed_process_leaves_is_a_complete_record(here: Path) -> None:
    skeleton = unfinished(job(ScriptedEngine()))
    assert skeleton.status == "incomplete" and skeleton.error is not None
    assert skeleton.totals == {} and skeleton.job.workload == "small"


def test_events_arrive_in_order_in_the_calling_thread() -> None:
    import threading

    seen: list[tuple[str, bool]] = []

    def verb(push: Any) -> str:
        for number in range(5):
            push(str(number), {})
        return "done"

    value, failure = served(
        verb, lambda kind, _: seen.append((kind, threading.current_thread() is threading.main_thread())), give_up=lambda: None
    )
    assert (value, failure) == ("done", None)
    assert seen == [(str(number), True) for number in range(5)]


def test_a_goal_ends_the_point_without_interrupting_it(here: Path) -> None:
    engine, sink = ScriptedEngine(Script(intervals=200, warmup_intervals=2)), Kept()
    # 100 requests of 4 KiB an interval: the fifth completes the amount.
    result = measure(replace(job(engine), goal=Amount(450 * 4096)), engine, sink, engine.control())
    assert (result.status, result.error) == ("complete", None)
    assert result.ended["by"] == "amount" and result.totals["read"].count == 500
    assert "interrupted" not in {flag.name for flag in result.flags}
    assert [one["phase"] for one in sink.intervals[:8]] == ["warmup"] * 2 + ["measure"] * 5 + ["after"] * (len(sink.intervals) - 7 > 0)
    assert result.calibration is not None, "own cost is calibrated as after any complete point"


def test_a_goal_decides_at_the_same_interval_however_far_the_engine_ran_ahead(here: Path) -> None:
    engine = native()
    workload = engine.check_workload({"stream": [{"name": "main", "arrival": "poisson", "rate": 500, "queue_depth": 4096}]}, "q.toml")
    options = engine.check_job({"duration": 3000, "warmup": 0, "seed": 5, "interval": "1s"})
    point = Job("1", workload, options, Target("queue:?service=exp:1ms"), {"target": {"kind": "queue"}}, goal=Precision(0.05))
    sinks = [Kept(), Kept()]
    one, other = (measure(point, engine, sink, engine.control()) for sink in sinks)
    assert one.ended == other.ended and one.ended["by"] == "precision"
    assert (one.totals, one.estimates, one.flags) == (other.totals, other.estimates, other.flags)
    decided = [[interval["phase"] for interval in sink.intervals if interval["phase"] != "after"] for sink in sinks]
    assert decided[0] == decided[1]
    mean = one.estimates["all"]["mean"]
    assert mean.low is not None and mean.high is not None
    assert (mean.high - mean.low) / 2 <= 0.05 * mean.value


def test_stored_intervals_carry_the_phase_that_they_counted_to(here: Path) -> None:
    engine, sink = ScriptedEngine(Script(intervals=60, warmup_intervals=2)), Kept()
    point = replace(job(engine), goal=Precision(0.02, metric="iops"), options={**job(engine).options, "duration": 6.0})
    result = measure(point, engine, sink, engine.control())
    assert [one["phase"] for one in sink.intervals[:8]] == ["warmup"] * 7 + ["measure"]
    # What a reader makes of them after a kill.
    again = Summary()
    for one in sink.intervals:
        again.add(one)
    assert again.totals() == result.totals and estimates(again.batches, again.totals()) == result.estimates


@pytest.mark.parametrize("goal", [None, Amount(1 << 40)])
@pytest.mark.parametrize("ending", [{"requests": 500}, {"amount": "1MiB"}])
def test_streams_that_end_by_themselves_end_the_point_by_amount(here: Path, ending: dict[str, Any], goal: Goal | None) -> None:
    engine, sink = native(), Kept()
    workload = engine.check_workload({"stream": [{"name": "main", "block_size": "4KiB", **ending}]}, "q.toml")
    options = engine.check_job({"duration": 1000, "warmup": 0})
    point = Job("1", workload, options, Target("queue:?service=const:1ms"), {"target": {"kind": "queue"}}, goal=goal)
    result = measure(point, engine, sink, engine.control())
    seconds = {"requests": "0.5", "amount": "0.256"}[next(iter(ending))]  # one server takes 1 ms for each
    assert (result.status, result.ended["by"]) == ("complete", "amount")
    assert result.ended["how"] == f"every stream had done its amount after {seconds} s"
    assert not {"precision_not_reached", "amount_not_reached", "interrupted"} & {flag.name for flag in result.flags}


def test_a_stream_that_ends_beside_one_that_goes_on_leaves_the_duration(here: Path) -> None:
    engine = native()
    workload = engine.check_workload({"stream": [{"name": "short", "requests": 5}, {"name": "endless"}]}, "q.toml")
    options = engine.check_job({"duration": 2, "warmup": 0})
    point = Job("1", workload, options, Target("queue:?service=const:1ms"), {"target": {"kind": "queue"}})
    assert measure(point, engine, Kept(), engine.control()).ended == {"by": "duration", "how": ""}


def test_a_limit_before_the_goal_is_doubted(here: Path) -> None:
    engine = ScriptedEngine(Script(intervals=10, warmup_intervals=0))
    result = measure(replace(job(engine), goal=Precision(0.02)), engine, Kept(), engine.control())
    assert (result.status, result.ended["by"]) == ("complete", "limit")
    assert "precision_not_reached" in {flag.name for flag in result.flags}


def test_a_signal_before_the_goal_still_interrupts(here: Path) -> None:
    engine = ScriptedEngine(Script(intervals=100, warmup_intervals=0))
    control = engine.control()
    engine.scripts[0].on_interval = lambda index: control.stop() if index == 3 else None
    result = measure(replace(job(engine), goal=Amount(1 << 30)), engine, Kept(), control)
    assert result.status == "interrupted" and result.ended == {"by": "duration", "how": ""}


def test_a_failure_is_a_failure_with_a_goal_too(here: Path) -> None:
    engine = ScriptedEngine(Script(warmup_intervals=0, raises=TargetError("/x: device gone."), raises_at=3))
    result = measure(replace(job(engine), goal=Amount(1 << 30)), engine, Kept(), engine.control())
    assert (result.status, result.ended["by"]) == ("failed", "duration")


def test_a_point_without_a_goal_ends_by_its_duration(here: Path) -> None:
    engine = ScriptedEngine()
    assert measure(job(engine), engine, Kept(), engine.control()).ended == {"by": "duration", "how": ""}


class _WithServers:
    """An engine with servers of its own, which it tells before it starts."""

    def __init__(self, engine: ScriptedEngine, pids: list[int]) -> None:
        self._engine, self._pids = engine, pids

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)

    def run_job(self, job: Any, on_event: Any, control: Any) -> Any:
        on_event("servers", {"pids": self._pids})
        return self._engine.run_job(job, on_event, control)


def test_servers_that_a_load_names_are_part_of_it_before_its_first_sample(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[Any] = []
    include, snapshot = Sampler.include, Sampler.snapshot
    monkeypatch.setattr(Sampler, "include", lambda self, pids: (heard.append(list(pids)), include(self, pids))[1])
    monkeypatch.setattr(Sampler, "snapshot", lambda self: (heard.append("snapshot"), snapshot(self))[1])
    engine = _WithServers(ScriptedEngine(Script(intervals=3, warmup_intervals=0)), [1])
    result = measure(job(engine), engine, Kept(), engine.control())  # type: ignore[arg-type]
    # At the start, at each of three ticks, and when the job has returned.
    assert heard == [[1], *["snapshot"] * 5]
    assert result.status == "complete"
