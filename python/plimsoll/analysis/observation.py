"""What the plausibility audit has to know of a run beyond its totals: concurrency, trend, lag and drain.

Model: accumulated interval by interval beside the `Summary`, in bounded memory; every field is a plain number.

    observation = Observation()
    observation.add(interval)
    observation.inflight_mean        # time-weighted, requests
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plimsoll.analysis.batches import portion_key
from plimsoll.analysis.series import Series, Slice

Json = dict[str, Any]


class Observation:
    """Accumulates one job."""

    def __init__(self, drawn: Mapping[str, frozenset[str]] | None = None) -> None:
        self._drawn = drawn or {}
        self.series = Series()
        self.elapsed_s = 0.0
        self.warmup_s = 0.0
        self.drain_s = 0.0
        self.drain_latency_max_ns = 0
        #: Requests that completed after the measured time, in the drain or once the goal of the point was reached.
        self.late_count = 0
        #: Those of them that were drawn, and did not merely come with another operation on files.
        self.late_drawn_count = 0
        #: Requests that completed in the warm-up.
        self.warmup_count = 0
        self.lag_late = 0
        self.lag_p99_ns = 0
        self.lag_max_ns = 0
        self._inflight_s = 0.0

    def add(self, interval: Json) -> None:
        """Take one interval of any phase into account."""
        seconds = (interval["end_ns"] - interval["start_ns"]) / 1e9
        phase = interval["phase"]
        if phase == "warmup":
            self.warmup_s += seconds
            self.warmup_count += _count(interval)
        elif phase == "after":
            self._late(interval)  # arrived after the point had ended by its goal
        elif phase == "drain":
            self.drain_s += seconds
            self._late(interval)
            maxima = [entry.get("max_ns") or 0 for entry in interval.get("summary", {}).values()]
            self.drain_latency_max_ns = max(self.drain_latency_max_ns, *maxima, 0)
        else:
            self._measure(interval, seconds)

    @property
    def inflight_mean(self) -> float | None:
        """Requests in flight, averaged over the measured time; None when nothing was measured."""
        return self._inflight_s / self.elapsed_s if self.elapsed_s > 0 else None

    def _late(self, interval: Json) -> None:
        count = _count(interval)
        self.late_count += count
        if not self._drawn:
            self.late_drawn_count += count
            return
        cells = [cell for cell in interval["cells"] if cell.get("part") is None]
        self.late_drawn_count += sum(int(cell["count"]) for cell in cells if portion_key(cell, self._drawn) == cell["op"])

    def _measure(self, interval: Json, seconds: float) -> None:
        self.elapsed_s += seconds
        self._inflight_s += (interval.get("inflight_mean") or 0.0) * seconds
        entries = list(interval.get("summary", {}).values())
        count = sum(entry["count"] for entry in entries)
        latency_sum_ns = sum(entry["count"] * (entry.get("mean_ns") or 0.0) for entry in entries)
        self.series.add(Slice(seconds, count, latency_sum_ns))
        lag = interval.get("lag")
        if lag:
            self.lag_late += lag.get("late") or 0
            self.lag_p99_ns = max(self.lag_p99_ns, lag.get("p99_ns") or 0)
            self.lag_max_ns = max(self.lag_max_ns, lag.get("max_ns") or 0)


def _count(interval: Json) -> int:
    return sum(int(entry["count"]) for entry in interval.get("summary", {}).values())
