"""Popularity of addresses, and the distribution that comes nearest to a trace's.

Popularity of starts that a distribution leads to after so many requests, noise included.

Model: a distribution is a list of classes (starts, share of the requests that they get together). The requests of one start are Poisson, so
the number of starts with c requests is known without drawing anything; sorted by c they are the curve that a trace's own counts are held
against: the share of the requests on the 1, 2, 4, 8 … most popular starts.
Limits: from `_CERTAIN` expected requests on, a start counts as having exactly that many. Zipf's ranks are grouped in classes of equal
width in the logarithm, in which its probabilities differ by some percent.

    expected_counts(uniform(1000), requests=5000)

The fit: which distribution of ours is nearest to where random requests begin, uniform, zipf or hot zones.

Model: each candidate predicts two things, how popular the most popular starts are (noise included) and how requests spread over the region;
the one with the smallest misfit wins, a more complicated one only by a clear margin. Zones are cut from the map of the region, in order
from its start, and merged where they are equally dense. Zipf's exponent is the one whose popularity curve is nearest.
Limits: zipf scatters its hot blocks, so their places are not those of the trace; a zone is uniform within. Trace and workload agree on
popularity over the whole time: that hot places move is not kept.

    spread(addresses, starts=262_144)
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

from plimsoll.analysis.trace.addresses import Addresses, popular_share

#: Starts, and the share of the requests that they get together.
Classes = list[tuple[float, float]]
_CERTAIN = 64.0
_SMALLEST = 1e-9
_RANKS_ALONE = 32
_GROWTH = 1.1


def uniform(starts: float) -> Classes:
    """All alike."""
    return [(starts, 1.0)]


def zones(starts: float, parts: list[tuple[float, float]]) -> Classes:
    """Parts of the region as (share of the requests, share of the region), alike within."""
    return [(starts * region, requests) for requests, region in parts if requests > 0]


def zipf(starts: float, theta: float) -> Classes:
    """Probability falls with the rank to the power ``theta``."""
    groups = [(first, last - first, _weight(first, last, theta)) for first, last in rank_groups(starts)]
    total = math.fsum(weight for _, _, weight in groups)
    return [(float(width), weight / total) for _, width, weight in groups]


def rank_groups(starts: float) -> list[tuple[int, int]]:
    """Ranks from 1 on as (first, last + 1), alone at first and then in groups that grow."""
    bounds, until = [1], max(1, round(starts)) + 1
    while bounds[-1] < until:
        step = 1 if bounds[-1] <= _RANKS_ALONE else max(1, int(bounds[-1] * (_GROWTH - 1)))
        bounds.append(min(until, bounds[-1] + step))
    return list(pairwise(bounds))


def expected_counts(classes: Classes, requests: float) -> list[tuple[int, float]]:
    """How many starts are expected to get how many requests: (requests of a start, starts), most popular first, none left out but 0."""
    found: dict[int, float] = {}
    for starts, share in classes:
        expected = requests * share / starts
        if expected >= _CERTAIN:
            found[round(expected)] = found.get(round(expected), 0.0) + starts
            continue
        chance, count = math.exp(-expected), 0
        while count <= expected or chance * starts > _SMALLEST:
            if count:
                found[count] = found.get(count, 0.0) + starts * chance
            count += 1
            chance *= expected / count
    return sorted(found.items(), reverse=True)


def _weight(first: int, last: int, theta: float) -> float:
    """The sum of rank ** -theta over a group, by its integral where it holds more than one rank."""
    if last - first == 1:
        return math.pow(first, -theta)
    low, high = first - 0.5, last - 0.5
    if abs(theta - 1) < _SMALLEST:
        return math.log(high / low)
    return float((high ** (1 - theta) - low ** (1 - theta)) / (1 - theta))


MOST_ZONES = 8
_PARTS = 64
_REQUESTS_PER_PART = 50
#: By how much a distribution with more parameters has to be nearer.
_CLEARLY = 0.02
_POSITION_WEIGHT = 0.5
#: Zones whose merging moves less than this share of the requests are one.
_SAME = 0.01
_THETAS = [0.1 * step for step in range(1, 21)]
_FINE = 0.02
_FEW = 50
_SMALL = 1e-6


@dataclass(frozen=True)
class Spread:
    """A distribution as its option is written, and how far it is from the trace, 0 to 1."""

    option: str
    misfit: float
    #: The share of the requests and of the region of each zone, from the region's start on; empty unless zones.
    parts: tuple[tuple[float, float], ...] = ()
    theta: float | None = None


def spread(addresses: Addresses, starts: float) -> Spread:
    """The nearest distribution over ``starts`` possible starts."""
    if addresses.count < _FEW or starts < 2:
        return Spread("uniform", 0.0)
    seen = _Seen(addresses)
    off_position = _position_misfit(addresses)
    plain = Spread("uniform", seen.misfit(uniform(starts)) + off_position)
    if plain.misfit <= _CLEARLY:
        return plain
    found = [_zipf(seen, starts, off_position)]
    parts = _zones(addresses)
    if len(parts) > 1:
        found.append(Spread(_hot(parts), seen.misfit(zones(starts, parts)), tuple(parts)))
    nearest = min(found, key=lambda candidate: candidate.misfit)
    return nearest if nearest.misfit < plain.misfit - _CLEARLY else plain


def _zipf(seen: _Seen, starts: float, off_position: float) -> Spread:
    def misfit(theta: float) -> float:
        return seen.misfit(zipf(starts, theta))

    coarse = min(_THETAS, key=misfit)
    fine = min((coarse + _FINE * step for step in range(-4, 5)), key=misfit)
    theta = round(max(fine, _FINE), 2)
    return Spread(f"zipf:{theta:g}", misfit(theta) + off_position, theta=theta)


class _Seen:
    """The trace's own curve of popularity."""

    def __init__(self, addresses: Addresses) -> None:
        self._requests = addresses.count
        counts = [(count, 1.0 / addresses.sampled) for count in sorted(addresses.starts.values(), reverse=True)]
        self._most, at = [], 1.0 / addresses.sampled
        while at < 2 * max(addresses.different, 1):
            self._most.append(int(at))
            at *= 2
        self._curve = popular_share(counts, self._most)

    def misfit(self, classes: Classes) -> float:
        """The largest difference from the curve that classes lead to."""
        expected = popular_share(expected_counts(classes, self._requests), self._most)
        return max(abs(first - second) for first, second in zip(self._curve, expected, strict=True))


