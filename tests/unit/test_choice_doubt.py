"""How sure a mark is: the search finds a known crossing. `tests/long/test_choice_doubt.py` draws a known station."""

from __future__ import annotations

import math

import pytest

from plimsoll.choice.doubt import _commands, _cost, _crossing, _requests, _undrawn
from plimsoll.choice.line import Ascent
from plimsoll.choice.trial import Trial, point_of, run_of
from plimsoll.engine.block import native
from plimsoll.result import Result
from plimsoll.target import target_of
from support.choices import demand


@pytest.mark.parametrize("true", [0.2, 0.83, 1.0, 1.7, 6.0])
def test_the_rate_at_which_an_objective_fails_is_found_between_two_rates(true: float) -> None:
    """Latency that grows by a power of the rate is straight between two logarithms, so the crossing is exact."""
    assert _crossing(1.0, lambda factor: (factor <= true, 3 * math.log(factor / true))) == pytest.approx(true, rel=1e-9)
    assert _crossing(1.0, lambda factor: (factor <= true, None)) == pytest.approx(true, rel=0.1)


def test_what_holds_at_every_rate_is_at_the_end_of_what_is_looked_at() -> None:
    assert _crossing(1.0, lambda factor: (True, -factor)) == 8.0
    assert _crossing(7.3, lambda factor: (True, None)) == 8.0
    assert _crossing(1.0, lambda factor: (False, factor)) < 0.16


def test_a_request_that_takes_many_commands_counts_for_as_many() -> None:
    """A read of a record of dRAID takes eight commands, one from each data member, and one of a mirror a single one."""
    mirrored, spread = once("array:nvme-raid10"), once("array:draid-24-1s")
    assert (_commands(mirrored), _commands(spread)) == (pytest.approx(1, rel=0.03), pytest.approx(8, rel=0.03))
    assert [_cost(Trial("", LOAD), Ascent({1.0: one}, 1.0, None), 1.0) for one in (mirrored, spread)] == [
        _requests(Trial("", LOAD), Ascent({1.0: mirrored}, 1.0, None), 1.0),
        pytest.approx(4 * _requests(Trial("", LOAD), Ascent({1.0: spread}, 1.0, None), 1.0), rel=0.03),
    ]
    assert _undrawn(5e4, 8.0) == "20 draws take about 1,000,000 requests of 8 commands each; ask with --uncertainty 20"
    assert _undrawn(5e4, 1.3) == "20 draws take about 1,000,000 requests; ask with --uncertainty 20"


LOAD = demand(100, 100, "8KiB")


def once(target: str) -> Result:
    """Ten seconds of random reads."""
    point = point_of(Trial(target, LOAD), target_of(target), LOAD.at(1.0))
    return run_of(point, native(), 100)
