"""Markdown summaries of stored runs and of comparisons: what a pull request, a ticket or a step summary of CI shows.

Model: conclusions first, then a table with a row per point (or compared figure), then the doubts, each once. GitHub's Markdown.
Limits: figures are rounded to three digits; `plimsoll.tables` has them all.

    run_markdown([open_run("results/r1")])
    comparison_markdown(comparison.to_json(), [one.to_json() for one in asserted(…)])
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from plimsoll.analysis.comparison.assertion import AssertedView
from plimsoll.analysis.derivation import notices
from plimsoll.analysis.point.metric import ALL, RATES, metric
from plimsoll.analysis.price.per_unit import PricedComparisonView, PricedView, Prices, PricesView
from plimsoll.analysis.price.price import Price, in_currency, money
from plimsoll.analysis.validity.severity import gathered
from plimsoll.displayed import displayed_in_line
from plimsoll.reports.layouts import by_side, layout_views
from plimsoll.reports.phrases import bounded
from plimsoll.reports.progress import settings_text
from plimsoll.reports.terminal.points import MARKS, multiple
from plimsoll.reports.uncertainty import drawn_words
from plimsoll.result import Result, flag_words
from plimsoll.store.reader import StoredRun
from plimsoll.tables.points import points_table
from plimsoll.units import count, duration, megabytes

#: What would be markup: tags, emphasis, code, links; an underscore within a word is none.
_MARKUP = re.compile(r"<(?=[\w/!?])|[*`]|(?<![^\W_])_|_(?![^\W_])|\](?=[(\[:])")
#: How every such file begins.
BEGINNING = "<!-- Plimsoll -->\n# "
_VERDICTS = {"held": "✅ held", "failed": "❌ failed", "undecided": "⚠️ undecided"}
_LATENCIES = ("mean", "p50", "p99", "max")
_HEAD = ("workload", "side", "point", "read IOPS", "write IOPS", "MB/s", *_LATENCIES, "objective", "doubts")
_COMPARED = ("workload", "point", "metric", "side", "baseline", "value", "ratio", "95 % interval", "verdict")


def run_markdown(runs: Sequence[StoredRun], prices: Prices | None = None) -> str:
    """The document of ``runs``, with what their sides cost."""
    title = ", ".join(run.label for run in runs)
    lines = [line for run in runs for line in _run(run, several=len(runs) > 1)]
    laid = [line for run in runs for line in _layouts([point.result for point in run.points])]
    drawn = [line for run in runs for line in _drawn([point.result for point in run.points])]
    priced = [] if prices is None else ["", *_prices(prices.to_json())]
    return "\n".join([f"{BEGINNING}{_text(title)}", "", *lines, *(["", *drawn] if drawn else []), *laid, *priced]).rstrip("\n") + "\n"


def _drawn(results: Sequence[Result]) -> Iterator[str]:
    """Between what modelled figures lie, given what nobody has looked up."""
    for result in results:
        if words := drawn_words(result):
            level = "" if result.place.get("level") is None else f" at {result.place['level']:g}"
            yield f"- under uncertainty, {_text(result.job.workload)}{level} on {_text(result.side)}: {_text(words)}"


def _layouts(results: Sequence[Result]) -> Iterator[str]:
    """What Plimsoll laid out to be measured, with what does not fit."""
    views = layout_views(by_side(results))
    if views:
        rows = [
            (", ".join(one["sides"]), one["name"], ", ".join(one["members"]), "; ".join(one["stripes"]), "; ".join(one["options"]))
            for one in views
        ]
        yield from ("", *_table(("side", "layout", "on", "stripes", "options"), rows, left=5), "")
    yield from (f"- {_text(one['name'])}: {_text(remark)}" for one in views for remark in one["remarks"])


def comparison_markdown(comparison: PricedComparisonView, assertions: Sequence[AssertedView] = ()) -> str:
    """The document of a comparison, with asserted conditions first."""
    lines = [f"{BEGINNING}Comparison with {_text(comparison['baseline'])}", ""]
    if comparison.get("answer"):
        lines += [_text(comparison["answer"]), ""]
    if assertions:
        lines += [*_table(("asserted", "verdict", "at"), [row for one in assertions for row in _asserted(one)], left=3), ""]
    lines += [*(f"- {_text(sentence)}" for sentence in comparison["findings"]), ""]
    lines += [*_table(_COMPARED, list(map(_compared, comparison["points"])), left=4), ""]
    if comparison["marks"]:
        rows = [_compared_mark(row) for row in comparison["marks"]]
        lines += [*_table(("mark of", "objective", "side", "baseline", "value", "ratio", "95 % interval", "verdict"), rows, left=3), ""]
    lines += [f"- {_text(note)}" for note in comparison["notes"]]
    if comparison.get("prices"):
        lines += ["", *_prices(comparison["prices"])]
    return "\n".join(lines).rstrip("\n") + "\n"


def _prices(prices: PricesView) -> Iterator[str]:
    """What sides cost, and a unit of what they carried."""
    yield from (*(f"- {_text(sentence)}" for sentence in prices["findings"]), "")
    costs = {one["side"]: Price.of_stored(one["price"]).words() for one in prices["prices"]}
    rows = [_priced(row, costs[row["side"]], prices["currency"]) for row in prices["rows"]]
    yield from (*_table(("load", "side", "price", "figure", "value", "price per unit", "ratio"), rows, left=4), "")
    yield from (f"- {_text(note)}" for note in prices["notes"])


def _priced(row: PricedView, cost: str, currency: str) -> tuple[str, ...]:
    value = "none held" if row["value"] is None else f"{'≥ ' if row['at_least'] else ''}{count(row['value'])} {row['unit']}"
    per_unit = "–" if row["per_unit"] is None else f"{'≤ ' if row['at_least'] else ''}{in_currency(money(row['per_unit']), currency)}"
    side = f"{row['side']} (modelled)" if row["modelled"] else row["side"]
    return (row["title"], side, cost, row["figure"], value, per_unit, f"{row['ratio']:.2f} ×" if row["ratio"] else "–")


def _run(run: StoredRun, *, several: bool) -> Iterator[str]:
    if several:
        yield from (f"## {_text(run.label)}", "")
    sentences = [_text(sentence) for found in run.meta.get("conclusions") or [] for sentence in found.get("sentences") or []]
    if sentences:
        yield from (*(f"- {sentence}" for sentence in sentences), "")
    verdicts = {str(row["point"]): row["verdict"] for row in points_table([run]).to_dicts()}
    rows = [_point(point.result, verdicts.get(point.id)) for point in run.points]
    yield from (*_table(_HEAD, rows, left=3), "")
    for notice in notices([point.result for point in run.points]):
        yield from (_text(notice), "")
    yield from _doubts([point.result for point in run.points])
    yield f"`{_text(run.name)}`, {run.status}."
    yield ""


def _point(result: Result, verdict: object) -> tuple[str, ...]:
    side = (result.place.get("configuration") or result.job.target) + (" (modelled)" if result.modelled else "")
    repeat = f" #{result.job.repeat}" if result.job.repeat > 1 else ""
    names = (result.job.workload + repeat, side, settings_text(result))
    marks = "".join(mark for severity, mark in MARKS.items() if any(flag.severity == severity for flag in result.flags))
    if not result.totals:
        return (*names, *[""] * (3 + len(_LATENCIES)), "", f"{marks} {result.status}: {result.error or 'nothing measured'}".strip())
    rates = [count(result.totals[op].iops) if op in result.totals else "–" for op in ("read", "write")]
    moved = megabytes(sum(total.bytes_per_s for total in result.totals.values()))
    latencies = [bounded(metric(result, ALL, name)) for name in _LATENCIES]
    return (*names, *rates, moved, *latencies, _VERDICTS.get(str(verdict), ""), marks)


def _doubts(results: Sequence[Result]) -> Iterator[str]:
    """Each flag once: at how many points, the message of the first, the advice."""
    flags = gathered(results)
    for one in flags:
        where = f"{len(one.grave)} of {len(results)} points" if len(results) > 1 else "the point"
        said = f"{_text(one.worst.message)} {_text(one.worst.advice)}"
        yield f"- {MARKS[one.severity]} **{flag_words(one.name)}** ({one.severity}, {where}): {said}"
    if flags:
        yield ""


def _asserted(assertion: AssertedView) -> list[tuple[str, ...]]:
    points = assertion["points"]
    if not points:
        return [(assertion["text"], _VERDICTS["undecided"], "no point has this figure on two sides")]
    return [(assertion["text"], _VERDICTS[one["verdict"]], f"{one['where']} on {one['side']}: {one['text']}") for one in points]


def _compared(row: Mapping[str, Any]) -> tuple[str, ...]:
    settings = ", ".join(f"{name} {value}" for name, value in (row.get("settings") or {}).items())
    called = row["metric"] if row["op"] == ALL else f"{row['op']} {row['metric']}"
    values = [f"{'≥ ' if value.get('at_least') else ''}{_figure(value['value'], row['metric'])}" for value in row["values"]]
    return (row["workload"], settings, called, row["side"], *values, *_ratio(row))


def _compared_mark(row: Mapping[str, Any]) -> tuple[str, ...]:
    values = ["none held" if mark is None else f"{count(mark['iops'])} at {mark['level']:g}" for mark in row["values"]]
    return (row["workload"], row["objective"], row["side"], *values, *_ratio(row))


def _ratio(row: Mapping[str, Any]) -> tuple[str, str, str]:
    ratio = "–" if row["ratio"] is None else f"{multiple(row['ratio'])} ×"
    known = row["low"] is not None and row["high"] is not None
    return ratio, f"{multiple(row['low'])} to {multiple(row['high'])}" if known else "–", row["verdict"] or "–"


def _figure(value: float, name: str) -> str:
    if name == "bytes_per_s":
        return f"{megabytes(value)} MB/s"
    return count(value) if name in RATES else duration(value)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], *, left: int) -> list[str]:
    """Columns that are empty throughout are left out; the first ``left`` are aligned to the left."""
    kept = [column for column in range(len(head)) if any(row[column] for row in rows)]
    rule = [":--" if column < left or head[column] in ("verdict", "objective", "doubts") else "--:" for column in kept]
    lines = [[head[column] for column in kept], rule, *([_cell(row[column]) for column in kept] for row in rows)]
    return [f"| {' | '.join(line)} |" for line in lines] if kept else []


def _cell(text: str) -> str:
    return _text(text).replace("|", "\\|")


def _text(text: str) -> str:
    """Any name as a line of Markdown shows it: what would be markup there is escaped."""
    return _MARKUP.sub(lambda found: f"\\{found[0]}", displayed_in_line(text))
