"""The rows of the nine tables in the beginning (TPC-C 5.11, clause 4.3), drawn from a seed: the same on every machine.

Model: the items are one lot of rows, and each warehouse is one lot per table, with streams of draws of its own, so that lots can be made in
any order and at the same time. Every instant in the tables is `EPOCH`, so that the data do not depend on the day they were made.
Limits: rows are tuples in the order of `plimsoll.orders.schema.COLUMNS`.

    for row in rows("stock", Scale(10), SEED, warehouse=3): ...
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from plimsoll.orders.draws import Constants, Draws, last_name, last_name_spread
from plimsoll.orders.scale import DISTRICTS, LINES_MAX, LINES_MIN, Scale

Row = tuple[Any, ...]

#: Every database of order entry is filled from this seed; that of a job is for what its terminals ask.
SEED = 1
#: When everything was entered that lies in the tables in the beginning.
EPOCH = "2026-01-01 00:00:00"
_WAREHOUSE_YTD, _DISTRICT_YTD = 30_000_000, 3_000_000
_CREDIT_LIMIT, _PAID = 5_000_000, 1_000
_FIRST_QUANTITY = 5


def rows(table: str, scale: Scale, seed: int, warehouse: int) -> Iterator[Row]:
    """The rows of a table that belong to a warehouse; the items belong to none, which is 0."""
    return _MAKERS[table](scale, Draws(seed, table, warehouse), seed, warehouse)


def _items(scale: Scale, draws: Draws, _seed: int, _warehouse: int) -> Iterator[Row]:
    for item in range(1, scale.items + 1):
        yield item, draws.between(1, 10_000), draws.text(14, 24), draws.between(100, 10_000), _data(draws)


def _warehouse(_scale: Scale, draws: Draws, _seed: int, warehouse: int) -> Iterator[Row]:
    yield warehouse, draws.text(6, 10), *_address(draws), draws.between(0, 2_000), _WAREHOUSE_YTD


def _districts(scale: Scale, draws: Draws, _seed: int, warehouse: int) -> Iterator[Row]:
    for district in range(1, DISTRICTS + 1):
        named = draws.text(6, 10)
        yield warehouse, district, named, *_address(draws), draws.between(0, 2_000), _DISTRICT_YTD, scale.customers + 1


def _stock(scale: Scale, draws: Draws, _seed: int, warehouse: int) -> Iterator[Row]:
    text = draws.text
    for item in range(1, scale.items + 1):
        places = [text(24, 24) for _ in range(DISTRICTS)]
        yield warehouse, item, draws.between(10, 100), *places, 0, 0, 0, _data(draws)


def _customers(scale: Scale, draws: Draws, seed: int, warehouse: int) -> Iterator[Row]:
    constant, spread, names = Constants.of_database(seed).last_name, last_name_spread(scale.last_names), scale.last_names
    for district in range(1, DISTRICTS + 1):
        for customer in range(1, scale.customers + 1):
            number = customer - 1 if customer <= names else draws.nurand(spread, 0, names - 1, constant)
            yield (
                *(warehouse, district, customer, draws.text(8, 16), "OE", last_name(number), *_address(draws)),
                *(draws.number_text(16), EPOCH, "BC" if draws.random() < 0.1 else "GC", _CREDIT_LIMIT, draws.between(0, 5_000)),
                *(-_PAID, _PAID, 1, 0, draws.text(300, 500)),
            )


def _history(scale: Scale, draws: Draws, _seed: int, warehouse: int) -> Iterator[Row]:
    for district in range(1, DISTRICTS + 1):
        for customer in range(1, scale.customers + 1):
            yield customer, district, warehouse, district, warehouse, EPOCH, _PAID, draws.text(12, 24)


def _orders(scale: Scale, draws: Draws, seed: int, warehouse: int) -> Iterator[Row]:
    for district in range(1, DISTRICTS + 1):
        lines = _line_counts(scale, seed, warehouse, district)
        for order, customer in enumerate(draws.shuffled(scale.customers), start=1):
            carrier = draws.between(1, 10) if order < scale.first_new else None
            yield warehouse, district, order, customer, EPOCH, carrier, lines[order - 1], 1


def _new_orders(scale: Scale, _draws: Draws, _seed: int, warehouse: int) -> Iterator[Row]:
    for district in range(1, DISTRICTS + 1):
        for order in range(scale.first_new, scale.customers + 1):
            yield warehouse, district, order


def _order_lines(scale: Scale, draws: Draws, seed: int, warehouse: int) -> Iterator[Row]:
    random, items, text = draws.random, scale.items, draws.text
    for district in range(1, DISTRICTS + 1):
        for order, lines in enumerate(_line_counts(scale, seed, warehouse, district), start=1):
            delivered = EPOCH if order < scale.first_new else None
            for number in range(1, lines + 1):
                amount = 0 if delivered else 1 + int(random() * 999_999)
                item = 1 + int(random() * items)
                yield warehouse, district, order, number, item, warehouse, delivered, _FIRST_QUANTITY, amount, text(24, 24)


_MAKERS: dict[str, Callable[[Scale, Draws, int, int], Iterator[Row]]] = {
    "warehouse": _warehouse,
    "district": _districts,
    "customer": _customers,
    "history": _history,
    "orders": _orders,
    "new_order": _new_orders,
    "order_line": _order_lines,
    "item": _items,
    "stock": _stock,
}


def _line_counts(scale: Scale, seed: int, warehouse: int, district: int) -> list[int]:
    """The lines of each order of a district, which the orders and their lines both say."""
    draws = Draws(seed, "lines", warehouse, district)
    return [draws.between(LINES_MIN, LINES_MAX) for _ in range(scale.customers)]


def _address(draws: Draws) -> tuple[str, str, str, str, str]:
    """Two lines of a street, city, state and zip code."""
    state = chr(65 + draws.between(0, 25)) + chr(65 + draws.between(0, 25))
    return draws.text(10, 20), draws.text(10, 20), draws.text(10, 20), state, f"{draws.number_text(4)}11111"


def _data(draws: Draws) -> str:
    """A description; every tenth holds the word that marks a brand."""
    text = draws.text(26, 50)
    if draws.random() >= 0.1:
        return text
    place = draws.between(0, len(text) - 8)
    return f"{text[:place]}ORIGINAL{text[place + 8 :]}"
