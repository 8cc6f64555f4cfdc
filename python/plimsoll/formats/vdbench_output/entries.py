"""The rows of a flatfile by the words of its header, and what they tell of a run, whatever it was on.

Model: the ``avg_m-n`` row is the tool's own total; it excludes warm-up, and intervals m to n are the measured phase. The length of an
interval is the usual time between two rows. Versions add columns, so none is found by its position, and ``n/a`` is absent.

    run = run_of_rows([entry for entry in entries(text, "flatfile.html") if entry.values["Run"] == "rd1"])
    run.sample.known("rate")
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from plimsoll.errors import InputError
from plimsoll.formats.vdbench_output.measured_span import Span

_NEEDED = ("Run", "Interval", "rate", "resp")
#: What only the flatfile of a workload on file systems has.
OF_FILES = "Read_rate"
_AVERAGE = re.compile(r"avg_(\d{1,9})-(\d{1,9})$")
_CLOCK = re.compile(r"(\d{1,2}):(\d\d):(\d\d)(?:\.(\d{1,3}))?$")
_DAY_S = 86_400.0
#: No figure of a real run comes near.
_LARGEST = 1e15
#: What stands in place of a rate when none was asked for.
_MAXIMUM = 999_900


@dataclass(frozen=True)
class Entry:
    """One row by column names."""

    values: Mapping[str, str]
    place: str

    def number(self, name: str) -> float | None:
        """The number in a column; None where it is absent or not known."""
        text = self.values.get(name, "n/a")
        if text.lower() in ("n/a", "na", "-"):
            return None
        try:
            value = float(text.replace(",", ""))
        except ValueError:
            value = -1.0
        if not 0 <= value <= _LARGEST:
            raise InputError(
                f"{self.place}: {name} is {text!r}, where a number of at least 0 should stand; give the file as Vdbench wrote it."
            )
        return value

    def known(self, name: str) -> float:
        """The number in a column, 0 where it is not known."""
        return self.number(name) or 0.0


@dataclass(frozen=True)
class RunRows:
    """A run: the intervals that count, its average where there is one, and how long an interval is where that can be told."""

    measured: Sequence[Entry]
    average: Entry | None
    sample: Entry
    length_s: float | None
    #: What the file itself says of the measured phase.
    stated: Span | None = None

    @property
    def counted(self) -> Sequence[Entry]:
        """The rows that rates are taken from."""
        return [self.average] if self.average is not None else self.measured

    @property
    def seconds(self) -> float:
        """How long was measured."""
        if self.stated is not None:
            return self.stated.seconds
        return max(1, len(self.measured)) * (self.length_s or 1.0)

    @property
    def target(self) -> str:
        """What was measured; empty where it is not told."""
        return self.stated.target if self.stated is not None else ""

    @property
    def spans_s(self) -> list[tuple[float, float]]:
        """From when to when each interval was, counted from the first one's beginning."""
        usual = self.length_s or 1.0
        equal = [(index * usual, (index + 1) * usual) for index in range(len(self.measured))]
        clocks = [clock for row in self.measured if (clock := _clock_s(row)) is not None]
        began = _seconds_of(self.stated.began) if self.stated is not None else None
        if began is None or len(clocks) < len(equal):
            return equal
        ends = [(clock - began) % _DAY_S for clock in clocks]
        rising = all(start < end for start, end in pairwise([0.0, *ends]))
        return list(pairwise([0.0, *ends])) if rising else equal

    @property
    def remark(self) -> str:
        """What the file does not tell."""
        return (
            "" if self.length_s or self.stated else "It does not tell how long its intervals are, so counts are those of one second each."
        )

    @property
    def origin(self) -> str:
        """What wrote the file."""
        version = self.sample.values.get("version", "n/a")
        known = version == "n/a" or version.startswith("plimsoll")
        return f"Vdbench {version.removeprefix('vdbench')}" if not known else "Vdbench" if version == "n/a" else version


def asked(rate: float) -> dict[str, object]:
    """Options of a stream that follow from the rate that was asked for."""
    return {"arrival": "poisson", "rate": rate} if 0 < rate < _MAXIMUM else {}


def entries(text: str, source: str) -> Iterator[Entry]:
    """Every row under a header. Raises `InputError` that names file and line."""
    header: list[str] | None = None
    for number, line in enumerate(text.splitlines(), start=1):
        words = line.split()
        if not words or line.lstrip().startswith(("*", "<")):
            continue
        if "Run" in words and "Interval" in words:
            header = words
            needed = [name.capitalize() for name in _NEEDED] if OF_FILES in words else _NEEDED
            missing = [name for name in needed if name not in words]
            if missing:
                raise InputError(f"{source}:{number}: the header has no column {missing[0]!r}; give the file as Vdbench wrote it.")
        elif header is None:
            raise InputError(
                f"{source}:{number}: a row stands before the header that names the columns; give the file as Vdbench wrote it."
            )
        elif len(words) != len(header):
            raise InputError(f"{source}:{number}: {len(words)} words under {len(header)} columns; give the file as Vdbench wrote it.")
        else:
            yield Entry(dict(zip(header, words, strict=True)), f"{source}:{number}")


def run_of_rows(rows: Sequence[Entry], stated: Span | None = None) -> RunRows:
    """The rows of one run; ``stated`` is what a comment says of its measured phase."""
    intervals = [row for row in rows if row.values["Interval"].isdecimal()]
    average = next((row for row in rows if _AVERAGE.match(row.values["Interval"])), None)
    measured = _measured(intervals, average)
    return RunRows(measured, average, average or (measured or rows)[0], _length_s(intervals), stated)


def _measured(intervals: Sequence[Entry], average: Entry | None) -> Sequence[Entry]:
    """The intervals that the average covers; without one, all but the first, which Vdbench leaves out."""
    if average is None:
        return intervals[1:] or intervals
    bounds = _AVERAGE.match(average.values["Interval"])
    first, last = (int(bounds[1]), int(bounds[2])) if bounds else (0, 0)
    return [row for row in intervals if first <= int(row.values["Interval"]) <= last]


def _length_s(intervals: Sequence[Entry]) -> float | None:
    """The usual time between two rows."""
    pairs = pairwise(clock for row in intervals if (clock := _clock_s(row)) is not None)
    gaps = [(later - earlier) % _DAY_S for earlier, later in pairs]
    usual = median(gaps) if gaps else 0.0
    # Rows are printed a little after the interval's end; intervals are whole seconds.
    return float(round(usual)) if usual >= 0.5 else usual or None


def _clock_s(row: Entry) -> float | None:
    return _seconds_of(row.values.get("tod", ""))


def _seconds_of(time_of_day: str) -> float | None:
    clock = _CLOCK.match(time_of_day)
    if clock is None:
        return None
    return int(clock[1]) * 3600 + int(clock[2]) * 60 + int(clock[3]) + float(f"0.{clock[4] or 0}")
