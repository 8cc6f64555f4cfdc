"""The metrics, each declared once, and their values.

Model: a family has samples that differ in their labels. Its name in Prometheus is made of ours, the unit and the kind
(``plimsoll_transferred_bytes_total``), its name in OpenTelemetry of ours with the unit beside it (``plimsoll.transferred``, ``By``).
Latencies are kept in buckets that grow by 2^(1/16): what was counted with an error of 1/256 is at most 4.4 % wide here.

    family("requests", [Sample({"run": "…", "op": "read"}, 1200.0)]).prometheus        # "plimsoll_requests_total"
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Literal

Kind = Literal["counter", "gauge", "histogram", "summary"]
Labels = Mapping[str, str]

#: Buckets per doubling are 2 to this power, in Prometheus' schema and OpenTelemetry's scale alike.
SCHEMA = 4
#: Upper limits of the classic buckets, in seconds.
CLASSIC_S = (*(digit * 10.0**power for power in range(-6, 2) for digit in (1, 2, 5)), 100.0)


@dataclass(frozen=True)
class Declared:
    """``unit`` is the word in Prometheus' names, ``ucum`` that of OpenTelemetry."""

    name: str
    kind: Kind
    help: str
    unit: str = ""
    ucum: str = "1"


DECLARED = {
    one.name: one
    for one in (
        Declared("build_info", "gauge", "The version of Plimsoll that answers."),
        Declared("running_runs", "gauge", "Runs that are being measured.", ucum="{run}"),
        Declared("run_info", "gauge", "What is being measured, in labels."),
        Declared("requests", "counter", "Completed requests, warm-up included.", ucum="{request}"),
        Declared("transferred", "counter", "Bytes of completed requests, warm-up included.", "bytes", "By"),
        Declared("request_errors", "counter", "Requests that failed.", ucum="{request}"),
        Declared("late_requests", "counter", "Requests that left late although their thread was free.", ucum="{request}"),
        Declared("request_latency", "histogram", "Latency from the instant at which a request was due.", "seconds", "s"),
        Declared("recent_latency", "summary", "Latency of the last 10 s of the point's own time.", "seconds", "s"),
        Declared("recent_requests_per_second", "gauge", "Completed requests per second of the last 10 s.", ucum="{request}/s"),
        Declared("recent_bytes_per_second", "gauge", "Bytes per second of the last 10 s.", ucum="By/s"),
        Declared("outstanding_requests", "gauge", "Requests in flight, mean of the newest interval.", ucum="{request}"),
        Declared("points_ended", "gauge", "Points of the run that have ended.", ucum="{point}"),
        Declared("points_planned", "gauge", "Points that there are to be; absent where results decide that.", ucum="{point}"),
        Declared("point_progress", "gauge", "Share of the point's planned time that has passed.", "ratio"),
        Declared("point_measuring", "gauge", "1 while requests count, 0 in warm-up and drain."),
        Declared("run_remaining", "gauge", "Time until the end of the run; absent where results decide that.", "seconds", "s"),
        Declared("host_cpu_busy", "gauge", "Share of processor time that was not idle.", "ratio"),
        Declared("host_device_reads_per_second", "gauge", "Reads that the device completed per second.", ucum="{request}/s"),
        Declared("host_device_writes_per_second", "gauge", "Writes that the device completed per second.", ucum="{request}/s"),
        Declared("host_device_read_bytes_per_second", "gauge", "Bytes read from the device per second.", ucum="By/s"),
        Declared("host_device_written_bytes_per_second", "gauge", "Bytes written to the device per second.", ucum="By/s"),
        Declared("host_device_busy", "gauge", "Share of time in which the device had requests.", "ratio"),
        Declared("host_device_queue_length", "gauge", "Requests in the queue of the device, mean.", ucum="{request}"),
    )
}


@dataclass
class Buckets:
    """Latencies by bucket: index ``i`` holds what is above 2^((i-1)/16) s and not above 2^(i/16) s."""

    counts: dict[int, int] = field(default_factory=dict)
    classic: list[int] = field(default_factory=lambda: [0] * (len(CLASSIC_S) + 1))
    zero: int = 0
    sum_s: float = 0.0

    def add(self, buckets_ns: Iterable[tuple[int, int]], sum_ns: float) -> None:
        """Count so many of each value in nanoseconds."""
        for value_ns, count in buckets_ns:
            self.classic[_classic_place(value_ns)] += count
            if value_ns <= 0:
                self.zero += count
            else:
                index = _index(value_ns)
                self.counts[index] = self.counts.get(index, 0) + count
        self.sum_s += sum_ns / 1e9

    @property
    def count(self) -> int:
        """All of them."""
        return self.zero + sum(self.counts.values())


@dataclass(frozen=True)
class Quantiles:
    """Latencies at shares of the requests, in seconds; ``count`` and ``sum_s`` are of all requests so far."""

    values_s: Mapping[float, float]
    count: int
    sum_s: float


@dataclass(frozen=True)
class Sample:
    """A value and what tells it from the others of its family."""

    labels: Labels
    value: float | Buckets | Quantiles


@dataclass(frozen=True)
class Family:
    """Samples of one metric."""

    declared: Declared
    samples: Sequence[Sample]

    @property
    def prometheus(self) -> str:
        """The name that Prometheus knows it by."""
        words = ["plimsoll", self.declared.name, self.declared.unit, "total" if self.declared.kind == "counter" else ""]
        return "_".join(filter(None, words))


def family(name: str, samples: Sequence[Sample]) -> Family:
    """The declared metric ``name`` with its samples."""
    return Family(DECLARED[name], samples)


@cache
def _index(value_ns: int) -> int:
    return math.ceil(math.log2(value_ns / 1e9) * (1 << SCHEMA))


@cache
def _classic_place(value_ns: int) -> int:
    return sum(value_ns / 1e9 > limit_s for limit_s in CLASSIC_S)
