"""Every text that has a unit means the same to Python as to the engine, which is the reference; and what figures look like."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import plimsoll
from plimsoll import units
from plimsoll.engine.block import native
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


SIZES = ["4096", "4KiB", "4kib", "4k", "4K", "4Ki", "4 KiB", "4kB", "2MB", "1.5GiB", "0.5k", "512B", "512b", "1t", "1PiB", "8GB", "0.001GB"]
NO_SIZES = [
    "",
    "k",
    "-4k",
    "4.5x",
    "4..5k",
    "4.k",
    ".5k",
    "1.0001k",
    "99999999999t",
    "4kk",
    "٤k",
    "1e3",
    "4 potatoes",
    "64KB",
    "4mb",
    "4Gb",
    "4KİB",
]
RATES = ["20k", "1.5k/s", "0.5", "300/s", "2M", "2 m/s", "20 k"]
NO_RATES = ["", "20 per second", "-1", "1e5", "k", "5/h"]
SHARES = ["70", "70%", "70.5 %", "0", "100"]
NO_SHARES = ["", "70 percent", "%", "-1", "7e1"]


def by_the_engine(option: str, text: str) -> Any:
    """What the engine reads, or its sentence without the place."""
    try:
        if option in ("size", "duration"):
            return native().check_job({option: text})[option]
        stream = {option: text} if option != "rate" else {"arrival": "constant", "rate": text}
        return native().check_workload({"stream": [stream]}, "x")["stream"][0][option]
    except InputError as problem:
        return str(problem).rpartition(f"{option}: ")[2]


def sentence(reader: Any, text: str) -> str:
    with pytest.raises(InputError) as problem:
        reader(text)
    return str(problem.value)


@pytest.mark.parametrize("text", SIZES)
def test_a_size_is_what_the_engine_takes_it_for(text: str) -> None:
    theirs = by_the_engine("size", text)
    assert isinstance(theirs, str) or theirs == units.size_bytes(text)
    # `size` has a least value of its own; a region may begin anywhere.
    assert by_the_engine("region_start", text) == units.size_bytes(text)


@pytest.mark.parametrize("text", NO_SIZES)
def test_what_is_no_size_is_refused_in_the_sentence_of_the_engine(text: str) -> None:
    assert sentence(units.size_bytes, text) == by_the_engine("size", text)


@pytest.mark.parametrize("text", TIMES)
def test_a_time_is_what_the_engine_takes_it_for(text: str) -> None:
    theirs = by_the_engine("duration", text)
    # An option may have limits of its own; where it takes the time, it is the same.
    assert isinstance(theirs, str) or theirs == pytest.approx(units.time_ns(text) / 1e9, rel=1e-12)


@pytest.mark.parametrize("text", JUNK)
def test_what_is_no_time_is_refused_in_the_sentence_of_the_engine(text: str) -> None:
    assert sentence(units.time_ns, text) == by_the_engine("duration", text)


@pytest.mark.parametrize("text", RATES)
def test_a_rate_is_what_the_engine_takes_it_for(text: str) -> None:
    assert by_the_engine("rate", text) == units.rate_per_s(text)


@pytest.mark.parametrize("text", NO_RATES)
def test_what_is_no_rate_is_refused_in_the_sentence_of_the_engine(text: str) -> None:
    assert sentence(units.rate_per_s, text) == by_the_engine("rate", text)


@pytest.mark.parametrize("text", SHARES)
def test_a_share_is_what_the_engine_takes_it_for(text: str) -> None:
    assert by_the_engine("read_percent", text) == units.percent(text)


@pytest.mark.parametrize("text", NO_SHARES)
def test_what_is_no_share_is_refused_in_the_sentence_of_the_engine(text: str) -> None:
    assert sentence(units.percent, text) == by_the_engine("read_percent", text)


@pytest.mark.parametrize(
    ("size", "text"), [(0, "0B"), (1000, "1000B"), (4096, "4KiB"), (65_537, "65537B"), (3 << 50, "3PiB"), (1536, "1536B")]
)
def test_a_size_is_written_so_that_it_reads_as_it_was(size: int, text: str) -> None:
    assert units.size_text(size) == text
    assert units.size_bytes(text) == size


@pytest.mark.parametrize(
    ("ns", "padded", "brief"),
    [
        (999_700, "1.00 ms", "1 ms"),
        (1_234_000, "1.23 ms", "1.23 ms"),
        (250_000_000, "250 ms", "250 ms"),
        (1_500_000_000, "1.50 s", "1.5 s"),
        (20, "20.0 ns", "20 ns"),
        (0, "0 ns", "0 ns"),
        (100_000_000_000, "100 s", "100 s"),
    ],
)
def test_a_time_for_people_has_three_digits_in_the_unit_that_fits(ns: int, padded: str, brief: str) -> None:
    assert units.duration(ns) == padded
    assert units.brief_duration(ns) == brief


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (25694.3, 4, "25,690"),  # "2.57e+04 GB"
        (1050.0, 3, "1,050"),  # "1.05e+03 %"
        (999.6, 3, "1,000"),
        (99.96, 3, "100"),
        (0.000123456, 3, "0.000123"),
        (12.0, 3, "12"),
        (-1234.5, 3, "-1,230"),
        (0.0, 3, "0"),
    ],
)
def test_numbers_for_people_have_no_powers_of_ten(value: float, digits: int, text: str) -> None:
    assert units.significant(value, digits) == text


def test_no_sentence_writes_a_figure_in_powers_of_ten() -> None:
    # ``:.3g`` writes 2.57e+04; `significant` writes 25,700. What is read by programs, and numbers that are rounded, may.
    allowed = {"units.py", "experiments/probe.py", "analysis/array_fit/unknown.py"}
    root = Path(plimsoll.__file__).parent
    found = {
        str(path.relative_to(root))
        for path in root.rglob("*.py")
        for line in path.read_text(encoding="utf-8").splitlines()
        if re.search(r":\.[1-6]g\}", line) and 'float(f"{' not in line
    }
    assert found - allowed == set()
