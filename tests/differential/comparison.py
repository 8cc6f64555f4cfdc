"""What it means for two loads to be alike.

Model: each comparison takes fio's load and ours and raises `AssertionError` with both values where they differ. What is determined has to be
equal. What is drawn is a sample on each side: two samples of one distribution differ by more than the bound less often than once in about
100,000 times, and since both sides draw from fixed seeds a table that agrees once agrees always. What is timed has a margin for the
scheduler, which is written beside it.
Limits: samples are taken as independent, which fio's runs of equal length are not; their spread is less than assumed.

    COMPARISONS["order"](theirs, ours)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from math import gcd, log, sqrt
from statistics import median

from differential.cases import Case
from differential.observed import Load, Request

#: One sample in 100,000 is further from its mean than so many standard deviations.
_SIGMAS = 4.42
_CHANCE = 1e-5
_PARTS = 16
#: ``thinktime_blocks`` of the job file whose bursts are compared.
_BURST = 16
#: The number behind the mode of the job files whose runs are compared.
_RUN = 8
_TRANSFERS = ("read", "write", "trim")


def order(theirs: Load, ours: Load) -> None:
    """The same requests in the same order."""
    _equal(theirs.places(), ours.places())


def same_requests(theirs: Load, ours: Load) -> None:
    """The same requests equally often, in any order."""
    _equal(sorted(theirs.places()), sorted(ours.places()))


def tasks(theirs: Load, ours: Load) -> None:
    """Each thread or clone makes the same requests in the same order."""
    _equal(theirs.per_task(), ours.per_task())


def per_file(theirs: Load, ours: Load) -> None:
    """The same requests in the same order of each file."""
    _equal(*(sorted(load.places(), key=lambda place: place[1]) for load in (theirs, ours)))


def visits(theirs: Load, ours: Load) -> None:
    """The same blocks equally often, by whatever operation."""
    _equal(*(sorted(place[1:] for place in load.places()) for load in (theirs, ours)))


def once(theirs: Load, ours: Load) -> None:
    """No block twice."""
    for load in (theirs, ours):
        assert max(Counter(load.places()).values()) == 1


def counts(theirs: Load, ours: Load) -> None:
    """As many reads, writes and trims, and as many bytes of each."""
    _equal(theirs.bytes(), ours.bytes())
    _equal(*({op: load.count(op) for op in _TRANSFERS} for load in (theirs, ours)))


def total(theirs: Load, ours: Load) -> None:
    """As many bytes of all operations together."""
    _equal(sum(theirs.bytes().values()), sum(ours.bytes().values()))


def flushes(theirs: Load, ours: Load) -> None:
    """Flushes after the same writes."""
    _equal(writes_before_flushes(theirs), writes_before_flushes(ours))


def flush_points(theirs: Load, ours: Load) -> None:
    """In a mix fio flushes again after each read until the next write: the numbers of writes that are followed by flushes are alike."""
    both = min(theirs.count("write"), ours.count("write"))
    _equal(*(sorted({point for point in writes_before_flushes(load) if point < both}) for load in (theirs, ours)))
    assert len(set(writes_before_flushes(ours))) == ours.count("flush")


def writes_before_flushes(load: Load) -> list[int]:
    """How many writes there were before each flush."""
    found, writes = [], 0
    for request in load.requests:
        writes += request.op == "write"
        if request.op == "flush":
            found.append(writes)
    return found


def mix(theirs: Load, ours: Load) -> None:
    """The share of reads."""
    _same_share(*((load.count("read"), len(load.transfers())) for load in (theirs, ours)))


def sizes(theirs: Load, ours: Load) -> None:
    """The lengths of the requests of each operation, and how often each occurs."""
    for op in _TRANSFERS:
        _same_distribution(*(Counter(request.length for request in load.of(op)) for load in (theirs, ours)))


def spread(theirs: Load, ours: Load) -> None:
    """How the requests are spread over sixteen equal parts of the region."""
    ends = [max(request.offset + request.length for request in load.transfers()) for load in (theirs, ours)]
    starts = [min(request.offset for request in load.transfers()) for load in (theirs, ours)]
    least, part = min(starts), -(-(max(ends) - min(starts)) // _PARTS)
    _same_distribution(*(Counter((request.offset - least) // part for request in load.transfers()) for load in (theirs, ours)))


def aligned(theirs: Load, ours: Load) -> None:
    """Addresses are multiples of the same number."""
    _equal(*(gcd(*(request.offset for request in load.transfers())) for load in (theirs, ours)))


def reach(theirs: Load, ours: Load) -> None:
    """The region begins and ends at the same places, as far as so many even draws can tell, and is aligned alike."""
    aligned(theirs, ours)
    lowest = [min(request.offset for request in load.transfers()) for load in (theirs, ours)]
    highest = [max(request.offset + request.length for request in load.transfers()) for load in (theirs, ours)]
    drawn = min(len(load.transfers()) for load in (theirs, ours))
    # (1 - x) ** drawn is the chance that a share x at the edge is never drawn; requests of several lengths end apart.
    longest = max(request.length for request in ours.transfers())
    margin = (max(highest) - min(lowest)) * -log(_CHANCE) / drawn + longest
    assert abs(lowest[0] - lowest[1]) <= margin, f"fio begins at {lowest[0]}, we at {lowest[1]}"
    assert abs(highest[0] - highest[1]) <= margin, f"fio ends at {highest[0]}, we at {highest[1]}"


def runs(theirs: Load, ours: Load) -> None:
    """The share of requests that begin where the one before them ended."""
    _same_share(*((_following(load.transfers()), len(load.transfers()) - 1) for load in (theirs, ours)))


def runs_of_operations(theirs: Load, ours: Load) -> None:
    """The share of requests that begin where the one of their operation before them ended."""
    for op in _TRANSFERS[:2]:
        _same_share(*((_following(load.of(op)), load.count(op) - 1) for load in (theirs, ours)))


def runs_of_eight(theirs: Load, ours: Load) -> None:
    """Of eight requests the first goes anywhere, and the others follow it but where the region ends."""
    for load in (theirs, ours):
        breaks = [index for index, pair in enumerate(pairwise(load.transfers()), start=1) if not _follows(*pair)]
        ends = max(request.offset for request in load.transfers())
        wraps = {index for index in breaks if load.transfers()[index - 1].offset >= ends}
        assert all(index % _RUN == 0 for index in breaks if index not in wraps)
        assert len(breaks) >= len(load.transfers()) // _RUN - 2 * _RUN


def eight_alike(theirs: Load, ours: Load) -> None:
    """Each eight requests ask for the same block, and the eights are spread alike."""
    for load in (theirs, ours):
        groups = [load.transfers()[start : start + _RUN] for start in range(0, len(load.transfers()), _RUN)]
        assert all(len({request.offset for request in group}) == 1 for group in groups)


def operations(theirs: Load, ours: Load) -> None:
    """The same requests of each operation in the same order, as far as both go."""
    for op in _TRANSFERS:
        each = [[request.place for request in load.of(op)] for load in (theirs, ours)]
        both = min(len(places) for places in each)
        assert both or not any(each), f"only one of both has a {op}"
        _equal(*(places[:both] for places in each))


def ratio(theirs: Load, ours: Load) -> None:
    """Requests to one file are three times those to the other, but for what is outstanding."""
    for load in (theirs, ours):
        much, little = (count for _, count in Counter(request.file for request in load.transfers()).most_common())
        assert abs(much - 3 * little) <= 4, f"{much} to {little}"


def even(theirs: Load, ours: Load) -> None:
    """As many requests to one file as to the other, but for a fifth, which is how much the scheduler may favour one."""
    for load in (theirs, ours):
        much, little = (count for _, count in Counter(request.file for request in load.transfers()).most_common())
        assert much <= 1.2 * little, f"{much} to {little}"


def rate_of_each_file(theirs: Load, ours: Load) -> None:
    """As many requests of each file, but for two and 2 %."""
    counted = [Counter(request.file for request in load.transfers()) for load in (theirs, ours)]
    assert counted[0].keys() == counted[1].keys()
    for file, expected in counted[0].items():
        assert abs(expected - counted[1][file]) <= 2 + 0.02 * expected, f"{file}: fio makes {expected}, we {counted[1][file]}"


def stalls(theirs: Load, ours: Load) -> None:
    """As many pauses of more than 50 ms, but for one at the end."""
    found = [sum(gap > 50_000_000 for gap in _gaps_ns(load)) for load in (theirs, ours)]
    assert found[0] >= 4 and abs(found[0] - found[1]) <= 1, f"fio pauses {found[0]} times, we {found[1]} times"


def popularity(theirs: Load, ours: Load) -> None:
    """The shares of the requests that go to the most popular blocks, wherever those lie."""
    ranked = [sorted(Counter(request.offset for request in load.transfers()).values(), reverse=True) for load in (theirs, ours)]
    for first in (1, 4, 16, 64, 256):
        _same_share(*((sum(hits[:first]), sum(hits)) for hits in ranked))


def rate(theirs: Load, ours: Load) -> None:
    """As many requests in the same time, but for one at either end of each clone and 2 % for clones that start later than others."""
    expected, found = len(theirs.transfers()), len(ours.transfers())
    assert abs(expected - found) <= 2 + 0.02 * expected, f"fio makes {expected} requests, we {found}"


def poisson(theirs: Load, ours: Load) -> None:
    """Numbers of requests that differ as two Poisson counts do, at gaps whose deviation is about their mean, as that of exponential ones."""
    expected, found = len(theirs.transfers()), len(ours.transfers())
    assert abs(expected - found) <= _SIGMAS * sqrt(expected + found), f"fio makes {expected} requests, we {found}"
    for load in (theirs, ours):
        gaps = _gaps_ns(load)
        mean = sum(gaps) / len(gaps)
        varied = sqrt(sum((gap - mean) ** 2 for gap in gaps) / len(gaps)) / mean
        # The variance of this ratio for n exponential gaps is about 1/n.
        assert abs(varied - 1) <= _SIGMAS / sqrt(len(gaps)), f"the gaps vary by {varied:.2f} of their mean"


def lasts(theirs: Load, ours: Load) -> None:
    """The last request comes equally long after the first, but for 5 %."""
    assert abs(theirs.seconds() - ours.seconds()) <= 0.05 * theirs.seconds(), f"fio takes {theirs.seconds()} s, we {ours.seconds()} s"


def pauses(theirs: Load, ours: Load) -> None:
    """The median gap between requests is alike but for 15 %, which is what waking up and the request itself take."""
    expected, found = (median(_gaps_ns(load)) for load in (theirs, ours))
    assert abs(expected - found) <= 0.15 * expected, f"fio's gap is {expected / 1e6:.3f} ms, ours {found / 1e6:.3f} ms"


def bursts(theirs: Load, ours: Load) -> None:
    """Both pause for more than 10 ms after every sixteenth request; a stall of the machine elsewhere is not at one place in both."""
    long = [{index for index, gap in enumerate(_gaps_ns(load)) if gap > 10_000_000} for load in (theirs, ours)]
    _equal(list(range(_BURST - 1, len(theirs.transfers()) - 1, _BURST)), sorted(long[0] & long[1]))


def rounds(theirs: Load, ours: Load) -> None:
    """Time ends it: both go round the same blocks, none more than once more often than another."""
    visited = [Counter(load.places()) for load in (theirs, ours)]
    _equal(*(sorted(each) for each in visited))
    for each in visited:
        assert max(each.values()) - min(each.values()) <= 1


def beginning(theirs: Load, ours: Load) -> None:
    """The same requests in the same order, until time ends the one or the other."""
    both = min(len(theirs.places()), len(ours.places()))
    _equal(theirs.places()[:both], ours.places()[:both])


COMPARISONS: Mapping[str, Callable[[Load, Load], None]] = {
    "order": order,
    "set": same_requests,
    "tasks": tasks,
    "per file": per_file,
    "visits": visits,
    "once": once,
    "counts": counts,
    "total": total,
    "flushes": flushes,
    "flush points": flush_points,
    "mix": mix,
    "sizes": sizes,
    "spread": spread,
    "aligned": aligned,
    "reach": reach,
    "runs": runs,
    "runs of operations": runs_of_operations,
    "runs of eight": runs_of_eight,
    "eight alike": eight_alike,
    "operations": operations,
    "ratio": ratio,
    "even": even,
    "rate of each file": rate_of_each_file,
    "stalls": stalls,
    "popularity": popularity,
    "rate": rate,
    "poisson": poisson,
    "lasts": lasts,
    "pauses": pauses,
    "bursts": bursts,
    "rounds": rounds,
    "beginning": beginning,
}


def differences(case: Case, theirs: Load, ours: Load) -> list[str]:
    """What is not alike though it has to be."""
    found = []
    for name in case.alike:
        try:
            COMPARISONS[name](theirs, ours)
        except AssertionError as difference:
            found.append(f"{name}: {difference}")
    return found


def _equal(expected: object, found: object) -> None:
    if expected == found:
        return
    if isinstance(expected, list) and isinstance(found, list):
        where = next((index for index, pair in enumerate(zip(expected, found, strict=False)) if pair[0] != pair[1]), None)
        at = "at the end" if where is None else f"at {where}: fio {expected[where]}, we {found[where]}"
        raise AssertionError(f"{len(expected)} of fio and {len(found)} of ours differ {at}")
    raise AssertionError(f"fio: {expected}, we: {found}")


def _same_share(theirs: tuple[int, int], ours: tuple[int, int]) -> None:
    """Two binomial samples of one probability; each is (hits, draws)."""
    pooled = (theirs[0] + ours[0]) / (theirs[1] + ours[1])
    error = sqrt(pooled * (1 - pooled) * (1 / theirs[1] + 1 / ours[1]))
    apart = abs(theirs[0] / theirs[1] - ours[0] / ours[1])
    assert apart <= _SIGMAS * error, f"fio: {theirs[0]} of {theirs[1]}, we: {ours[0]} of {ours[1]}"


def _same_distribution(theirs: Counter[int], ours: Counter[int]) -> None:
    """Two samples of one distribution: chi-squared, its bound by Wilson and Hilferty's approximation."""
    classes = sorted(theirs.keys() | ours.keys())
    if len(classes) < 2:
        _equal(sorted(theirs), sorted(ours))
        return
    ratio = sqrt(ours.total() / theirs.total()) if ours and theirs else 0.0
    assert ratio, f"only one of both has such requests: fio {theirs}, we {ours}"
    found = sum((ratio * theirs[each] - ours[each] / ratio) ** 2 / (theirs[each] + ours[each]) for each in classes)
    free = len(classes) - 1
    bound = free * (1 - 2 / (9 * free) + 4.27 * sqrt(2 / (9 * free))) ** 3
    assert found <= bound, f"chi-squared {found:.1f} of at most {bound:.1f}: fio {dict(theirs)}, we {dict(ours)}"


def _following(requests: Sequence[Request]) -> int:
    return sum(_follows(before, after) for before, after in pairwise(requests))


def _follows(before: Request, after: Request) -> bool:
    return after.offset == before.offset + before.length


def _gaps_ns(load: Load) -> list[int]:
    transfers = load.transfers()
    return [after.at_ns - before.at_ns for before, after in pairwise(transfers)]
