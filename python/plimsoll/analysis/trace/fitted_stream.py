"""A fitted stream: what of the trace it stands for, in the terms of our options, and as those options.

stream.options(base=0)          # {"name": "reads", "read_percent": 100, …}
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from plimsoll.analysis.trace.arrival_fit import Arrival
from plimsoll.analysis.trace.spread_fit import Spread
from plimsoll.units import size_text

Json = dict[str, Any]
_PERCENT_DIGITS = 4
_DIRECT_BYTES = 512
#: A stream with less than this share of random requests in percent that has several runs at once gives each a thread.
_MOSTLY_SEQUENTIAL = 50.0


@dataclass(frozen=True)
class FittedStream:
    """Shares are of the stream's own requests; addresses are the trace's."""

    name: str
    requests: int
    ops: dict[str, float]
    #: Sizes with their shares, per operation.
    sizes: dict[str, dict[int, float]]
    align: int
    random_percent: float
    threads: int
    spread: Spread
    start: int
    end: int
    arrival: Arrival
    queue_depth: int
    #: How long after the trace the stream begins.
    start_ns: int = 0
    #: Whether it ends well before the trace does.
    ends_early: bool = False
    warnings: list[str] = field(default_factory=list)

    @property
    def first_start(self) -> int:
        """Where the region starts: the first byte, aligned downward."""
        return self.start // self.align * self.align

    @property
    def length(self) -> int:
        """Length of the region, which has room for the longest request."""
        longest = max((size for mix in self.sizes.values() for size in mix), default=self.align)
        needed = max(self.end - self.first_start, longest)
        return -(-needed // self.align) * self.align

    @property
    def direct(self) -> bool:
        """Whether requests are whole sectors, as direct I/O needs them."""
        return not any(size % _DIRECT_BYTES for size in (self.align, *(size for mix in self.sizes.values() for size in mix)))

    def options(self, base: int) -> Json:
        """The stream as our options, its region moved down by ``base`` bytes."""
        found: Json = {"name": self.name}
        for op in ("read", "write", "trim", "flush"):
            share = self.ops.get(op, 0.0)
            if share or op in ("read", "write"):
                found[f"{op}_percent"] = share
        found |= self._size_options()
        found["align"] = size_text(self.align)
        found["random_percent"] = round(self.random_percent, _PERCENT_DIGITS)
        if self.random_percent > 0:
            found["distribution"] = self.spread.option
        if self.threads > 1:
            found |= {"threads": self.threads, "sequential": "per_thread"}
        found |= {"region_start": size_text(self.first_start - base), "region_length": size_text(self.length)}
        if not self.direct:
            found["direct"] = False
        return found | self._arrival_options()

    def _size_options(self) -> Json:
        forms = {op: _sizes(mix) for op, mix in self.sizes.items() if mix}
        if len({str(form) for form in forms.values()}) == 1:
            return {"block_size": next(iter(forms.values()))}
        return {f"{op}_block_size": form for op, form in forms.items()}

    def _arrival_options(self) -> Json:
        arrival = self.arrival
        found: Json = {"arrival": arrival.kind, "queue_depth": self.queue_depth}
        if arrival.kind in ("constant", "poisson"):
            found["rate"] = _digits(arrival.rate_per_s)
        if arrival.kind == "schedule":
            found["schedule"] = [{"at": f"{at_ns}ns", "rate": _digits(rate)} for at_ns, rate in arrival.steps]
        if self.start_ns:
            found["start_after"] = f"{self.start_ns}ns"
        if self.ends_early:
            found["requests"] = -(-self.requests // self.threads)
        return found


def percentages(shares: dict[Any, float]) -> dict[Any, float]:
    """Shares as percentages that sum to exactly 100 after rounding; the largest takes what is left."""
    total = sum(shares.values())
    rounded = {key: round(100 * share / total, _PERCENT_DIGITS) for key, share in shares.items()}
    rounded = {key: percent for key, percent in rounded.items() if percent > 0}
    largest = max(rounded, key=lambda key: rounded[key])
    rounded[largest] = round(100 - sum(percent for key, percent in rounded.items() if key != largest), _PERCENT_DIGITS)
    return rounded


def _sizes(mix: dict[int, float]) -> str | dict[str, float]:
    if len(mix) == 1:
        return size_text(next(iter(mix)))
    return {size_text(size): percent for size, percent in percentages(dict(mix)).items()}


def _digits(rate_per_s: float) -> float:
    """Six significant digits, and no less than a rate can be; 0 is silence."""
    return max(0.001, float(f"{rate_per_s:.6g}")) if rate_per_s > 0 else 0
