"""Comparisons and conclusions of experiments as text for a terminal.

A comparison: a row per figure and side, the marks, the findings in sentences, what to know about them.

Model: every row stands against the first side, the baseline, whose own value is in the row. The ratio is side over baseline with its 95 %
interval; the verdict says which way is better. A star marks values whose difference is shown; what could not be compared has none. A double
dagger marks latencies of a load that was not carried. The experiment has a column where there are several.

    print(comparison_text(compare(sides)))

What experiments found: per subject the sentences of its conclusion and the mark with its interval.

Model: the planners' own sentences, wrapped; the mark once more as figures, because it is what the experiment was for.

    print(conclusions([Concluded("ramp", "oltp-db", "/dev/sdb", conclusion)]))

    ramp: oltp-db on /dev/sdb
      1,234 IOPS at queue_depth 24 held 'read mean <= 20ms'; at 25 read mean was 20.4 ms.
      mark  1,234 IOPS [1,190, 1,280], 10.1 MB/s, at queue_depth 24
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from plimsoll.analysis.comparison.assertion import Asserted
from plimsoll.analysis.comparison.comparison import Comparison
from plimsoll.analysis.comparison.sides import NOT_SHOWN, SIGNIFICANCE, MarkRow, Row
from plimsoll.analysis.load_line.mark import Mark
from plimsoll.analysis.objective.judgement import Objective, judge
from plimsoll.analysis.objective.missed import missed
from plimsoll.analysis.point.metric import ALL, RATES
from plimsoll.reports.terminal.points import multiple, table
from plimsoll.result import Estimate, Result
from plimsoll.units import count, duration, megabytes

_HEAD = ("workload", "point", "metric", "side", "baseline", "value", "ratio", "95 % interval", "verdict")
_MARKS = ("mark of", "objective", "side", "baseline", "value", "ratio", "95 % interval", "verdict")
_WIDTH = 100
#: Behind the verdict on latencies of a load that was not carried.
_NOT_CARRIED = "‡"


def comparison_text(comparison: Comparison) -> str:
    """The whole comparison; parts that are empty are left out."""
    parts = [f"baseline {comparison.baseline}"]
    several = len({row.point.experiment for row in comparison.points} | {row.experiment for row in comparison.marks}) > 1
    if comparison.points:
        rows = [(_HEAD, "experiment"), *((_row(row), row.point.experiment) for row in comparison.points)]
        parts.append(_table(rows, left=4, several=several))
    if comparison.marks:
        rows = [(_MARKS, "experiment"), *((_mark_row(row), row.experiment) for row in comparison.marks)]
        parts.append(_table(rows, left=3, several=several))
    parts += ["\n".join(_signs(comparison))] if _signs(comparison) else []
    parts += [_paragraphs(sentences, sign) for sentences, sign in ((comparison.findings(), "•"), (comparison.notes, "·")) if sentences]
    return "\n\n".join(parts)


def _table(rows: Sequence[tuple[tuple[str, ...], str]], *, left: int, several: bool) -> str:
    """The rows, each with its experiment in front where there are ``several``."""
    shown = [(experiment, *row) if several else row for row, experiment in rows]
    return table(shown, left=left + several)


def _signs(comparison: Comparison) -> list[str]:
    """What the signs in the tables mean, for those that stand there."""
    signs = []
    verdicts = {row.verdict for row in comparison.points} | {row.verdict for row in comparison.marks}
    if verdicts - {None, NOT_SHOWN}:
        signs.append(f"* shown: chance alone would show any difference in fewer than {SIGNIFICANCE:.0%} of such tables (Holm's correction)")
    if any(row.rate_not_achieved for row in comparison.points):
        signs.append(f"{_NOT_CARRIED} the offered rate was not achieved, so these latencies say how long the load lasted")
    return signs


def figure(value: float, metric: str) -> str:
    """A value in the unit of its metric."""
    if metric == "bytes_per_s":
        return f"{megabytes(value)} MB/s"
    return count(value) if metric in RATES else duration(value)


def _value(found: Estimate, metric: str) -> str:
    return f"≥ {figure(found.value, metric)}" if found.at_least else figure(found.value, metric)


def _row(row: Row) -> tuple[str, ...]:
    point = row.point
    settings = ", ".join(f"{name} {value}" for name, value in point.settings.items())
    metric = row.metric if row.op == ALL else f"{row.op} {row.metric}"
    *ratio, word = _ratio(row)
    shown = f"{word} {_NOT_CARRIED}" if row.rate_not_achieved else word
    return (point.workload, settings, metric, row.side, *(_value(value, row.metric) for value in row.values), *ratio, shown)


def _mark_row(row: MarkRow) -> tuple[str, ...]:
    return (row.workload, row.objective, row.side, *(_mark(mark) for mark in row.values), *_ratio(row))


def _mark(mark: Mark | None) -> str:
    return "none held" if mark is None else f"{count(mark.iops)} at {mark.level:g}"


def _ratio(row: Row | MarkRow) -> tuple[str, str, str]:
    ratio = "–" if row.ratio is None else f"{multiple(row.ratio)} ×"
    interval = "–" if row.low is None or row.high is None else f"[{multiple(row.low)}, {multiple(row.high)}]"
    word = row.verdict or "–"
    return ratio, interval, word if row.verdict in (None, NOT_SHOWN) else f"{word} *"


def _paragraphs(sentences: Sequence[str], sign: str) -> str:
    wrapped = [
        line for sentence in sentences for line in textwrap.wrap(sentence, _WIDTH, initial_indent=f"{sign} ", subsequent_indent="  ")
    ]
    return "\n".join(wrapped)


_NOT_SETTLED = " (not settled: the interval contains the limit, or there is none)"


@dataclass(frozen=True)
class Concluded:
    """One conclusion with its place; ``name`` is the experiment's."""

    name: str
    workload: str
    configuration: str
    sentences: Sequence[str]
    mark: Mark | None = None
    axis: str = "level"


