"""The nine tables as SQL, for SQLite and PostgreSQL.

Model: one declaration of columns for both; the types are what both understand. Amounts are cents, shares ten-thousandths, instants texts in
SQLite and timestamps in PostgreSQL. Tables have the primary keys of the specification, and two indexes more: customers by last name, orders
by customer. There are no foreign keys. PostgreSQL leaves room in the pages of the two small tables that every transaction updates
(``fillfactor``), SQLite keeps tables of short rows by their key (``WITHOUT ROWID``).

    for statement in (*created(POSTGRESQL), *indexed()): session.execute(statement)
"""

from __future__ import annotations

from collections.abc import Iterator

SQLITE, POSTGRESQL = "sqlite", "postgresql"

_ADDRESS = ("street_1 text", "street_2 text", "city text", "state text", "zip text")


def _address(prefix: str) -> tuple[str, ...]:
    return tuple(f"{prefix}_{column}" for column in _ADDRESS)


#: Columns with their types; the type ``instant`` is the engine's own.
_TABLES: dict[str, tuple[str, ...]] = {
    "warehouse": ("w_id int", "w_name text", *_address("w"), "w_tax int", "w_ytd bigint"),
    "district": ("d_w_id int", "d_id int", "d_name text", *_address("d"), "d_tax int", "d_ytd bigint", "d_next_o_id int"),
    "customer": (
        *("c_w_id int", "c_d_id int", "c_id int", "c_first text", "c_middle text", "c_last text", *_address("c"), "c_phone text"),
        *("c_since instant", "c_credit text", "c_credit_lim bigint", "c_discount int", "c_balance bigint", "c_ytd_payment bigint"),
        *("c_payment_cnt int", "c_delivery_cnt int", "c_data text"),
    ),
    "history": (
        *("h_c_id int", "h_c_d_id int", "h_c_w_id int", "h_d_id int", "h_w_id int", "h_date instant", "h_amount bigint"),
        "h_data text",
    ),
    "orders": (
        *("o_w_id int", "o_d_id int", "o_id int", "o_c_id int", "o_entry_d instant", "o_carrier_id int", "o_ol_cnt int"),
        "o_all_local int",
    ),
    "new_order": ("no_w_id int", "no_d_id int", "no_o_id int"),
    "order_line": (
        *("ol_w_id int", "ol_d_id int", "ol_o_id int", "ol_number int", "ol_i_id int", "ol_supply_w_id int"),
        *("ol_delivery_d instant", "ol_quantity int", "ol_amount bigint", "ol_dist_info text"),
    ),
    "item": ("i_id int", "i_im_id int", "i_name text", "i_price int", "i_data text"),
    "stock": (
        *("s_w_id int", "s_i_id int", "s_quantity int", *(f"s_dist_{district:02d} text" for district in range(1, 11))),
        *("s_ytd int", "s_order_cnt int", "s_remote_cnt int", "s_data text"),
    ),
}
COLUMNS: dict[str, tuple[str, ...]] = {table: tuple(column.split()[0] for column in columns) for table, columns in _TABLES.items()}
#: The history has no key.
_KEYS = {
    "warehouse": "w_id",
    "district": "d_w_id, d_id",
    "customer": "c_w_id, c_d_id, c_id",
    "orders": "o_w_id, o_d_id, o_id",
    "new_order": "no_w_id, no_d_id, no_o_id",
    "order_line": "ol_w_id, ol_d_id, ol_o_id, ol_number",
    "item": "i_id",
    "stock": "s_w_id, s_i_id",
}
#: Short rows that are found by their key alone.
_BY_KEY = ("orders", "new_order", "order_line")
#: Tables of few rows that every transaction meets at: an update finds room in the same page.
_ROOMY = ("warehouse", "district")
_INDEXES = (
    "CREATE INDEX customer_by_name ON customer (c_w_id, c_d_id, c_last, c_first)",
    "CREATE UNIQUE INDEX orders_by_customer ON orders (o_w_id, o_d_id, o_c_id, o_id)",
)


def created(dialect: str) -> Iterator[str]:
    """The statements that make the tables; in PostgreSQL without keys, which are quicker to make once the rows are there."""
    for table, columns in _TABLES.items():
        if dialect == SQLITE:
            key = f", PRIMARY KEY ({_KEYS[table]})" if table in _KEYS else ""
            rest = " WITHOUT ROWID" if table in _BY_KEY else ""
            yield f"CREATE TABLE {table} ({', '.join(columns)}{key}){rest}".replace(" instant", " text")
        else:
            room = " WITH (fillfactor = 10)" if table in _ROOMY else ""
            yield f"CREATE TABLE {table} ({', '.join(columns)}){room}".replace(" instant", " timestamp")


def keyed() -> Iterator[str]:
    """The primary keys, where `created` left them out."""
    return (f"ALTER TABLE {table} ADD PRIMARY KEY ({columns})" for table, columns in _KEYS.items())


def indexed() -> tuple[str, ...]:
    """The other indexes."""
    return _INDEXES
