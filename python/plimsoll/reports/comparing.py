"""A comparison as text for a terminal: a row per figure and side, the marks, the findings in sentences, what to know about them.

Model: every row stands against the first side, the baseline, whose own value is in the row. The ratio is side over baseline with its 95 %
interval; the verdict says which way is better. A star marks values whose difference is shown; what could not be compared has none.

    print(comparison_text(compare(sides)))
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from plimsoll.analysis.compared import NOT_SHOWN, MarkRow, Row
from plimsoll.analysis.comparison import Comparison
from plimsoll.analysis.mark import Mark
from plimsoll.analysis.metric import ALL, RATES
from plimsoll.reports.figures import count, duration, megabytes, three_digits
from plimsoll.reports.terminal import table

_HEAD = ("workload", "point", "metric", "side", "baseline", "value", "ratio", "95 % interval", "verdict")
_MARKS = ("mark of", "objective", "side", "baseline", "value", "ratio", "95 % interval", "verdict")
_WIDTH = 100


def comparison_text(comparison: Comparison) -> str:
    """The whole comparison; parts that are empty are left out."""
    parts = [f"baseline {comparison.baseline}"]
    if comparison.points:
        parts.append(table([_HEAD, *(_row(row) for row in comparison.points)], left=4))
    if comparison.marks:
        parts.append(table([_MARKS, *(_mark_row(row) for row in comparison.marks)], left=3))
    parts += [_paragraphs(sentences, sign) for sentences, sign in ((comparison.findings(), "•"), (comparison.notes, "·")) if sentences]
    return "\n\n".join(parts)


def figure(value: float, metric: str) -> str:
    """A value in the unit of its metric."""
    if metric == "bytes_per_s":
        return f"{megabytes(value)} MB/s"
    return count(value) if metric in RATES else duration(value)


def _row(row: Row) -> tuple[str, ...]:
    point = row.point
    settings = ", ".join(f"{name} {value}" for name, value in point.settings.items())
    metric = row.metric if row.op == ALL else f"{row.op} {row.metric}"
    return (point.workload, settings, metric, row.side, *(figure(value.value, row.metric) for value in row.values), *_ratio(row))


def _mark_row(row: MarkRow) -> tuple[str, ...]:
    return (row.workload, row.objective, row.side, *(_mark(mark) for mark in row.values), *_ratio(row))


def _mark(mark: Mark | None) -> str:
    return "none held" if mark is None else f"{count(mark.iops)} at {mark.level:g}"


def _ratio(row: Row | MarkRow) -> tuple[str, str, str]:
    ratio = "–" if row.ratio is None else f"{three_digits(row.ratio)} ×"
    interval = "–" if row.low is None or row.high is None else f"[{three_digits(row.low)}, {three_digits(row.high)}]"
    word = row.verdict or "–"
    return ratio, interval, word if row.verdict in (None, NOT_SHOWN) else f"{word} *"


def _paragraphs(sentences: Sequence[str], sign: str) -> str:
    wrapped = [
        line for sentence in sentences for line in textwrap.wrap(sentence, _WIDTH, initial_indent=f"{sign} ", subsequent_indent="  ")
    ]
    return "\n".join(wrapped)
