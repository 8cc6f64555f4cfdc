"""Totals of a job from its intervals, and the requests it left without an answer.

Outstanding requests: due and without an answer when the measured time ended, and what they say about the measured latencies.

Model: a request that is in flight, or due and not issued, is in no total, however long it has waited. Its age is a lower bound of its
latency. Every interval tells what was outstanding at its end (crates/engine/src/outstanding.rs), so:

- *carried*: what was outstanding when the measured time began and completed in it. It was due before; which of the measured latencies are
  its own is not known.
- *late*: what was in flight at the end and had its answer in the drain, with its true latency.
- *waiting*: what never had an answer, or none that was seen, with its age.

A metric over the requests that were due in the measured time lies between two values. *At least*: the measured ones without their slowest
*carried* ones, together with late and waiting ones, which took no longer than they are known to; so a queue that is as long at the end as
it was at the beginning changes nothing. *At most*: the measured ones without their fastest *carried* ones, late ones, and what waits,
which may take for ever. Both are the same when every request had its answer, and neither is below what was measured.
After a point that ended by its goal, only what is surely older than that end counts as late or waiting.
Limits: where an interval says nothing of what was outstanding (results of earlier versions), only late ones are known.

    owed = Owed(); owed.add(interval)
    owed.outstanding({("s", "read"): histogram}, drawn)["read"].at_least["p99"]     # nanoseconds

Totals: counts add, histograms merge without loss, percentiles are read once at the end.

Model: only intervals of the ``measure`` phase count; rates divide by the time those intervals cover together, so a warm-up or a
drain changes no number. What completes in the drain belongs to no total; `plimsoll.analysis.point.summary` says what it says of them.
Memory does not depend on the length of the job: one histogram per stream, operation and part is kept.

    summary = Summary()
    for interval in intervals:
        summary.add(interval)
    summary.totals()["read"].iops
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from itertools import accumulate, starmap
from math import ceil
from operator import itemgetter, mul

from plimsoll.analysis.point.observation import Batches, Portion, portion_key, portion_of
from plimsoll.histogram import Histogram, decoded
from plimsoll.result import OPS, LatencySummary, OpTotals, Outstanding, Totals
from plimsoll.stored import Cell, Interval

#: Stream and operation.
DrawnKey = tuple[str | None, str]
Buckets = list[tuple[int, int]]

#: As `plimsoll.analysis.point.metric.ALL`; that module is not needed while a load runs.
ALL = "all"
PERCENTS = {"p50": 50.0, "p90": 90.0, "p95": 95.0, "p99": 99.0, "p999": 99.9}


class Owed:
    """Accumulates one job, interval by interval, in bounded memory."""

    def __init__(self) -> None:
        self._carried: dict[DrawnKey, int] = {}
        self._late: dict[DrawnKey, Histogram] = {}
        self._waiting: dict[DrawnKey, Histogram] = {}
        #: Of the carried ones those that still waited when the measured time ended.
        self._still: dict[DrawnKey, int] = {}
        self._begin_ns: int | None = None
        self._end_ns: int | None = None

    def add(self, interval: Interval) -> None:
        """Take one interval of any phase into account."""
        phase = interval["phase"]
        if phase == "warmup":
            self._carried = {key: ages.count for key, ages in _waiting(interval, 0).items()}
        elif phase == "measure":
            self._begin_ns = interval["start_ns"] if self._begin_ns is None else self._begin_ns
            self._end_ns = interval["end_ns"]
            self._waiting = _waiting(interval, 0)
            self._still = {key: ages.count for key, ages in _waiting(interval, interval["end_ns"] - self._begin_ns).items()}
        elif self._end_ns is not None:
            # What completed at the end of an interval had waited since the measured time ended, or it was due later.
            drains = phase == "drain" or interval.get("backlog_ns") is None
            since_ns = max(0, interval["start_ns" if drains else "end_ns"] - self._end_ns)
            self._waiting = _waiting(interval, since_ns)
            for cell in interval["cells"]:
                if cell.get("part") is None and (latency := cell.get("latency")):
                    _add(self._late, (cell["stream"], cell["op"]), _above(decoded(latency), since_ns))

    def outstanding(self, measured: Mapping[DrawnKey, Histogram], drawn: Mapping[str, frozenset[str]]) -> dict[str, Outstanding]:
        """By operation and for all together, what was outstanding at the end; empty when nothing was.

        ``measured`` are the latencies of the measured time, ``drawn`` the operations that streams draw (`point.definition`).
        """
        keys = {*measured, *self._late, *self._waiting}
        by_op = {op: [key for key in keys if key[1] == op] for op in OPS}
        asked = [key for key in keys if key[0] not in drawn or key[1] in drawn[str(key[0])]]
        found: dict[str, Outstanding] = {op: self._of(own, measured) for op, own in by_op.items() if own}
        if asked:
            # Where one operation is all that is asked for, its account is that of all.
            found[ALL] = next((found[op] for op, own in by_op.items() if own == asked), None) or self._of(asked, measured)
        return {name: one for name, one in found.items() if one.count}

    def _of(self, keys: Iterable[DrawnKey], measured: Mapping[DrawnKey, Histogram]) -> Outstanding:
        own = list(keys)
        late, waiting = _together(self._late, own), _together(self._waiting, own)
        known = _together(measured, own)
        carried = sum(max(0, self._carried.get(key, 0) - self._still.get(key, 0)) for key in own)
        if not late and not waiting:
            return Outstanding(0, 0, 0, 0)
        least = _merged(_without_slowest(known, carried), late, waiting)
        of_known, of_least = _percentiles(known), _percentiles(least)
        at_least = {name: float(max(of_known[name], of_least[name])) for name in PERCENTS}
        at_least["mean"] = max(_mean(known), _mean(least))
        at_least["max"] = float(max(buckets[-1][0] for buckets in (known, least) if buckets))
        at_most: dict[str, float | None] = dict(at_least)
        if waiting:
            answered = _merged(_without_fastest(known, carried), late)
            up_to = _up_to(answered)
            every = _count(answered) + _count(waiting)
            at_most = dict.fromkeys(at_least)
            for name, percent in PERCENTS.items():
                if _rank(percent, every) <= _count(answered):
                    at_most[name] = max(at_least[name], float(answered[bisect_left(up_to, _rank(percent, every))][0]))
        longest_ns = max(value for value, _ in (*late, *waiting))
        return Outstanding(_count(late) + _count(waiting), _count(waiting), longest_ns, _count(known), at_least, at_most)


def _waiting(interval: Interval, since_ns: int) -> dict[DrawnKey, Histogram]:
    """The ages of what was outstanding at the end of an interval, those above ``since_ns``."""
    found: dict[DrawnKey, Histogram] = {}
    for cell in interval.get("outstanding") or []:
        _add(found, (cell["stream"], cell["op"]), _above(decoded(cell["latency"]), since_ns))
    return found


def _above(histogram: Histogram, least_ns: int) -> Histogram | None:
    if least_ns <= 0:
        return histogram
    kept = Histogram()
    for value, count in histogram.buckets():
        if value > least_ns:
            kept.record_many(value, count)
    return kept


def _add(histograms: dict[DrawnKey, Histogram], key: DrawnKey, more: Histogram | None) -> None:
    if more is None or not more.count:
        return
    if key in histograms:
        histograms[key].add(more)
    else:
        histograms[key] = more


def _together(histograms: Mapping[DrawnKey, Histogram], keys: Iterable[DrawnKey]) -> Buckets:
    return _merged(*(histograms[key].buckets() for key in keys if key in histograms))


def _merged(*parts: Buckets) -> Buckets:
    filled = [part for part in parts if part]
    if len(filled) < 2:
        return list(filled[0]) if filled else []
    # Most of the values are in one of them; that one is not looked through.
    first, *others = sorted(filled, key=len, reverse=True)
    counts = dict(first)
    for part in others:
        for value, count in part:
            counts[value] = counts.get(value, 0) + count
    return sorted(counts.items())


def _without_slowest(buckets: Buckets, number: int) -> Buckets:
    """All but the ``number`` slowest."""
    left = list(buckets)
    while left and number > 0:
        value, count = left.pop()
        if count > number:
            left.append((value, count - number))
        number -= count
    return left


def _without_fastest(buckets: Buckets, number: int) -> Buckets:
    """All but the ``number`` fastest."""
    return _without_slowest(buckets[::-1], number)[::-1]


def _count(buckets: Buckets) -> int:
    return sum(map(itemgetter(1), buckets))


def _mean(buckets: Buckets) -> float:
    count = _count(buckets)
    return sum(starmap(mul, buckets)) / count if count else 0.0


def _rank(percent: float, count: int) -> int:
    """Which of so many values in order the percentile is, as `Histogram.percentile` has it."""
    return max(1, ceil(percent / 100.0 * count - 1e-9))


def _percentiles(buckets: Buckets) -> dict[str, int]:
    """The value of each of `PERCENTS`."""
    if not buckets:
        return dict.fromkeys(PERCENTS, 0)
    up_to = _up_to(buckets)
    return {name: buckets[bisect_left(up_to, _rank(percent, up_to[-1]))][0] for name, percent in PERCENTS.items()}


def _up_to(buckets: Buckets) -> list[int]:
    """How many values each bucket and those before it hold."""
    return list(accumulate(map(itemgetter(1), buckets)))


TallyKey = tuple[str | None, str, str | None]


class Tally:
    """One operation's counts and distributions, in one stream, part or all of them."""

    def __init__(self) -> None:
        self.count = 0
        self.bytes = 0
        self.errors: Counter[str] = Counter()
        self.latency: Histogram | None = None
        self.service: Histogram | None = None

    def add_cell(self, cell: Cell) -> Histogram | None:
        """Add one cell of an interval; its latencies. A null ``service`` says: the same as ``latency``."""
        self.count += cell["count"]
        self.bytes += cell["bytes"]
        self.errors.update(cell.get("errors") or {})
        latency = decoded(text) if (text := cell.get("latency")) else None
        service = decoded(text) if (text := cell.get("service")) else None
        if latency is not None:
            self._merge(latency, service)
        return latency

    def add(self, other: Tally) -> None:
        """Add another tally."""
        self.count += other.count
        self.bytes += other.bytes
        self.errors.update(other.errors)
        if other.latency is not None:
            self._merge(other.latency, other.service)

    def _merge(self, latency: Histogram, service: Histogram | None) -> None:
        if self.service is None and service is not None:
            self.service = _copy(self.latency) if self.latency is not None else None
        if service is not None or self.service is not None:
            self.service = _sum(self.service, service if service is not None else latency)
        self.latency = _sum(self.latency, latency)

    def totals(self, elapsed_s: float) -> OpTotals:
        """Rates and percentiles over ``elapsed_s`` seconds."""
        latency = latency_summary(self.latency)
        return OpTotals(
            count=self.count,
            iops=self.count / elapsed_s if elapsed_s > 0 else 0.0,
            bytes=self.bytes,
            bytes_per_s=self.bytes / elapsed_s if elapsed_s > 0 else 0.0,
            errors=self.errors.total(),
            latency_ns=latency,
            service_ns=latency if self.service is None else latency_summary(self.service),
        )


