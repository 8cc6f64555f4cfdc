"""Times in the words of a target are those of options: every text is given to the engine as well."""

from __future__ import annotations

import pytest

from plimsoll.catalog.arrays import array_document
from plimsoll.catalog.composition.duration import seconds
from plimsoll.catalog.composition.failing import scheduled, with_failures, with_replacements
from plimsoll.engine import native
from plimsoll.errors import InputError

TIMES = [
    "10",
    "10s",
    "250ms",
    "1m30s",
    "1.5h",
    "100us",
    "100µs",
    "7ns",
    "2min",
    "3sec",
    "0",
    "1d",
    "2d3h",
    "1.5d",
    "0.25s",
    "500000us",
    "18446744073s",
    "1m 30s",
    "10 s",
]
JUNK = [
    "s",
    "30s1m",
    "1m30",
    "10s10s",
    "1e3",
    "-1s",
    "0.1ns",
    ".5s",
    "1.s",
    "1..5s",
    "1w",
    "18446744074s",
    "1m2min",
    "1d_",
    "1,5s",
    "١s",
    "",
    " ",
    "10 parsecs",
]


def by_the_engine(text: str) -> float | None:
    try:
        return float(native().check_job({"duration": text})["duration"])
    except InputError:
        return None


@pytest.mark.parametrize("text", TIMES)
def test_a_time_is_what_the_engine_takes_it_for(text: str) -> None:
    ours = seconds(text)
    assert ours is not None
    theirs = by_the_engine(text)
    # An option may have limits of its own; where it takes the time, it is the same.
    assert theirs is None or theirs == pytest.approx(ours, rel=1e-12)


@pytest.mark.parametrize("text", JUNK)
def test_what_the_engine_refuses_is_no_time(text: str) -> None:
    assert (seconds(text), by_the_engine(text)) == (None, None)


@pytest.mark.parametrize(
    ("time", "expected_s"), [("1d", 86_400.0), ("1m30s", 90.0), ("10", 10.0), ("250ms", 0.25), ("1.5h", 5400.0), ("100us", 0.0001)]
)
def test_a_member_fails_at_any_time_that_a_duration_may_have(time: str, expected_s: float) -> None:
    # fail=3@1d was refused while -d takes 1d.
    document = array_document("msa2000-raid5")
    with_failures(document, f"vd0.3@{time},2@1s", "array:msa2000-raid5")
    assert [one["time_s"] for one in scheduled(document, "at")] == [expected_s, 1.0]


@pytest.mark.parametrize("word", ["3", "3@", "3@soon", "x@1s", "3@1s30m", "@1s"])
def test_what_is_no_failure_is_refused_in_a_sentence(word: str) -> None:
    with pytest.raises(InputError, match=r"is no failure; write fail=MEMBER@TIME .* like 3@10s or 3@1m30s"):
        with_failures(array_document("msa2000-raid5"), word, "array:msa2000-raid5")


def test_new_drives_are_written_beside_the_failures() -> None:
    document = array_document("msa2000-raid5")
    with_failures(document, "vd0.3@1s", "array:msa2000-raid5")
    with_replacements(document, "vd0.3@10m,2@1s", "array:msa2000-raid5")
    assert [(one["group"], one["member"], one["time_s"]) for one in scheduled(document, "replaced_at")] == [
        ("vd0", 3, 600.0),
        ("vd0", 2, 1.0),
    ]
    assert [one["time_s"] for one in scheduled(document, "at")] == [1.0]
    with pytest.raises(InputError, match=r"`replace=x@1s` is no replacement; write replace=MEMBER@TIME"):
        with_replacements(document, "x@1s", "array:msa2000-raid5")
    with pytest.raises(InputError, match=r"`replace=2@1s`: member 2 of group `vd0` is replaced at this time already"):
        with_replacements(document, "2@1s", "array:msa2000-raid5")
