"""A time series in bounded memory: when it is full, neighbours are merged pairwise, so it holds a day as well as a second.

Model: each point is a slice of time with additive counts; merging adds them, which loses resolution and no total.

    series = Series()
    series.add(Slice(seconds=1.0, count=900, latency_sum_ns=9e8))
    [point.rate_per_s for point in series]
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

CAPACITY = 512


@dataclass(frozen=True)
class Slice:
    """What completed in one slice of time."""

    seconds: float
    count: int
    latency_sum_ns: float

    @property
    def rate_per_s(self) -> float:
        """Completions per second."""
        return self.count / self.seconds if self.seconds > 0 else 0.0

    @property
    def mean_ns(self) -> float:
        """Mean latency; 0 when nothing completed."""
        return self.latency_sum_ns / self.count if self.count else 0.0

    def __add__(self, other: Slice) -> Slice:
        return Slice(self.seconds + other.seconds, self.count + other.count, self.latency_sum_ns + other.latency_sum_ns)


class Series:
    """Slices of equal resolution, oldest first."""

    def __init__(self, capacity: int = CAPACITY) -> None:
        self._capacity = capacity
        self._slices: list[Slice] = []
        self._per_slice = 1
        self._pending: Slice | None = None
        self._pending_count = 0

    def add(self, point: Slice) -> None:
        """Append one; halves the resolution when the capacity is reached."""
        self._pending = point if self._pending is None else self._pending + point
        self._pending_count += 1
        if self._pending_count < self._per_slice:
            return
        self._slices.append(self._pending)
        self._pending, self._pending_count = None, 0
        if len(self._slices) == self._capacity:
            self._slices = [a + b for a, b in zip(self._slices[::2], self._slices[1::2], strict=True)]
            self._per_slice *= 2

    def __iter__(self) -> Iterator[Slice]:
        return iter(self._slices)

    def __len__(self) -> int:
        return len(self._slices)
