"""ORION's grids: so many small random requests outstanding, and so many large ones beside them.

Model: ORION (Oracle's I/O calibration tool) steps two closed loops against each other. For d disks it asks 0 to 5d small and 0 to 2d large
requests outstanding; a run chooses points of that plane. Here the two loops are two streams of one workload, and their queue depths the
axes. A depth of 0 leaves a stream out. The point (0, 0), a baseline that ORION counts, asks nothing and is skipped.
Sources: Oracle Database Performance Tuning Guide, "I/O Calibration Outside the Database"; counts checked on published outputs: 7d + 1
points for ``basic``, (5d + 1)(2d + 1) for ``detailed``, 21 and 23 for ``oltp`` on one and three disks.
Limits: the lists behind ``-run dss`` and ``-matrix max`` are not published; they are refused rather than guessed.

    plan = orion(grid("basic", disks=4), small="small", large="large")
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from plimsoll.displayed import quoted
from plimsoll.errors import InputError
from plimsoll.experiments import phrases
from plimsoll.experiments.plan import Ask, Conclusion, Plan
from plimsoll.result import Result, Totals

Points = list[tuple[int, int]]

SMALL_PER_DISK = 5
LARGE_PER_DISK = 2
#: OLTP goes up to twenty small requests per disk.
OLTP_PER_DISK = 20

#: ORION's own words for the same grids.
SAME_AS = {"simple": "basic", "normal": "detailed", "col": "column"}
GRIDS = ("basic", "detailed", "point", "row", "column", "oltp")
_UNPUBLISHED = ("dss", "max")


def grid(name: str, disks: int, num_small: int | None = None, num_large: int | None = None) -> Points:
    """The points (small, large) of grid ``name`` in ORION's order, the empty one (0, 0) included where ORION counts it."""
    known = SAME_AS.get(name, name)
    if known in _UNPUBLISHED:
        raise InputError(f"grid {quoted(name)}: ORION's list of points for it is not published; write one of {_listed()}.")
    if known not in GRIDS:
        raise InputError(f"grid {quoted(name)} is unknown; write one of {_listed()}.")
    if disks < 1:
        raise InputError(f"grid {quoted(name)}: disks is {disks}; write how many disks the target has, at least 1.")
    small, large = range(SMALL_PER_DISK * disks + 1), range(LARGE_PER_DISK * disks + 1)
    if known == "basic":
        return [(count, 0) for count in small] + [(0, count) for count in large[1:]]
    if known == "detailed":
        return [(few, many) for many in large for few in small]
    if known == "oltp":
        climb = [*range(1, disks + 1), *range(2 * disks, OLTP_PER_DISK * disks + 1, disks)]
        return [(count, 0) for count in [0, *climb]]
    if known == "column":
        fixed = _given(name, "num_small", num_small)
        return [(fixed, count) for count in large]
    fixed = _given(name, "num_large", num_large)
    return [(count, fixed) for count in small] if known == "row" else [(_given(name, "num_small", num_small), fixed)]


def orion(points: Sequence[tuple[int, int]], small: str, large: str, repeat: int = 1) -> Plan:
    """Every point, with the queue depths of the streams ``small`` and ``large`` set; repeats outermost."""
    asked = [point for point in points if point != (0, 0)]
    measured: list[tuple[tuple[int, int], Result]] = []
    for number in range(1, repeat + 1):
        for few, many in asked:
            result = yield Ask({f"{small}.queue_depth": few, f"{large}.queue_depth": many}, repeat=number)
            measured.append(((few, many), result))
    return _concluded(measured, small, large, baseline=len(asked) < len(points))


def _concluded(measured: Sequence[tuple[tuple[int, int], Result]], small: str, large: str, *, baseline: bool) -> Conclusion:
    """ORION's summary: the most megabytes of large requests alone, the most small requests alone, and their least latency."""
    alone_large = _best((many, _rate(result.streams.get(large), "bytes_per_s")) for (few, many), result in measured if not few)
    alone_small = _best((few, _rate(result.streams.get(small), "iops")) for (few, many), result in measured if not many)
    latency = _best((few, -mean) for (few, many), result in measured if not many and (mean := _mean_ns(result.streams.get(small))))
    sentences = []
    if alone_large:
        sentences.append(f"Large requests alone reached {alone_large[1] / 1e6:,.1f} MB/s with {alone_large[0]} outstanding.")
    if alone_small:
        sentences.append(f"Small requests alone reached {phrases.rate(alone_small[1])} with {alone_small[0]} outstanding.")
    if latency:
        sentences.append(f"Their least mean latency was {phrases.figure('mean', -latency[1])} with {latency[0]} outstanding.")
    if baseline:
        sentences.append("The point without any request, which ORION counts, was skipped: it asks nothing.")
    failed = phrases.failures((f"small {few}, large {many}", result) for (few, many), result in measured)
    figures: dict[str, Any] = {
        "points": len(measured),
        "failed": len(failed),
        "large_alone": _named(alone_large, "bytes_per_s"),
        "small_alone": _named(alone_small, "iops"),
        "latency": _named((latency[0], -latency[1]), "mean_ns") if latency else None,
        "baseline_skipped": baseline,
    }
    return Conclusion((*sentences, *failed), figures=figures)


def _best(values: Iterable[tuple[int, float]]) -> tuple[int, float] | None:
    return max((value for value in values if value[1]), key=lambda value: value[1], default=None)


def _rate(totals: Totals | None, name: str) -> float:
    return float(sum(getattr(total, name) for total in (totals or {}).values()))


def _mean_ns(totals: Totals | None) -> float:
    timed = [total for total in (totals or {}).values() if total.latency_ns is not None]
    count = sum(total.count for total in timed)
    latency_ns = sum(total.count * total.latency_ns.mean for total in timed if total.latency_ns)
    return latency_ns / count if count else 0.0


def _named(best: tuple[int, float] | None, unit: str) -> dict[str, float] | None:
    return None if best is None else {"outstanding": best[0], unit: best[1]}


def _given(name: str, option: str, value: int | None) -> int:
    if value is None or value < 0:
        raise InputError(f"grid {quoted(name)} holds one kind of request fixed; write how many with {option} = 0 or more.")
    return value


def _listed() -> str:
    return ", ".join((*GRIDS, *SAME_AS))
