"""How sure a mark is: draws of a known station give the known interval."""

from __future__ import annotations

from pathlib import Path

from plimsoll.choice.doubt import doubt_of
from plimsoll.choice.line import ascend, line_of
from plimsoll.choice.trial import Trial
from plimsoll.uncertainty.figures import Plan
from support.choices import demand


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
