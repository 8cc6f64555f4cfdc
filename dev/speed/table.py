"""The table for people and the document for programs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from speed.row import Row

HEAD = ("what", "goal", "measured", "", "detail")
SIGNS = {"at least": "≥", "at most": "≤"}


def text(facts: dict[str, str], rows: list[Row]) -> str:
    """Facts, rows, and as the last line how many goals are met."""
    head = [f"{name:<13} {value}" for name, value in facts.items()]
    return "\n".join([*head, "", *_aligned([HEAD, *map(row_cells, rows)]), "", met(rows)])


def document(facts: dict[str, str], rows: list[Row]) -> dict[str, Any]:
    """All of it, for `json.dump`."""
    return {"schema": "plimsoll.bench/1", "host": facts, "rows": [row.to_json() for row in rows]}


def row_cells(row: Row) -> tuple[str, ...]:
    """What, goal, measured, verdict, detail: as people read them."""
    measured = "–" if row.measured is None else f"{row.measured:.3g}"
    goal = f"{SIGNS[row.sense]} {row.goal:g} {row.unit}" if row.unit else "–"
    return (row.what, goal, measured, row.verdict, row.detail)


def _aligned(lines: list[tuple[str, ...]]) -> Iterable[str]:
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEAD))]
    for line in lines:
        yield "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()


def met(rows: list[Row]) -> str:
    """How many goals are met, and how many could not be measured."""
    judged = [row for row in rows if row.met is not None]
    missing = len(rows) - len(judged)
    return f"{sum(row.met is True for row in judged)} of {len(judged)} goals met" + (f", {missing} missing" if missing else "")
