"""Knee and saturation on lines of known truth."""

from __future__ import annotations

import pytest

from plimsoll.analysis.load_line.line import LoadLine, knee, load_line, saturation
from plimsoll.experiments.plan import Ask
from plimsoll.result import Result
from support.known_theory import Bench, Known
from support.made_results import Load, Setting, made

MU = 1000.0


def mm1(*utilisations: float) -> LoadLine:
    """An open M/M/1 queue that serves 1000 per second."""
    return load_line([made(Load(rho * MU, 1e9 / (MU * (1 - rho))), level=rho * MU) for rho in utilisations])


def closed(*throughputs: float, spread: float | None = 0.01) -> LoadLine:
    """Throughputs at queue depths 1, 2, 4, …; the response follows from Little's law."""
    depths = [2**index for index in range(len(throughputs))]
    return load_line([made(Load(x, 1e9 * depth / x, spread=spread), depth) for depth, x in zip(depths, throughputs, strict=True)])


@pytest.mark.parametrize("utilisations", [(0.1, 0.3, 0.45, 0.7, 0.9), (0.2, 0.4, 0.5, 0.6), (0.3, 0.6, 0.9)])
def test_the_knee_of_mm1_is_at_half_its_capacity_whatever_the_levels(utilisations: tuple[float, ...]) -> None:
    found = knee(mm1(*utilisations))
    assert found is not None and found.at_edge is None
    assert found.iops == pytest.approx(500.0, rel=1e-9)


def test_a_knee_at_either_end_of_the_line_says_that_it_may_lie_beyond() -> None:
    above, below = knee(mm1(0.1, 0.2, 0.3)), knee(mm1(0.6, 0.7, 0.8))
    assert above is not None and (above.at_edge, above.iops) == ("highest", pytest.approx(300))
    assert below is not None and (below.at_edge, below.iops) == ("lowest", pytest.approx(600))


def test_a_knee_wants_three_levels() -> None:
    assert knee(mm1(0.3, 0.5)) is None


def test_throughput_that_falls_around_the_knee_leaves_it_at_the_measured_point() -> None:
    found = knee(closed(100, 400, 390, 380))
    assert found is not None and (found.level, found.iops) == (2, 400)


def test_the_plateau_of_the_highest_levels_is_the_saturation_throughput() -> None:
    found = saturation(closed(200, 400, 700, 994, 1000, 1005))
    assert found is not None
    assert (found.sign, found.level, found.reached, found.iops.value) == ("plateau", 8, True, pytest.approx(999.667, abs=1e-3))
    assert found.iops.low is not None and found.iops.high is not None
    assert found.iops.low < 1000 < found.iops.high


def test_a_rising_line_has_a_maximum_and_has_not_reached_saturation() -> None:
    found = saturation(closed(200, 390, 700))
    assert found is not None
    assert (found.sign, found.level, found.reached, found.iops.value) == ("maximum", 4, False, 700)


def test_a_line_that_falls_at_the_end_was_saturated_at_its_maximum() -> None:
    found = saturation(closed(200, 900, 700, 500))
    assert found is not None and (found.sign, found.level, found.reached) == ("maximum", 2, True)


def test_wide_intervals_do_not_make_a_rise_of_a_tenth_a_plateau() -> None:
    found = saturation(closed(800, 900, 1000, spread=0.3))
    assert found is not None and found.sign == "maximum"


def test_an_open_load_that_was_not_achieved_is_saturation() -> None:
    def point(rate: float, iops: float) -> object:
        return made(Load(iops, 1e6), rate, setting=Setting(options={"arrival": "poisson", "rate": rate}))

    # 960 of 1000 are 96 %; 980 of 1000 would be achieved.
    results = [point(800, 800), point(1000, 960), point(1200, 964)]
    found = saturation(load_line(results))  # type: ignore[arg-type]
    assert found is not None and (found.sign, found.level, found.iops.value) == ("offered", 1000, 962)


def test_a_low_level_of_a_curve_that_completed_96_percent_by_chance_is_no_saturation() -> None:
    def point(rate: float, iops: float, spread: float) -> Result:
        return made(Load(iops, 1e6, spread), rate, setting=Setting(options={"arrival": "poisson", "rate": rate}))

    # 100 requests of 10 per second have a half-width of 20 %; the three levels above were carried.
    carried = [point(rate, rate, 0.02) for rate in (500, 700, 900)]
    found = saturation(load_line([point(10, 9.6, 0.2), *carried]))
    assert found is not None and (found.sign, found.level, found.reached) == ("maximum", 900, False)
    # Nor is it with an interval that lies below 97 %, as long as higher levels were carried.
    found = saturation(load_line([point(10, 9.6, 0.001), *carried]))
    assert found is not None and (found.sign, found.reached) == ("maximum", False)
    # At the top it is.
    found = saturation(load_line([*carried, point(1100, 950, 0.02), point(1200, 952, 0.02)]))
    assert found is not None and (found.sign, found.level, found.iops.value) == ("offered", 1100, 951)


def test_a_curve_on_a_queue_is_not_saturated_by_the_chance_of_its_lowest_level() -> None:
    target = Known("queue:?service=exp:1ms", {"arrival": "poisson", "rate": 100, "queue_depth": 4096, "block_size": 512}, {})
    bench = Bench(target, seed=2, seconds=10)
    results = [bench.measured(Ask({"rate": rate}, level=rate)) for rate in (10, 400, 600, 800)]
    assert results[0].totals["read"].iops == pytest.approx(9.6)
    found = saturation(load_line(results))
    assert found is not None and (found.level, found.reached) == (800, False)


def test_open_loads_that_were_achieved_are_no_plateau() -> None:
    results = [made(Load(rate, 1e6), rate, setting=Setting(options={"arrival": "poisson", "rate": rate})) for rate in (980, 990, 1000)]
    found = saturation(load_line(results))
    assert found is not None and (found.sign, found.reached) == ("maximum", False)


def test_nothing_measured_has_no_saturation() -> None:
    assert saturation(LoadLine((), "all", "mean")) is None
