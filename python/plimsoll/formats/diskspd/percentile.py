"""The percentiles that DiskSpd reports, in its text and in its XML.

Model: text has the least, quartiles, 90, 95 and 99 and then so many nines; XML has every whole percent and the same nines, 0 being the
least and 100 the greatest. A percentile is the smallest latency that so many requests did not exceed.
Limits: with few requests the last percentiles are all the greatest latency, as in DiskSpd.

    value_ms(histogram, 99.9)
"""

from __future__ import annotations

from plimsoll.histogram import Histogram

NINES = tuple((f"{number}-nines", 100 - 10.0 ** (2 - number)) for number in range(3, 10))
TEXT: tuple[tuple[str, float], ...] = (
    ("min", 0.0),
    ("25th", 25.0),
    ("50th", 50.0),
    ("75th", 75.0),
    ("90th", 90.0),
    ("95th", 95.0),
    ("99th", 99.0),
    *NINES,
    ("max", 100.0),
)
XML: tuple[float, ...] = (*(float(percent) for percent in range(100)), *(percent for _, percent in NINES), 100.0)


def value_ms(histogram: Histogram, percent: float) -> float:
    """The latency at a percentile in milliseconds; the histogram holds at least one request."""
    if percent <= 0:
        return histogram.min / 1e6
    return (histogram.max if percent >= 100 else histogram.percentile(percent)) / 1e6
