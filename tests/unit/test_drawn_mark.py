"""The mark of a load line in each draw: levels whose responses are drawn have the mark that arithmetic says."""

from __future__ import annotations

from dataclasses import replace

import pytest

from plimsoll.analysis.load_line.drawn_mark import drawn_mark
from plimsoll.analysis.objective.judgement import parse_objective
from plimsoll.result import DrawnInterval, Estimate, Result
from support.made_results import Load, made

OBJECTIVE = parse_objective("mean <= 20ms")
DRAWS = 20


def result_of(level: int, rate: float, estimates: dict[str, Estimate]) -> Result:
    return replace(made(Load(rate, estimates["mean"].value, None), level), estimates={"read": estimates, "all": estimates})


def drawn(value: float, factors: list[float | None]) -> Estimate:
    values = [None if factor is None else value * factor for factor in factors]
    return Estimate(value, interval=DrawnInterval(low=0.0, high=1e12, level=0.9, draws=DRAWS, values=values))


def line(factors: list[float | None], levels: int = 6) -> list[Result]:
    """A queue of 100 requests/s whose service takes ``factor`` times as long: level n offers 15 n per second."""
    found = []
    for level in range(1, levels + 1):
        rate = 15.0 * level
        means = [None if factor is None else 1e9 / max(1e-3, 100 / factor - rate) for factor in factors]
        mean = Estimate(1e9 / (100 - rate), interval=DrawnInterval(0.0, 1e12, 0.9, DRAWS, values=means))
        found.append(result_of(level, rate, {"iops": drawn(rate, [1.0 for _ in factors]), "mean": mean}))
    return found


def test_each_draw_has_a_level_of_its_own():
    """A queue keeps 20 ms up to its rate less 50 per second: 50 itself, 75 with a service of 0.8, 30 with one of 1.25."""
    found = drawn_mark(line([1.0] * 8 + [0.8] * 6 + [1.25] * 6), OBJECTIVE)
    assert found is not None
    own = 45.0
    assert (found.iops, found.draws, found.above, found.below) == (own, 20, 0, 0)
    assert found.low == pytest.approx(own * 30 / 50, rel=0.02)
    assert found.high == pytest.approx(own * 75 / 50, rel=0.02)
    assert not found.open_low and not found.open_high


def test_draws_beyond_what_was_measured_leave_an_end_open():
    low = drawn_mark(line([1.0] * 17 + [0.4] * 3), OBJECTIVE)
    high = drawn_mark(line([1.0] * 17 + [1.9] * 3), OBJECTIVE)
    assert low is not None and high is not None
    assert (low.above, low.open_high, low.open_low) == (3, True, False)
    assert (high.below, high.open_low, high.open_high) == (3, True, False)


def test_draws_that_failed_count_in_nothing():
    found = drawn_mark(line([1.0] * 15 + [None] * 5), OBJECTIVE)
    assert found is not None and (found.draws, found.low, found.high) == (15, 45.0, 45.0)
    assert drawn_mark(line([1.0] * 9 + [None] * 11), OBJECTIVE) is None


def test_a_level_without_draws_leaves_the_mark_without():
    results = line([1.0] * 20)
    assert drawn_mark([*results[:-1], result_of(6, 90.0, {"iops": Estimate(90.0), "mean": Estimate(1e8)})], OBJECTIVE) is None
