"""Claims of reports beside what the model says of them: a table for the terminal, a page for the documents, and their cells.

Model: drawn from the document that ``plimsoll reproduce --json`` prints.

    print(table_text(document)); print(sums_text(document))
    page_text(document)                  # docs/reproduce.md
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from plimsoll.reports.terminal.table import table

Json = dict[str, Any]

#: Width of the texts in the table of a terminal.
_WIDTH = 46


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


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f} %"


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, _WIDTH) or [""]


def _at(lines: Sequence[str], place: int) -> str:
    return lines[place] if place < len(lines) else ""


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ").replace("<", "&lt;")
