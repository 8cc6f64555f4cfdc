"""What is said of the limits of modelled arrays."""

from __future__ import annotations

from dataclasses import replace

import pytest

from made_results import Load, made
from plimsoll.analysis.incidents import rebuilds_s
from plimsoll.reports.limits import configuration_words, incident_words

DISK, LINK, NONE = "limited by disk", "limited by link", "nothing was saturated"


@pytest.mark.parametrize(
    ("limits", "sentence"),
    [
        ([DISK], "a (modelled): limited by disk."),
        ([DISK, DISK], "a (modelled): limited by disk at all 2 points."),
        ([NONE, NONE], "a (modelled): nothing was saturated at all 2 points."),
        ([LINK, DISK, DISK], "a (modelled): limited by disk at 2 of 3 points, limited by link at 1."),
    ],
)
def test_a_configuration_is_limited_by_what_limits_its_points(limits: list[str], sentence: str) -> None:
    assert configuration_words("a", limits) == sentence


@pytest.mark.parametrize(
    ("facts", "ending"),
    [
        ({}, ""),
        ({"rebuild_s": "412.731"}, "; the rebuild took 412.731 s"),
        ({"rebuild_s": "412.731, 3.500"}, "; the rebuilds took 412.731 s, 3.500 s"),
    ],
)
def test_failures_are_told_with_the_length_of_their_rebuilds(facts: dict[str, str], ending: str) -> None:
    result = replace(made(Load(1000, 1e6)), engine={"engine": {"facts": {"incidents": "1.000 s: gone", **facts}}})
    assert incident_words(result) == f"1.000 s: gone (modelled, seconds from the beginning of the warm-up){ending}"
    assert len(rebuilds_s(result.engine)) == ending.count(" s")


def test_nothing_is_told_where_nothing_failed() -> None:
    assert incident_words(made(Load(1000, 1e6))) == ""
