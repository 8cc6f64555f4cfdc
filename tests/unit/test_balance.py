"""Modelled arrays are measured when their write caches are in balance, or say that they were not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from plimsoll import calibration
from plimsoll.analysis.point.offered_load import elapsed
from plimsoll.engine.block import native
from plimsoll.experiments.document import TYPED, read_experiments
from plimsoll.experiments.schedule import schedule
from plimsoll.measure import Job, measure
from plimsoll.own_cost import OwnCost
from plimsoll.points import balance
from plimsoll.points.arguments import Arguments
from plimsoll.points.balance import MEASURED_S, balanced
from plimsoll.points.experiment_points import ExperimentPoints
from plimsoll.points.goals import goal_of
from plimsoll.points.options import complete
from plimsoll.points.point import PlannedPoint
from plimsoll.points.suites import suite_of
from plimsoll.result import Flag, Result
from plimsoll.target import target_of

Json = dict[str, Any]

MSA50 = "array:msa50-sas-10k-{}-10"
#: What `suite hp-iometer` in its full form finds at queue depth 64 of hp-sas-oltp-8k: 60 s after 10 s of warm-up.
IN_BALANCE = {"raid0": 2539.0, "raid6": 1106.0}


class Nowhere:
    """A sink that keeps nothing."""

    def interval(self, interval: Json) -> None: ...

    def monitor(self, sample: Json) -> None: ...


@pytest.fixture(autouse=True)
def calibrated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calibration, "load", lambda: OwnCost({"null": {"iops_per_core": 40e6}}))


def planned(target: str, timing: Json, **options: Any) -> PlannedPoint:
    """A point of one stream on an array; ``timing`` is the user's choice."""
    engine = native()
    workload = engine.check_workload({"name": "w", "stream": [{"name": "main", **options}]}, "w.toml")
    job = engine.check_job({"duration": "1s", "warmup": "200ms", "seed": 1, **timing})
    return PlannedPoint(workload, job, target_of(target), chosen=frozenset(timing))


def oltp(level: str, timing: Json | None = None) -> PlannedPoint:
    """Small random requests of which a third are writes, 64 at a time."""
    options = {"block_size": "8KiB", "read_percent": 67, "random_percent": 100, "queue_depth": 64}
    return planned(MSA50.format(level), timing or {}, **options)


def measured(point: PlannedPoint) -> Result:
    engine = native()
    goal = goal_of(point, {"size_bytes": 1 << 40})
    job = Job("1", point.workload, point.options, point.target, {"target": {"kind": "array"}}, goal=goal)
    return measure(job, engine, Nowhere(), engine.control())


def settled(point: PlannedPoint) -> PlannedPoint:
    engine = native()
    return balanced(point, engine, engine.control())


def rate(result: Result) -> float:
    return sum(total.iops for total in result.totals.values())


def filling(result: Result) -> Flag | None:
    return next((flag for flag in result.flags if flag.name == "cache_filling"), None)


@pytest.mark.parametrize("level", IN_BALANCE)
def test_a_quick_point_of_an_array_gives_what_the_long_one_does(level: str) -> None:
    found = measured(settled(oltp(level)))
    assert rate(found) == pytest.approx(IN_BALANCE[level], rel=0.03)
    assert filling(found) is None


def test_a_write_cache_that_fills_while_it_is_measured_is_flagged_with_how_far_and_what_helps() -> None:
    found = measured(oltp("raid6", {"duration": "1s", "warmup": "200ms"}))
    assert rate(found) > 2 * IN_BALANCE["raid6"], "writes cost nothing yet"
    flag = filling(found)
    assert flag is not None and flag.severity == "doubt"
    assert "The write cache filled from" in flag.message and "--warmup" in flag.advice


def test_the_flag_of_a_filling_cache_names_a_warm_up_that_suffices() -> None:
    flag = filling(measured(oltp("raid6", {"duration": "2s", "warmup": "200ms"})))
    assert flag is not None
    enough = flag.advice.rpartition("--warmup ")[2].rstrip(".")
    found = measured(oltp("raid6", {"duration": "60s", "warmup": enough}))
    assert filling(found) is None
    assert rate(found) == pytest.approx(IN_BALANCE["raid6"], rel=0.03)


def test_times_that_were_chosen_stay() -> None:
    chosen = oltp("raid6", {"duration": "1s", "warmup": "200ms"})
    assert settled(chosen) == chosen
    one = settled(oltp("raid6", {"warmup": "200ms"}))
    assert one.options["warmup"] == 0.2 and one.least_s >= MEASURED_S


