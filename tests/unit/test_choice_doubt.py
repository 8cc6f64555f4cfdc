"""How sure a mark is: the search finds a known crossing, and draws of a known station give the known interval."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from plimsoll.choice.doubt import _crossing, doubt_of
from plimsoll.choice.line import ascend, line_of
from plimsoll.choice.trial import Trial
from plimsoll.uncertainty.figures import Plan
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


def test_a_mark_that_follows_from_an_assumed_time_has_the_interval_of_that_time(tmp_path: Path) -> None:
    """A host that takes a millisecond of each request limits; assumed times of hosts are log-uniform between ÷ 1.5 and × 1.5."""
    from unit.test_uncertainty import station

    trial = Trial(str(station(tmp_path)), demand(300, 100, "4KiB", "p99 <= 10ms"))
    ascent = ascend(trial)
    mark = line_of(trial.load, ascent).mark
    assert mark is not None
    found = doubt_of(trial, ascent, mark.iops, Plan(draws=20, jobs=1))
    assert found.interval is not None
    # A queue: with a shorter service more waits fit into the limit, so the rate grows faster than one over the service.
    assert found.interval.low < mark.iops * 1.5**-0.8 and found.interval.high > mark.iops * 1.5**0.8
    assert found.interval.mostly[0].of.name == "host's time per request"
    assert found.carries == 1.0
