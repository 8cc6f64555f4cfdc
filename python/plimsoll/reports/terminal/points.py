"""Results as text for a terminal.

Figures that need more than a number and its unit: estimates, ratios. What has only a unit is written by `plimsoll.units`.

multiple(0.0123)           # "0.012"

Tables: a row per point, then every flag once with its advice.

Model: plain columns, aligned by their widest cell; the last one marks points that carry flags: ``!`` invalid, ``?`` doubt, ``·`` note.
Where an objective was asked for, the latencies that it judges come first, with ``✗`` behind those that break it. Reads and writes that were
measured together have latencies of their own, because a mean over both says little of either; other latencies are of the distribution over
all operations of a point. ``≤`` marks a percentile that is known by operation only, ``≥`` a lower bound, because requests had no answer
when the measured time ended. Bandwidth comes first where requests are large.
Points of experiments have a column more, with what the experiment set for them, and stand under their configuration in place of the target.
That figures are of a model stands in the head where all are, and below the table where some are.

    print(points([result, …])); print(footnotes([result, …]))
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from math import floor, log10

from plimsoll.analysis.comparison.names import names_of
from plimsoll.analysis.decision.runs import asks_queries
from plimsoll.analysis.objective.clause import Clause
from plimsoll.analysis.objective.judgement import Objective
from plimsoll.analysis.point.definition import runs_workflows
from plimsoll.analysis.point.estimates import PERCENTILES
from plimsoll.analysis.point.metric import ALL, IOPS, in_bytes, metric, rate_noun, together
from plimsoll.analysis.point.score import score_weights
from plimsoll.analysis.point.transactions import enters_orders, new_orders_per_min
from plimsoll.records import dataclass
from plimsoll.reports.phrases import bounded
from plimsoll.reports.progress import settings_text
from plimsoll.reports.terminal.screen import ANY, Screen, Tone
from plimsoll.reports.terminal.table import table
from plimsoll.result import OPS, Result, Totals
from plimsoll.units import count, duration, megabytes, three_digits


def multiple(value: float) -> str:
    """A ratio: three significant digits; two behind the point, or as many as show two that count, or tell it from 1."""
    if 0 < value < 0.0995:
        return f"{value:.{1 - floor(log10(value))}f}"
    if 0.00005 <= (apart := abs(value - 1)) < 0.005:
        return f"{value:.{3 if apart >= 0.0005 else 4}f}"
    return three_digits(value)


MARKS = {"invalid": "!", "doubt": "?", "note": "·"}
TONES: Mapping[str, Tone] = {"invalid": "bad", "doubt": "doubt", "note": "quiet"}
_MEANINGS = {"invalid": "invalid: the numbers do not mean what they say", "doubt": "in doubt", "note": "note"}
#: Latencies in headings, where they are called otherwise.
_WORDS = {"p999": "p99.9"}
_LATENCIES = ("mean", "p50", "p99", "max")
#: What block requests can be; points of nothing else have their other operations in a column of their own.
_BLOCK_OPS = frozenset(("read", "write", "trim", "flush"))
#: Of more points than this with analytics workflows, single steps are not shown.
WORKFLOW_POINTS = 2
_OPERATION = ("per second", "MB/s", "mean", "p50", "p99", "max", "errors")
_PLAIN = ("workload", "target")
_PLACED = ("workload", "configuration", "point")


@dataclass(frozen=True)
class Column:
    """A latency in the table: whose, which, and the conditions that it is judged by, by experiment."""

    op: str
    metric: str
    clauses: Mapping[str, Clause] = field(default_factory=dict)

    @property
    def heading(self) -> str:
        """``read p99``."""
        word = _WORDS.get(self.metric, self.metric)
        return word if self.op == ALL else f"{self.op} {word}"


@dataclass(frozen=True)
class _Rate:
    """A rate in the table."""

    heading: str
    shown: Callable[[Result], str]


def points(results: Sequence[Result], screen: Screen = ANY, objectives: Mapping[str, Objective] | None = None) -> str:
    """A row per point; ``objectives`` are by name of experiment. Decision support and mail users have tables of their own."""
    results = [result for result in results if not _has_own_tables(result) or not result.totals]
    if not results:
        return ""
    placed = any(settings_text(result) for result in results)
    names = names_of(results)
    columns, rates = _columns(results, objectives or {}), _rates(results)
    head = _heading(results, placed=placed)
    rows = [(*_names(result, names, placed=placed), *_figures(result, columns, rates, screen)) for result in results]
    headings = (*head, *(rate.heading for rate in rates), *(column.heading for column in columns), "")
    lines = [headings, *rows]
    if in_bytes(results):
        lines = [_bandwidth_first(row, len(head), len(rates) - 1) for row in lines]
    return "\n".join([table(lines, left=len(head), screen=screen), *_modelled(results, names)])


def _rates(results: Sequence[Result]) -> list[_Rate]:
    """Of requests those of reads and writes, bandwidth last; of a driver whose operations are no requests what people call its rate."""
    moved = _Rate("MB/s", lambda result: megabytes(sum(total.bytes_per_s for total in result.totals.values())))
    noun = rate_noun(results)
    if noun != IOPS:
        entered = [_Rate("new orders/min", _new_orders)] if any(map(enters_orders, results)) else []
        moves = any(total.bytes for result in results for total in result.totals.values())
        return [*entered, _Rate(noun, _together), *([moved] if moves else [])]
    of_each = [_Rate(f"{op} IOPS", lambda result, op=op: _of(result.totals, op)) for op in ("read", "write")]  # type: ignore[misc]
    # Where something else than reading and writing was asked for, these two do not say what was done.
    total = any(not {"read", "write"}.issuperset(result.totals) for result in results)
    return [*of_each, *([_Rate("all IOPS", _together)] if total else []), moved]


def _has_own_tables(result: Result) -> bool:
    return asks_queries(result) or bool(score_weights(result.job.definition))


def _bandwidth_first(row: tuple[str, ...], names: int, rates: int) -> tuple[str, ...]:
    end = names + rates
    return (*row[:names], row[end], *row[names:end], *row[end + 1 :])


def _columns(results: Sequence[Result], objectives: Mapping[str, Objective]) -> list[Column]:
    """What the objectives judge, then what is usual."""
    occurred = [op for op in OPS if any(op in result.totals and result.totals[op].latency_ns for result in results)]
    mixed = any({"read", "write"}.issubset(result.totals) for result in results) and _BLOCK_OPS.issuperset(occurred)
    clauses: dict[tuple[str, str], dict[str, Clause]] = {}
    for experiment, objective in objectives.items():
        for clause in objective.clauses:
            if clause.is_latency:
                ops = [clause.op] if clause.op else occurred if len(occurred) > 1 and _BLOCK_OPS.issuperset(occurred) else [ALL]
                for op in ops:
                    clauses.setdefault((op, clause.metric), {}).setdefault(experiment, clause)
    split = [(op, name) for name in ("mean", "p99") for op in ("read", "write")]
    usual = [*split, (ALL, "max")] if mixed else [(ALL, name) for name in _LATENCIES]
    if clauses:
        usual = [(ALL, "p99"), (ALL, "max")]
    return [Column(op, name, clauses.get((op, name), {})) for op, name in dict.fromkeys([*clauses, *usual])]


def _heading(results: Sequence[Result], *, placed: bool) -> tuple[str, ...]:
    head = _PLACED if placed else _PLAIN
    all_modelled = bool(results) and all(result.modelled for result in results)
    return (head[0], f"{head[1]} (modelled)" if all_modelled else head[1], *head[2:])


def _modelled(results: Sequence[Result], names: Mapping[str, str]) -> list[str]:
    """Which sides are modelled, where not all are."""
    modelled = dict.fromkeys(names[result.side] for result in results if result.modelled)
    return [f"modelled: {', '.join(modelled)}"] if modelled and not all(result.modelled for result in results) else []


def operations(results: Sequence[Result], screen: Screen = ANY) -> str:
    """A row per operation of the points that did more than read and write, such as those on files; empty without such."""
    chosen = [result for result in results if not _BLOCK_OPS.issuperset(result.totals) and not _has_own_tables(result)]
    of_workflows = [result for result in chosen if runs_workflows(result.job.definition)]
    if len(of_workflows) > WORKFLOW_POINTS:
        # The steps of many levels are a book; the page has them as timelines.
        chosen = [result for result in chosen if result not in of_workflows]
    if not chosen:
        return ""
    placed, names = any(settings_text(result) for result in chosen), names_of(results)
    head = _heading(chosen, placed=placed)
    moves = any(total.bytes for result in chosen for total in result.totals.values())
    rows = [
        (*_names(result, names, placed=placed), op, *_operation(result, op, moves=moves))
        for result in chosen
        for op in OPS
        if op in result.totals
    ]
    headings = [name for name in _OPERATION if moves or name != "MB/s"]
    return table([(*head, "operation", *headings), *rows], left=len(head) + 1, screen=screen)


def _operation(result: Result, op: str, *, moves: bool) -> tuple[str, ...]:
    total = result.totals[op]
    moved = (megabytes(total.bytes_per_s) if total.bytes else "–",) if moves else ()
    figures = (bounded(metric(result, op, name)) for name in _LATENCIES)
    return (count(total.iops), *moved, *figures, f"{total.errors:,}" if total.errors else "")


def _names(result: Result, names: Mapping[str, str], *, placed: bool) -> tuple[str, ...]:
    name = result.job.workload + (f" #{result.job.repeat}" if result.job.repeat > 1 else "")
    own = (name, names[result.side])
    return (*own, settings_text(result)) if placed else own


def _figures(result: Result, columns: Sequence[Column], rates: Sequence[_Rate], screen: Screen) -> tuple[str, ...]:
    marks = marks_of(result, screen)
    if not result.totals:
        status = "nothing measured" if result.status == "complete" else screen.paint(result.status, "bad")
        return (*[""] * (len(rates) + len(columns)), f"{marks} {status}".strip())
    return (
        *(rate.shown(result) for rate in rates),
        *(_cell(result, column, screen) for column in columns),
        f"{marks} {screen.paint(result.status, 'bad')}".strip() if result.status != "complete" else marks,
    )


def _cell(result: Result, column: Column, screen: Screen) -> str:
    """A latency, with a sign where it breaks what was asked of it."""
    shown = _latency(result, column.metric) if column.op == ALL else bounded(metric(result, column.op, column.metric))
    clause = column.clauses.get(result.place.get("experiment", "")) or column.clauses.get("")
    found = metric(result, column.op, column.metric)
    if clause is None or found is None or result.place.get("role", "point") != "point":
        return shown
    return screen.paint(shown, "good") if clause.holds(found.value) else screen.paint(f"{shown} ✗", "bad")


def _of(totals: Totals, op: str) -> str:
    return count(totals[op].iops) if op in totals else "–"


def _together(result: Result) -> str:
    found = metric(result, ALL, "iops")
    return count(found.value) if found else "–"


def _new_orders(result: Result) -> str:
    found = new_orders_per_min(result)
    return count(found.value) if found else "–"


def _latency(result: Result, name: str) -> str:
    """Of the distribution over all operations together; a percentile that is only known by operation is at most the highest of these."""
    found = metric(result, ALL, name)
    if found is None:
        return duration(None)
    bound = name in PERCENTILES and name not in result.estimates.get(ALL, {}) and len(together(result)) > 1
    return f"≤ {duration(found.value)}" if bound else bounded(found)


def marks_of(result: Result, screen: Screen = ANY) -> str:
    severities = {flag.severity for flag in result.flags}
    return "".join(screen.paint(mark, TONES[severity]) for severity, mark in MARKS.items() if severity in severities)


def legend(results: Sequence[Result]) -> str:
    """What the signs in the table mean, for those that stand there; empty without any."""
    severities = {flag.severity for result in results for flag in result.flags}
    return "  ".join(f"{mark} {_MEANINGS[severity]}" for severity, mark in MARKS.items() if severity in severities)
