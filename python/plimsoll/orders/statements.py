"""The five transactions as SQL statements, the same for SQLite and PostgreSQL.

Model: a transaction is a generator that yields a statement with its values and is sent the rows; who drives it begins the transaction
before and commits it after, so that one text serves an engine in this process and one behind a connection. `Unused` raised inside says
that an item does not exist, and that the transaction has to be rolled back. Values are numbered, ``?1`` and so on, in PostgreSQL ``$1``
(`of_dialect`). Where two transactions of PostgreSQL could read the same row before either changes it, the statement that changes it comes
first and says what the row held (``RETURNING``).
Limits: instants come from who asks, so that one transaction has one.

    steps = transaction(request, now="2026-11-23 09:00:00")
    statement, values = next(steps)
    statement, values = steps.send(rows)
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any, NamedTuple

from plimsoll.orders.requests import Delivery, NewOrder, OrderStatus, Payment, Request, StockLevel
from plimsoll.orders.scale import DISTRICTS
from plimsoll.orders.schema import SQLITE

Rows = Sequence[Sequence[Any]]


class Statement(NamedTuple):
    """A statement with the name that it is prepared under."""

    name: str
    text: str


Steps = Generator[tuple[Statement, tuple[Any, ...]], Rows, None]


class Unused(Exception):
    """An item that was ordered does not exist."""


class Missing(Exception):
    """A row that has to be there is not: the data are damaged."""


def transaction(request: Request, now: str) -> Steps:
    """The statements of a transaction, one after the other."""
    if isinstance(request, NewOrder):
        return _new_order(request, now)
    if isinstance(request, Payment):
        return _payment(request, now)
    if isinstance(request, OrderStatus):
        return _order_status(request)
    if isinstance(request, Delivery):
        return _delivery(request, now)
    return _stock_level(request)


def reads_only(request: Request) -> bool:
    """Whether a transaction changes nothing."""
    return isinstance(request, (OrderStatus, StockLevel))


def of_dialect(text: str, dialect: str) -> str:
    """A statement with values as the dialect numbers them."""
    return text if dialect == SQLITE else text.replace("?", "$")


_WAREHOUSE_TAX = Statement("warehouse_tax", "SELECT w_tax FROM warehouse WHERE w_id = ?1")
_NEXT_ORDER = Statement(
    "next_order",
    "UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = ?1 AND d_id = ?2 RETURNING d_next_o_id - 1, d_tax",
)
_DISCOUNT = Statement("discount", "SELECT c_discount, c_last, c_credit FROM customer WHERE c_w_id = ?1 AND c_d_id = ?2 AND c_id = ?3")
_ENTER_ORDER = Statement("enter_order", "INSERT INTO orders VALUES (?1, ?2, ?3, ?4, ?5, NULL, ?6, ?7)")
_OPEN_ORDER = Statement("open_order", "INSERT INTO new_order VALUES (?1, ?2, ?3)")
_PRICE = Statement("price", "SELECT i_price, i_name, i_data FROM item WHERE i_id = ?1")
_TAKE = tuple(
    Statement(
        f"take_{district:02d}",
        "UPDATE stock SET s_quantity = CASE WHEN s_quantity >= ?3 + 10 THEN s_quantity - ?3 ELSE s_quantity - ?3 + 91 END, "
        "s_ytd = s_ytd + ?3, s_order_cnt = s_order_cnt + 1, s_remote_cnt = s_remote_cnt + ?4 WHERE s_w_id = ?1 AND s_i_id = ?2 "
        f"RETURNING s_quantity, s_dist_{district:02d}, s_data",
    )
    for district in range(1, DISTRICTS + 1)
)
_ENTER_LINE = Statement("enter_line", "INSERT INTO order_line VALUES (?1, ?2, ?3, ?4, ?5, ?6, NULL, ?7, ?8, ?9)")


def _new_order(request: NewOrder, now: str) -> Steps:
    warehouse, district = request.warehouse, request.district
    ((_tax,),) = yield _WAREHOUSE_TAX, (warehouse,)
    order, _tax = _only((yield _NEXT_ORDER, (warehouse, district)))
    _only((yield _DISCOUNT, (warehouse, district, request.customer)))
    local = int(all(line.supplier == warehouse for line in request.lines))
    yield _ENTER_ORDER, (warehouse, district, order, request.customer, now, len(request.lines), local)
    yield _OPEN_ORDER, (warehouse, district, order)
    take = _TAKE[district - 1]
    for number, line in enumerate(request.lines, start=1):
        priced = yield _PRICE, (line.item,)
        if not priced:
            raise Unused
        taken = yield take, (line.supplier, line.item, line.quantity, int(line.supplier != warehouse))
        _left, place, _data = _only(taken)
        amount = priced[0][0] * line.quantity
        yield _ENTER_LINE, (warehouse, district, order, number, line.item, line.supplier, line.quantity, amount, place)


_PAY_WAREHOUSE = Statement("pay_warehouse", "UPDATE warehouse SET w_ytd = w_ytd + ?2 WHERE w_id = ?1 RETURNING w_name, w_city, w_state")
_PAY_DISTRICT = Statement(
    "pay_district", "UPDATE district SET d_ytd = d_ytd + ?3 WHERE d_w_id = ?1 AND d_id = ?2 RETURNING d_name, d_city, d_state"
)
_BY_NAME = Statement("customers_by_name", "SELECT c_id FROM customer WHERE c_w_id = ?1 AND c_d_id = ?2 AND c_last = ?3 ORDER BY c_first")
_PAY_CUSTOMER = Statement(
    "pay_customer",
    "UPDATE customer SET c_balance = c_balance - ?4, c_ytd_payment = c_ytd_payment + ?4, c_payment_cnt = c_payment_cnt + 1 "
    "WHERE c_w_id = ?1 AND c_d_id = ?2 AND c_id = ?3 RETURNING c_credit, c_balance, c_discount",
)
_NOTE_PAYMENT = Statement(
    "note_payment", "UPDATE customer SET c_data = substr(?4 || c_data, 1, 500) WHERE c_w_id = ?1 AND c_d_id = ?2 AND c_id = ?3"
)
_ENTER_HISTORY = Statement("enter_history", "INSERT INTO history VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)")


def _payment(request: Payment, now: str) -> Steps:
    warehouse, district, amount = request.warehouse, request.district, request.amount
    of_customer = (request.customer_warehouse, request.customer_district)
    named = _only((yield _PAY_WAREHOUSE, (warehouse, amount)))
    also = _only((yield _PAY_DISTRICT, (warehouse, district, amount)))
    customer = request.customer
    if not customer:
        customer = _middle((yield _BY_NAME, (*of_customer, request.last_name)))
    (credit, *_) = _only((yield _PAY_CUSTOMER, (*of_customer, customer, amount)))
    if credit == "BC":
        note = f"{customer} {of_customer[1]} {of_customer[0]} {district} {warehouse} {amount}|"
        yield _NOTE_PAYMENT, (*of_customer, customer, note)
    yield _ENTER_HISTORY, (customer, of_customer[1], of_customer[0], district, warehouse, now, amount, f"{named[0]}    {also[0]}")


_BALANCE = Statement("balance", "SELECT c_first, c_middle, c_last, c_balance FROM customer WHERE c_w_id = ?1 AND c_d_id = ?2 AND c_id = ?3")
_LAST_ORDER = Statement(
    "last_order",
    "SELECT o_id, o_entry_d, o_carrier_id FROM orders WHERE o_w_id = ?1 AND o_d_id = ?2 AND o_c_id = ?3 ORDER BY o_id DESC LIMIT 1",
)
_LINES = Statement(
    "lines",
    "SELECT ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d FROM order_line "
    "WHERE ol_w_id = ?1 AND ol_d_id = ?2 AND ol_o_id = ?3",
)


def _order_status(request: OrderStatus) -> Steps:
    place, customer = (request.warehouse, request.district), request.customer
    if not customer:
        customer = _middle((yield _BY_NAME, (*place, request.last_name)))
    _only((yield _BALANCE, (*place, customer)))
    order, *_ = _only((yield _LAST_ORDER, (*place, customer)))
    yield _LINES, (*place, order)


_OLDEST = Statement("oldest", "SELECT no_o_id FROM new_order WHERE no_w_id = ?1 AND no_d_id = ?2 ORDER BY no_o_id LIMIT 1")
_CLOSE_ORDER = Statement("close_order", "DELETE FROM new_order WHERE no_w_id = ?1 AND no_d_id = ?2 AND no_o_id = ?3 RETURNING no_o_id")
_CARRY = Statement("carry", "UPDATE orders SET o_carrier_id = ?4 WHERE o_w_id = ?1 AND o_d_id = ?2 AND o_id = ?3 RETURNING o_c_id")
_DELIVER = Statement(
    "deliver",
    "UPDATE order_line SET ol_delivery_d = ?4 WHERE ol_w_id = ?1 AND ol_d_id = ?2 AND ol_o_id = ?3 RETURNING ol_amount",
)
_OWE = Statement(
    "owe",
    "UPDATE customer SET c_balance = c_balance + ?4, c_delivery_cnt = c_delivery_cnt + 1 WHERE c_w_id = ?1 AND c_d_id = ?2 AND c_id = ?3",
)


def _delivery(request: Delivery, now: str) -> Steps:
    for district in range(1, DISTRICTS + 1):
        place = (request.warehouse, district)
        while True:
            oldest = yield _OLDEST, place
            if not oldest:
                break
            order = oldest[0][0]
            # Another delivery may have taken it since; then there is a next one.
            if not (yield _CLOSE_ORDER, (*place, order)):
                continue
            (customer,) = _only((yield _CARRY, (*place, order, request.carrier)))
            amounts = yield _DELIVER, (*place, order, now)
            yield _OWE, (*place, customer, sum(amount for (amount,) in amounts))
            break


_NEXT = Statement("next", "SELECT d_next_o_id FROM district WHERE d_w_id = ?1 AND d_id = ?2")
_LOW = Statement(
    "low",
    "SELECT count(DISTINCT s_i_id) FROM order_line JOIN stock ON s_w_id = ol_w_id AND s_i_id = ol_i_id "
    "WHERE ol_w_id = ?1 AND ol_d_id = ?2 AND ol_o_id < ?3 AND ol_o_id >= ?3 - 20 AND s_quantity < ?4",
)


def _stock_level(request: StockLevel) -> Steps:
    (order,) = _only((yield _NEXT, (request.warehouse, request.district)))
    yield _LOW, (request.warehouse, request.district, order, request.threshold)


#: Every statement, for engines that prepare them.
STATEMENTS: tuple[Statement, ...] = (
    *(_WAREHOUSE_TAX, _NEXT_ORDER, _DISCOUNT, _ENTER_ORDER, _OPEN_ORDER, _PRICE, *_TAKE, _ENTER_LINE),
    *(_PAY_WAREHOUSE, _PAY_DISTRICT, _BY_NAME, _PAY_CUSTOMER, _NOTE_PAYMENT, _ENTER_HISTORY, _BALANCE, _LAST_ORDER, _LINES),
    *(_OLDEST, _CLOSE_ORDER, _CARRY, _DELIVER, _OWE, _NEXT, _LOW),
)


def _only(rows: Rows) -> Sequence[Any]:
    """The one row that has to be there."""
    if len(rows) != 1:
        raise Missing(f"{len(rows)} rows were found where there has to be one")
    return rows[0]


def _middle(rows: Rows) -> int:
    """The customer in the middle of those of one name."""
    if not rows:
        raise Missing("no customer was found by a last name that the tables hold")
    return int(rows[(len(rows) + 1) // 2 - 1][0])
