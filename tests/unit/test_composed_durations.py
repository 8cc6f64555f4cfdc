"""Times in the words of a target are those of options."""

from __future__ import annotations

import pytest

from plimsoll.catalog.arrays import array_document
from plimsoll.catalog.composition.failures import scheduled, with_failures, with_replacements
from plimsoll.errors import InputError


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
