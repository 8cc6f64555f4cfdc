"""Expressions of claims: what can be said, what it comes to, and what is refused."""

from __future__ import annotations

import pytest

from plimsoll.catalog.expression import ReadOff, parsed
from plimsoll.errors import InputError


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2 + 3 * 4", 14),
        ("-(2 ** 3) / 4", -2),
        ("sqrt(15504.0 * 9157.2)", 11915.3),
        ("log(8) / log(2)", 3),
        ("max(1, 5, 3) - min(4, 2)", 3),
    ],
)
def test_numbers_are_worked_out(text, value):
    assert parsed(text).value(lambda read_off: 0.0) == pytest.approx(value, abs=0.05)
    assert parsed(text).read_offs == ()


def test_readings_are_named_once_and_looked_up():
    found = parsed('sas.iops / u320.iops + sas.iops * p600.use["raid-bus"] - mark.beyond.read_mean')
    assert found.read_offs == (
        ReadOff("sas", "iops"),
        ReadOff("u320", "iops"),
        ReadOff("p600", "use", "raid-bus"),
        ReadOff("mark", "read_mean", beyond=True),
    )
    numbers = {"sas": 6.0, "u320": 3.0, "p600": 0.5, "mark": 1.0}
    assert found.value(lambda read_off: numbers[read_off.run]) == 4.0


def test_links_and_sizes_need_no_run():
    assert [read_off.needs_a_run for read_off in parsed('a.rate["phy"] + a.size_bytes + a.use["phy"] + a.p99').read_offs] == [
        False,
        False,
        True,
        True,
    ]


@pytest.mark.parametrize(
    "text",
    [
        "sas.",
        "sas",
        "sas.speed",
        "sas.use",
        "sas.use[0]",
        "sas.beyond.size_bytes",
        "'text'",
        "1 if sas.iops else 2",
        "eval('1')",
        "sas.iops > 3",
        "True",
        "sqrt(x=1)",
    ],
)
def test_what_is_no_expression_is_refused_with_the_text(text):
    with pytest.raises(InputError) as refused:
        parsed(text)
    assert text in str(refused.value)


def test_a_sum_that_stand_ins_cannot_work_out_is_still_one():
    assert parsed("1 / (sas.iops - u320.iops)").value(lambda read_off: 3.0 if read_off.run == "sas" else 2.0) == 1.0
