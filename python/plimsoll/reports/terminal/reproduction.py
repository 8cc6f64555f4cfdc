"""Claims of reports beside what the model says of them: a table for the terminal, a page for the documents, and their cells.

Model: drawn from the document that ``plimsoll reproduce --json`` prints. A claim of several cases shows their span; one that is missed
says which cases do not hold, the worst first, and what limited the runs in them.

    print(table_text(document)); print(sums_text(document))
    page_text(document)                  # docs/reproduce.md
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from typing import Any

from plimsoll.reports.terminal.table import table
from plimsoll.units import count, duration, megabytes

Json = dict[str, Any]

#: Missed cases that are told one by one.
_TOLD = 3
#: Width of the texts in the table of a terminal.
_WIDTH = 46
_READ_OFF = re.compile(r"\w+(?:\.beyond)?\.(?:read_|write_)?(iops|bytes_per_s|mean|p\d+|rebuild_s|size_bytes)")
_FORMATS = {
    "iops": lambda value: f"{count(value)}/s",
    "bytes_per_s": lambda value: f"{megabytes(value)} MB/s",
    "rebuild_s": lambda value: f"{count(value)} s",
    "size_bytes": lambda value: f"{value / 1e12:.4g} TB",
}


def modelled_text(claim: Json) -> str:
    """What the model says, in one cell."""
    cases = claim["cases"]
    if claim["verdict"] == "not-scored" or not cases:
        return "–"
    if claim["judge"] == "mean":
        errors = [abs(case["error_percent"]) for case in cases if case["error_percent"] is not None]
        return f"mean error {sum(errors) / len(errors):.1f} % of {len(errors)} figures, at most {max(errors):.1f} %" if errors else "–"
    return "; ".join(_spanned(list(found)) for _, found in groupby(cases, key=lambda case: case["check"]))


def missed_text(claim: Json) -> str:
    """Why a claim is missed: the cases that do not hold, the worst first."""
    missed = sorted((case for case in claim["cases"] if not case["holds"]), key=_badness, reverse=True)
    told = [_missed_case(case) for case in missed[:_TOLD]]
    left = len(missed) - len(told)
    more = [f"{left} more of {len(claim['cases'])} cases"] if left else []
    return "; ".join([*told, *more])


def table_text(document: Json) -> str:
    """A row per claim, texts wrapped."""
    rows: list[tuple[str, ...]] = [("claim", "report", "kind", "published", "modelled", "verdict")]
    for claim in document["claims"]:
        published = _wrapped(f"{claim['title']}: {claim['published']}")
        modelled = _wrapped(claim["modelled"]) + [line for text in _remarks(claim) for line in _wrapped(text)]
        height = max(len(published), len(modelled))
        head = (str(claim["number"]), claim["report"], claim["kind"])
        for line in range(height):
            cells = head if line == 0 else ("", "", "")
            rows.append((*cells, _at(published, line), _at(modelled, line), claim["verdict"] if line == 0 else ""))
        rows.append(("",) * 6)
    return table(rows[:-1], left=6)


def sums_text(document: Json) -> str:
    """How many claims hold, by kind, and how far figures lie from those published."""
    rows = [("kind", "holds", "missed", "not scored", "score", "of all comparisons")]
    for kind, found in document["sums"].items():
        figures = (str(found[word]) for word in ("holds", "missed", "not_scored"))
        rows.append((kind, *figures, _percent(found["score_percent"]), f"{_percent(found['cases_percent'])} of {found['cases']}"))
    lines = [table(rows, left=1), "", *_error_lines(document)]
    return "\n".join(lines)


def page_text(document: Json) -> str:
    """The page of the documents: a table per report, and the sums."""
    lines = [_HEAD]
    for report, found in groupby(document["claims"], key=lambda claim: claim["report"]):
        lines += [f"## Report {report}", "", "| claim | kind | published | modelled | verdict |", "|---|---|---|---|---|"]
        for claim in found:
            remarks = "".join(f"<br>{_cell(text)}" for text in _remarks(claim))
            published = f"{claim['title']}: {claim['published']}"
            modelled = f"{_cell(claim['modelled'])}{remarks}"
            lines.append(f"| {claim['number']} | {claim['kind']} | {_cell(published)} | {modelled} | {claim['verdict']} |")
        lines.append("")
    lines += ["## Sums", "", "| kind | holds | missed | not scored | score | of all comparisons |", "|---|---|---|---|---|---|"]
    for kind, found in document["sums"].items():
        score = f"{_percent(found['score_percent'])} | {_percent(found['cases_percent'])} of {found['cases']}"
        lines.append(f"| {kind} | {found['holds']} | {found['missed']} | {found['not_scored']} | {score} |")
    return "\n".join([*lines, "", *_error_lines(document)])


_HEAD = """# Published results as a test bench

