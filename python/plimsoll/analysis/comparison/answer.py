"""The answer of a comparison: one sentence that says which side, how much, and how sure.

Model: where one load was measured for its mark, the answer is the load that each side carries at the limit, in multiples of the baseline's.
Otherwise it is how fast each side was on the (geometric) average of what was measured, with the range, and in how many measurements the
difference is shown. Of one measurement alone it is that, with both values. *n ×* is performance in multiples of the baseline's, so above 1
is better for every metric; numbers in brackets are 95 % intervals.
Limits: of more than `NAMED` sides the best are named; the table has them all.

    answer("10K U320", ["10K SAS"], comparison.points, comparison.marks)
    # "10K SAS carries 1.21 × [1.15, 1.27] the load of 10K U320 at 20 ms (2,204 against 1,820 IOPS)."
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, exp, log

from plimsoll.analysis.comparison.findings import at_objective, in_figure, interval_text, range_text, ratio_text, values_text
from plimsoll.analysis.comparison.sides import FASTER, OPEN, SLOWER, TOO_SHORT, MarkRow, Row
from plimsoll.analysis.point.metric import load_text

#: So many sides stand in the sentence.
NAMED = 4
#: Nobody repeats more often.
REPEATS_MAX = 100


def answer(baseline: str, sides: Sequence[str], points: Sequence[Row], marks: Sequence[MarkRow]) -> str:
    """The sentence; empty where nothing could be compared."""
    subjects = {(mark.experiment, mark.workload) for mark in marks}
    if len(subjects) == 1 and any(value is not None for mark in marks for value in mark.values):
        return _of_marks(baseline, marks)
    rows = [row for row in points if is_sound(row)]
    ratios: Sequence[Row | MarkRow] = [mark for mark in marks if mark.ratio is not None] if len(subjects) > 1 else rows
    by_side = {side: [row for row in ratios if row.side == side] for side in sides}
    measured = {side: found for side, found in by_side.items() if found}
    if not measured:
        return ""
    if len(measured) == 1 and len(rows) == 1 and not marks:
        return _of_one(baseline, rows[0])
    return _of_several(baseline, measured, at_marks=len(subjects) > 1)


def is_sound(row: Row) -> bool:
    """Whether its ratio means something: of a load that was carried, and of no lower bound."""
    return row.ratio is not None and not row.rate_not_achieved and not any(value.at_least for value in row.values)


def needed_text(row: Row | MarkRow) -> str:
    """How much longer, or how often, would tell."""
    needed_s = row.needed_s
    if isinstance(row, MarkRow) and row.is_coarse:
        return "too coarse to tell, measure more levels around the marks"
    if row.needed_repeats is not None:
        told = f"{REPEATS_MAX} repeats would not do" if row.needed_repeats > REPEATS_MAX else f"--repeat {row.needed_repeats} would"
        return f"too few repeats to tell, {told}"
    if needed_s is None:
        return "too short to tell, measure longer"
    if needed_s > 86_400:
        return "too short to tell, a day per point would not do"
    return f"too short to tell, {_time(needed_s)} per point would"


def _time(needed_s: float) -> str:
    """Up to the next ten seconds, minute or hour."""
    for limit, step, unit in ((120, 1, "s"), (7_200, 60, "min"), (float("inf"), 3_600, "h")):
        if needed_s <= limit:
            return f"{ceil(needed_s / 10) * 10 if step == 1 else ceil(needed_s / step)} {unit}"
    raise ValueError("no time is beyond all limits")


def _of_marks(baseline: str, marks: Sequence[MarkRow]) -> str:
    first = marks[0]
    at = at_objective(first.objective)
    before = first.values[0]
    if len(marks) == 1 and before is not None and first.values[1] is not None and first.ratio is not None:
        carried = f"({_carried(first, 1).removesuffix(f' {first.noun}')} against {_carried(first, 0)})"
        ratio = interval_text(first.ratio, first.low, first.high)
        return f"{first.side} carries {ratio} the load of {baseline} {at} {carried}{_doubt(first).replace(', ', ': ', 1)}."
    base = f"{baseline} carries {_carried(first, 0)} {at}" if before is not None else f"{baseline} holds no level {at}"
    best = sorted(marks, key=lambda mark: -(mark.values[1].iops if mark.values[1] else 0.0))
    others = [_side_mark(mark) for mark in best[:NAMED]]
    more = f"; {len(best) - NAMED} more sides stand in the table" if len(best) > NAMED else ""
    return f"{base}; {', '.join(others)}{more}."


def _side_mark(mark: MarkRow) -> str:
    now = mark.values[1]
    if now is None:
        return f"{mark.side} holds no level{_doubt(mark)}"
    if mark.ratio is None:
        return f"{mark.side} {_carried(mark, 1)}{_doubt(mark)}"
    return f"{mark.side} {interval_text(mark.ratio, mark.low, mark.high)} ({_carried(mark, 1)}{_doubt(mark).replace(',', ';', 1)})"


def _carried(mark: MarkRow, index: int) -> str:
    found = mark.values[index]
    if found is None:
        return "no level"
    least = "at least " if found.failed_by is None else ""
    return f"{least}{load_text(found.iops, found.bytes_per_s, mark.noun)}"


def _doubt(row: MarkRow | Row) -> str:
    """What is to be said of a ratio that is not shown."""
    if row.verdict == TOO_SHORT:
        return f", {needed_text(row)}"
    return ", no difference shown" if row.verdict in OPEN else ""


def _of_one(baseline: str, row: Row) -> str:
    if row.verdict in OPEN:
        return f"{row.side} and {baseline}{in_figure(row)}: {ratio_text(row)}, {values_text(row)}{_doubt(row)}."
    return f"{row.side} is {row.verdict} than {baseline}{in_figure(row)}: {ratio_text(row)}, {values_text(row)}."


def _of_several(baseline: str, measured: dict[str, list[Row | MarkRow]], *, at_marks: bool) -> str:
    means = {side: _mean(rows) for side, rows in measured.items()}
    best = sorted(measured, key=lambda side: -means[side])
    noun = "marks" if at_marks else "measurements"
    told = [_average(side, baseline if not index else "", measured[side], noun) for index, side in enumerate(best[:NAMED])]
    more = f"; {len(best) - NAMED} more sides stand in the table" if len(best) > NAMED else ""
    return f"{'; '.join(told)}{more}."


def average(rows: Sequence[Row | MarkRow], noun: str = "measurements") -> tuple[str, str]:
    """The mean ratio of performance, and in how many rows what was shown."""
    return range_text([_mean(rows)]), _counted(rows, noun)


def _mean(rows: Sequence[Row | MarkRow]) -> float:
    return exp(sum(log(_times(row)) for row in rows) / len(rows))


def _counted(rows: Sequence[Row | MarkRow], noun: str) -> str:
    numbers = {word: sum(row.verdict == word for row in rows) for word in (FASTER, SLOWER, *OPEN)}
    counted = [f"{word} in {number}" for word, number in numbers.items() if number]
    if counted and len(rows) > 1:
        counted[0] += f" of {len(rows)} {noun}"
    return ", ".join(counted)


def _average(side: str, baseline: str, rows: Sequence[Row | MarkRow], noun: str) -> str:
    """``B is 1.42 × as fast as A on average (0.91 to 2.3 ×): faster in 36 of 72 measurements, slower in 12``."""
    mean, counted = average(rows, noun)
    spread = range_text([_times(row) for row in rows])
    spread = f" ({spread})" if spread != mean else ""
    compared = f" as fast as {baseline}" if baseline else ""
    return f"{side} is {mean}{compared}{' on average' if len(rows) > 1 else ''}{spread}: {counted}"


def _times(row: Row | MarkRow) -> float:
    return row.times_faster or 1.0
