"""How late a host began is what its worker stored of it; where that is not known it is absent and says why, and is never 0."""

from __future__ import annotations

from typing import Any

import pytest

from plimsoll.apps.course import Ended
from plimsoll.gang.skew import Skew, skew_of

START = {"appointed_ns": 5_000_000_000, "monotonic_ns": 5_000_000_000, "began_ns": 40_000}


def test_the_last_thread_counts_and_not_the_start_of_the_job() -> None:
    assert skew_of(START) == Skew(40_000, None)
    assert skew_of({**START, "monotonic_ns": 5_002_000_000}) == Skew(2_040_000, None), "the job itself began 2 ms late"


def test_a_thread_that_began_at_the_instant_has_a_skew_of_zero() -> None:
    assert skew_of({**START, "began_ns": 0}) == Skew(0, None)


@pytest.mark.parametrize(
    ("start", "why"),
    [
        ({**START, "began_ns": None}, "the workload does not say when its threads began"),
        ({name: value for name, value in START.items() if name != "began_ns"}, "the workload does not say when its threads began"),
        ({**START, "appointed_ns": None}, "the host did not hear the common instant"),
        ({}, "the host did not hear the common instant"),
        (None, "the host stored no result"),
    ],
)
def test_a_beginning_that_nobody_said_is_unknown_and_not_zero(start: Any, why: str) -> None:
    assert skew_of(start) == Skew(None, why)


def test_an_application_that_does_not_say_when_it_began_leaves_it_open() -> None:
    silent: Any = Ended(start_ns=(1, 2)).outcome("x", "auto", 1, {})
    assert silent["start"]["began_ns"] is None
    late: Any = Ended(start_ns=(1, 2), began_ns=70).outcome("x", "auto", 1, {})
    assert late["start"]["began_ns"] == 70
