"""Latency histograms: log-linear, relative error at most 1/256, merged without loss, in nanoseconds.

The counting is done in Rust; this is its typed face. Text form is HDR histogram V2, deflate, base64, which any HDR reader
opens (Tene, HdrHistogram, "HistogramEncoding V2"). One that is kept rather than added to is folded: its 270 KiB become some KiB.

    merged([cell["latency"] for cell in cells]).percentile(99.0)   # nanoseconds
"""

from __future__ import annotations

from collections.abc import Iterable

from plimsoll._core import Distribution, Histogram

__all__ = ["Distribution", "Histogram", "decoded", "distribution", "merged"]


def decoded(encoded: str) -> Histogram:
    """The histogram that ``encoded`` (V2 deflate base64) holds."""
    return Histogram.decode(encoded)


def merged(encoded: Iterable[str]) -> Histogram | None:
    """One histogram holding every value of all; None when there is none."""
    total: Histogram | None = None
    for text in encoded:
        if total is None:
            total = decoded(text)
        else:
            total.add(decoded(text))
    return total


def distribution(encoded: Iterable[str]) -> Distribution:
    """All together, for drawing: only the buckets with a count are read, without the rest."""
    return Distribution.merged(list(encoded))
