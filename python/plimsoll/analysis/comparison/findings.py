"""Findings of a comparison in sentences, each with its numbers.

Model: for every side against the baseline, in this order: the load carried at the objective, with the levels at which the side was
faster or slower; the other ranges of levels; profiles and grid points counted by group; the best and the worst ratio. Where
nothing was shown, one sentence says so with the range of the ratios. *n ×* is always the side's performance in multiples of the
baseline's: for a latency it is the baseline's over the side's, so above 1 is better for every metric. Numbers in brackets are 95 %
intervals.
Limits: sentences repeat what the table holds and judge nothing anew. The ranges of several ratios are those of their values. Latencies of
points that did not achieve their rate (`plimsoll.analysis.comparison.sides.Row.rate_not_achieved`) have a place among the levels but no
part in any sentence.

    findings("10K U320", ["10K SAS"], comparison.points, comparison.marks)
    # ["10K SAS carried 1.21 × [1.15, 1.27] the load of 10K U320 at 20 ms, and was faster at every queue depth from 8 up."]
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import floor, log10
from typing import TypeVar

from plimsoll.analysis.comparison.sides import FASTER, NOT_SHOWN, OPEN, SLOWER, TOO_SHORT, ComparisonVerdict, MarkRow, Row
from plimsoll.analysis.load_line.mark import Mark
from plimsoll.analysis.objective.judgement import parse_objective
from plimsoll.analysis.point.metric import ALL, RATES, called, load_text, spoken
from plimsoll.near import listed
from plimsoll.result import Estimate, tells
from plimsoll.units import megabytes

_T = TypeVar("_T")

#: What the levels of an axis are called, one and several.
_AXES: Mapping[str, tuple[str, str]] = {
    "threads": ("thread count", "thread counts"),
    "percent": ("percentage", "percentages"),
}
#: What is said of points that show nothing; the place is for the figure.
_OPEN_WORDS: Mapping[ComparisonVerdict, str] = {NOT_SHOWN: "no difference{} was shown", TOO_SHORT: "too short to tell{}"}
_TIMES = ((1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns"))


def findings(baseline: str, sides: Sequence[str], points: Sequence[Row], marks: Sequence[MarkRow]) -> list[str]:
    """The sentences of all sides, in the order of the sides."""
    found: list[str] = []
    for side in sides:
        rows = [_sound(row) for row in points if row.side == side and row.ratio is not None]
        found.extend(_of_side(baseline, side, rows, [row for row in marks if row.side == side]))
    return found


def _sound(row: Row) -> Row:
    """The row, without a verdict where its latencies mean nothing: so *every level* never counts it in."""
    return replace(row, verdict=None) if row.rate_not_achieved else row


def _of_side(baseline: str, side: str, rows: Sequence[Row], marks: Sequence[MarkRow]) -> list[str]:
    judged = [row for row in rows if row.verdict is not None]
    verdicts = {row.verdict for row in rows} | {mark.verdict for mark in marks}
    if not verdicts & {FASTER, SLOWER}:
        bounds = [sentence for mark in marks if mark.ratio is None for sentence in _mark(baseline, mark, "", "")]
        return [*bounds, *_nothing_shown(baseline, side, judged, marks)]
    return [
        *_loads(baseline, side, rows, marks),
        *_groups(baseline, side, [row for row in judged if row.point.level is None]),
        *_extremes(baseline, side, judged),
    ]


def _nothing_shown(baseline: str, side: str, rows: Sequence[Row], marks: Sequence[MarkRow]) -> Iterator[str]:
    ratios = [_better(row) for row in rows] + [mark.ratio for mark in marks if mark.ratio is not None]
    if len(ratios) == 1:
        yield f"No difference between {side} and {baseline} was shown: {_of_one(rows, marks)}."
    elif ratios:
        yield f"No difference between {side} and {baseline} was shown in {len(ratios)} comparisons; the ratios lay {_between(ratios)}."


def _of_one(rows: Sequence[Row], marks: Sequence[MarkRow]) -> str:
    if rows:
        return f"{ratio_text(rows[0])}, {values_text(rows[0])}"
    (mark,) = (mark for mark in marks if mark.ratio is not None)
    return f"{interval_text(mark.ratio or 0.0, mark.low, mark.high)} the load {at_objective(mark.objective)}"


def _loads(baseline: str, side: str, rows: Sequence[Row], marks: Sequence[MarkRow]) -> Iterator[str]:
    """Subject by subject: the mark with the range of levels that goes with it, then the rest of the levels."""
    levelled = _grouped([row for row in rows if row.point.level is not None], lambda row: (row.point.experiment, row.point.workload))
    by_subject = {(mark.experiment, mark.workload): mark for mark in marks}
    subjects = list(dict.fromkeys([*by_subject, *levelled]))
    for subject in subjects:
        figures = list(_grouped(levelled.get(subject, []), lambda row: (row.op, row.metric)).values())
        mark = by_subject.get(subject)
        title = mark.title if mark else figures[0][0].point.title
        named = "" if len(subjects) == 1 else f"{title}: " if _once(subject, subjects) else f"{title} ({subject[0]}): "
        told: ComparisonVerdict | None = None
        if mark is not None:
            told = mark.verdict if figures and mark.ratio is not None and mark.verdict in (FASTER, SLOWER) else None
            tail = _levels(figures[0], told) if told else ""
            yield from _mark(baseline, mark, named, f", and was {told}{in_figure(figures[0][0])} {tail}" if tail else "")
        for position, figure in enumerate(figures):
            yield from _ranges(baseline, side, named, figure, told if position == 0 else None)


def _once(subject: tuple[str, str], subjects: Sequence[tuple[str, str]]) -> bool:
    return sum(workload == subject[1] for _, workload in subjects) == 1


def _mark(baseline: str, row: MarkRow, named: str, tail: str) -> Iterator[str]:
    """The load carried at the objective."""
    before, now = row.values
    at = at_objective(row.objective)
    if before is None and now is not None:
        yield f"{named}{baseline} held no level {at}, and {row.side} carried {_load(now, row)}."
    elif before is not None and now is None:
        yield f"{named}{row.side} held no level {at}, and {baseline} carried {_load(before, row)}."
    elif before is not None and now is not None and row.ratio is None:
        carried = [(row.side, now), (baseline, before)]
        said = [f"{label} carried {'at least ' if mark.failed_by is None else ''}{_load(mark, row)}" for label, mark in carried]
        yield f"{named}{said[0]} {at}, and {said[1]}{tail}."
    elif row.ratio is not None:
        shown = _in_doubt(row)
        yield f"{named}{row.side} carried {interval_text(row.ratio, row.low, row.high)} the load of {baseline} {at}{shown}{tail}."


def _in_doubt(row: MarkRow) -> str:
    """What follows the ratio of two marks that differ by no more than chance, with advice where more would tell."""
    if row.verdict == NOT_SHOWN:
        return ", which is within the noise"
    if row.verdict != TOO_SHORT:
        return ""
    more = "Measure longer: -d 60s" if row.needed_repeats is None else f"Repeat the levels: --repeat {row.needed_repeats}"
    return f", but the data cannot tell this from noise. {'Measure more levels around the marks' if row.is_coarse else more}"


def _load(mark: Mark, row: MarkRow) -> str:
    return load_text(mark.iops, mark.bytes_per_s, row.noun)


def _ranges(baseline: str, side: str, named: str, rows: Sequence[Row], told: ComparisonVerdict | None) -> Iterator[str]:
    """Where along the levels the side was faster, slower, or neither; ``told`` was said with the mark."""
    parts = []
    for word in (FASTER, SLOWER):
        where = _levels(rows, word)
        if where and word != told:
            parts.append(f"{word} than {baseline}{in_figure(rows[0])} {where}, {_by(word, [row for row in rows if row.verdict == word])}")
    neither = "; ".join(
        f"{said.format(in_figure(rows[0]))} {_levels(rows, word)} ({range_text([_better(row) for row in same])})"
        for word, said in _OPEN_WORDS.items()
        if (same := [row for row in rows if row.verdict == word])
    )
    if parts:
        yield f"{named}{side} was {', and '.join(parts)}{'; ' if neither else ''}{neither}."
    elif neither:
        sentence = f"Between {side} and {baseline} {neither}." if neither.startswith("no ") else f"{side} and {baseline}: {neither}."
        yield f"{named}{sentence}"


def _groups(baseline: str, side: str, rows: Sequence[Row]) -> Iterator[str]:
    """Points that are not levels of one load: profiles by group, grid points by workload."""
    for (noun, *_), group in _grouped(rows, lambda row: (_noun(row), row.op, row.metric)).items():
        if len(group) == 1:
            yield _single(baseline, side, group[0])
            continue
        parts: list[str] = []
        for word in (FASTER, SLOWER):
            such = [row for row in group if row.verdict == word]
            if such:
                counted = f"in {len(such)} of {len(group)} {noun}" if not parts else f"in {len(such)}"
                parts.append(f"{word}{f' than {baseline}' if not parts else ''}{in_figure(group[0])} {counted}, {_by(word, such)}")
        same = [row for row in group if row.verdict in OPEN]
        counts = {said: sum(row.verdict == word for row in same) for word, said in _OPEN_WORDS.items()}
        neither = "; ".join(f"{said.format('')} in {number}" for said, number in counts.items() if number)
        if parts:
            yield f"{side} was {', and '.join(parts)}{'; ' if neither else ''}{neither}."
        else:
            ratios, where = _between([_better(row) for row in same]), f"{in_figure(group[0])} was shown in {len(same)} {noun}"
            yield f"No difference between {side} and {baseline}{where}; the ratios lay {ratios}."


def _single(baseline: str, side: str, row: Row) -> str:
    if row.verdict in OPEN:
        return f"No difference between {side} and {baseline}{in_figure(row)} was shown in {_place(row)}: {ratio_text(row)}."
    return f"{side} was {row.verdict} than {baseline}{in_figure(row)} in {_place(row)}: {ratio_text(row)}, {values_text(row)}."


def _extremes(baseline: str, side: str, rows: Sequence[Row]) -> Iterator[str]:
    if len(rows) < 2:
        return
    gains, losses = ([row for row in rows if row.verdict == word] for word in (FASTER, SLOWER))
    for best_or_worst, found, chosen in (("best", gains, max), ("worst", losses, min)):
        if found:
            row = chosen(found, key=_better)
            yield f"At {best_or_worst}, {side} was {ratio_text(row)} as fast as {baseline}, in {_place(row)} ({values_text(row)})."


def _noun(row: Row) -> str:
    if row.point.settings:
        return f"points of {row.point.title}"
    return f"{row.point.group} profiles" if row.point.group else "profiles"


def _levels(rows: Sequence[Row], word: ComparisonVerdict) -> str:
    """The levels with this verdict: ``at every queue depth from 8 up``; empty when there is none."""
    ordered = sorted(rows, key=lambda row: row.point.level or 0.0)
    having = [index for index, row in enumerate(ordered) if row.verdict == word]
    if not having:
        return ""
    one, several = _axis(rows[0])
    levels = [_number(row.point.level or 0.0) for row in ordered]
    first, last = having[0], having[-1]
    if len(having) == 1:
        return f"at {one} {levels[first]}"
    if last - first + 1 > len(having) or len(having) == 2 < len(ordered):
        return f"at {several} {listed([levels[index] for index in having], 'and')}"
    every = f"at {'any' if word in OPEN else 'every'} {one}"
    if len(having) == len(ordered):
        return every
    if last == len(ordered) - 1:
        return f"{every} from {levels[first]} up"
    return f"{every} up to {levels[last]}" if first == 0 else f"{every} from {levels[first]} to {levels[last]}"


def _axis(row: Row) -> tuple[str, str]:
    words = row.point.axis.replace("_", " ")
    return _AXES.get(row.point.axis, (words, words if words.endswith("s") else f"{words}s"))


def _by(word: ComparisonVerdict, rows: Sequence[Row]) -> str:
    """``by 1.10 to 1.40 ×`` of what is faster, ``at 0.70 to 0.90 ×`` of what is slower."""
    return f"{'by' if word == FASTER else 'at'} {range_text([_better(row) for row in rows])}"


def _place(row: Row) -> str:
    point = row.point
    if point.level is not None:
        return f"{point.title} at {_axis(row)[0]} {_number(point.level)}"
    settings = ", ".join(f"{name} {value}" for name, value in point.settings.items())
    return f"{point.title} with {settings}" if settings else point.title


def in_figure(row: Row) -> str:
    """The figure, where it is not the throughput of the whole."""
    if row.op == ALL and row.metric in RATES:
        return ""
    return f" in {called(row.op, row.metric, row.point.rate)}"


def values_text(row: Row) -> str:
    """``IOPS from 700 to 980``, ``queries per hour from 120,000 to 98,000``."""
    before, now = (_quantity(value, row.metric, row.point.rate) for value in row.values)
    return f"{called(row.op, row.metric, row.point.rate)} from {before} to {now}"


def _quantity(value: Estimate, metric: str, rate: str) -> str:
    if metric == "iops":
        return _count(spoken(value.value, rate))
    if metric == "bytes_per_s":
        return f"{megabytes(value.value)} MB/s"
    for factor, unit in _TIMES:
        if value.value >= factor:
            return f"{_significant(value.value / factor)} {unit}"
    return "0"


def _better(row: Row) -> float:
    return row.times_faster or 0.0


def ratio_text(row: Row) -> str:
    low, high = row.low, row.high
    if row.ratio != row.times_faster:
        low, high = (1 / edge if edge else None for edge in (row.high, row.low))
    return interval_text(_better(row), low, high)


def interval_text(value: float, low: float | None, high: float | None) -> str:
    """``1.21 × [1.15, 1.27]``; an interval that says nothing is left out."""
    digits = _digits(value)
    if low is None or high is None or not tells(low, high):
        return f"{_ratio(value, digits)} ×"
    return f"{_ratio(value, digits)} × [{_ratio(low, digits)}, {_ratio(high, digits)}]"


def range_text(ratios: Sequence[float]) -> str:
    low, high = _ends(ratios)
    return f"{low} ×" if low == high else f"{low} to {high} ×"


def _between(ratios: Sequence[float]) -> str:
    low, high = _ends(ratios)
    return f"at {low} ×" if low == high else f"between {low} and {high} ×"


def _ends(ratios: Sequence[float]) -> tuple[str, str]:
    low, high = min(ratios), max(ratios)
    digits = max(_digits(low), _digits(high))
    return _ratio(low, digits), _ratio(high, digits)


def _ratio(value: float, digits: int) -> str:
    """At least ``digits`` decimals; as many as a small ratio needs to show two digits that count."""
    small = 1 - floor(log10(value)) if 0 < value < 0.1 else 0
    return f"{value:.{max(digits, small)}f}"


def _digits(ratio: float) -> int:
    """Decimals that tell the ratio from 1."""
    if ratio >= 10:
        return 1 if ratio < 100 else 0
    apart = abs(ratio - 1)
    return 2 if apart >= 0.01 or apart < 0.00005 else 3 if apart >= 0.001 else 4


def at_objective(objective: str) -> str:
    """``at 20 ms`` for limits on means that are one and the same, else the objective itself."""
    clauses = parse_objective(objective).clauses
    first = clauses[0]
    limit = re.sub(r"(?<=\d)(?=[a-zµ])", " ", first.text.rpartition(" ")[2])
    if first.is_latency and all((clause.metric, clause.limit) == (first.metric, first.limit) for clause in clauses):
        if first.metric == "mean":
            return f"at {limit}"
        if len(clauses) == 1:
            return f"at a {first.text.partition(f' {first.relation} ')[0]} of {limit}"
    return f"within '{objective}'"


def _count(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else _significant(value)


def _significant(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def _number(level: float) -> str:
    return f"{level:,.0f}" if level == int(level) else f"{level:g}"


def _grouped(rows: Sequence[Row], key: Callable[[Row], _T]) -> dict[_T, list[Row]]:
    groups: dict[_T, list[Row]] = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    return groups
