"""The transactions of order entry, carried out on SQLite in memory: what they change, and that the conditions of consistency find damage."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import Any

import pytest

from plimsoll.orders.consistency import CONDITIONS
from plimsoll.orders.draws import Constants, Draws
from plimsoll.orders.population import SEED, rows
from plimsoll.orders.requests import MIX, Clerk, Deck, Delivery, Line, NewOrder, OrderStatus, Payment, Request, StockLevel
from plimsoll.orders.scale import TABLES, Scale
from plimsoll.orders.schema import COLUMNS, SQLITE, created, indexed
from plimsoll.orders.statements import Missing, Unused, transaction

SCALE = Scale(warehouses=2, customers=30, items=100)
NOW = "2026-11-23 10:00:00"


@pytest.fixture(scope="module")
def filled() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:")
    for statement in created(SQLITE):
        connection.execute(statement)
    for table in TABLES:
        for warehouse in [0] if table == "item" else [1, 2]:
            places = ", ".join("?" * len(COLUMNS[table]))
            connection.executemany(f"INSERT INTO {table} VALUES ({places})", rows(table, SCALE, SEED, warehouse))
    for statement in indexed():
        connection.execute(statement)
    return connection


@pytest.fixture
def database(filled: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    copy = sqlite3.connect(":memory:", isolation_level=None)
    filled.commit()
    filled.backup(copy)
    yield copy
    copy.close()


def _carry_out(database: sqlite3.Connection, request: Request) -> list[list[Any]]:
    """Every answer that the transaction got."""
    steps, answers, found = transaction(request, NOW), [], None
    database.execute("BEGIN")
    try:
        while True:
            statement, values = steps.send(found)  # type: ignore[arg-type]
            found = database.execute(statement.text, values).fetchall()
            answers.append(found)
    except StopIteration:
        database.execute("COMMIT")
    except (Unused, Missing):
        database.execute("ROLLBACK")
        raise
    return answers


def _one(database: sqlite3.Connection, query: str) -> tuple[Any, ...]:
    row = database.execute(query).fetchone()
    return tuple(row)


def _broken(database: sqlite3.Connection) -> list[int]:
    return [condition.number for condition in CONDITIONS if condition.broken(database.execute(condition.query).fetchall())]


def test_a_new_order_takes_the_next_number_and_the_stock_of_each_line(database: sqlite3.Connection) -> None:
    before = dict(database.execute("SELECT s_i_id, s_quantity FROM stock WHERE s_w_id = 1 AND s_i_id IN (7, 8)").fetchall())
    _carry_out(database, NewOrder(1, 4, 9, (Line(7, 1, 3), Line(8, 2, 5)), unused=False))
    assert _one(database, "SELECT d_next_o_id FROM district WHERE d_w_id = 1 AND d_id = 4") == (32,)
    assert _one(database, "SELECT o_c_id, o_ol_cnt, o_all_local FROM orders WHERE o_w_id = 1 AND o_d_id = 4 AND o_id = 31") == (9, 2, 0)
    expected = before[7] - 3 if before[7] >= 13 else before[7] + 88
    assert _one(database, "SELECT s_quantity, s_ytd, s_order_cnt, s_remote_cnt FROM stock WHERE s_w_id = 1 AND s_i_id = 7") == (
        *(expected, 3, 1),
        0,
    )
    assert _one(database, "SELECT s_ytd, s_order_cnt, s_remote_cnt FROM stock WHERE s_w_id = 2 AND s_i_id = 8") == (5, 1, 1)
    assert _one(database, "SELECT s_order_cnt FROM stock WHERE s_w_id = 1 AND s_i_id = 8") == (0,)
    price, place = _one(database, "SELECT i_price, s_dist_04 FROM item JOIN stock ON s_i_id = i_id WHERE i_id = 7 AND s_w_id = 1")
    assert _one(
        database,
        "SELECT ol_amount, ol_dist_info, ol_delivery_d FROM order_line WHERE ol_w_id = 1 AND ol_d_id = 4 AND ol_o_id = 31 AND ol_number = 1",
    ) == (3 * price, place, None)


def test_stock_is_refilled_before_it_would_fall_below_ten(database: sqlite3.Connection) -> None:
    for quantity, left in ((15, 10), (14, 100)):
        database.execute("UPDATE stock SET s_quantity = ? WHERE s_w_id = 1 AND s_i_id = 7", (quantity,))
        _carry_out(database, NewOrder(1, 1, 1, (Line(7, 1, 5),), unused=False))
        # Clause 2.4.2.2: 15 - 5 leaves 10; 14 - 5 would leave 9, so 91 are added.
        assert _one(database, "SELECT s_quantity FROM stock WHERE s_w_id = 1 AND s_i_id = 7") == (left,)


def test_an_order_with_an_unused_item_leaves_nothing_behind(database: sqlite3.Connection) -> None:
    before = list(database.iterdump())
    with pytest.raises(Unused):
        _carry_out(database, NewOrder(1, 4, 9, (Line(7, 1, 3), Line(101, 1, 5)), unused=True))
    assert list(database.iterdump()) == before


def test_a_payment_is_added_everywhere_and_noted(database: sqlite3.Connection) -> None:
    database.execute("UPDATE customer SET c_credit = 'BC' WHERE c_w_id = 2 AND c_d_id = 5 AND c_id = 11")
    _carry_out(database, Payment(1, 3, 2, 5, 11, "", 12_345))
    assert _one(database, "SELECT w_ytd FROM warehouse WHERE w_id = 1") == (30_012_345,)
    assert _one(database, "SELECT d_ytd FROM district WHERE d_w_id = 1 AND d_id = 3") == (3_012_345,)
    payer = "FROM customer WHERE c_w_id = 2 AND c_d_id = 5 AND c_id = 11"
    assert _one(database, f"SELECT c_balance, c_ytd_payment, c_payment_cnt, length(c_data) <= 500 {payer}") == (-13_345, 13_345, 2, 1)
    assert _one(database, f"SELECT c_data LIKE '11 5 2 3 1 12345|%' {payer}") == (1,)
    assert _one(database, "SELECT h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_amount FROM history ORDER BY rowid DESC LIMIT 1") == (
        *(11, 5, 2, 3, 1),
        12_345,
    )


def test_of_customers_with_one_last_name_the_one_in_the_middle_by_first_name_pays(database: sqlite3.Connection) -> None:
    database.execute(
        "UPDATE customer SET c_last = 'BARBARBAR', c_first = printf('%02d', 50 - c_id) WHERE c_w_id = 1 AND c_d_id = 1 AND c_id <= 4"
    )
    _carry_out(database, Payment(1, 1, 1, 1, 0, "BARBARBAR", 100))
    # First names 46 to 49 are customers 4 to 1; of four, the second (n/2 rounded up) is customer 3.
    assert database.execute("SELECT c_id FROM customer WHERE c_w_id = 1 AND c_payment_cnt = 2").fetchall() == [(3,)]


def test_a_delivery_takes_the_oldest_open_order_of_every_district(database: sqlite3.Connection) -> None:
    owed = dict(
        database.execute("SELECT ol_d_id, sum(ol_amount) FROM order_line WHERE ol_w_id = 1 AND ol_o_id = 22 GROUP BY ol_d_id").fetchall()
    )
    _carry_out(database, Delivery(1, 7))
    assert _one(database, "SELECT count(*), min(no_o_id) FROM new_order WHERE no_w_id = 1") == (80, 23)
    delivered = database.execute("SELECT o_d_id, o_c_id FROM orders WHERE o_w_id = 1 AND o_id = 22 AND o_carrier_id = 7").fetchall()
    assert len(delivered) == 10
    for district, customer in delivered:
        assert _one(
            database, f"SELECT c_balance, c_delivery_cnt FROM customer WHERE c_w_id = 1 AND c_d_id = {district} AND c_id = {customer}"
        ) == (owed[district] - 1_000, 1)
    assert _one(database, "SELECT count(*) FROM order_line WHERE ol_w_id = 1 AND ol_o_id = 22 AND ol_delivery_d IS NULL") == (0,)


def test_a_delivery_passes_over_districts_without_open_orders(database: sqlite3.Connection) -> None:
    for _ in range(9):
        _carry_out(database, Delivery(1, 7))
    assert _one(database, "SELECT count(*) FROM new_order WHERE no_w_id = 1") == (0,)
    _carry_out(database, Delivery(1, 7))


def test_order_status_tells_the_lines_of_the_customers_last_order(database: sqlite3.Connection) -> None:
    _carry_out(database, NewOrder(1, 4, 9, (Line(7, 1, 3), Line(8, 1, 5)), unused=False))
    assert [line[0] for line in _carry_out(database, OrderStatus(1, 4, 9, ""))[-1]] == [7, 8]


def test_stock_level_counts_different_items_below_the_threshold(database: sqlite3.Connection) -> None:
    database.execute("UPDATE stock SET s_quantity = 100")
    for _ in range(2):
        _carry_out(database, NewOrder(1, 4, 9, (Line(7, 1, 3), Line(8, 1, 5)), unused=False))
    database.execute("UPDATE stock SET s_quantity = 12 WHERE s_w_id = 1 AND s_i_id IN (7, 8)")
    assert _carry_out(database, StockLevel(1, 4, 13))[-1] == [(2,)]
    assert _carry_out(database, StockLevel(1, 4, 12))[-1] == [(0,)]


def test_a_customer_that_has_to_be_there_and_is_not_is_told(database: sqlite3.Connection) -> None:
    with pytest.raises(Missing, match="no customer was found"):
        _carry_out(database, Payment(1, 1, 1, 1, 0, "NOBODY", 100))


def test_the_conditions_hold_before_and_after_a_thousand_transactions(database: sqlite3.Connection) -> None:
    assert _broken(database) == []
    clerk = Clerk(SCALE, Constants.of_run(1, Constants.of_database(SEED)), Draws(1, "terminal", 0))
    deck = Deck(MIX, Draws(1, "deck", 0), dealt=True)
    rolled_back = 0
    for number in range(1_000):
        try:
            _carry_out(database, clerk.request(deck.next(), number % 2 + 1, number % 10 + 1))
        except Unused:
            rolled_back += 1
    assert rolled_back > 0
    assert _broken(database) == []


#: What breaks each condition, with what its sentence says of it.
DAMAGE = {
    1: (
        "UPDATE district SET d_ytd = d_ytd - 1 WHERE d_w_id = 2 AND d_id = 10",
        "warehouse 2: its total in cents is 30,000,000, but the sum",
    ),
    2: (
        "UPDATE district SET d_next_o_id = 32 WHERE d_w_id = 1 AND d_id = 3",
        "warehouse 1, district 3: its last order by the district is 31",
    ),
    3: ("DELETE FROM new_order WHERE no_w_id = 1 AND no_d_id = 2 AND no_o_id = 25", "district 2: the number of its open orders is 8"),
    4: ("DELETE FROM order_line WHERE ol_w_id = 2 AND ol_d_id = 9 AND ol_o_id = 5 AND ol_number = 1", "warehouse 2, district 9"),
}


@pytest.mark.parametrize("number", DAMAGE)
def test_each_condition_finds_the_damage_that_it_is_for(database: sqlite3.Connection, number: int) -> None:
    statement, said = DAMAGE[number]
    assert database.execute(statement).rowcount == 1
    assert _broken(database) == [number]
    condition = CONDITIONS[number - 1]
    sentence = condition.broken(database.execute(condition.query).fetchall())
    assert sentence is not None
    assert sentence.startswith(f"consistency condition {number} does not hold in ")
    assert said in sentence


def test_a_district_whose_orders_lost_all_their_lines_is_found(database: sqlite3.Connection) -> None:
    database.execute("DELETE FROM order_line WHERE ol_w_id = 1 AND ol_d_id = 1")
    assert _broken(database) == [4]


def test_a_district_whose_orders_are_all_gone_is_found(database: sqlite3.Connection) -> None:
    """What is gone as a whole has no sum and no last number that could differ: nothing of it was missed."""
    database.execute("DELETE FROM orders WHERE o_w_id = 2 AND o_d_id = 4")
    assert _broken(database) == [2]
    sentence = CONDITIONS[1].broken(database.execute(CONDITIONS[1].query).fetchall())
    assert "district 4: its last order by the district is 30, but its last order by the orders is nothing." in str(sentence)


def test_a_warehouse_whose_districts_are_all_gone_is_found(database: sqlite3.Connection) -> None:
    database.execute("DELETE FROM district WHERE d_w_id = 2")
    assert _broken(database) == [1]


def test_a_last_order_that_is_open_no_more_before_those_that_came_earlier_is_found(database: sqlite3.Connection) -> None:
    assert database.execute("DELETE FROM new_order WHERE no_w_id = 1 AND no_d_id = 2 AND no_o_id = 30").rowcount == 1
    assert _broken(database) == [2]


def test_damage_in_many_places_is_counted(database: sqlite3.Connection) -> None:
    database.execute("UPDATE district SET d_next_o_id = 40 WHERE d_w_id = 1")
    sentence = CONDITIONS[1].broken(database.execute(CONDITIONS[1].query).fetchall())
    assert sentence is not None
    assert "(and 9 other places)" in sentence