def conclusions(found: Sequence[Concluded]) -> str:
    """Every conclusion that says something."""
    return "\n".join(line for one in found if one.sentences or one.mark for line in _lines(one))


def kept(objective: Objective, results: Sequence[Result]) -> str:
    """Which points kept the objective, and what failed where they did not."""
    lines = []
    for result in results:
        judgement = judge(objective, result)
        verdict = (
            "held" if judgement.holds else f"undecided: {judgement.failed_by}" if judgement.undecided else f"failed: {missed(judgement)}"
        )
        doubt = "" if judgement.settled or judgement.undecided else _NOT_SETTLED
        repeat = f" #{result.job.repeat}" if result.job.repeat > 1 else ""
        lines.append(f"  {result.job.workload}{repeat} on {result.job.target}{' (modelled)' if result.modelled else ''}: {verdict}{doubt}")
    return "\n".join([f"objective {objective.text}", *lines])


def asserted_text(judged: Sequence[Asserted]) -> str:
    """Every asserted condition: that it held, with the value that came nearest to the limit, or all that keeps it from holding."""
    lines: list[str] = []
    for one in judged:
        if one.holds:
            nearest = min(one.judged, key=lambda found: abs((found.ratio or 0.0) - one.assertion.limit))
            lines.append(
                f"✓ {one.assertion.text}: held at {_everywhere(one)}; nearest is {nearest.where} on {nearest.side}, {nearest.text}"
            )
        else:
            lines += [f"✗ {sentence}" for sentence in one.sentences()]
    return "\n".join(line for text in lines for line in textwrap.wrap(text, _WIDTH, subsequent_indent="  "))


def _everywhere(one: Asserted) -> str:
    return "the only point" if len(one.judged) == 1 else f"all {len(one.judged)} points"


def mark_text(mark: Mark, axis: str) -> str:
    """The mark as figures: throughput with its interval, bandwidth, level of the option ``axis``."""
    interval = f" [{count(mark.interval[0])}, {count(mark.interval[1])}]" if mark.interval else ""
    return f"{count(mark.iops)} IOPS{interval}, {megabytes(mark.bytes_per_s)} MB/s, at {axis} {mark.level:g}"


def _lines(one: Concluded) -> Iterator[str]:
    yield f"{one.name}: {one.workload} on {one.configuration}"
    for sentence in one.sentences:
        yield from textwrap.wrap(sentence, _WIDTH, initial_indent="  ", subsequent_indent="    ")
    if one.mark is not None:
        yield f"  mark  {mark_text(one.mark, one.axis)}"
        for note in one.mark.notes:
            yield from textwrap.wrap(note, _WIDTH, initial_indent="        ", subsequent_indent="        ")
