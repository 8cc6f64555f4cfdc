"""What repeats know of their scatter: alone, together, turn by turn; and how often a difference is shown that is none."""

from __future__ import annotations

import random
from math import exp, inf, log, sqrt

import pytest

from plimsoll.analysis.comparison.ratio import Ratio, in_turn
from plimsoll.analysis.comparison.scatter import Common, Repeats
from plimsoll.analysis.statistics.distributions import digamma, inverse_trigamma, trigamma, upper_p
from plimsoll.result import Estimate, Result
from support.made_results import Load, made
from support.simulated_tables import World, judged, known

EULER, PI_SQUARED_BY_6 = 0.5772156649015329, 1.6449340668482264


def half_width(found: Ratio) -> float:
    assert found.low is not None and found.high is not None
    return (log(found.high) - log(found.low)) / 2


def test_the_scatter_of_repeats_counts_where_it_is_larger_than_their_own_intervals() -> None:
    point = Repeats([[known(value) for value in (-0.01, 0.0, 0.01)], [known(value) for value in (0.69, 0.7, 0.71)]])
    # Standard deviation 0.01 of three repeats each: error 0.01 · √(2/3), t of 4 degrees of freedom 2.776.
    assert half_width(judged(point, Common.of([point]))) == pytest.approx(2.7764 * 0.01 * sqrt(2 / 3), rel=1e-3)


def pair(apart: float) -> Repeats:
    return Repeats([[known(-apart), known(apart)], [known(-apart), known(apart)]])


def test_points_that_are_alike_lend_each_other_all_they_know() -> None:
    points = [pair(0.01), pair(0.011), pair(0.009)]
    common = Common.of(points)
    assert (common.prior_degrees, common.degrees_of_freedom) == (inf, 6)
    # Of equal points the variance is the mean of all, 2 · 0.01² each; the largest keeps its own.
    assert common.at(points[0]).variance == pytest.approx(2 * (0.01**2 + 0.011**2 + 0.009**2) / 3, rel=1e-3)
    assert common.at(points[1]).variance == pytest.approx(2 * 0.011**2, rel=1e-3)
    assert common.at(points[0]).degrees_of_freedom == 6


def test_a_point_that_scatters_more_than_others_stands_alone_and_one_that_scatters_less_is_held_back() -> None:
    points = [pair(apart) for apart in (0.001, 0.1, 0.0011, 0.0015, 0.0005, 0.001, 0.0012, 0.0008)]
    common = Common.of(points)
    assert 0 < common.prior_degrees < 4
    assert common.at(points[1]).variance == pytest.approx(2 * 0.1**2, rel=1e-3)
    assert common.at(points[1]).degrees_of_freedom == 2
    held_back = common.at(points[4])
    assert held_back.variance > 2 * 0.0005**2
    assert 2 < held_back.degrees_of_freedom == pytest.approx(2 + common.prior_degrees)


def test_a_point_measured_once_is_given_what_the_others_know() -> None:
    points = [pair(0.01), pair(0.011), Repeats([[known(0.0)], [known(0.02)]])]
    scatter = Common.of(points).at(points[2])
    assert scatter.variance == pytest.approx(0.01**2 + 0.011**2, rel=1e-3)
    assert Common.of([points[2]]).at(points[2]).degrees_of_freedom == 0


def test_equal_repeats_have_no_scatter() -> None:
    still = Repeats([[Estimate(1000.0)] * 3, [Estimate(1000.0)] * 3])
    assert Common.of([still, pair(0.01)]).at(still).variance < 1e-10
    assert judged(still, Common.of([still])) == Ratio(1.0, 1.0, 1.0, 1.0, 0.0)


TURNS = [0.0, 0.1, 0.04, -0.05]
#: What is left of each turn; it sums to 0 on both sides.
LEFT = [0.001, -0.001, 0.002, -0.002]


def turns(*, in_turn: bool) -> Repeats:
    first = [known(mean + left) for mean, left in zip(TURNS, LEFT, strict=True)]
    second = [known(mean - left + 0.02) for mean, left in zip(TURNS, LEFT, strict=True)]
    return Repeats([first, second], in_turn)


def test_turns_that_differ_are_taken_out() -> None:
    point = turns(in_turn=True)
    common = Common.of([point])
    assert common.by_turn
    # Two sides, four turns: 3 degrees of freedom; the squares that are left are 2 · (0.001² + 0.001² + 0.002² + 0.002²).
    assert common.at(point).degrees_of_freedom == 3
    assert common.at(point).variance == pytest.approx(2 * 10e-6 / 3, rel=1e-6)
    assert judged(point, common).value == pytest.approx(exp(0.02))
    assert not Common.of([turns(in_turn=False)]).by_turn


def test_turns_that_do_not_differ_cost_nothing() -> None:
    point = Repeats([[known(value) for value in (0.01, -0.01, 0.0)], [known(value) for value in (-0.01, 0.01, 0.001)]], in_turn=True)
    common = Common.of([point])
    assert not common.by_turn
    assert common.at(point).degrees_of_freedom == 4


def test_two_turns_are_too_few_to_be_taken_out() -> None:
    point = Repeats([[known(0.0), known(0.1)], [known(0.02), known(0.12)]], in_turn=True)
    assert not Common.of([point]).by_turn


def test_a_point_with_a_repeat_lacking_keeps_its_scatter_beside_points_with_turns() -> None:
    short = Repeats([[known(0.0), known(0.1), known(0.05)], [known(0.02), known(0.12)]])
    common = Common.of([turns(in_turn=True), short])
    assert common.by_turn
    assert common.at(short).variance >= 0.002


