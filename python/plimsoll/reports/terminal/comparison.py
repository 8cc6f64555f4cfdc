"""A comparison as text for a terminal: the answer, a table, the findings where they are few, what to know about them.

Model: every row stands against the first side, the baseline, whose own value is in the row. Two sides have a row per figure with both
values, the ratio with its 95 % interval and the verdict; more sides, or more than `ROWS` rows, have a matrix instead: a row per point and
a column of ratios per side. Ratios are side over baseline; signs say which way is better. ``details`` shows every row and every finding.
A double dagger marks latencies of a load that was not carried. The experiment has a column where there are several.

    print(comparison_text(compare(sides), Screen(80)))
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from plimsoll.analysis.comparison.answer import needed_text
from plimsoll.analysis.comparison.comparison import Comparison
from plimsoll.analysis.comparison.sides import FASTER, NOT_SHOWN, SIGNIFICANCE, SLOWER, TOO_SHORT, ComparisonVerdict, MarkRow, Row
from plimsoll.analysis.load_line.mark import Mark
from plimsoll.analysis.point.metric import ALL, IOPS, RATES, load_text
from plimsoll.reports.terminal.points import multiple
from plimsoll.reports.terminal.screen import ANY, Screen, Tone
from plimsoll.reports.terminal.table import table
from plimsoll.result import Estimate, tells
from plimsoll.units import count, duration, megabytes

_HEAD = ("workload", "point", "metric", "side", "baseline", "value", "ratio", "95 % interval", "verdict")
_MARKS = ("mark of", "objective", "side", "baseline", "value", "ratio", "95 % interval", "verdict")
#: More rows of a single side than this are shown as a matrix.
ROWS = 24
#: More findings than this are left to ``details`` and the report.
_FINDINGS = 6
#: Behind the verdict on latencies of a load that was not carried.
_NOT_CARRIED = "‡"
_SIGNS: Mapping[ComparisonVerdict, str] = {FASTER: "▲", SLOWER: "▼", NOT_SHOWN: "○", TOO_SHORT: "?"}
_TONES: Mapping[ComparisonVerdict, Tone] = {FASTER: "good", SLOWER: "bad", NOT_SHOWN: "quiet", TOO_SHORT: "doubt"}


def comparison_text(comparison: Comparison, screen: Screen = ANY, *, details: bool = False) -> str:
    """The whole comparison; parts that are empty are left out."""
    answer = comparison.answer()
    baseline = f"baseline {comparison.baseline}{' (modelled)' if all(comparison.modelled) else ''}"
    parts = [screen.wrapped(screen.paint(answer, "strong")) if answer else "", baseline]
    is_matrix = not details and (len(comparison.sides) > 2 or len(comparison.points) > ROWS)
    parts += _matrix(comparison, screen) if is_matrix else _tables(comparison, screen)
    parts.append("\n".join(line for sign in _signs(comparison, is_matrix=is_matrix) for line in screen.lines(sign, "", "  ")))
    found = comparison.findings()
    if details or len(found) <= _FINDINGS:
        parts.append(_paragraphs(found, "•", screen))
    parts.append(_paragraphs(comparison.notes, "·", screen))
    return "\n\n".join(part for part in parts if part)


def _several(comparison: Comparison) -> bool:
    return len({row.point.experiment for row in comparison.points} | {row.experiment for row in comparison.marks}) > 1


def _tables(comparison: Comparison, screen: Screen) -> list[str]:
    several = _several(comparison)
    parts = []
    if comparison.points:
        rows = [(_HEAD, "experiment"), *((_row(row, screen), row.point.experiment) for row in comparison.points)]
        parts.append(_table(rows, screen, left=4, several=several))
    if comparison.marks:
        rows = [(_MARKS, "experiment"), *((_mark_row(row, screen), row.experiment) for row in comparison.marks)]
        parts.append(_table(rows, screen, left=3, several=several))
    return parts


def _table(rows: Sequence[tuple[tuple[str, ...], str]], screen: Screen, *, left: int, several: bool) -> str:
    """The rows, each with its experiment in front where there are ``several``."""
    shown = [(experiment, *row) if several else row for row, experiment in rows]
    return table(shown, left=left + several, screen=screen)


def _matrix(comparison: Comparison, screen: Screen) -> list[str]:
    """Marks and points, each with the ratio of every side."""
    sides, several = comparison.sides[1:], _several(comparison)
    parts = []
    if comparison.marks:
        marks: dict[tuple[str, ...], list[MarkRow]] = {}
        for mark in comparison.marks:
            marks.setdefault((mark.experiment, mark.workload, mark.objective), []).append(mark)
        head = (("mark of", "objective", comparison.baseline, *sides), "experiment")
        rows = [
            ((*key[1:], _mark(found[0].values[0], found[0].noun), *_ratios(found, sides, screen)), key[0]) for key, found in marks.items()
        ]
        parts.append(_table([head, *rows], screen, left=2, several=several))
    if comparison.points:
        points: dict[tuple[str, ...], list[Row]] = {}
        for row in comparison.points:
            place = (row.point.experiment, row.point.workload, _settings(row), _metric(row))
            points.setdefault((*place, _value(row.values[0], row.metric)), []).append(row)
        head = (("workload", "point", "metric", comparison.baseline, *sides), "experiment")
        rows = [((*key[1:], *_ratios(found, sides, screen)), key[0]) for key, found in points.items()]
        parts.append(_table([head, *rows], screen, left=3, several=several))
    return parts


def _ratios(found: Sequence[Row | MarkRow], sides: Sequence[str], screen: Screen) -> Iterator[str]:
    by_side = {row.side: row for row in found}
    for side in sides:
        row = by_side.get(side)
        yield _cell(row, screen) if row else ""


def _cell(row: Row | MarkRow, screen: Screen) -> str:
    """``1.22 × ▲``; a mark without a ratio by its value."""
    ratio = f"{multiple(row.ratio)} ×" if row.ratio is not None else _mark(row.values[1], row.noun) if isinstance(row, MarkRow) else "–"
    if isinstance(row, Row) and row.ratio is not None:
        before, now = row.values
        ratio = f"{'≥ ' if now.at_least else '≤ ' if before.at_least else ''}{ratio}"
    late = f" {_NOT_CARRIED}" if isinstance(row, Row) and row.rate_not_achieved else ""
    if row.verdict is None:
        return f"{ratio}{late}"
    return screen.paint(f"{ratio} {_SIGNS[row.verdict]}", _TONES[row.verdict]) + late


def _signs(comparison: Comparison, *, is_matrix: bool) -> list[str]:
    """What the signs in the tables mean, for those that stand there."""
    signs = []
    verdicts = {row.verdict for row in comparison.points} | {row.verdict for row in comparison.marks}
    if is_matrix and verdicts - {None}:
        shown = [f"{sign} {word}" for word, sign in _SIGNS.items() if word in verdicts]
        signs.append(f"{'  '.join(shown)}; ratios are those to {comparison.baseline}")
    if verdicts & {FASTER, SLOWER}:
        star = "" if is_matrix else "* "
        signs.append(f"{star}faster and slower are significant at {SIGNIFICANCE * 100:g} % (Holm-corrected over all rows)")
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


def _settings(row: Row) -> str:
    return ", ".join(f"{name} {value}" for name, value in row.point.settings.items())


def _metric(row: Row) -> str:
    name = "bandwidth" if row.metric == "bytes_per_s" else row.metric
    return name if row.op == ALL else f"{row.op} {name}"


def _row(row: Row, screen: Screen) -> tuple[str, ...]:
    *ratio, word = _ratio(row, screen)
    shown = f"{word} {_NOT_CARRIED}" if row.rate_not_achieved else word
    values = (_value(value, row.metric) for value in row.values)
    return (row.point.workload, _settings(row), _metric(row), row.side, *values, *ratio, shown)


def _mark_row(row: MarkRow, screen: Screen) -> tuple[str, ...]:
    return (row.workload, row.objective, row.side, *(_mark(mark, row.noun) for mark in row.values), *_ratio(row, screen))


def _mark(mark: Mark | None, noun: str) -> str:
    if mark is None:
        return "none held"
    load = load_text(mark.iops, mark.bytes_per_s, noun)
    return f"{load.removesuffix(f' {IOPS}')} at {mark.level:g}"


def _ratio(row: Row | MarkRow, screen: Screen) -> tuple[str, str, str]:
    ratio = "–" if row.ratio is None else f"{multiple(row.ratio)} ×"
    shown = row.low is not None and row.high is not None and tells(row.low, row.high)
    interval = f"[{multiple(row.low or 0)}, {multiple(row.high or 0)}]" if shown else "–"
    if row.verdict is None:
        return ratio, interval, "–"
    said = f"{row.verdict} *" if row.verdict in (FASTER, SLOWER) else row.verdict
    word = needed_text(row) if row.verdict == TOO_SHORT else said
    return ratio, interval, screen.paint(word, _TONES[row.verdict])


def _paragraphs(sentences: Sequence[str], sign: str, screen: Screen) -> str:
    return "\n".join(line for sentence in sentences for line in screen.lines(sentence, f"{sign} ", "  "))
