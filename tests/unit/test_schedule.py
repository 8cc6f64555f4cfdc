"""From experiments to requests: order, counts, settings, and arriving where stored results end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from plimsoll.analysis.objective.judgement import parse_objective
from plimsoll.experiments.document import Experiment, read_experiments
from plimsoll.experiments.plan import Conclusion, Request, Subject
from plimsoll.experiments.schedule import layer_settings, offers_rates, planned_points, schedule, settings_of
from plimsoll.experiments.single import single
from plimsoll.result import Result
from support.made_results import Load, failed, made

MS = 1e6


def experiment(kind: str, **entry: Any) -> Experiment:
    """One of two configurations unless told otherwise."""
    two = [{"name": "A", "set": {"queue_depth": 1}}, {"name": "B", "target": "null:"}]
    document = {"experiment": [{"name": "it", "kind": kind, "workloads": ["w"], "configurations": two, **entry}]}
    return read_experiments(document, "my.toml").experiments[0]


def answered(request: Request) -> Result:
    """A point whose response grows with its level: 1 ms for each unit of it."""
    level = request.ask.level or 1
    return replace(made(Load(iops=100 * level, mean_ns=level * MS, spread=0.001), level=level), place=request.place)


def conducted(
    asked: Experiment, measure: Callable[[Request], Result] = answered
) -> tuple[list[Request], list[Result], dict[Subject, Conclusion]]:
    """The whole experiment, answered by ``measure``."""
    requests: list[Request] = []
    results: list[Result] = []
    plan = schedule(asked)
    request = next(plan)
    while True:
        requests.append(request)
        results.append(measure(request))
        try:
            request = plan.send(results[-1])
        except StopIteration as end:
            return requests, results, end.value


def order(requests: list[Request]) -> str:
    """Configurations with their levels, as in ``A1 B1``."""
    return " ".join(f"{request.subject.configuration.name}{_level(request)}" for request in requests)


def _level(request: Request) -> str:
    return "" if request.ask.level is None else f"{request.ask.level:g}"


def test_configurations_run_one_after_the_other_for_every_workload() -> None:
    requests, _, conclusions = conducted(experiment("steps", workloads=["v", "w"], over={"queue_depth": [1, 2]}))
    assert order(requests) == "A1 A2 B1 B2 A1 A2 B1 B2"
    assert [request.subject.workload for request in requests] == ["v"] * 4 + ["w"] * 4
    assert [(subject.workload, subject.configuration.name) for subject in conclusions] == [("v", "A"), ("v", "B"), ("w", "A"), ("w", "B")]


def test_interleaved_configurations_take_turns_point_by_point() -> None:
    requests, _, _ = conducted(experiment("steps", over={"queue_depth": [1, 2]}, repeat=2, interleave=True))
    assert order(requests) == "A1 B1 A2 B2 A1 B1 A2 B2"
    assert [request.ask.repeat for request in requests] == [1, 1, 1, 1, 2, 2, 2, 2]


def test_interleaved_single_points_take_their_workloads_in_turn_too() -> None:
    requests, _, conclusions = conducted(experiment("single", workloads=["v", "w"], repeat=2, interleave=True))
    asked = [(request.ask.repeat, request.subject.workload, request.subject.configuration.name) for request in requests]
    assert asked == [(repeat, workload, name) for repeat in (1, 2) for workload in "vw" for name in "AB"]
    assert len(conclusions) == 4


def test_interleaved_levels_stay_with_their_workload() -> None:
    requests, _, _ = conducted(experiment("steps", workloads=["v", "w"], over={"queue_depth": [1, 2]}, interleave=True))
    assert [request.subject.workload for request in requests] == ["v"] * 4 + ["w"] * 4


def test_interleaved_ramps_end_when_each_has_found_its_mark() -> None:
    asked = experiment("ramp", over={"queue_depth": "1..64"}, objective="mean <= 20ms", interleave=True)

    def twice_as_fast_on_b(request: Request) -> Result:
        level = (request.ask.level or 1) / (2 if request.subject.configuration.name == "B" else 1)
        return replace(made(Load(iops=100, mean_ns=level * MS, spread=0.001)), place=request.place)

    requests, _, conclusions = conducted(asked, twice_as_fast_on_b)
    assert order(requests).startswith("A1 B1 A2 B2 A4 B4 A8 B8 A16 B16 A32 B32")
    marks = {subject.configuration.name: conclusion.mark for subject, conclusion in conclusions.items()}
    assert marks["A"] is not None and marks["B"] is not None
    assert (marks["A"].level, marks["B"].level) == (20, 40)


COUNTED = [
    experiment("single", repeat=3),
    experiment("steps", over={"queue_depth": "1..8"}, repeat=2),
    experiment("matrix", over={"block_size": "4k,8k", "queue_depth": [1, 2, 3]}, repeat=2),
    experiment("matrix", over={"block_size": "4k,8k", "queue_depth": [1, 2, 3]}, shuffle=3),
    experiment("matrix", grid="basic", disks=2),
    experiment("matrix", grid="detailed"),
    experiment("matrix", grid="point", num_small=3, num_large=1, repeat=4),
    experiment("scaling", over={"threads": "1..4"}, iterations=3),
    experiment("curve", percent=[10, 50, 100], repeat=2),
    experiment("curve", percent=[1, 2, 100], maximum=200, rounding="vdbench"),
    experiment("precondition"),
]


@pytest.mark.parametrize("asked", COUNTED, ids=lambda asked: f"{asked.kind} {asked.parameters.get('grid') or ''}")
def test_as_many_points_are_planned_as_are_asked_for(asked: Experiment) -> None:
    requests, _, _ = conducted(asked)
    assert planned_points(asked) == len(requests)
    keys = [request.place["key"] for request in requests]
    assert len(set(keys)) == len(keys)


def test_a_grid_counts_as_orion_does_without_its_baseline() -> None:
    # 7d + 1 points for d = 2 disks, less the empty one, in two configurations.
    asked = experiment("matrix", grid="basic", disks=2)
    assert planned_points(asked) == 2 * (7 * 2)
    assert all(settings["small.queue_depth"] or settings["large.queue_depth"] for settings in settings_of(asked))


@pytest.mark.parametrize(
    "asked",
    [
        experiment("ramp", over={"threads": "1..8"}, objective="mean <= 5ms"),
        experiment("search", over={"threads": "1..8"}, objective="mean <= 5ms"),
        experiment("steady"),
    ],
    ids=lambda asked: asked.kind,
)
def test_how_many_points_an_adaptive_experiment_takes_is_not_known(asked: Experiment) -> None:
    assert planned_points(asked) is None


@pytest.mark.parametrize(
    "asked",
    [
        experiment("steps", over={"queue_depth": "1..8"}, repeat=2, interleave=True),
        experiment("ramp", over={"queue_depth": "1..64"}, objective="mean <= 20ms", interleave=True),
        experiment("search", over={"queue_depth": "1..64"}, objective="mean <= 20ms"),
        experiment("curve", percent=[50, 100]),
    ],
    ids=lambda asked: asked.kind,
)
def test_stored_results_lead_to_where_a_killed_run_stood(asked: Experiment) -> None:
    requests, results, conclusions = conducted(Experiment.from_json(asked.to_json()))
    for killed_after in range(len(results)):
        stored = {request.place["key"]: result for request, result in zip(requests[:killed_after], results, strict=False)}
        measured: list[str] = []

        def resumed(request: Request, stored: dict[str, Result] = stored, measured: list[str] = measured) -> Result:
            if request.place["key"] not in stored:
                measured.append(request.place["key"])
            return stored.get(request.place["key"]) or answered(request)

        again, _, concluded = conducted(asked, resumed)
        assert again == requests and concluded == conclusions
        assert measured == [request.place["key"] for request in requests[killed_after:]]


def test_settings_known_in_advance_are_complete_and_in_order() -> None:
    asked = experiment("steps", over={"queue_depth": [4, 8]}, set={"queue_depth": 2, "log.queue_depth": 3, "duration": "1s"})
    found = list(settings_of(asked))
    assert found == [{"log.queue_depth": 3, "duration": "1s", "queue_depth": level} for level in (4, 8)] * 2
    assert [list(settings)[-1] for settings in found] == ["queue_depth"] * 4
    ends = settings_of(experiment("ramp", over={"rate": "1k..8k"}, objective="mean <= 5ms", configurations=[]))
    assert list(ends) == [{"rate": 1000}, {"rate": 8000}]
    grid = settings_of(experiment("matrix", grid="point", num_small=3, num_large=0, large="scan", configurations=[]))
    assert list(grid) == [{"small.queue_depth": 3, "scan.queue_depth": 0}]
    assert list(settings_of(experiment("curve", configurations=[], set={"threads": 2}))) == [{"threads": 2}]


def test_a_later_layer_is_applied_last() -> None:
    layers = layer_settings({"a": 1, "b": 1}, {"log.a": 2}, {"a": 3})
    assert list(layers.items()) == [("b", 1), ("log.a", 2), ("a", 3)]


def test_points_of_curves_and_of_axes_of_rates_are_given_rates() -> None:
    assert offers_rates(experiment("curve"))
    assert offers_rates(experiment("steps", over={"log.rate": [1, 2]}))
    assert not offers_rates(experiment("steps", over={"threads": [1, 2]}))


def test_whole_levels_are_asked_of_whole_options_only() -> None:
    by_threads, _, _ = conducted(experiment("ramp", over={"threads": "1..64"}, objective="mean <= 20.5ms", resolution=0.1))
    assert all(float(request.ask.level or 0).is_integer() for request in by_threads)
    by_rate, _, _ = conducted(experiment("ramp", over={"rate": "1..64"}, objective="mean <= 20.5ms", resolution=0.1))
    assert not all(float(request.ask.level or 0).is_integer() for request in by_rate)


def single_of(*results: Result) -> Conclusion:
    plan = single(len(results), parse_objective("mean <= 20ms"))
    next(plan)
    for result in results[:-1]:
        plan.send(result)
    with pytest.raises(StopIteration) as end:
        plan.send(results[-1])
    conclusion: Conclusion = end.value.value
    return conclusion


def test_a_single_point_says_whether_it_kept_the_objective() -> None:
    kept = single_of(made(Load(100, 10 * MS)), made(Load(100, 11 * MS)))
    assert kept.sentences == ("Meets 'mean <= 20ms'.",)
    assert kept.figures["holds"] is True
    near = single_of(made(Load(100, 19.9 * MS)))
    assert near.sentences == ("Meets 'mean <= 20ms', but too close to the limit to be sure.",)
    missed = single_of(made(Load(100, 25 * MS)))
    assert missed.sentences[0].startswith("Misses 'mean <= 20ms': read mean was 25.0 ms")
    assert (missed.figures["holds"], missed.figures["failed_by"]) == (False, "read mean <= 20ms")


def test_a_single_point_that_failed_is_said_and_not_judged() -> None:
    conclusion = single_of(failed(1))
    assert conclusion.sentences == ("The point at repeat 1 failed: no space left on device.",)
    assert "holds" not in conclusion.figures
