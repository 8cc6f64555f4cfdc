"""Levels as they are written, in files and on the command line."""

from __future__ import annotations

from typing import Any

import pytest

from plimsoll.errors import InputError
from plimsoll.experiments.levels import ends_of, levels_of


@pytest.mark.parametrize(
    ("option", "written", "levels"),
    [
        ("queue_depth", [1, 2, 4], (1, 2, 4)),
        ("queue_depth", "1,2, 4", (1, 2, 4)),
        ("queue_depth", "1..64", (1, 2, 4, 8, 16, 32, 64)),
        ("queue_depth", "1..100", (1, 2, 4, 8, 16, 32, 64, 100)),
        ("queue_depth", "1 .. 64 * 3", (1, 3, 9, 27, 64)),
        ("queue_depth", "1..32+4", (1, 5, 9, 13, 17, 21, 25, 29, 32)),
        ("queue_depth", "3..3", (3,)),
        ("queue_depth", "1..4,8,16..64", (1, 2, 4, 8, 16, 32, 64)),
        ("queue_depth", ["1..4", 8], (1, 2, 4, 8)),
        ("queue_depth", 7, (7,)),
        ("queue_depth", 4.0, (4,)),
        ("read_percent", "0..100+25", (0, 25, 50, 75, 100)),
        # Decimals add up exactly; binary fractions would not.
        ("think_time", "0.1..0.5+0.1", (0.1, 0.2, 0.3, 0.4, 0.5)),
        ("think_time", "1..3*1.5", (1, 1.5, 2.25, 3)),
        ("rate", "500..4k", (500, 1000, 2000, 4000)),
        ("log.rate", "1k, 2.5k/s, 20M", (1000, 2500, 20_000_000)),
        ("block_size", "8k,16k", ("8k", "16k")),
        ("region_length", ["2GiB", "25%"], ("2GiB", "25%")),
        ("direct", [True, False], (True, False)),
        ("threads", [1, True], (1, True)),
        ("block_size", "4KiB=60,8KiB=40", ("4KiB=60,8KiB=40",)),
        ("block_size", [{"4KiB": 60, "8KiB": 40}, "64k"], ({"4KiB": 60, "8KiB": 40}, "64k")),
        ("target", "stripe:../a..b,c?unit=1MiB", ("stripe:../a..b,c?unit=1MiB",)),
        ("target", ["/dev/sdb", "/dev/sdc"], ("/dev/sdb", "/dev/sdc")),
        ("target", ["8"], ("8",)),
    ],
)
def test_levels_are_read_in_the_order_written(option: str, written: Any, levels: tuple[Any, ...]) -> None:
    found = levels_of(option, written)
    assert found == levels
    assert [type(level) for level in found] == [type(level) for level in levels]
    assert levels_of(option, list(found)) == found


@pytest.mark.parametrize(
    ("written", "sentence"),
    [
        ([], "no level is given; write '1..64' (doubling), '1..64*3', '1..32+4' or [1, 2, 4]."),
        ("", "a level is missing beside ','"),
        ("1,,2", "a level is missing beside ','"),
        ("0..8", "'0..8' starts at 0, which stays 0 when multiplied; write for example '0..8+1'."),
        ("8..1", "'8..1' does not rise; write the lower end first."),
        ("1..8*1", "'1..8*1' never arrives; write a factor above 1."),
        ("1..8+0", "'1..8+0' never arrives; write a step above 0."),
        ("1..", "'1..' is not a range; write START..STOP"),
        ("..8", "'..8' is not a range"),
        ("1..8..16", "is not a range of plain numbers"),
        ("4k..64k", "'4k..64k' is not a range of plain numbers; write its levels one by one, for example '4k,8k,16k'."),
        ("1..8*fast", "is not a range of plain numbers"),
        ("1..1000000+1", "there are more than 1000 levels; write a coarser range."),
        ([1, 2, 1.0], "level 1 stands twice; name it once, and repeat the measurement instead."),
        ("8k,8k", "level '8k' stands twice"),
        ([[1, 2]], "[1, 2] is not a level"),
        ([float("nan")], "nan is not a level"),
        (float("inf"), "inf is not a level"),
        ([{}], "{} is not a level"),
        (None, "null is not a level"),
    ],
)
def test_a_wrong_text_is_answered_in_one_sentence(written: Any, sentence: str) -> None:
    with pytest.raises(InputError) as refusal:
        levels_of("queue_depth", written)
    assert sentence in str(refusal.value)


@pytest.mark.parametrize(
    ("option", "written", "ends"),
    [
        ("queue_depth", "1..64", (1, 64)),
        ("queue_depth", [1, 64], (1, 64)),
        ("rate", "500..20k", (500, 20_000)),
        ("rate", ["0.5k", 900.5], (500, 900.5)),
    ],
)
def test_ends_are_two_numbers(option: str, written: Any, ends: tuple[float, float]) -> None:
    assert ends_of(option, written) == ends


@pytest.mark.parametrize(
    ("written", "sentence"),
    [
        ("1..64*3", "'1..64*3' says how to step; write only the ends here, '1..64', and the steps as 'growth'."),
        ("64", "'64' does not say between which two numbers to look; write '1..64' or [1, 64]."),
        ([1, 2, 4], "[1, 2, 4] does not say between which two numbers"),
        (64, "64 does not say"),
        ("64..1", "'64..1' does not rise from a level above 0"),
        ("0..8", "'0..8' does not rise from a level above 0"),
        ([8, 8], "does not rise"),
        (["8k", "16k"], "'8k' is not a number; write for example 8."),
        ([True, 8], "true is not a number"),
    ],
)
def test_wrong_ends_are_answered_in_one_sentence(written: Any, sentence: str) -> None:
    with pytest.raises(InputError) as refusal:
        ends_of("queue_depth", written)
    assert sentence in str(refusal.value)