class Summary:
    """Accumulates the measured phase of one job; ``batches`` keeps its course for the confidence intervals.

    ``drawn`` are the operations that streams of file operations draw (`plimsoll.analysis.point.definition.drawn_by_stream`).
    """

    def __init__(self, drawn: Mapping[str, frozenset[str]] | None = None) -> None:
        self._drawn = drawn or {}
        self.batches = Batches()
        self._owed = Owed()
        self._tallies: dict[TallyKey, Tally] = {}
        self._elapsed_ns = 0

    def add(self, interval: Interval) -> None:
        """Count one interval; those outside the measured phase only tell what was outstanding at its ends."""
        self._owed.add(interval)
        if interval["phase"] != "measure":
            return
        elapsed_ns = interval["end_ns"] - interval["start_ns"]
        self._elapsed_ns += elapsed_ns
        portions: dict[str, Portion] = {}
        for cell in interval["cells"]:
            key = (cell["stream"], cell["op"], cell.get("part"))
            latency = self._tallies.setdefault(key, Tally()).add_cell(cell)
            if key[2] is None:
                portions.setdefault(portion_key(cell, self._drawn), Portion()).add(portion_of(cell, latency))
        self.batches.add(elapsed_ns / 1e9, portions)

    @property
    def elapsed_s(self) -> float:
        """Seconds of measured time."""
        return self._elapsed_ns / 1e9

    def totals(self) -> Totals:
        """Of all streams together. What the parts of a target saw is the same requests once more, and left out."""
        return self._grouped(lambda key: "" if key[2] is None else None).get("", {})

    def outstanding(self) -> dict[str, Outstanding]:
        """What was due and had no answer when the measured time ended, by operation and for all together."""
        latencies = {(stream, op): tally.latency for (stream, op, part), tally in self._tallies.items() if part is None and tally.latency}
        return self._owed.outstanding(latencies, self._drawn)

    def streams(self) -> dict[str, Totals]:
        """Per stream."""
        return self._grouped(lambda key: key[0])

    def parts(self) -> dict[str, Totals]:
        """Per LUN of a striped or concatenated target; empty for others."""
        return self._grouped(lambda key: key[2])

    def errors(self) -> dict[str, dict[str, int]]:
        """Failed requests per operation and error name."""
        counts: dict[str, Counter[str]] = {}
        for (_, op, part), tally in self._tallies.items():
            if part is not None:
                continue
            counts.setdefault(op, Counter()).update(tally.errors)
        return {op: dict(counts[op]) for op in OPS if counts.get(op)}

    def _grouped(self, name_of: Callable[[TallyKey], str | None]) -> dict[str, Totals]:
        groups: dict[str, dict[str, Tally]] = {}
        for key, tally in self._tallies.items():
            name = name_of(key)
            if name is not None:
                groups.setdefault(name, {}).setdefault(key[1], Tally()).add(tally)
        return {
            name: {op: by_op[op].totals(self.elapsed_s) for op in OPS if op in by_op}
            for name, by_op in sorted(groups.items(), key=lambda item: _natural(item[0]))
        }


