"""docs/performance.md: what the bench measured, for readers."""

from __future__ import annotations

from datetime import date

from speed.row import Row
from speed.table import HEAD, met, row_cells

_INTRODUCTION = """# Performance

What Plimsoll costs by itself, beside fio where fio can do the same. `make bench` measures all of it in one run and writes this page.

Contestants take turns (A B A B …) and medians are compared, because shared machines are noisy. Loads are compared in I/Os per CPU second
of the threads that make them. Rows on starting, rates and many streams also use the wall clock and suffer from other load on the machine.
A goal that is missed stays in the table, with the distance to it.
"""


def markdown(day: date, facts: dict[str, str], rows: list[Row]) -> str:
    """The whole page: how it is measured, on what, and a line per goal."""
    machine = _table(("fact", "value"), list(facts.items()))
    goals = _table(tuple(name or "verdict" for name in HEAD), [row_cells(row) for row in rows])
    return "\n".join([_INTRODUCTION, f"Measured on {day.isoformat()}:", "", *machine, "", *goals, "", f"{met(rows)}.", ""])


def _table(head: tuple[str, ...], lines: list[tuple[str, ...]]) -> list[str]:
    return [_line(head), "|---" * len(head) + "|", *map(_line, lines)]


def _line(cells: tuple[str, ...]) -> str:
    return "| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |"