@pytest.mark.parametrize(
    ("world", "most"),
    [
        # 3.6, 3.1, 2.7, 8.5, 5.6 and 4.4 % of many tables (`simulated_tables`); two and a half standard deviations above that of 120.
        (World(repeats=3), 9),
        (World(repeats=3, turns=0.03), 8),
        (World(repeats=5, turns=0.03), 8),
        (World(repeats=3, factors=(0.5, 1.0, 2.0), turns=0.03), 18),
        (World(repeats=5, factors=(0.5, 1.0, 2.0), turns=0.03), 13),
        (World(repeats=3, factors=(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 10)), 11),
    ],
)
def test_equal_sides_are_seldom_called_different(world: World, most: int) -> None:
    random_ = random.Random(11)
    assert sum(world.shown(random_) > 0 for _ in range(120)) <= most


def test_a_difference_is_found_under_turns_that_differ_by_more() -> None:
    random_ = random.Random(12)
    found = [World(repeats=3, turns=0.05, apart=0.04).shown(random_) for _ in range(20)]
    assert sum(found) >= 0.7 * 12 * 20


def numbered(*places: int, status: str = "complete") -> list[Result]:
    results = [made(Load(1000, 1e6), repeat=index + 1) for index in range(len(places))]
    return [
        Result(**{**vars(result), "id": f"{place:04d}-oltp-db", "status": status}) for result, place in zip(results, places, strict=True)
    ]


def test_sides_are_in_turn_when_every_turn_is_complete_before_the_next_begins() -> None:
    assert in_turn([numbered(1, 3, 5), numbered(2, 4, 6)])
    assert in_turn([numbered(2, 3, 10_001), numbered(1, 4, 10_000)])
    assert not in_turn([numbered(1, 2, 3), numbered(4, 5, 6)])
    assert not in_turn([numbered(1, 3, 5), numbered(2, 4)])
    assert not in_turn([numbered(1), numbered(2)])
    assert not in_turn([numbered(1, 3)])
    assert not in_turn([numbered(1, 3), numbered(2, 4, status="interrupted")])
    assert not in_turn([[made(Load(1000, 1e6))] * 2, [made(Load(1000, 1e6))] * 2])


def test_the_gamma_functions_derivatives_are_those_of_the_tables() -> None:
    # Abramowitz and Stegun, 6.3.2, 6.3.3, 6.4.2 and 6.4.4.
    assert digamma(1.0) == pytest.approx(-EULER, abs=1e-12)
    assert digamma(0.5) == pytest.approx(-EULER - 2 * log(2), abs=1e-12)
    assert trigamma(1.0) == pytest.approx(PI_SQUARED_BY_6, rel=1e-12)
    assert trigamma(0.5) == pytest.approx(3 * PI_SQUARED_BY_6, rel=1e-12)
    for x in (1e-3, 0.5, 3.0, 1e4):
        assert inverse_trigamma(trigamma(x)) == pytest.approx(x, rel=1e-8)


#: x, digamma, trigamma with 16 digits (mpmath 1.4.1, computed with 50).
GAMMA_DERIVATIVES = [
    (1e-6, -1000000.57721402, 1000000000001.645),
    (0.001, -1000.57557193181, 1000001.642533196),
    (0.1, -10.42375494041108, 101.4332991507927),
    (1.5, 0.03648997397857652, 0.9348022005446793),
    (2.5, 0.7031566406452432, 0.4903577561002349),
    (9.99, 2.250700372831201, 0.1052769501482418),
    (10.0, 2.251752589066721, 0.1051663356816857),
    (30.0, 3.384438132685525, 0.03389506035773994),
    (1e3, 6.907255195648812, 0.001000500166666633),
    (1e6, 13.81551005796419, 1.000000500000167e-6),
]


@pytest.mark.parametrize(("x", "first", "second"), GAMMA_DERIVATIVES)
def test_the_gamma_functions_derivatives_agree_with_mpmath(x: float, first: float, second: float) -> None:
    assert digamma(x) == pytest.approx(first, rel=1e-10, abs=1e-12)
    assert trigamma(x) == pytest.approx(second, rel=1e-10, abs=0.0)


#: Ratio, degrees of freedom above and below, probability of more: the incomplete beta function of mpmath 1.4.1, computed with 50 digits.
FISHER = [
    (0.01, 1, 1, 0.9365489651388929),
    (0.3, 5, 2, 0.8797574890536369),
    (4.0, 2, 10, 0.05292214940134465),
    (160.0, 1, 1, 0.05022475102938482),
    (20.0, 10, 30, 1.23852303022741e-10),
    (4.0, 30, 100, 9.617581535294035e-8),
    (1.5, 100, 3.7, 0.3948556939762173),
    (1.5, 3, 10_000, 0.2123605203305699),
    (4.0, 1000, 1000, 2.581487794698806e-99),
]


@pytest.mark.parametrize(("ratio_", "above", "below", "probability"), FISHER)
def test_fishers_probabilities_agree_with_mpmath(ratio_: float, above: float, below: float, probability: float) -> None:
    assert upper_p(ratio_, above, below) == pytest.approx(probability, rel=1e-10, abs=0.0)


def test_fishers_probabilities_are_those_of_the_tables() -> None:
    # Abramowitz and Stegun, table 26.9: upper 5 % points.
    for ratio_, above, below in ((4.10, 2, 10), (3.71, 3, 10), (161.4, 1, 1), (19.0, 2, 2)):
        assert upper_p(ratio_, above, below) == pytest.approx(0.05, abs=2e-4)
    assert (upper_p(0.0, 2, 10), upper_p(-1.0, 2, 10)) == (1.0, 1.0)
    with pytest.raises(ValueError, match="degrees of freedom are above 0"):
        upper_p(1.0, 0, 10)
