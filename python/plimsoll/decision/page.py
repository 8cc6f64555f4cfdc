"""The reference page of the queries (``docs/reference/queries.md``), made from their declarations."""

from __future__ import annotations

from plimsoll.decision import BANNER
from plimsoll.decision.queries import QUERIES, query

_INTRODUCTION = f"""# The queries of decision support

<!-- Generated from python/plimsoll/decision/queries.toml; `make bless` writes it anew. -->

22 queries on eight tables of orders, {BANNER}: they have the meaning of TPC-H's queries, in words of our own.

- **One text for every engine.** It is written in DuckDB's dialect and translated for PostgreSQL and Spark by sqlglot. Values are checked
  and written as literals.
- **One order of rows.** Where rows could be tied, a key decides, so that an answer can be checked row by row.
- **No subquery per row.** What an engine would have to run once per row is written as a join, a group or a window. A query then
  waits for storage, whichever planner it has. Queries 17, 18, 20 and 21 therefore read less than a text would that follows the
  specification word by word.
- **Query 15 is one statement**, with a named subquery in place of a view: streams share no name, no right to create views is needed, and a
  killed run leaves nothing behind.
- **Comparisons that decide about a row are exact.** They are of whole numbers and decimals, so that engines that divide differently agree.

Answers are checked at scales 1 and 0.01 with the values below. Each was made by two engines that agree, DuckDB and PostgreSQL
(`dev/answers.py`). What may differ depends on the column: text and counts nothing, sums of money (*sum*) 100 at scale 1 and in proportion
below, averages and ratios (*avg*, *rat*) 1 %.
"""


def queries_page() -> str:
    """The page as Markdown."""
    return _INTRODUCTION + "".join(map(_section, QUERIES))


def _section(number: int) -> str:
    asked = query(number)
    values = ", ".join(f"{name} {_written(value)}" for name, value in asked.qualification.items())
    answer = ", ".join(f"{column.name} ({column.kind})" for column in asked.columns)
    return f"\n## Query {number}\n\n{asked.asks}\n\nChecked with: {values}. Answer: {answer}.\n\n```sql\n{asked.text}\n```\n"


def _written(value: object) -> str:
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)
