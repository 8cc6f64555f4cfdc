"""Claims of reports that cost some seconds each: their rows of docs/reproduce.md, and the same table with two runs at a time."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from support.said import Said
from unit.test_reproduce_page import PAGE, row_of, rows


@pytest.mark.parametrize("number", [19, 21])
def test_the_numbers_are_those_of_the_model_as_it_is(number: int) -> None:
    assert row_of(number) == rows(PAGE.read_text(encoding="utf-8"))[number]


def test_a_report_is_judged_alike_with_one_and_with_two_runs_at_a_time(plimsoll: Callable[..., Said]) -> None:
    one, two = (plimsoll("reproduce", "001", "--claim", "19-20", "--json", "--quiet", "--jobs", jobs) for jobs in ("1", "2"))
    assert (one.code, two.code) == (0, 0), one.err + two.err
    assert one.out == two.out
    document = json.loads(one.out)
    assert document["modelled"] is True
    assert [claim["number"] for claim in document["claims"]] == [19, 20]
    assert all(case["values"] for claim in document["claims"] for case in claim["cases"])
