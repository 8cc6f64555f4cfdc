"""The profile of a trace, gathered in one pass and bounded memory.

Lengths of requests: every one that occurs while they are few, bands of a sixteenth of an octave beyond.

Limits: a length that appears after `MOST_SIZES` others is rounded down by at most 6 %.

    sizes.add(4096); sizes.counts          # {4096: 1}

The profile: what the requests of a trace are like.

Model: one `Flow` of all requests and one per operation. Sequential requests go where the one before ended, so only the others say how
addresses spread; alignment is the largest power of two that 99.9 % of the requests keep with start and length.
Units: nanoseconds, bytes.
Limits: about 20 MiB, however long the trace. Several targets taken together lie on top of each other: one address space, sequential runs
told apart.

    profile = profile_requests(requests)
    profile.flows["read"].sequential_share
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from plimsoll.analysis.trace.addresses import Addresses, Runs, WorkingSet
from plimsoll.analysis.trace.arrivals import Spacing

MOST_SIZES = 4096
_KEPT_BITS = 4


class Sizes:
    """How often each length occurs."""

    __slots__ = ("counts",)

    def __init__(self) -> None:
        self.counts: dict[int, int] = {}

    def add(self, length: int) -> None:
        """One request."""
        counts = self.counts
        if length in counts:
            counts[length] += 1
        elif len(counts) < MOST_SIZES:
            counts[length] = 1
        else:
            shift = max(0, length.bit_length() - 1 - _KEPT_BITS)
            rounded = length >> shift << shift
            counts[rounded] = counts.get(rounded, 0) + 1

    @property
    def total(self) -> int:
        """Requests."""
        return sum(self.counts.values())

    def shares(self) -> list[tuple[int, float]]:
        """Lengths with their share of the requests, the most frequent first."""
        total = self.total
        ordered = sorted(self.counts.items(), key=lambda item: (-item[1], item[0]))
        return [(size, count / total) for size, count in ordered]


def size_distance(first: Sizes, second: Sizes) -> float:
    """The largest difference between the two cumulative distributions (Kolmogorov–Smirnov)."""
    if not first.counts or not second.counts:
        return 0.0 if bool(first.counts) == bool(second.counts) else 1.0
    totals = first.total, second.total
    passed, largest = [0, 0], 0.0
    for size in sorted(first.counts.keys() | second.counts.keys()):
        passed[0] += first.counts.get(size, 0)
        passed[1] += second.counts.get(size, 0)
        largest = max(largest, abs(passed[0] / totals[0] - passed[1] / totals[1]))
    return largest


#: at_ns, op, offset, length, target, service_ns: as the readers of traces yield them.
Request = tuple[int | None, str, int, int, str, int | None]

OPS = ("read", "write", "trim", "flush")
MOST_TARGETS = 10_000
LARGEST_ALIGNMENT = 1 << 20
_ALIGNED_SHARE = 0.999


class Flow:
    """Requests of one kind."""

    __slots__ = ("_alignments", "_start_alignments", "addresses", "bytes", "count", "runs", "sizes", "spacing")

    def __init__(self) -> None:
        self.count = 0
        self.bytes = 0
        self.sizes = Sizes()
        self.runs = Runs()
        self.addresses = Addresses()
        self.spacing = Spacing()
        self._alignments: dict[int, int] = {}
        self._start_alignments: dict[int, int] = {}

    def add(self, offset: int, length: int, target: str) -> None:
        """One request that moves data."""
        self.count += 1
        self.bytes += length
        self.sizes.add(length)
        either = offset | length | LARGEST_ALIGNMENT
        alignment = either & -either
        self._alignments[alignment] = self._alignments.get(alignment, 0) + 1
        if not self.runs.follows(target, offset, length):
            self.addresses.add(offset, length)
            start = offset | LARGEST_ALIGNMENT
            alignment = start & -start
            self._start_alignments[alignment] = self._start_alignments.get(alignment, 0) + 1
        elif offset + length > self.addresses.end:
            self.addresses.end = offset + length

    @property
    def sequential_share(self) -> float:
        """The share of the requests that follow the end of an earlier one."""
        return self.runs.sequential / self.count if self.count else 0.0

    @property
    def alignment(self) -> int:
        """What nearly all requests are multiples of, start and length."""
        return _kept(self._alignments)

    @property
    def start_alignment(self) -> int:
        """What the starts of nearly all requests that follow no other are multiples of."""
        return _kept(self._start_alignments)


class Profile:
    """The whole trace."""

    def __init__(self) -> None:
        self.count = 0
        self.ops: Counter[str] = Counter()
        self.targets: Counter[str] = Counter()
        self.more_targets = False
        self.timed = True
        self.total = Flow()
        self.touched = WorkingSet()
        self.flows: dict[str, Flow] = {}
        self.served = 0
        self.service_ns = 0

    def add(self, request: Request) -> None:
        """One request."""
        at_ns, op, offset, length, target, service_ns = request
        self.count += 1
        self.ops[op] += 1
        if target in self.targets or len(self.targets) < MOST_TARGETS:
            self.targets[target] += 1
        else:
            self.more_targets = True
        flow = self.flows.get(op)
        if flow is None:
            flow = self.flows[op] = Flow()
        if at_ns is None:
            self.timed = False
        else:
            self.total.spacing.add(at_ns)
            flow.spacing.add(at_ns)
        if op != "flush":
            self.total.add(offset, length, target)
            self.touched.add(offset, length)
            flow.add(offset, length, target)
        if service_ns is not None:
            self.served += 1
            self.service_ns += service_ns

    def share(self, op: str) -> float:
        """The share of the requests that are ``op``."""
        return self.ops[op] / self.count if self.count else 0.0

    @property
    def outstanding(self) -> float | None:
        """Requests outstanding on average, by Little's law; None where the trace has no completions."""
        span_ns = self.total.spacing.span_ns
        if not self.served or not span_ns:
            return None
        return self.service_ns / self.served * self.count / span_ns

    @property
    def mean_service_ns(self) -> float | None:
        """Mean time from issue to completion."""
        return self.service_ns / self.served if self.served else None


def profile_requests(requests: Iterable[Request]) -> Profile:
    """The profile of all requests."""
    profile = Profile()
    for request in requests:
        profile.add(request)
    return profile


def _kept(alignments: dict[int, int]) -> int:
    """The largest power of two that `_ALIGNED_SHARE` of the requests are multiples of."""
    wanted, kept = _ALIGNED_SHARE * sum(alignments.values()), 0
    for alignment in sorted(alignments, reverse=True):
        kept += alignments[alignment]
        if kept >= wanted:
            return alignment
    return 1
