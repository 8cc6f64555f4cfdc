"""The match of a fitted workload with its trace: the same measures of both, side by side.

Model: both are profiled in the same way, so noise and the limits of the measures are on both sides. A measure is a pair of numbers with
their difference; a distance is the largest difference between two cumulative distributions (Kolmogorov–Smirnov, 0 to 1). Two samples of one
process show less than `noise` in 19 cases of 20.
Limits: a workload can match all of them and still differ in how they go together. How many places were touched depends on the number of
requests, and is left out when the numbers differ.

    for measure in compare_profiles(profile, profile_requests(draw_requests(fit, profile.count))): print(measure.name, measure.original,
    measure.synthetic)
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from plimsoll.analysis.trace.addresses import common_shift, position_distance
from plimsoll.analysis.trace.arrivals import gap_distance
from plimsoll.analysis.trace.profile import OPS, Flow, Profile, size_distance

_PARTS = (0.01, 0.1, 0.2, 0.5)
_QUANTILES = (0.01, 0.1, 0.5, 0.9, 0.99)
_POPULAR = (1, 16, 256)
_TOP_SIZES = 5
_DISPERSION_WINDOWS = 120


@dataclass(frozen=True)
class Measure:
    """One property of both. ``unit`` is share, count, ns, bytes, rate, ratio or distance; a distance has no sides."""

    group: str
    name: str
    unit: str
    original: float | None
    synthetic: float | None
    difference: float

    def to_json(self) -> dict[str, Any]:
        """As it stands in the document."""
        return asdict(self)


def compare_profiles(original: Profile, synthetic: Profile) -> list[Measure]:
    """Every measure, in the order in which it is shown."""
    found = [*_mix(original, synthetic), *_sizes(original, synthetic)]
    if original.timed and synthetic.timed:
        found.extend(_arrivals(original, synthetic))
    found.extend(_sequences(original, synthetic))
    found.extend(_addresses(original.total, synthetic.total))
    if original.count == synthetic.count:
        found.extend(_touched(original, synthetic))
    return found


def noise(requests: int) -> float:
    """The distance that two samples of one process exceed once in twenty times."""
    return 1.36 * math.sqrt(2 / requests) if requests else 1.0


def _pair(group: str, name: str, unit: str, sides: tuple[float, float]) -> Measure:
    return Measure(group, name, unit, sides[0], sides[1], sides[1] - sides[0])


def _distance(group: str, name: str, value: float) -> Measure:
    return Measure(group, name, "distance", None, None, value)


def _mix(original: Profile, synthetic: Profile) -> Iterator[Measure]:
    for op in OPS:
        if original.ops[op] or synthetic.ops[op]:
            yield _pair("operations", op, "share", (original.share(op), synthetic.share(op)))


def _sizes(original: Profile, synthetic: Profile) -> Iterator[Measure]:
    for op in OPS:
        if op in original.flows and original.flows[op].count:
            flows = original.flows[op], synthetic.flows.get(op, Flow())
            totals = [flow.sizes.total or 1 for flow in flows]
            for size, _ in flows[0].sizes.shares()[:_TOP_SIZES]:
                shares = [flow.sizes.counts.get(size, 0) / total for flow, total in zip(flows, totals, strict=True)]
                yield _pair("sizes", f"{op} {size}", "share", (shares[0], shares[1]))
            yield _pair("sizes", f"{op} mean", "bytes", (flows[0].bytes / totals[0], flows[1].bytes / totals[1]))
            yield _distance("sizes", f"{op} distance", size_distance(flows[0].sizes, flows[1].sizes))


def _arrivals(original: Profile, synthetic: Profile) -> Iterator[Measure]:
    came = original.total.spacing, synthetic.total.spacing
    yield _pair("arrival", "requests/s", "rate", (came[0].rate_per_s, came[1].rate_per_s))
    yield _pair("arrival", "variation of gaps", "ratio", (came[0].variation, came[1].variation))
    dispersions = came[0].dispersion(_DISPERSION_WINDOWS), came[1].dispersion(_DISPERSION_WINDOWS)
    yield _pair("arrival", "index of dispersion", "ratio", dispersions)
    for share in _QUANTILES:
        yield _pair("arrival", f"gap p{100 * share:g}", "ns", (came[0].quantile(share), came[1].quantile(share)))
    yield _distance("arrival", "gap distance", gap_distance(*came))


def _sequences(original: Profile, synthetic: Profile) -> Iterator[Measure]:
    for op in ("read", "write", "trim"):
        if op in original.flows and original.flows[op].count:
            shares = original.flows[op].sequential_share, synthetic.flows.get(op, Flow()).sequential_share
            yield _pair("sequentiality", f"{op} follows", "share", shares)


def _addresses(original: Flow, synthetic: Flow) -> Iterator[Measure]:
    first, second = original.addresses, synthetic.addresses
    shift = common_shift(first, second)
    for part in _PARTS:
        yield _pair("hot spots", f"hottest {100 * part:g} %", "share", (first.hottest(part, shift), second.hottest(part, shift)))
    for most in _POPULAR:
        name = "hottest start" if most == 1 else f"hottest {most} starts"
        yield _pair("hot spots", name, "share", (first.popularity(most), second.popularity(most)))
    yield _distance("hot spots", "position distance", position_distance(first, second))


def _touched(original: Profile, synthetic: Profile) -> Iterator[Measure]:
    yield _pair("hot spots", "different starts", "count", (original.total.addresses.different, synthetic.total.addresses.different))
    yield _pair("hot spots", "working set at most", "bytes", (original.touched.size_bytes, synthetic.touched.size_bytes))
