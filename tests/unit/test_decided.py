"""Levels of a model that lie too near to the limit to tell are measured again as precisely as tells; those of storage are not."""

from __future__ import annotations

import sys
from dataclasses import replace

import pytest

from plimsoll.analysis.objective.judgement import parse_objective
from plimsoll.experiments.plan import Ask, Conclusion, Plan
from plimsoll.experiments.probe import AGAIN_MAX, NEAR, Bounds, Resolution
from plimsoll.experiments.search import ramp, search
from plimsoll.result import Result
from support.synthetic_result import Answer, result_of

LIMIT = parse_objective("read mean <= 20ms")
THREADS = Bounds(1, 64, integer=True)
#: How far off the first measurement of a level may be: that of 20 looks as if it held, that of 21 as if it failed.
FIRST = {20.0: 0.99, 21.0: 1.02}


def mean_ms(level: float) -> float:
    """The true response: 20 ms are passed between 19.9 and 20.1 threads."""
    return 20.02 + (level - 20.0) * 0.9 if level >= 20 else level * 0.97


def measured(ask: Ask, *, modelled: bool = True, ended: str = "precision") -> Result:
    """Known to 3 %, or as precisely as was asked for; a level that is measured again gives its true response."""
    level = float(ask.level or 0)
    asked = float(ask.precision.partition("%")[0]) / 100 if ask.precision else 0.03
    response = mean_ms(level) * (1.0 if ask.again else FIRST.get(level, 1.0))
    found = result_of(ask, Answer(iops=100 * level, mean_ms={"read": response}, spread=asked))
    return replace(found, modelled=modelled, ended={"by": ended, "how": ""})


def carried_out(plan: Plan, **how: object) -> tuple[Conclusion, list[Ask]]:
    asks: list[Ask] = []
    try:
        ask = next(plan)
        while True:
            asks.append(ask)
            ask = plan.send(measured(ask, **how))  # type: ignore[arg-type]
    except StopIteration as end:
        return end.value, asks


def plan_of(planner: object = ramp, bounds: Bounds = THREADS) -> Plan:
    return planner("threads", bounds, LIMIT, Resolution(1, relative=False))  # type: ignore[operator]


def again(asks: list[Ask]) -> list[tuple[float | None, int]]:
    return [(ask.level, ask.again) for ask in asks if ask.again]


def test_a_level_whose_interval_spans_the_limit_is_measured_again_as_precisely_as_decides_it() -> None:
    conclusion, asks = carried_out(plan_of())
    (first,) = [ask for ask in asks if (ask.level, ask.again) == (20, 1)]
    # 20 threads came to 19.82 ms, 0.9 % from the limit: 0.8 times that is asked for.
    assert first.precision == "0.727% of read mean"
    assert conclusion.mark is not None and (conclusion.mark.level, conclusion.mark.next_level) == (19, 20)


def test_the_bracket_moves_with_the_level_that_turned_out_to_lie_on_the_other_side() -> None:
    conclusion, asks = carried_out(plan_of())
    told = asks[[(ask.level, ask.again) for ask in asks].index((20, 1)) :]
    # 19 was not measured before: 20 held at first.
    assert (19, 0) in [(ask.level, ask.again) for ask in told]
    assert conclusion.figures["bracket"] == [19, 20]


@pytest.mark.parametrize(
    ("how", "why"), [({"modelled": False}, "storage"), ({"ended": "duration"}, "chosen"), ({"ended": "limit"}, "exhausted")]
)
def test_nothing_is_measured_again_on_storage_nor_where_the_time_was_chosen_nor_once_the_model_is_exhausted(how, why) -> None:
    conclusion, asks = carried_out(plan_of(), **how)
    assert again(asks) == [], why
    assert conclusion.mark is not None and conclusion.mark.level == 20, "by its value"


def test_a_level_on_the_limit_is_left_undecided_once_it_is_known_well_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[__name__], "mean_ms", lambda level: level)
    monkeypatch.setitem(FIRST, 20.0, 1.0)
    monkeypatch.setitem(FIRST, 21.0, 1.0)
    _, asks = carried_out(plan_of())
    at_limit = [ask for ask in asks if ask.level == 20 and ask.again]
    assert [ask.precision for ask in at_limit] == [f"{100 * NEAR:g}% of read mean"]
    assert len(at_limit) <= AGAIN_MAX


def test_a_search_is_decided_in_the_same_way() -> None:
    conclusion, asks = carried_out(plan_of(search))
    assert conclusion.mark is not None and conclusion.mark.level == 19
    assert again(asks)


def test_a_highest_level_that_held_after_all_is_no_end_of_the_way_up(monkeypatch: pytest.MonkeyPatch) -> None:
    # 16 looks as if it failed; nothing above it was measured then.
    monkeypatch.setattr(sys.modules[__name__], "mean_ms", lambda level: 19.8 if level <= 16 else 40.0)
    monkeypatch.setitem(FIRST, 16.0, 1.02)
    conclusion, asks = carried_out(plan_of(bounds=Bounds(16, 32, integer=True)))
    assert conclusion.mark is not None and conclusion.mark.level == 16
    assert (32, 0) in [(ask.level, ask.again) for ask in asks]
