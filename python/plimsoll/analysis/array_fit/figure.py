"""What was measured of a row: a rate, or responses.

Model: a figure is a rate (``iops``), a mean or percentile of the responses of all requests, of reads or of writes (``p99``,
``read p50``, ``write mean``), or of a part of a trace the responses as they are distributed. An error is |modelled / measured - 1|; of
responses it is the demerit (Ruemmler & Wilkes, 1994): the root of the mean square of the horizontal distance between both distributions,
over the measured mean.

    latency_figure("read_p99_us")                 # Figure("read p99", 1000.0)
    demerit([1.0, 3.0], [1.0, 5.0])               # 0.707…
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

RATE = "iops"
#: Quantiles by which two distributions are held against each other.
QUANTILES = 500
_LATENCY = re.compile(r"(?:(read|write)_)?(mean|p\d{1,2}(?:_\d{1,3})?)_(ns|us|ms|s)")
_NS = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}
_DEMERIT = "demerit"


@dataclass(frozen=True)
class Figure:
    """A column that holds a mean or percentile: what it is, and how many nanoseconds one of its numbers is."""

    name: str
    ns: float


def latency_figure(column: str) -> Figure | None:
    """What a column of latencies holds; None for any other."""
    found = _LATENCY.fullmatch(column)
    if found is None:
        return None
    op, which, unit = found.groups()
    return Figure(f"{f'{op} ' if op else ''}{which.replace('_', '.')}", _NS[unit])


def is_latency(figure: str) -> bool:
    """Whether it is in nanoseconds."""
    return figure != RATE and not is_distribution(figure)


def op_of(figure: str) -> str | None:
    """The operation whose responses it is of; None for all."""
    op, _, which = figure.rpartition(" ")
    return op if which and op in ("read", "write") else None


def percent_of(figure: str) -> float | None:
    """The percentile that it is; None for a mean."""
    which = figure.rpartition(" ")[2]
    return None if which == "mean" else float(which[1:])


def of_part(part: int) -> str:
    """The responses of a part of a trace."""
    return f"{_DEMERIT} {part}"


def is_distribution(figure: str) -> bool:
    """Whether it is of responses as they are distributed."""
    return figure.startswith(_DEMERIT)


def quantiles(responses: Sequence[float]) -> tuple[float, ...]:
    """A distribution as so many values, each as likely as any other."""
    ordered = sorted(responses)
    return tuple(ordered[int((number + 0.5) / QUANTILES * len(ordered))] for number in range(QUANTILES))


def demerit(measured: Sequence[float], said: Sequence[float]) -> float:
    """How far apart two distributions are, both as values that are equally likely; in proportion to the measured mean."""
    square = sum((one - other) ** 2 for one, other in zip(measured, said, strict=True)) / len(measured)
    return math.sqrt(square) / (sum(measured) / len(measured))