<!-- Written by `plimsoll reproduce --markdown`; renew with make reproduce. -->

Five published reports, sixty claims. Each claim is tested on the modelled arrays of its report ([arrays.md](arrays.md)): every figure in
the column *modelled* comes from the model in virtual time, none from hardware. `plimsoll reproduce` prints this table anew,
`plimsoll reproduce 003` that of one report, `--json` every single comparison with its numbers.

A *quantity* holds when it lies within the tolerance of the published figure, an *ordering* when the values stand in the published order,
a *bound* when the value lies within the bounds. The claims, their runs and tolerances are data
(`python/plimsoll/catalog/claims`), written before the model was run on them; no parameter is set for a single claim. A claim that the model
misses stays in the table as missed. Where a report's figures are lost, only orders are scored.
"""


def _error_lines(document: Json) -> list[str]:
    """The mean error of all figures, and of each report that has some."""
    said = [
        f"{'all reports' if report == 'all' else report} {found['mean_absolute_percent']:.1f} % of {found['figures']}"
        for report, found in document["errors"].items()
        if found["figures"]
    ]
    return [f"Mean absolute error of the modelled against the published figures: {', '.join(said)}."] if said else []


def _remarks(claim: Json) -> Iterator[str]:
    if claim["reason"]:
        yield f"{'not scored' if claim['verdict'] == 'not-scored' else 'does not hold'}: {claim['reason']}"
    if claim["note"]:
        yield f"note: {claim['note']}"


def _spanned(cases: Sequence[Json]) -> str:
    """One check: its value, or from the smallest to the largest of its cases; of orders how many are right."""
    known = [case for case in cases if case["values"]]
    if not known:
        return str(cases[0]["problem"])
    if cases[0]["form"] == "ordering":
        if len(cases) == 1:
            return " > ".join(_figures(known[0]))
        return f"{sum(case['holds'] for case in cases)} of {len(cases)} in order"
    low, high = (pick(known, key=lambda case: case["values"][0]) for pick in (min, max))
    texts = list(dict.fromkeys((_figures(low)[0], _figures(high)[0])))
    return " to ".join(texts)


def _missed_case(case: Json) -> str:
    where = " ".join(str(value) for value in case["where"].values())
    limits = ", ".join(f"{run} by {component}" for run, component in case["limited_by"].items())
    limited = f" (limited: {limits})" if limits else ""
    said = case["problem"] or _said(case)
    return f"{where}: {said}{limited}" if where else f"{said}{limited}"


def _said(case: Json) -> str:
    figures = _figures(case)
    if case["form"] == "ordering":
        return ", ".join(f"{of} {figure}" for of, figure in zip(case["of"], figures, strict=True)) + " ought to fall"
    if case["form"] == "quantity":
        return f"{figures[0]} instead of {_figure(case['published'], case)}, {case['error_percent']:+.1f} %"
    limit = case["low"] if case["low"] is not None and case["values"][0] < case["low"] else case["high"]
    side = "at least" if limit is case["low"] else "at most"
    return f"{figures[0]}, ought to be {side} {_figure(limit, case)}"


def _badness(case: Json) -> float:
    """How far a case is from holding, as a share."""
    if not case["values"]:
        return float("inf")
    if case["error_percent"] is not None:
        return abs(float(case["error_percent"]))
    value = case["values"]
    if case["form"] == "ordering":
        return max(later / first if first else float("inf") for first, later in pairwise(value))
    limit = case["low"] if case["low"] is not None and value[0] < case["low"] else case["high"]
    return abs(float(value[0] - limit) / limit) if limit else float("inf")


def _figures(case: Json) -> list[str]:
    return [_figure(value, case, of) for value, of in zip(case["values"], case["of"], strict=True)]


def _figure(value: float, case: Json, of: str | None = None) -> str:
    """In the check's unit, or in that of what was read off."""
    if case["unit"]:
        return f"{_number(value / case['per_unit'])} {case['unit']}"
    read_off = _READ_OFF.fullmatch(of or case["of"][0])
    if read_off is None:
        return _number(value)
    return _FORMATS.get(read_off[1], duration)(value)


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f} %"


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, _WIDTH) or [""]


def _at(lines: Sequence[str], place: int) -> str:
    return lines[place] if place < len(lines) else ""


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ").replace("<", "&lt;")
