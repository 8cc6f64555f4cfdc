"""Results as text for a terminal.

Figures that need more than a number and its unit: estimates, ratios. What has only a unit is written by `plimsoll.units`.

bounded(estimate)          # "1.23 ms", "≥ 16.0 s" where requests without an answer make it a lower bound
multiple(0.0123)           # "0.012"

Tables: a row per point, then every flag once with its advice.

Model: plain columns, aligned by their widest cell; the last one marks points that carry flags: ``!`` invalid, ``?`` doubt, ``·`` note.
Latencies of a point's row are of the distribution over all its operations together; ``≤`` marks a percentile that is known by operation
only, ``≥`` a lower bound, because requests had no answer when the measured time ended.
Tables that say how wide they may be are folded to that, the others are as wide as their cells.
Points of experiments have a column more, with what the experiment set for them, and stand under their configuration in place of the target.

    print(points([result, …])); print(footnotes([result, …]))
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from math import floor, log10

from plimsoll.analysis.point.array import component_sets
from plimsoll.analysis.point.estimates import PERCENTILES
from plimsoll.analysis.point.metric import ALL, metric, together
from plimsoll.displayed import displayed_in_line
from plimsoll.reports.limits import busy_words, configuration_words, incident_words, limit_words
from plimsoll.reports.progress import settings_text
from plimsoll.result import OPS, Estimate, Flag, Result, Totals
from plimsoll.units import count, duration, megabytes, three_digits


def bounded(found: Estimate | None) -> str:
    """A latency, marked ≥ where requests without an answer make it a lower bound."""
    if found is None:
        return duration(None)
    return f"≥ {duration(found.value)}" if found.at_least else duration(found.value)


def multiple(value: float) -> str:
    """A ratio: three significant digits; two behind the point, or as many as a small one needs to show two that count."""
    if 0 < value < 0.0995:
        return f"{value:.{1 - floor(log10(value))}f}"
    return three_digits(value)


#: The state of caches that nothing was done about.
AS_FOUND = "as found"
MARKS = {"invalid": "!", "doubt": "?", "note": "·"}
_RATES = ("read IOPS", "write IOPS")
_LATENCIES = ("mean", "p50", "p99", "max")
#: What block requests can be; points of nothing else have their other operations in a column of their own.
_BLOCK_OPS = frozenset(("read", "write", "trim", "flush"))
_OPERATION = ("per second", "MB/s", "mean", "p50", "p99", "max", "errors")
#: Points whose components are told one by one, at most.
_COMPONENT_LINES = 6
_PLAIN = ("workload", "target")
_PLACED = ("workload", "configuration", "point")
#: A column is not folded to less, however narrow the terminal is.
_FOLDED_MIN = 20


def points(results: Sequence[Result]) -> str:
    """A row per point."""
    placed = any(settings_text(result) for result in results)
    head = _PLACED if placed else _PLAIN
    # Where something else than reading and writing was asked for, these two do not say what was done.
    total = any(not {"read", "write"}.issuperset(result.totals) for result in results)
    rows = [(*_names(result, placed=placed), *_figures(result, total=total)) for result in results]
    rates = (*_RATES, "all IOPS") if total else _RATES
    return table([(*head, *rates, "MB/s", *_LATENCIES, ""), *rows], left=len(head))


def operations(results: Sequence[Result]) -> str:
    """A row per operation of the points that did more than read and write, such as those on files; empty without such."""
    chosen = [result for result in results if not _BLOCK_OPS.issuperset(result.totals)]
    placed = any(settings_text(result) for result in chosen)
    head = _PLACED if placed else _PLAIN
    rows = [(*_names(result, placed=placed), op, *_operation(result, op)) for result in chosen for op in OPS if op in result.totals]
    return table([(*head, "operation", *_OPERATION), *rows], left=len(head) + 1) if rows else ""


def _operation(result: Result, op: str) -> tuple[str, ...]:
    total = result.totals[op]
    moved = megabytes(total.bytes_per_s) if total.bytes else "–"
    figures = (bounded(metric(result, op, name)) for name in _LATENCIES)
    return (count(total.iops), moved, *figures, f"{total.errors:,}" if total.errors else "")


def footnotes(results: Sequence[Result]) -> str:
    """What the caches held and components did, points that failed with their errors, then each flag once; empty when there is none."""
    return "\n".join([*_caches(results), *_components(results), *_footnotes(results)])


def table(rows: Sequence[Sequence[str]], *, left: int, width: int | None = None) -> str:
    """Aligned columns, a rule below the head; the first ``left`` columns to the left, the others to the right.

    A row of one cell stands across all columns. With ``width``, that is folded to so many characters, and so is the last column, if it
    is one of those to the left."""
    rows = [[displayed_in_line(cell) for cell in row] for row in rows]
    columns = len(rows[0])
    widths = [max(len(row[column]) for row in rows if len(row) == columns) for column in range(columns)]
    if width is not None and left == columns:
        widths[-1] = min(widths[-1], max(_FOLDED_MIN, width - sum(widths[:-1]) - 2 * (columns - 1)))
    lines = [line for row in rows for line in (_across(row[0], width) if len(row) < columns else _lines(row, widths, left))]
    return "\n".join([lines[0], "─" * max(len(line) for line in lines), *lines[1:]])


def _across(text: str, width: int | None) -> list[str]:
    """A row of one cell; what follows the first line is indented by two more."""
    indent = " " * (len(text) - len(text.lstrip()) + 2)
    return [text] if width is None else textwrap.wrap(text, width, subsequent_indent=indent, drop_whitespace=True, break_on_hyphens=False)


def _lines(row: Sequence[str], widths: Sequence[int], left: int) -> list[str]:
    """A row of a cell per column, with as many lines as its last cell takes."""
    folded = textwrap.wrap(row[-1], widths[-1], break_on_hyphens=False) if len(row[-1]) > widths[-1] else [row[-1]]
    each = [(*row[:-1], folded[0]), *((*[""] * (len(row) - 1), rest) for rest in folded[1:])]
    aligned = [
        [cell.ljust(width) if column < left else cell.rjust(width) for column, (cell, width) in enumerate(zip(cells, widths, strict=True))]
        for cells in each
    ]
    return ["  ".join(cells).rstrip() for cells in aligned]


def _names(result: Result, *, placed: bool) -> tuple[str, ...]:
    name = result.job.workload + (f" #{result.job.repeat}" if result.job.repeat > 1 else "")
    names = (name, _where(result) + (" (modelled)" if result.modelled else ""))
    return (*names, settings_text(result)) if placed else names


def _figures(result: Result, *, total: bool) -> tuple[str, ...]:
    marks = _marks(result)
    if not result.totals:
        return (*[""] * (8 if total else 7), f"{marks} {'nothing measured' if result.status == 'complete' else result.status}".strip())
    iops = metric(result, ALL, "iops")
    return (
        *(_rate(result.totals, op) for op in ("read", "write")),
        *((count(iops.value) if iops else "–",) if total else ()),
        megabytes(sum(total.bytes_per_s for total in result.totals.values())),
        *(_latency(result, name) for name in _LATENCIES),
        f"{marks} {result.status}".strip() if result.status != "complete" else marks,
    )


def _rate(totals: Totals, op: str) -> str:
    return count(totals[op].iops) if op in totals else "–"


def _latency(result: Result, name: str) -> str:
    """Of the distribution over all operations together; a percentile that is only known by operation is at most the highest of these."""
    found = metric(result, ALL, name)
    if found is None:
        return duration(None)
    bound = name in PERCENTILES and name not in result.estimates.get(ALL, {}) and len(together(result)) > 1
    return f"≤ {duration(found.value)}" if bound else bounded(found)


def _marks(result: Result) -> str:
    severities = {flag.severity for flag in result.flags}
    return "".join(mark for severity, mark in MARKS.items() if severity in severities)


def _footnotes(results: Sequence[Result]) -> list[str]:
    """Each flag once: where it holds, its numbers for the first of them, its advice."""
    holders: dict[str, list[tuple[Result, Flag]]] = {}
    for result in results:
        for flag in result.flags:
            holders.setdefault(f"{flag.severity} {flag.name}", []).append((result, flag))
    # One reason often fails every point of a workload; it is said once.
    lines = list(dict.fromkeys(f"✗ {result.job.workload}: {result.error}" for result in results if result.status == "failed"))
    ordered = sorted(holders.values(), key=lambda held: list(MARKS).index(held[0][1].severity))
    for held in ordered:
        flag = held[0][1]
        everywhere = len(held) == len(results) > 1
        where = "everywhere; of the first" if everywhere else _places([result for result, _ in held], results)
        lines.append(f"{MARKS[flag.severity]} {flag.name}: {where}: {flag.message}")
        lines.append(f"  → {flag.advice}")
    return lines


def _caches(results: Sequence[Result]) -> list[str]:
    """The state of the caches where something was done about it, each once, and where it held if not everywhere."""
    states: dict[str, list[Result]] = {}
    for result in results:
        if result.cache.get("state", AS_FOUND) != AS_FOUND:
            states.setdefault(f"cache {result.cache['state']}{{}}: {result.cache.get('how') or 'no more is known.'}", []).append(result)
    return [said.format("" if len(held) == len(results) else f" at {_places(held, results)}") for said, held in states.items()]


def _components(results: Sequence[Result]) -> list[str]:
    """What limited modelled arrays and failed in them: of few points how busy each was, of many a sentence per configuration."""
    told = [(result, sets) for result in results if (sets := component_sets(result))]
    several = _several(results)
    if len(told) > _COMPONENT_LINES:
        limits: dict[str, list[str]] = {}
        for result, sets in told:
            limits.setdefault(_where(result), []).append(limit_words(sets))
        failing = [result for result, _ in told if incident_words(result)]
        incidents = [f"{_places(failing, results)}: {incident_words(failing[0])}."] if failing else []
        return [*(configuration_words(where, said) for where, said in limits.items()), *incidents]
    lines = []
    for result, sets in told:
        lines.append(f"{_place(result, configured=several)}: {limit_words(sets)}; {busy_words(sets)}.")
        if failed := incident_words(result):
            lines.append(f"{_place(result, configured=several)}: {failed}.")
    return lines


def _several(results: Sequence[Result]) -> bool:
    """Whether the results are of more than one target or configuration."""
    return len({_where(result) for result in results}) > 1


def _where(result: Result) -> str:
    return str(result.place.get("configuration") or result.job.target)


def _places(held: Sequence[Result], results: Sequence[Result]) -> str:
    """``random-read-4k at queue_depth 32 and 2 more; of the first``: the points that something holds for, repeats once."""
    several = _several(results)
    names = list(dict.fromkeys(_place(result, configured=several) for result in held))
    shown = 1 if any(settings_text(result) for result in held) else 3
    if len(names) == 1:
        return names[0]
    more = f" and {len(names) - shown} more" if len(names) > shown else ""
    return f"{', '.join(names[:shown])}{more}; of the first"


def _place(result: Result, *, configured: bool) -> str:
    settings = settings_text(result)
    on = f" on {_where(result)}" if configured else ""
    return f"{result.job.workload}{on}{f' at {settings}' if settings else ''}"
