"""The metrics of decision support: power, throughput, composite and price per composite, at a scale.

Model, with SF the scale factor: power is 3600 · SF over the geometric mean of the seconds of 22 queries and two refreshes run alone.
Throughput is the queries of all streams per hour · SF, over the time from the first query's submission to the end of the last query or
refresh. Composite is the geometric mean of both. A geometric mean is taken of logarithms, so that no product overflows. Of a run with fewer
queries or without refreshes, the same formulas are taken over what was run; such a run says so in a flag.
Rounding: seconds count as they were measured, and figures are not rounded. The specification's own rounding, `spec_seconds` and
`spec_rounded`, takes seconds to a tenth, at least 0.1, figures to a tenth and prices to a hundredth: on a small scale that moves the
result, because queries take less than that.
Source: formulas and streams as the public documents of HammerDB state them; the roundings and the rule about queries that are too quick
(clause 5.4.1.4 of TPC-H) from memory. `tests/unit/test_decision_metrics.py` holds them to figures published in 2005.

    power(300.0, queries_s, refreshes_s)
    composite(15504.0, 9157.2)                       # 11915.25…
    rounded(price_per_composite(288751, 11915.25), 2, "ceil")     # 24.24
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import ROUND_CEILING, ROUND_HALF_UP, Decimal
from typing import Literal

from plimsoll.records import dataclass

#: How a figure that is shown with few digits is rounded; published ones of the same year do it in both ways.
Rounding = Literal["half-up", "ceil"]

_ROUNDINGS = {"half-up": ROUND_HALF_UP, "ceil": ROUND_CEILING}
_HOUR_S = 3600.0
#: A query that is more than so many times as quick as the slowest counts as this part of it.
QUICKEST_PART = 1000.0
#: The least number of streams of a throughput test, from each scale on.
STREAMS_MIN = {1: 2, 10: 3, 30: 4, 100: 5, 300: 6, 1000: 7, 3000: 8, 10000: 9, 30000: 10, 100000: 11}
#: The specification times to a tenth of a second, and nothing counts as less.
_SPEC_STEP_S = 0.1
_SPEC_DECIMALS = 1
_PRICE_DECIMALS = 2


@dataclass(frozen=True)
class Metrics:
    """Figures of one run: queries per hour times scale. Throughput and composite are None where no throughput test was run."""

    power: float
    throughput: float | None = None
    composite: float | None = None


def power(scale: float, queries_s: Sequence[float], refreshes_s: Sequence[float] = ()) -> float:
    """Power at a scale, of the seconds of each query and refresh run alone; the quickest queries count as `counted` says."""
    seconds = [*counted(queries_s), *refreshes_s]
    if not queries_s or min(seconds) <= 0.0:
        raise ValueError("power needs at least one query, and times above zero")
    return _HOUR_S * scale / math.exp(math.fsum(map(math.log, seconds)) / len(seconds))


def counted(queries_s: Sequence[float]) -> list[float]:
    """The seconds that count for power: none is less than a thousandth of the longest. Refreshes are not changed."""
    least = max(queries_s, default=0.0) / QUICKEST_PART
    return [max(least, seconds) for seconds in queries_s]


def throughput(scale: float, queries: int, elapsed_s: float) -> float:
    """Throughput at a scale, of the ``queries`` that all streams together carried out (22 per stream) in so many seconds."""
    if elapsed_s <= 0.0:
        raise ValueError("throughput needs a time above zero")
    return queries * _HOUR_S / elapsed_s * scale


def composite(power_at_scale: float, throughput_at_scale: float) -> float:
    """The geometric mean of power and throughput."""
    return math.sqrt(power_at_scale * throughput_at_scale)


def price_per_composite(price: float | Decimal, composite_at_scale: float) -> Decimal:
    """What one unit of the composite costs, not rounded."""
    return Decimal(price) / Decimal(composite_at_scale)


def spec_seconds(seconds: float) -> float:
    """A time as the specification counts it: to a tenth of a second, at least a tenth."""
    return max(_SPEC_STEP_S, float(rounded(seconds, _SPEC_DECIMALS)))


def spec_rounded(found: Metrics) -> Metrics:
    """Figures as the specification reports them, to a tenth."""
    power_, throughput_, composite_ = (
        None if value is None else float(rounded(value, _SPEC_DECIMALS)) for value in (found.power, found.throughput, found.composite)
    )
    assert power_ is not None
    return Metrics(power_, throughput_, composite_)


def spec_price(price_per_unit: Decimal, how: Rounding = "half-up") -> Decimal:
    """A price per composite as the specification reports it, to a hundredth."""
    return rounded(price_per_unit, _PRICE_DECIMALS, how)


def rounded(value: float | Decimal, decimals: int, how: Rounding = "half-up") -> Decimal:
    """A figure with so many decimals; of a float, what its shortest text says is rounded, as one would on paper."""
    exact = value if isinstance(value, Decimal) else Decimal(repr(value))
    return exact.quantize(Decimal(1).scaleb(-decimals), rounding=_ROUNDINGS[how])


def streams_min(scale: float) -> int:
    """The least number of streams at a scale: that of the next standard scale below, and of scale 1 for all that are smaller."""
    return max((streams for least, streams in STREAMS_MIN.items() if least <= scale), default=STREAMS_MIN[1])
