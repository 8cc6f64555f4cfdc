"""What has to hold in the tables after every run: conditions 1 to 4 of TPC-C 5.11, clause 3.3.2.

Model: each condition is a query that returns the warehouses or districts where it does not hold, with what was found there; the same text
serves both engines. A condition that fails means that the engine lost or doubled part of a transaction, or that somebody else wrote here:
the figures of the run are of a load that was not carried out.

    broken = [sentence for condition in CONDITIONS if (sentence := condition.broken(session.execute(condition.query)))]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

#: Places that a query returns at most.
_PLACES_MAX = 100


@dataclass(frozen=True)
class Condition:
    """``holds`` says what it asks; the query returns a warehouse, a district (None of a whole warehouse) and the two values that differ."""

    number: int
    holds: str
    query: str
    values: tuple[str, str]

    def broken(self, rows: Sequence[Sequence[Any]]) -> str | None:
        """What the query found, in a sentence; None when the condition holds."""
        if not rows:
            return None
        warehouse, district, seen, expected = rows[0]
        place = f"warehouse {warehouse}" if district is None else f"warehouse {warehouse}, district {district}"
        more = f" (and {'at least ' if len(rows) == _PLACES_MAX else ''}{len(rows) - 1:,} other places)" if len(rows) > 1 else ""
        return (
            f"consistency condition {self.number} does not hold in {place}{more}: {self.values[0]} is {_shown(seen)}, "
            f"but {self.values[1]} is {_shown(expected)}."
        )


def _shown(value: Any) -> str:
    return "nothing" if value is None else f"{int(value):,}"


CONDITIONS = (
    Condition(
        1,
        "What a warehouse was paid is the sum of what its districts were paid.",
        "SELECT w_id, NULL, w_ytd, total FROM warehouse "
        "LEFT JOIN (SELECT d_w_id, sum(d_ytd) AS total FROM district GROUP BY d_w_id) AS paid "
        f"ON d_w_id = w_id WHERE total IS NULL OR w_ytd <> total ORDER BY w_id LIMIT {_PLACES_MAX}",
        ("its total in cents", "the sum of its districts"),
    ),
    Condition(
        2,
        "The next order of a district follows its last order, which is also its last open one, where it has any.",
        "SELECT d_w_id, d_id, d_next_o_id - 1, CASE WHEN last = d_next_o_id - 1 THEN last_open ELSE last END FROM district "
        "LEFT JOIN (SELECT o_w_id, o_d_id, max(o_id) AS last FROM orders GROUP BY o_w_id, o_d_id) AS ordered "
        "ON o_w_id = d_w_id AND o_d_id = d_id "
        "LEFT JOIN (SELECT no_w_id, no_d_id, max(no_o_id) AS last_open FROM new_order GROUP BY no_w_id, no_d_id) AS open "
        "ON no_w_id = d_w_id AND no_d_id = d_id "
        "WHERE last IS NULL OR last <> d_next_o_id - 1 OR last_open <> d_next_o_id - 1 "
        f"ORDER BY d_w_id, d_id LIMIT {_PLACES_MAX}",
        ("its last order by the district", "its last order by the orders"),
    ),
    Condition(
        3,
        "The open orders of a district have successive numbers.",
        "SELECT no_w_id, no_d_id, count(*), max(no_o_id) - min(no_o_id) + 1 FROM new_order GROUP BY no_w_id, no_d_id "
        f"HAVING count(*) <> max(no_o_id) - min(no_o_id) + 1 ORDER BY no_w_id, no_d_id LIMIT {_PLACES_MAX}",
        ("the number of its open orders", "the range of their numbers"),
    ),
    Condition(
        4,
        "A district has as many order lines as its orders say.",
        "SELECT o_w_id, o_d_id, said, found "
        "FROM (SELECT o_w_id, o_d_id, sum(o_ol_cnt) AS said FROM orders GROUP BY o_w_id, o_d_id) AS ordered "
        "LEFT JOIN (SELECT ol_w_id, ol_d_id, count(*) AS found FROM order_line GROUP BY ol_w_id, ol_d_id) AS lined "
        f"ON ol_w_id = o_w_id AND ol_d_id = o_d_id WHERE found IS NULL OR said <> found ORDER BY o_w_id, o_d_id LIMIT {_PLACES_MAX}",
        ("the lines that its orders name", "the number of its order lines"),
    ),
)
