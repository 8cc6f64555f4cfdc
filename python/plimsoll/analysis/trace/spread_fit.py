"""Which distribution of ours is nearest to where a trace's random requests begin: uniform, zipf or hot zones.

Model: each candidate predicts two things, how popular the most popular starts are (noise included) and how requests spread over the region;
the one with the smallest misfit wins, a more complicated one only by a clear margin. Zones are cut from the map of the region, in order
from its start, and merged where they are equally dense. Zipf's exponent is the one whose popularity curve is nearest.
Limits: zipf scatters its hot blocks, so their places are not those of the trace; a zone is uniform within. Trace and workload agree on
popularity over the whole time: that hot places move is not kept.

    spread(places, starts=262_144)
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from plimsoll.analysis.trace.places import Places, popular_share
from plimsoll.analysis.trace.popularity import Classes, expected_counts, uniform, zipf, zones

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


def spread(places: Places, starts: float) -> Spread:
    """The nearest distribution over ``starts`` possible starts."""
    if places.count < _FEW or starts < 2:
        return Spread("uniform", 0.0)
    seen = _Seen(places)
    off_position = _position_misfit(places)
    plain = Spread("uniform", seen.misfit(uniform(starts)) + off_position)
    if plain.misfit <= _CLEARLY:
        return plain
    found = [_zipf(seen, starts, off_position)]
    parts = _zones(places)
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

    def __init__(self, places: Places) -> None:
        self._requests = places.count
        counts = [(count, 1.0 / places.sampled) for count in sorted(places.starts.values(), reverse=True)]
        self._most, at = [], 1.0 / places.sampled
        while at < 2 * max(places.different, 1):
            self._most.append(int(at))
            at *= 2
        self._curve = popular_share(counts, self._most)

    def misfit(self, classes: Classes) -> float:
        """The largest difference from the curve that classes lead to."""
        expected = popular_share(expected_counts(classes, self._requests), self._most)
        return max(abs(first - second) for first, second in zip(self._curve, expected, strict=True))


def _position_misfit(places: Places) -> float:
    """How far the map is from a level one, beyond noise, as it weighs beside popularity."""
    span = ((places.end - 1) >> places.shift) - (places.start >> places.shift) + 1
    passed, largest = 0, 0.0
    for granule in sorted(places.granules):
        at = granule - (places.start >> places.shift)
        largest = max(largest, abs(passed / places.count - at / span))
        passed += places.granules[granule]
        largest = max(largest, abs(passed / places.count - (at + 1) / span))
    noise = 1.5 / math.sqrt(places.count) + 1 / span
    return _POSITION_WEIGHT * max(0.0, largest - noise)


def _zones(places: Places) -> list[tuple[float, float]]:
    """(Share of the requests, share of the region) of zones of different density."""
    number = min(_PARTS, places.count // _REQUESTS_PER_PART)
    if number < 2:
        return []
    length = places.end - places.start
    counts = [0.0] * number
    for granule, count in places.granules.items():
        # The middle of a granule decides where it counts; granules are far smaller than parts unless the region is tiny.
        middle = (granule << places.shift) + (1 << places.shift) // 2 - places.start
        counts[min(number - 1, max(0, middle * number // length))] += count
    zones_ = [(count / places.count, 1 / number) for count in counts]
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
