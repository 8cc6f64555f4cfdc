"""How much lies in the tables: counts by warehouses, as in TPC-C 5.11, clause 1.2.

Model: everything but the items grows with the warehouses. Customers of a district and items can be fewer than specified, for trials: the
tables then keep their shape, but locks are met more often, so that a result says so.

    Scale(warehouses=10).rows("stock")           # 1,000,000
"""

from __future__ import annotations

from dataclasses import dataclass

DISTRICTS = 10
CUSTOMERS = 3_000
ITEMS = 100_000
#: Terminals of a warehouse, one for each district; more of them meet at its rows more often than the specification has it.
TERMINALS = DISTRICTS
#: Order lines of an order: at least, at most, and on average as they are drawn.
LINES_MIN, LINES_MAX = 5, 15
_LINES_MEAN = (LINES_MIN + LINES_MAX) / 2
#: Bytes of a row with its indexes, about: what PostgreSQL 15 took, rounded.
_ROW_BYTES = {
    "warehouse": 200,
    "district": 200,
    "customer": 680,
    "history": 90,
    "orders": 110,
    "new_order": 75,
    "order_line": 130,
    "item": 115,
    "stock": 365,
}

TABLES = tuple(_ROW_BYTES)


@dataclass(frozen=True)
class Scale:
    """Warehouses, customers of a district, and items; as many orders lie in a district in the beginning as it has customers."""

    warehouses: int
    customers: int = CUSTOMERS
    items: int = ITEMS

    @property
    def reduced(self) -> bool:
        """Whether the tables are smaller than specified for so many warehouses."""
        return self.customers < CUSTOMERS or self.items < ITEMS

    @property
    def first_new(self) -> int:
        """The first of a district's orders that is not delivered yet: 2,101 of 3,000."""
        return self.customers * 7 // 10 + 1

    @property
    def last_names(self) -> int:
        """How many last names occur: a thousand, or one for each customer of a small district."""
        return min(1000, self.customers)

    def rows(self, table: str) -> int:
        """Rows of a table in the beginning; of order lines about so many."""
        of_district = {
            "customer": self.customers,
            "history": self.customers,
            "orders": self.customers,
            "new_order": self.customers - self.first_new + 1,
            "order_line": round(self.customers * _LINES_MEAN),
            "district": 1,
        }
        if table in of_district:
            return self.warehouses * DISTRICTS * of_district[table]
        return {"warehouse": self.warehouses, "item": self.items, "stock": self.warehouses * self.items}[table]

    def table_bytes(self, table: str) -> int:
        """What a table takes with its indexes, about."""
        return self.rows(table) * _ROW_BYTES[table]

    @property
    def size_bytes(self) -> int:
        """What all tables take, about."""
        return sum(map(self.table_bytes, TABLES))
