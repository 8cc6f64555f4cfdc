"""Claims of reports beside what the model says of them: a table for the terminal, a page for the documents, and their cells.

Model: drawn from the records that ``plimsoll reproduce --json`` prints.

    print(table_text(tested)); print(sums_text(tested))
    page_text(tested)                  # docs/reproduce.md
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from plimsoll.analysis.reproduction import CheckedClaim, Reproduction, Score
from plimsoll.reports.terminal.table import table

#: Width of the texts in the table of a terminal.
_WIDTH = 46


def table_text(tested: Reproduction) -> str:
    """A row per claim, texts wrapped."""
    rows: list[tuple[str, ...]] = [("claim", "report", "kind", "basis", "published", "modelled", "verdict")]
    for claim in tested.claims:
        published = _wrapped(f"{claim.title}: {claim.published}")
        modelled = _wrapped(claim.modelled) + [line for text in _remarks(claim) for line in _wrapped(text)]
        height = max(len(published), len(modelled))
        head = (str(claim.number), claim.report, claim.kind, claim.basis or "–")
        for line in range(height):
            cells = head if line == 0 else ("",) * len(head)
            rows.append((*cells, _at(published, line), _at(modelled, line), claim.verdict if line == 0 else ""))
        rows.append(("",) * 7)
    return table(rows[:-1], left=7)


def sums_text(tested: Reproduction) -> str:
    """How many claims hold, on each basis and by kind, and how far figures lie from those published."""
    tables = [table([(head, *_COLUMNS), *_sum_rows(sums)], left=1) for head, sums in _sums(tested)]
    return "\n".join([*(line for found in tables for line in (found, "")), headline(tested), *_error_lines(tested)])


def headline(tested: Reproduction) -> str:
    """What the model predicted: claims whose figures it was not given."""
    found = tested.bases["predicted"]
    scored = found.holds + found.missed
    return (
        f"Of {scored} claims that the model predicts, {found.holds} hold." if scored else "None of these claims is predicted by the model."
    )


def page_text(tested: Reproduction) -> str:
    """The page of the documents: a table per report, and the sums."""
    lines = [_HEAD]
    for report, found in groupby(tested.claims, key=lambda claim: claim.report):
        lines += [f"## Report {report}", "", "| claim | kind | basis | published | modelled | verdict |", "|---|---|---|---|---|---|"]
        for claim in found:
            remarks = "".join(f"<br>{_cell(text)}" for text in _remarks(claim))
            published = f"{claim.title}: {claim.published}"
            modelled = f"{_cell(claim.modelled)}{remarks}"
            lines.append(f"| {claim.number} | {claim.kind} | {claim.basis or '–'} | {_cell(published)} | {modelled} | {claim.verdict} |")
        lines.append("")
    lines += ["## Sums", "", headline(tested)]
    for head, sums in _sums(tested):
        lines += ["", _row((head, *_COLUMNS)), _row(["---"] * 6), *map(_row, _sum_rows(sums))]
    return "\n".join([*lines, "", *_error_lines(tested)])


_COLUMNS = ("holds", "missed", "not scored", "score", "of all comparisons")


def _sums(tested: Reproduction) -> Iterator[tuple[str, Mapping[str, Score]]]:
    yield "basis", tested.bases
    yield "kind", tested.sums


def _sum_rows(sums: Mapping[str, Score]) -> Iterator[tuple[str, ...]]:
    for name, found in sums.items():
        figures = map(str, (found.holds, found.missed, found.not_scored))
        yield (name, *figures, _percent(found.score_percent), f"{_percent(found.cases_percent)} of {found.cases}")


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


_HEAD = """# Published results as a test bench

<!-- Written by `plimsoll reproduce --markdown`; renew with make reproduce. -->

Five published reports, sixty claims. Each claim is tested on the modelled arrays of its report ([arrays.md](arrays.md)): every figure in
the column *modelled* comes from the model in virtual time, none from hardware. `plimsoll reproduce` prints this table anew,
`plimsoll reproduce 003` that of one report, `--json` every single comparison with its numbers.

A *quantity* holds when it lies within the tolerance of the published figure, an *ordering* when the values stand in the published order,
a *bound* when the value lies within the bounds. The claims, their runs and tolerances are data
(`python/plimsoll/catalog/claims`), written before the model was run on them. A claim that the model misses stays in the table as missed.
Where a report's figures are lost, only orders are scored.

What a verdict is worth depends on its basis, which is that of the comparison that says least:

- *predicted*: nothing of the array or of the load comes from what is claimed. These claims test the model.
- *assumed*: the claim rests on a value that its report does not give and that was assumed for it. One such value was set while a claim
  waited for it: the 6402's time for a request, which decides claim 6.
- *fitted*: the array has values that were fitted to figures of the same report, or derived from them.
- *constant*: arithmetic over what the report and the array's document say. It tests their transcription and cannot miss otherwise.
"""


def _error_lines(tested: Reproduction) -> list[str]:
    """The mean error of all figures, and of each report that has some."""
    said = [
        f"{'all reports' if report == 'all' else report} {found.mean_absolute_percent:.1f} % of {found.figures}"
        for report, found in tested.errors.items()
        if found.figures
    ]
    return [f"Mean absolute error of the modelled against the published figures: {', '.join(said)}."] if said else []


def _remarks(claim: CheckedClaim) -> Iterator[str]:
    if claim.reason:
        yield f"{'not scored' if claim.verdict == 'not-scored' else 'does not hold'}: {claim.reason}"
    if claim.note:
        yield f"note: {claim.note}"


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f} %"


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, _WIDTH) or [""]


def _at(lines: Sequence[str], place: int) -> str:
    return lines[place] if place < len(lines) else ""


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ").replace("<", "&lt;")
