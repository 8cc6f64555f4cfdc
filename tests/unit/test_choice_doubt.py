"""How sure a mark is: the search finds a known crossing. `tests/long/test_choice_doubt.py` draws a known station."""

from __future__ import annotations

import math

import pytest

from plimsoll.choice.doubt import _crossing


@pytest.mark.parametrize("true", [0.2, 0.83, 1.0, 1.7, 6.0])
def test_the_rate_at_which_an_objective_fails_is_found_between_two_rates(true: float) -> None:
    """Latency that grows by a power of the rate is straight between two logarithms, so the crossing is exact."""
    assert _crossing(1.0, lambda factor: (factor <= true, 3 * math.log(factor / true))) == pytest.approx(true, rel=1e-9)
    assert _crossing(1.0, lambda factor: (factor <= true, None)) == pytest.approx(true, rel=0.1)


def test_what_holds_at_every_rate_is_at_the_end_of_what_is_looked_at() -> None:
    assert _crossing(1.0, lambda factor: (True, -factor)) == 8.0
    assert _crossing(7.3, lambda factor: (True, None)) == 8.0
    assert _crossing(1.0, lambda factor: (False, factor)) < 0.16