def latency_summary(histogram: Histogram | None) -> LatencySummary | None:
    """Mean, spread and percentiles of a histogram in nanoseconds; None when it holds nothing."""
    if histogram is None or histogram.count == 0:
        return None
    return LatencySummary(
        mean=histogram.mean,
        min=histogram.min,
        p50=histogram.percentile(50.0),
        p90=histogram.percentile(90.0),
        p95=histogram.percentile(95.0),
        p99=histogram.percentile(99.0),
        p999=histogram.percentile(99.9),
        max=histogram.max,
        stddev=histogram.stddev,
    )


def summarise(intervals: Iterable[Interval]) -> Summary:
    """The summary of recorded intervals."""
    summary = Summary()
    for interval in intervals:
        summary.add(interval)
    return summary


def _sum(total: Histogram | None, addend: Histogram) -> Histogram:
    if total is None:
        return _copy(addend)
    total.add(addend)
    return total


def _copy(histogram: Histogram) -> Histogram:
    # Through its text it is folded: of few requests that takes less time and memory than counts for every latency there could be.
    return decoded(histogram.encode())


def _natural(name: str) -> tuple[int, str]:
    """Order parts by their index ("2:/dev/sdc" before "10:/dev/sdk") and streams by name."""
    head, colon, _ = name.partition(":")
    return (int(head), name) if colon and head.isdigit() else (0, name)