def _position_misfit(addresses: Addresses) -> float:
    """How far the map is from a level one, beyond noise, as it weighs beside popularity."""
    span = ((addresses.end - 1) >> addresses.shift) - (addresses.start >> addresses.shift) + 1
    passed, largest = 0, 0.0
    for granule in sorted(addresses.granules):
        at = granule - (addresses.start >> addresses.shift)
        largest = max(largest, abs(passed / addresses.count - at / span))
        passed += addresses.granules[granule]
        largest = max(largest, abs(passed / addresses.count - (at + 1) / span))
    noise = 1.5 / math.sqrt(addresses.count) + 1 / span
    return _POSITION_WEIGHT * max(0.0, largest - noise)


def _zones(addresses: Addresses) -> list[tuple[float, float]]:
    """(Share of the requests, share of the region) of zones of different density."""
    number = min(_PARTS, addresses.count // _REQUESTS_PER_PART)
    if number < 2:
        return []
    length = addresses.end - addresses.start
    counts = [0.0] * number
    for granule, count in addresses.granules.items():
        # The middle of a granule decides where it counts; granules are far smaller than parts unless the region is tiny.
        middle = (granule << addresses.shift) + (1 << addresses.shift) // 2 - addresses.start
        counts[min(number - 1, max(0, middle * number // length))] += count
    zones_ = [(count / addresses.count, 1 / number) for count in counts]
    while len(zones_) > 1:
        costs = [_cost(zones_[at], zones_[at + 1]) for at in range(len(zones_) - 1)]
        cheapest = min(range(len(costs)), key=costs.__getitem__)
        if costs[cheapest] > _SAME and len(zones_) <= MOST_ZONES:
            break
        first, second = zones_[cheapest], zones_[cheapest + 1]
        zones_[cheapest : cheapest + 2] = [(first[0] + second[0], first[1] + second[1])]
    return zones_


def _cost(first: tuple[float, float], second: tuple[float, float]) -> float:
    """The share of the requests that would move if two zones became one."""
    return abs(first[0] - (first[0] + second[0]) * first[1] / (first[1] + second[1]))


def _hot(parts: list[tuple[float, float]]) -> str:
    """The option. Shares are rounded down and the last zone is the rest, so that together they are never more than all."""
    return "hot:" + ",".join(f"{_floor(requests, 2):g}/{_floor(region, 4):g}" for requests, region in parts[:-1])


def _floor(share: float, digits: int) -> float:
    """Percent; what the sum of shares owes to floating point is not taken for a digit."""
    scale = math.pow(10, digits)
    return math.floor(100 * share * scale + _SMALL) / scale
