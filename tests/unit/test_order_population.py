"""The population of order entry: as many rows as the specification has, the same on every machine, and consistent."""

from __future__ import annotations

import hashlib

import pytest

from plimsoll.orders.draws import Constants, Draws, customer_spread, item_spread, last_name
from plimsoll.orders.population import SEED, rows
from plimsoll.orders.scale import DISTRICTS, TABLES, Scale
from plimsoll.orders.schema import COLUMNS

SMALL = Scale(warehouses=2, customers=30, items=100)
#: The first twelve hex digits of SHA-256 over the rows of warehouse 2 (of the items: all), a line of Python's repr each. Whoever changes how
#: rows are drawn raises `plimsoll.apps.order_entry.store.FORM` with these.
FINGERPRINTS = {
    "warehouse": "bb22a241f43c",
    "district": "25a8d8e99e33",
    "customer": "9590c47d9cd5",
    "history": "ac04dddf1097",
    "orders": "bca73a8256a3",
    "new_order": "4ee381e1e2d9",
    "order_line": "fa9cf3876e01",
    "item": "504b8b0bec11",
    "stock": "ba38f1e61f34",
}


def _of(table: str, scale: Scale = SMALL, warehouse: int = 1) -> list[tuple[object, ...]]:
    return list(rows(table, scale, SEED, 0 if table == "item" else warehouse))


def test_a_warehouse_of_the_specification_has_its_rows() -> None:
    # TPC-C 5.11, clause 1.2.1: cardinality of the tables for one warehouse; about ten lines for each order.
    counted = {table: Scale(1).rows(table) for table in TABLES}
    assert counted == {
        "warehouse": 1,
        "district": 10,
        "customer": 30_000,
        "history": 30_000,
        "orders": 30_000,
        "new_order": 9_000,
        "order_line": 300_000,
        "item": 100_000,
        "stock": 100_000,
    }


@pytest.mark.parametrize("table", TABLES)
def test_as_many_rows_are_made_as_the_scale_says(table: str) -> None:
    made = sum(len(_of(table, warehouse=warehouse)) for warehouse in ([1] if table == "item" else [1, 2]))
    expected = SMALL.rows(table)
    assert made == expected if table != "order_line" else abs(made - expected) < 0.1 * expected
    assert {len(row) for row in _of(table)} == {len(COLUMNS[table])}


@pytest.mark.parametrize("table", TABLES)
def test_rows_are_the_same_on_every_machine(table: str) -> None:
    text = "\n".join(map(repr, _of(table, warehouse=2)))
    assert hashlib.sha256(text.encode()).hexdigest()[:12] == FINGERPRINTS[table]


def test_a_warehouse_does_not_depend_on_how_many_others_there_are() -> None:
    assert _of("stock", Scale(1, 30, 100)) == _of("stock", Scale(7, 30, 100))


def test_orders_belong_to_every_customer_once_and_the_last_third_is_open() -> None:
    orders, open_orders = _of("orders"), _of("new_order")
    for district in range(1, DISTRICTS + 1):
        own = [row for row in orders if row[1] == district]
        assert sorted(row[3] for row in own) == list(range(1, 31))
        # 2,101 of 3,000 in the specification: the first 70 % are delivered.
        assert [row[2] for row in own if row[5] is None] == [row[2] for row in open_orders if row[1] == district] == list(range(22, 31))


def test_lines_are_as_many_as_their_orders_say_and_delivered_ones_cost_nothing() -> None:
    lines = _of("order_line")
    said = {(row[1], row[2]): row[6] for row in _of("orders")}
    found: dict[tuple[object, object], int] = {}
    for row in lines:
        found[row[1], row[2]] = found.get((row[1], row[2]), 0) + 1
        assert (row[8] == 0) == (row[6] is not None) == (row[2] < 22)
    assert found == said
    assert set(said.values()) == set(range(5, 16))


def test_what_a_warehouse_was_paid_is_what_its_districts_were_paid() -> None:
    assert _of("warehouse")[0][8] == sum(row[9] for row in _of("district")) == 30_000_000


def test_one_tenth_of_stock_and_customers_is_marked() -> None:
    stock, customers = _of("stock", Scale(1, 30, 20_000)), _of("customer", Scale(1, 2_000, 100))
    assert abs(sum("ORIGINAL" in row[-1] for row in stock) / len(stock) - 0.1) < 0.01
    assert abs(sum(row[13] == "BC" for row in customers) / len(customers) - 0.1) < 0.01


def test_last_names_are_made_of_the_syllables_of_their_digits() -> None:
    # Clause 4.3.2.3 names this one: 371.
    assert last_name(371) == "PRICALLYOUGHT"
    assert [row[5] for row in _of("customer", Scale(1, 1_500, 10))][:1000] == [last_name(number) for number in range(1000)]


def test_spreads_are_those_of_the_specification_and_shrink_with_the_tables() -> None:
    assert (customer_spread(3_000), item_spread(100_000)) == (1023, 8191)
    assert (customer_spread(300), item_spread(100)) == (127, 15)


@pytest.mark.parametrize("seed", range(50))
def test_the_constants_of_a_run_differ_from_the_loaded_ones_as_the_specification_asks(seed: int) -> None:
    loaded = Constants.of_database(SEED)
    apart = abs(Constants.of_run(seed, loaded).last_name - loaded.last_name)
    # Clause 2.1.6.1.
    assert 65 <= apart <= 119
    assert apart not in (96, 112)


def test_the_non_uniform_draw_is_the_function_of_the_specification() -> None:
    class Fixed(Draws):
        def __init__(self, *values: float) -> None:
            self.random = iter(values).__next__

    # (((3 of 0..15 | 20 of 1..100) + 7) mod 100) + 1: 3 | 20 is 23, and 30 mod 100 is 30.
    assert Fixed(3 / 16, 19 / 100).nurand(15, 1, 100, 7) == 31
    draws = Draws(1, "test")
    found = [draws.nurand(1023, 1, 3_000, 259) for _ in range(20_000)]
    assert min(found) >= 1
    assert max(found) <= 3_000
    counts = sorted((found.count(value) for value in set(found)), reverse=True)
    # The favourite tenth is asked for by far more than a tenth of the draws.
    assert sum(counts[:300]) > 0.3 * len(found)
