"""Student's t against the values of scipy 1.17.1 (`scipy.stats.t`, 12 digits)."""

from __future__ import annotations

from math import inf

import pytest

from plimsoll.analysis.statistics.distributions import quantile, quick_two_sided_p, two_sided_p

#: Probability: (degrees of freedom, ppf).
QUANTILES = {
    0.6: [(1, 0.324919696233), (2, 0.288675134595), (3.5, 0.273265454056), (9, 0.260955336474), (120, 0.253909523215)],
    0.9: [(1, 3.07768353718), (2, 1.88561808316), (3.5, 1.57657660514), (9, 1.3830287384), (120, 1.28864623366)],
    0.975: [(1, 12.7062047362), (2, 4.30265272975), (3.5, 2.94008863798), (9, 2.2621571628), (30, 2.0422724563), (100000, 1.95998770753)],
    0.995: [(1, 63.6567411629), (2, 9.92484320092), (3.5, 5.08570222309), (9, 3.24983554159), (30, 2.74999565357)],
    0.9999: [(1, 3183.09875712), (2, 70.700071075), (3.5, 16.295284597), (9, 6.01013212908), (120, 3.83717074903), (100000, 3.71915438264)],
}
#: t, degrees of freedom, 2 × sf.
PROBABILITIES = [
    (0.5, 1, 0.704832764699),
    (1.0, 4, 0.3739009663),
    (2.262157, 9, 0.0500000133044),
    (4.0, 2, 0.0571909584179),
    (12.0, 6, 2.03074061954e-05),
    (40.0, 30, 1.37260451944e-27),
    (1.96, 1e9, 0.0499957905737),
]


@pytest.mark.parametrize(("probability", "known"), QUANTILES.items())
def test_quantiles_agree_with_scipy(probability: float, known: list[tuple[float, float]]) -> None:
    for degrees, value in known:
        assert quantile(probability, degrees) == pytest.approx(value, rel=1e-8)
        assert quantile(1.0 - probability, degrees) == pytest.approx(-value, rel=1e-8)


@pytest.mark.parametrize(("t", "degrees", "probability"), PROBABILITIES)
def test_probabilities_agree_with_scipy(t: float, degrees: float, probability: float) -> None:
    assert two_sided_p(t, degrees) == pytest.approx(probability, rel=1e-8)
    assert two_sided_p(-t, degrees) == two_sided_p(t, degrees)


#: t, degrees of freedom, probability: the density integrated with 40 digits (mpmath). The normal distribution misses all but the first.
MANY_DEGREES = [
    (12.0, 2e5, 3.647523700755783e-33),
    (1.96, 3e5, 0.04999671459336446),
    (1.0, 5e5, 0.3173109918041212),
    (1.0, 1e6, 0.3173107498335781),
    (0.01, 1.1e6, 0.992021289184201),
    (1.96, 1e6, 0.0499960675852698),
    (1.96, 1.1e6, 0.0499960423771856),
    (37.0, 1.1e6, 1.75368392318561e-299),
    (1.96, 9.9e6, 0.0499958183054038),
    (1.96, 1.1e7, 0.0499958155045074),
    (5.0, 1.1e7, 5.73311928973388e-7),
    (10.0, 1.1e7, 1.52432389567344e-23),
    (30.0, 1e8, 9.83336428588326e-198),
    (1.96, 1e9, 0.0499957905737296),
    (10.0, 1e9, 1.52397449060911e-23),
]


@pytest.mark.parametrize(("t", "degrees", "probability"), MANY_DEGREES)
def test_many_degrees_of_freedom_keep_ten_digits(t: float, degrees: float, probability: float) -> None:
    assert two_sided_p(t, degrees) == pytest.approx(probability, rel=1e-10, abs=0.0)


@pytest.mark.parametrize(
    ("probability", "degrees", "value"),
    [
        (0.95, 2e5, 1.644861245832715),
        (0.6, 1e6, 0.2533471705378416),
        (0.9, 1e6, 1.281552412129939),
        (0.95, 1e6, 1.64485515072204),
        (0.975, 1.1e7, 1.9599642002011),
        (0.9999, 1.1e7, 3.71901773902525),
        (0.975, 1e9, 1.95996398691233),
    ],
)
def test_quantiles_of_many_degrees_of_freedom_keep_ten_digits(probability: float, degrees: float, value: float) -> None:
    assert quantile(probability, degrees) == pytest.approx(value, rel=1e-10)


def test_more_degrees_of_freedom_come_ever_nearer_to_the_normal_distribution() -> None:
    assert two_sided_p(1.96, 1e300) == pytest.approx(two_sided_p(1.96, inf), rel=1e-14)


@pytest.mark.parametrize("degrees", [5, 9, 30, 1000])
def test_the_quick_probability_is_within_its_promise(degrees: int) -> None:
    for tenth in range(1, 100):
        assert quick_two_sided_p(tenth / 10, degrees) == pytest.approx(two_sided_p(tenth / 10, degrees), abs=4e-7)


def test_the_ends_of_the_distribution() -> None:
    assert two_sided_p(0.0, 5) == 1.0
    assert two_sided_p(inf, 5) == 0.0
    assert quantile(0.5, 5) == 0.0
    # The normal distribution (Abramowitz and Stegun, table 26.1).
    assert quantile(0.975, inf) == pytest.approx(1.959963985, rel=1e-9)


def test_far_tails_keep_their_digits() -> None:
    assert two_sided_p(quantile(1e-9, 9), 9) == pytest.approx(2e-9, rel=1e-8)


@pytest.mark.parametrize(("probability", "degrees"), [(0.0, 5), (1.0, 5), (0.5, 0), (0.5, -1)])
def test_what_has_no_quantile_is_refused(probability: float, degrees: float) -> None:
    with pytest.raises(ValueError, match="not"):
        quantile(probability, degrees)
