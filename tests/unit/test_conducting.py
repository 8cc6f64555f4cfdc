"""The conductor: what it asks of the targets, what it stores, what it hands to a planner. Scripted engine, scripted feeds."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from plimsoll.errors import InputError, StoreError, TargetError
from plimsoll.experiments.experiment import Experiment
from plimsoll.experiments.plan import Ask, Configuration, Request, Subject
from plimsoll.points.experiment_points import ExperimentPoints
from plimsoll.points.listener import Listener
from plimsoll.points.loop import Feed, conduct
from plimsoll.points.outcome import Outcome
from plimsoll.points.point import PlannedPoint
from plimsoll.points.setup import Setup
from plimsoll.result import Result
from plimsoll.store.reader import open_run
from plimsoll.store.resumption import resume_run
from plimsoll.store.writer import PointWriter, RunInfo, RunWriter
from plimsoll.target import Target
from support.said import Plimsoll
from support.scripted_engine import Script, ScriptedEngine

TWO_STREAMS = """
[[stream]]
name = "data"
block_size = "8KiB"

[[stream]]
name = "log"
block_size = "64KiB"
"""


class Silence:
    """`Progress` that remembers what it was told."""

    def __init__(self) -> None:
        self.begun: list[tuple[int, int | None]] = []

    def silent(self, silence: dict[str, Any]) -> None: ...

    def preparing(self, target: str, done_bytes: int, total_bytes: int) -> None:
        pass

    def laying(self, layout: str, what: str, step: int, steps: int) -> None:
        pass

    def begin(self, place: int, total: int | None, skeleton: Result) -> None:
        self.begun.append((place, total))

    def interval(self, interval: dict[str, Any]) -> None:
        pass

    def end(self, result: Result) -> None:
        pass

    def close(self) -> None:
        pass


def in_order(points: Iterable[PlannedPoint]) -> Feed:
    """A feed of points that no result changes."""
    for point in points:  # noqa: UP028 (a list takes no results, so it cannot be delegated to)
        yield point
    return ()


def carried_out(engine: ScriptedEngine, feed: Feed, **changes: Any) -> tuple[Outcome, RunWriter]:
    run = RunWriter.create("results", RunInfo("x", ["plimsoll"], None, host={}, versions={}))
    return conduct(feed, Setup(engine, run, Listener(changes.pop("progress", Silence())), host={}, **changes)), run


def planned(engine: ScriptedEngine, target: str = "null:", **changes: Any) -> PlannedPoint:
    workload = engine.check_workload({"stream": [{"name": "main"}]}, "small.toml")
    return PlannedPoint(workload, engine.check_job({"duration": 1, "warmup": 0}), Target(target), **changes)


def experiment(**changes: Any) -> Experiment:
    configurations = (Configuration("null:", "null:"),)
    return Experiment(**{"name": "e", "kind": "single", "workloads": ("two.toml",), "configurations": configurations, **changes})


def asked(engine: ScriptedEngine, here: Path, ask: Ask, **changes: Any) -> PlannedPoint:
    """The point for ``ask`` on a workload of two streams."""
    (here / "two.toml").write_text(TWO_STREAMS)
    one = experiment(**changes)
    return ExperimentPoints(one, engine).point(Request("e", one.kind, Subject("two.toml", one.configurations[0]), ask))


def streams(point: PlannedPoint) -> dict[str, dict[str, Any]]:
    return {stream["name"]: stream for stream in point.workload["stream"]}


def test_without_a_target_each_workload_has_what_its_driver_needs(engine: ScriptedEngine, here: Path) -> None:
    (here / "two.toml").write_text(TWO_STREAMS)
    (here / "trees.toml").write_text('driver = "files"\n[[tree]]\nfiles = 2\nsizes = "4KiB"\n[[stream]]\noperation = "read"\n')
    both = experiment(workloads=("two.toml", "trees.toml"), configurations=(Configuration("scratch file", ""),))
    assert [target.text for _, target in ExperimentPoints(both, engine).applied()] == ["./plimsoll-scratch.dat", "./plimsoll-scratch.files"]


def test_targets_are_prepared_once_and_stand_beside_each_other_until_the_end(engine: ScriptedEngine, here: Path) -> None:
    paths = [here / "a.dat", here / "b.dat"]
    seen: list[bool] = []
    engine.scripts[0].on_interval = lambda index: seen.append(all(path.exists() for path in paths))
    a, b = (planned(engine, str(path)) for path in paths)
    carried_out(engine, in_order([a, b, a, b]))
    assert [spec for spec, _, _ in engine.prepared] == [str(path) for path in paths]
    # Both exist from the second point on: 3 points of 12 intervals each.
    assert seen.count(True) == 36
    assert not any(path.exists() for path in paths)


def test_kept_targets_stay(engine: ScriptedEngine, here: Path) -> None:
    carried_out(engine, in_order([planned(engine, str(here / "a.dat"))]), keep=True)
    assert (here / "a.dat").exists()


def test_a_target_that_cannot_be_prepared_is_tried_once_and_fails_each_of_its_points(engine: ScriptedEngine, here: Path) -> None:
    engine.prepare_raises = TargetError("/x: there is not enough space; 4 GiB are needed.")
    outcome, run = carried_out(engine, in_order([planned(engine)] * 3))
    assert len(engine.prepared) == 1
    assert [result.error for result in outcome.results] == ["/x: there is not enough space; 4 GiB are needed."] * 3
    assert (outcome.exit_code, open_run(run.path).status) == (4, "failed")


def test_a_point_that_wants_another_size_has_its_target_prepared_anew(engine: ScriptedEngine, here: Path) -> None:
    point = planned(engine)
    small, large = ({**point.options, "size": size} for size in (1 << 20, 1 << 21))
    carried_out(engine, in_order([PlannedPoint(point.workload, options, Target("null:")) for options in (small, small, large)]))
    assert [size for _, size, _ in engine.prepared] == [1 << 20, 1 << 21]


def test_a_feed_hears_of_every_result_also_of_failures(engine: ScriptedEngine, here: Path) -> None:
    engine.scripts = [Script(), Script(raises=TargetError("gone."), raises_at=2), Script()]
    heard: list[str] = []

    def feed() -> Feed:
        for _ in range(3):
            result = yield planned(engine)
            heard.extend([result.status])
        return ()

    outcome, _ = carried_out(engine, feed())
    assert heard == ["complete", "failed", "complete"]
    assert outcome.exit_code == 4


def test_a_feed_that_names_nothing_is_a_complete_run(engine: ScriptedEngine, here: Path) -> None:
    outcome, run = carried_out(engine, in_order([]))
    assert (outcome.exit_code, open_run(run.path).status, engine.jobs) == (0, "complete", [])


def test_a_feed_that_breaks_leaves_a_failed_run(engine: ScriptedEngine, here: Path) -> None:
    def feed() -> Feed:
        yield planned(engine)
        raise RuntimeError("a mistake of ours")

    run = RunWriter.create("results", RunInfo("x", ["plimsoll"], None, host={}, versions={}))
    with pytest.raises(RuntimeError):
        conduct(feed(), Setup(engine, run, Listener(Silence()), host={}))
    assert open_run(run.path).status == "failed"
    assert len(open_run(run.path).points) == 1


def test_a_store_that_fails_leaves_a_run_that_can_go_on(engine: ScriptedEngine, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = PointWriter.interval

    def interval(self: PointWriter, one: dict[str, Any]) -> None:
        if len(engine.jobs) == 2:
            raise StoreError("intervals.jsonl: cannot be written (no space left on device).")
        kept(self, one)

    monkeypatch.setattr(PointWriter, "interval", interval)
    run = RunWriter.create("results", RunInfo("x", ["plimsoll"], None, host={}, versions={}))
    with pytest.raises(StoreError, match="no space"):
        conduct(in_order([planned(engine)] * 3), Setup(engine, run, Listener(Silence()), host={}))
    assert open_run(run.path).status == "interrupted"
    _, results = resume_run(open_run(run.path))
    assert [result.status for result in results] == ["complete"]


@pytest.mark.parametrize(("gone", "jobs"), [(True, 2), (False, 1)])
def test_a_target_that_has_to_be_made_anew_is_preconditioned_anew(engine: ScriptedEngine, here: Path, gone: bool, jobs: int) -> None:
    point = planned(engine, "file:scratch.dat", place={"key": "fill", "role": "precondition"})
    first, _ = carried_out(engine, in_order([point]), keep=not gone)
    assert (here / "scratch.dat").exists() is not gone
    carried_out(engine, in_order([point]), stored=first.results)
    assert len(engine.jobs) == jobs


def test_progress_counts_points_and_knows_no_total_when_nobody_does(engine: ScriptedEngine, here: Path) -> None:
    progress = Silence()
    carried_out(engine, in_order([planned(engine)] * 2), progress=progress)
    assert progress.begun == [(1, None), (2, None)]


def test_stored_results_stand_for_measurements_place_by_place(engine: ScriptedEngine, here: Path) -> None:
    points = [planned(engine, place={"key": key}) for key in ("a", "b", "b")]
    first, _ = carried_out(engine, in_order(points[:2]))
    measured = len(engine.jobs)
    heard: list[Result] = []

    def feed() -> Feed:
        for point in points:
            heard.extend([(yield point)])
        return ()

    outcome, _ = carried_out(engine, feed(), stored=first.results)
    assert heard[:2] == first.results
    # The place that is asked for a second time has one stored result only.
    assert len(engine.jobs) == measured + 1
    assert outcome.results == heard


def test_the_place_and_the_cache_are_stored_with_the_point_from_its_beginning(engine: ScriptedEngine, here: Path) -> None:
    place = {"experiment": "e", "kind": "steps", "key": "k", "role": "point"}
    _, run = carried_out(engine, in_order([planned(engine, place=place)]))
    (point,) = open_run(run.path).points
    assert point.result.place == place
    assert point.result.cache == {"state": "as found", "how": "The target has no page cache."}
    (Path(point.path) / "result.json").unlink()
    assert open_run(run.path).points[0].result.place == place


def test_settings_of_experiment_configuration_and_ask_are_applied_in_this_order(engine: ScriptedEngine, here: Path) -> None:
    point = asked(
        engine,
        here,
        Ask({"queue_depth": 8}),
        settings={"queue_depth": 2, "read_percent": 50, "duration": "3s"},
        configurations=(Configuration("c", "null:", {"queue_depth": 4, "read_percent": 70}),),
    )
    assert {(stream["queue_depth"], stream["read_percent"]) for stream in point.workload["stream"]} == {(8, 70)}
    assert point.options["duration"] == 3


def test_the_target_is_set_like_an_option(engine: ScriptedEngine, here: Path) -> None:
    assert asked(engine, here, Ask({"target": "null:?size=1g"})).target.text == "null:?size=1g"


@pytest.mark.parametrize("zero", [0, 0.0, "0"])
def test_a_stream_at_level_zero_takes_no_part(engine: ScriptedEngine, here: Path, zero: Any) -> None:
    point = asked(engine, here, Ask({"log.queue_depth": zero, "data.queue_depth": 4}))
    assert list(streams(point)) == ["data"]
    assert streams(point)["data"]["queue_depth"] == 4


def test_a_later_level_brings_a_stream_back(engine: ScriptedEngine, here: Path) -> None:
    point = asked(engine, here, Ask({"log.queue_depth": 2}), settings={"log.queue_depth": 0})
    assert streams(point)["log"]["queue_depth"] == 2


def test_a_point_without_any_stream_is_refused_in_a_sentence(engine: ScriptedEngine, here: Path) -> None:
    point = asked(engine, here, Ask({"queue_depth": 0}))
    assert point.refusal is not None and "so there is nothing to measure" in point.refusal


def test_a_level_that_no_engine_takes_becomes_a_failed_point_that_the_planner_hears_of(engine: ScriptedEngine, here: Path) -> None:
    point = asked(engine, here, Ask({"queue_depth": 70_000}))
    outcome, _ = carried_out(engine, in_order([point]))
    (result,) = outcome.results
    assert result.status == "failed" and engine.jobs == []
    assert result.error == "queue_depth=70000: queue_depth: 70000 is out of range; write 1 to 65536"


def test_each_repeat_has_the_next_seed(engine: ScriptedEngine, here: Path) -> None:
    seeds = [asked(engine, here, Ask(repeat=repeat), settings={"seed": 40}).options["seed"] for repeat in (1, 2, 3)]
    assert seeds == [40, 41, 42]


def test_a_warm_cache_is_a_warm_up_as_long_as_the_measurement(engine: ScriptedEngine, here: Path) -> None:
    options = asked(engine, here, Ask(), cache="warm", settings={"duration": "7s", "warmup": "1s"}).options
    assert (options["warmup"], options["duration"]) == (7, 7)
    longer = asked(engine, here, Ask(), cache="warm", settings={"duration": "7s", "warmup": "9s"}).options
    assert longer["warmup"] == 9


def test_preconditioning_writes_the_whole_target_sequentially_whatever_the_workload_says(engine: ScriptedEngine, here: Path) -> None:
    point = asked(
        engine, here, Ask(role="precondition", amount=2.0), cache="warm", precision="2%", settings={"read_percent": 100, "size": "1MiB"}
    )
    (stream,) = point.workload["stream"]
    assert (stream["block_size"], stream["read_percent"], stream["random_percent"]) == (131072, 0, 0)
    assert stream.get("region_length") is None and stream["region_start"] == 0
    assert (point.amount, point.precision, point.cache, point.options["warmup"]) == (2.0, None, None, 0)
    assert point.options["size"] == 1 << 20


def test_an_amount_ends_a_point_when_that_multiple_of_the_target_is_written(engine: ScriptedEngine, here: Path) -> None:
    from plimsoll.analysis.point.stopping_rule import Amount
    from plimsoll.points.goals import goal_of

    point = asked(engine, here, Ask(role="precondition", amount=2.0))
    assert goal_of(point, {"size_bytes": 1000}) == Amount(2000)


def test_every_level_is_checked_before_anything_is_touched(engine: ScriptedEngine, here: Path) -> None:
    (here / "two.toml").write_text(TWO_STREAMS)
    levels = {"queue_depth": (1, 2, 70_000)}
    with pytest.raises(InputError, match="70000 is out of range"):
        ExperimentPoints(experiment(kind="steps", over=levels), engine).check()
    with pytest.raises(InputError, match="needs a rate"):
        ExperimentPoints(experiment(settings={"arrival": "poisson"}), engine).check()
    with pytest.raises(InputError, match="no stream is called 'lgo'"):
        ExperimentPoints(experiment(kind="steps", over={"lgo.queue_depth": (0, 1)}), engine).check()
    assert engine.prepared == []


def test_a_target_of_many_workloads_is_looked_at_once_when_they_are_checked(
    engine: ScriptedEngine, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / "two.toml").write_text(TWO_STREAMS)
    (here / "twin.toml").write_text(TWO_STREAMS)
    inspect, looked_at = engine.inspect_target, []
    monkeypatch.setattr(engine, "inspect_target", lambda target: looked_at.append(target.text) or inspect(target))
    points = ExperimentPoints(experiment(workloads=("two.toml", "twin.toml")), engine)
    points.check()
    assert looked_at == ["null:"]


def test_a_run_looks_at_its_target_once_while_it_is_planned_and_anew_before_it_is_measured(
    plimsoll: Plimsoll, engine: ScriptedEngine, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / "two.toml").write_text(TWO_STREAMS)
    (here / "disk").write_bytes(bytes(4096))
    inspect, happened = engine.inspect_target, []
    create = RunWriter.create
    monkeypatch.setattr(engine, "inspect_target", lambda target: happened.append("look") or inspect(target))
    monkeypatch.setattr(RunWriter, "create", lambda *words: happened.append("planned") or create(*words))
    assert plimsoll("run", "small.toml", "two.toml", "-t", "disk", "--over", "queue_depth=1,2").code == 0
    assert happened[:3] == ["look", "planned", "look"]


def test_settings_are_applied_once_in_a_run(
    plimsoll: Plimsoll, engine: ScriptedEngine, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_option, applied = engine.set_option, []
    monkeypatch.setattr(engine, "set_option", lambda *words: applied.append(words[2]) or set_option(*words))
    assert plimsoll("run", "small.toml", "-t", "null:", "--set", "queue_depth=2", "-d", "5s").code == 0
    assert sorted(applied) == ["duration", "queue_depth"]


def test_settings_that_python_takes_for_equal_are_told_apart(engine: ScriptedEngine, here: Path) -> None:
    one = experiment(workloads=("small.toml",))
    points, subject = ExperimentPoints(one, engine), Subject("small.toml", one.configurations[0])
    yes, number = (points.point(Request("e", one.kind, subject, Ask(settings={"direct": value}))).refusal for value in (True, 1))
    assert yes is None
    assert number is not None and "direct=1: " in number


def test_what_nobody_can_have_stamped_is_refused_before_it_is_made(plimsoll, engine, here) -> None:
    (here / "found.toml").write_text((here / "small.toml").read_text() + 'read_percent = 100\nverify = "found"\n')
    said = plimsoll("run", "found.toml", "-t", "absent.dat", "--json")
    (result,) = said.json["results"]
    assert result["status"] == "failed" and "with --keep first" in result["error"]
    assert not (here / "absent.dat").exists()
