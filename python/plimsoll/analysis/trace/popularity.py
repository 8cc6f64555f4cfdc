"""What popularity of starts a distribution leads to after so many requests, noise included.

Model: a distribution is a list of classes (starts, share of the requests that they get together). The requests of one start are Poisson, so
the number of starts with c requests is known without drawing anything; sorted by c they are the curve that a trace's own counts are held
against: the share of the requests on the 1, 2, 4, 8 … most popular starts.
Limits: from `_CERTAIN` expected requests on, a start counts as having exactly that many. Zipf's ranks are grouped in classes of equal
width in the logarithm, in which its probabilities differ by some percent.

    expected_counts(uniform(1000), requests=5000)
"""

from __future__ import annotations

import math
from itertools import pairwise

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