def test_a_load_that_writes_nothing_keeps_its_warm_up_and_is_measured_for_a_minute() -> None:
    point = settled(planned(MSA50.format("raid6"), {}, queue_depth=16))
    assert (point.options["warmup"], point.least_s) == (0.2, MEASURED_S)
    found = measured(point)
    assert found.ended["by"] == "precision" and "goal" not in found.ended
    assert elapsed(found) == pytest.approx(MEASURED_S, abs=1.0)


def test_a_point_of_an_array_goes_on_until_its_latency_is_known_and_steady() -> None:
    # The host of this array keeps what was read: for minutes each second is faster than the one before.
    options = {"block_size": "32KiB", "random_percent": 100, "queue_depth": 8, "region_length": "512MiB"}
    found = measured(settled(planned("array:dl580-local", {}, **options)))
    mean = found.estimates["read"]["mean"]
    assert found.ended["by"] == "precision" and found.ended["settled_s"] > 30.0
    assert mean.low is not None and mean.high is not None and mean.high - mean.low <= 2 * 0.02 * mean.value
    assert not {flag.name for flag in found.flags} & {"not_steady", "warmup_too_short", "precision_not_reached"}


def test_a_precision_that_was_asked_for_stays_and_may_be_missed() -> None:
    point = replace(planned(MSA50.format("raid6"), {}, queue_depth=16), precision="0.001%")
    found = settled(point)
    assert (found.precision, found.decides_itself) == ("0.001%", False)
    assert found.options["duration"] > found.least_s


def test_a_fast_array_is_not_measured_for_longer_than_its_requests_are_worth() -> None:
    point = settled(planned("array:nvme", {}, queue_depth=32))
    assert 1.0 <= point.least_s < 3.0 and point.options["duration"] < 10.0


def test_pages_that_are_written_again_and_again_are_in_balance_without_being_destaged() -> None:
    # 16 MiB of a cache that begins to write out at 96 MiB.
    point = planned(MSA50.format("raid6"), {}, block_size="8KiB", read_percent=0, queue_depth=4, region_length="16MiB")
    found = settled(point)
    assert 1.0 < found.options["warmup"] < 200.0
    assert filling(measured(found)) is None


def test_a_cache_that_a_slow_load_fills_for_longer_than_a_point_lasts_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    # 100 writes a second of pages of 16 KiB fill 96 MiB in about a minute.
    slow = {"block_size": "8KiB", "read_percent": 0, "arrival": "poisson", "rate": 100, "queue_depth": 512}
    known = settled(planned(MSA50.format("raid10"), {}, **slow))
    monkeypatch.setattr(balance, "LIMIT_S", 20.0)
    found = settled(planned(MSA50.format("raid10"), {}, **slow))
    # The later look is at intervals of ten seconds.
    assert known.options["warmup"] > 1.5 * 20.0
    assert known.options["warmup"] <= found.options["warmup"] <= known.options["warmup"] + 1.5 * 10.0 + 1.0
    assert filling(measured(replace(found, options={**found.options, "duration": 60.0}))) is None


@pytest.mark.parametrize("timed", [{"amount": "1MiB"}, {"start_after": "1s"}, {"end_after": "1s"}, {"requests": 100}])
def test_loads_that_go_by_the_clock_of_the_job_are_left_alone(timed: Json) -> None:
    point = planned(MSA50.format("raid6"), {}, read_percent=0, **timed)
    assert settled(point) == point


@pytest.mark.parametrize("target", [MSA50.format("raid6") + "?fail=0@5s", "queue:", "null:"])
def test_targets_without_a_balance_are_left_alone(target: str) -> None:
    point = planned(target, {}, read_percent=0)
    assert settled(point) == point


def chosen_in(points: ExperimentPoints, experiment: Any) -> frozenset[str]:
    return points.point(next(schedule(experiment))).chosen & {"duration", "warmup"}


def test_times_of_a_file_are_the_users_and_those_of_a_shipped_suite_are_ours() -> None:
    document = {"experiment": [{"name": "e", "kind": "single", "workloads": ["oltp-db"], "set": {"duration": "3s"}}]}
    (own,) = read_experiments(document, TYPED, targets=["array:nvme"]).experiments
    assert chosen_in(ExperimentPoints(own, native()), own) == {"duration"}
    for typed, expected in (({}, set[str]()), ({"warmup": "5s"}, {"warmup"}), ({"settings": ("duration=7s",)}, {"duration"})):
        asked = suite_of("hp-iometer", Arguments.of(complete({"targets": ("array:nvme",), **typed})), print, quick=True)
        experiment = replace(asked.suite.experiments[0], workloads=("hp-sas-oltp-8k",))
        assert chosen_in(ExperimentPoints(experiment, native(), typed=asked.typed_settings), experiment) == expected
