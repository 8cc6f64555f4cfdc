"""How many attempts may fail: against sums of the binomial distribution that are worked out by hand."""

from __future__ import annotations

import pytest

from support.chance import failures_max, noise


@pytest.mark.parametrize(
    ("attempts", "probability", "expected"),
    [
        # 0.5 ** 13 is 1.2e-4, 0.5 ** 14 is 6.1e-5: of thirteen all may fail, of fourteen one has to succeed.
        (13, 0.5, 13),
        (14, 0.5, 13),
        # Of two: both fail once in a million.
        (2, 0.001, 1),
        # One of ten fails in 1e-4 times the first binomial coefficient of cases, two in about 4.5e-9.
        (10, 1e-5, 0),
        (10, 2e-5, 1),
        (1, 0.0, 0),
    ],
)
def test_more_failures_than_allowed_come_less_often_than_once_in_ten_thousand(attempts: int, probability: float, expected: int) -> None:
    assert failures_max(attempts, probability) == expected


def test_a_reference_that_never_failed_may_still_fail() -> None:
    assert (noise(0, 8), noise(8, 8)) == (0.1, 0.9)
    assert failures_max(20, noise(0, 20)) == 6
