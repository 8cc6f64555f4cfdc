"""What terminals ask for: five kinds of transactions in their mix, and the inputs of each (TPC-C 5.11, clauses 2.4 to 2.8 and 5.2).

Model: a `Deck` deals the kinds, so that a terminal has done each as often as the mix says whenever the deck is through; where shares are no
whole numbers, and where arrivals are drawn, each kind is drawn by itself. `Clerk` draws inputs: customers and items non-uniformly, three of
five customers by last name, one order line of a hundred from another warehouse, fifteen payments of a hundred by customers of another one,
and one new order of a hundred with an item that does not exist, which has to be rolled back. Lines are in the order of their items, so that
two orders ask for their stock in the same order.
Limits: with one warehouse there is no other one.

    clerk = Clerk(Scale(10), Constants.of_run(1), Draws(1, "terminal", 1))
    clerk.request("payment", warehouse=1, district=3)
"""

from __future__ import annotations

from collections.abc import Mapping
from math import log
from typing import NamedTuple

from plimsoll.orders.draws import Constants, Draws, customer_spread, item_spread, last_name, last_name_spread
from plimsoll.orders.scale import DISTRICTS, LINES_MAX, LINES_MIN, Scale

NEW_ORDER, PAYMENT, ORDER_STATUS, DELIVERY, STOCK_LEVEL = KINDS = ("new-order", "payment", "order-status", "delivery", "stock-level")
#: Percent of each kind: the least that the specification allows of the other four, and new orders for the rest.
MIX = {NEW_ORDER: 45, PAYMENT: 43, ORDER_STATUS: 4, DELIVERY: 4, STOCK_LEVEL: 4}
#: Seconds in which a user types the inputs in, and that he thinks afterwards on average (clause 5.2.5.7).
KEYING_S = {NEW_ORDER: 18.0, PAYMENT: 3.0, ORDER_STATUS: 2.0, DELIVERY: 2.0, STOCK_LEVEL: 2.0}
THINKING_S = {NEW_ORDER: 12.0, PAYMENT: 12.0, ORDER_STATUS: 10.0, DELIVERY: 5.0, STOCK_LEVEL: 5.0}
_THINKING_MAX = 10.0
ROLLED_BACK = 0.01
REMOTE_LINE, REMOTE_PAYMENT, BY_NAME = 0.01, 0.15, 0.60


class Line(NamedTuple):
    """An item, the warehouse it comes from, and how many."""

    item: int
    supplier: int
    quantity: int


class NewOrder(NamedTuple):
    """``unused`` says that the last line's item does not exist."""

    warehouse: int
    district: int
    customer: int
    lines: tuple[Line, ...]
    unused: bool


class Payment(NamedTuple):
    """By the number of a customer, or by his last name where that is 0."""

    warehouse: int
    district: int
    customer_warehouse: int
    customer_district: int
    customer: int
    last_name: str
    amount: int


class OrderStatus(NamedTuple):
    """By the number of a customer, or by his last name where that is 0."""

    warehouse: int
    district: int
    customer: int
    last_name: str


class Delivery(NamedTuple):
    """The oldest open order of each district of the warehouse."""

    warehouse: int
    carrier: int


class StockLevel(NamedTuple):
    """How many of the items ordered last are below the threshold."""

    warehouse: int
    district: int
    threshold: int


Request = NewOrder | Payment | OrderStatus | Delivery | StockLevel


class Clerk:
    """Draws the inputs of one terminal."""

    def __init__(self, scale: Scale, constants: Constants, draws: Draws) -> None:
        self._scale = scale
        self._constants = constants
        self._draws = draws
        self._customer_spread = customer_spread(scale.customers)
        self._item_spread = item_spread(scale.items)
        self._name_spread = last_name_spread(scale.last_names)

    def request(self, kind: str, warehouse: int, district: int) -> Request:
        """A transaction of this kind from a terminal of ``warehouse``, whose own district is that of stock levels."""
        draws = self._draws
        if kind == NEW_ORDER:
            return self._new_order(warehouse)
        if kind == PAYMENT:
            return self._payment(warehouse)
        if kind == ORDER_STATUS:
            return OrderStatus(warehouse, draws.between(1, DISTRICTS), *self._customer())
        if kind == DELIVERY:
            return Delivery(warehouse, draws.between(1, 10))
        return StockLevel(warehouse, district, draws.between(10, 20))

    def keying_s(self, kind: str) -> float:
        """How long a user types."""
        return KEYING_S[kind]

    def thinking_s(self, kind: str) -> float:
        """How long he thinks: exponentially distributed, cut at ten times the mean."""
        mean = THINKING_S[kind]
        return min(-log(1.0 - self._draws.random()), _THINKING_MAX) * mean

    def _new_order(self, warehouse: int) -> NewOrder:
        draws, items, random = self._draws, self._scale.items, self._draws.random
        spread, constant = self._item_spread, self._constants.item
        district = draws.between(1, DISTRICTS)
        customer = draws.nurand(self._customer_spread, 1, self._scale.customers, self._constants.customer)
        count, unused = draws.between(LINES_MIN, LINES_MAX), random() < ROLLED_BACK
        lines = []
        for _ in range(count):
            item = (((int(random() * (spread + 1)) | 1 + int(random() * items)) + constant) % items) + 1
            supplier = self._other(warehouse) if random() < REMOTE_LINE else warehouse
            lines.append(Line(item, supplier, 1 + int(random() * 10)))
        if unused:
            lines[-1] = lines[-1]._replace(item=items + 1)
        return NewOrder(warehouse, district, customer, tuple(sorted(lines)), unused)

    def _payment(self, warehouse: int) -> Payment:
        draws = self._draws
        district = draws.between(1, DISTRICTS)
        home = (warehouse, district)
        remote = draws.random() < REMOTE_PAYMENT and self._scale.warehouses > 1
        of_customer = (self._other(warehouse), draws.between(1, DISTRICTS)) if remote else home
        return Payment(*home, *of_customer, *self._customer(), draws.between(100, 500_000))

    def _customer(self) -> tuple[int, str]:
        """A number, or 0 and a last name."""
        draws, constants = self._draws, self._constants
        if draws.random() >= BY_NAME:
            return draws.nurand(self._customer_spread, 1, self._scale.customers, constants.customer), ""
        return 0, last_name(draws.nurand(self._name_spread, 0, self._scale.last_names - 1, constants.last_name))

    def _other(self, warehouse: int) -> int:
        """Another warehouse, where there is one."""
        if self._scale.warehouses == 1:
            return warehouse
        drawn = self._draws.between(1, self._scale.warehouses - 1)
        return drawn if drawn < warehouse else drawn + 1


class Deck:
    """Deals kinds by a mix: from a shuffled deck where ``dealt``, else each by itself."""

    def __init__(self, mix: Mapping[str, float], draws: Draws, *, dealt: bool) -> None:
        self._draws = draws
        self._mix = {kind: share for kind, share in mix.items() if share > 0}
        whole = all(float(share).is_integer() for share in self._mix.values())
        self._cards = [kind for kind, share in self._mix.items() for _ in range(int(share))] if dealt and whole else []
        self._left: list[str] = []
        self._total = sum(self._mix.values())

    def next(self) -> str:
        """The kind of the next transaction."""
        if not self._cards:
            return self._drawn()
        if not self._left:
            self._left = [self._cards[place - 1] for place in self._draws.shuffled(len(self._cards))]
        return self._left.pop()

    def _drawn(self) -> str:
        point = self._draws.random() * self._total
        for kind, share in self._mix.items():
            point -= share
            if point < 0:
                return kind
        return kind
