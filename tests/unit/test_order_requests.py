"""What terminals of order entry ask for: the mix, the inputs, and that both come from the seed."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import Any

import pytest

from plimsoll.apps.order_entry.terminals import Desk, Plan
from plimsoll.apps.order_entry.threads import _arriving, _asked
from plimsoll.orders.draws import Constants, Draws
from plimsoll.orders.population import SEED
from plimsoll.orders.requests import KINDS, MIX, Clerk, Deck, NewOrder, Payment
from plimsoll.orders.scale import Scale

WHOLE = Scale(warehouses=10)
NUMBER = 4_000


def _clerk(scale: Scale = WHOLE, seed: int = 1) -> Clerk:
    return Clerk(scale, Constants.of_run(seed, Constants.of_database(SEED)), Draws(seed, "terminal", 0))


def _new_orders(scale: Scale = WHOLE) -> list[NewOrder]:
    clerk = _clerk(scale)
    found = [clerk.request("new-order", warehouse=3, district=1) for _ in range(NUMBER)]
    return [request for request in found if isinstance(request, NewOrder)]


def _payments(scale: Scale = WHOLE) -> list[Payment]:
    clerk = _clerk(scale)
    found = [clerk.request("payment", warehouse=3, district=1) for _ in range(NUMBER)]
    return [request for request in found if isinstance(request, Payment)]


def test_a_deck_deals_the_mix_exactly_and_in_an_order_of_its_own() -> None:
    deck = Deck(MIX, Draws(1, "deck", 0), dealt=True)
    first, second = ([deck.next() for _ in range(100)] for _ in range(2))
    assert Counter(first) == Counter(second) == MIX
    assert first != second


def test_the_mix_keeps_the_least_of_every_kind() -> None:
    # TPC-C 5.11, clause 5.2.3: at least 43 % payments and 4 % of each of the other three; the rest are new orders.
    assert MIX == {"new-order": 45, "payment": 43, "order-status": 4, "delivery": 4, "stock-level": 4}


def test_shares_that_are_no_whole_numbers_are_drawn() -> None:
    deck = Deck({"new-order": 99.5, "payment": 0.5, "delivery": 0}, Draws(1, "deck", 0), dealt=True)
    counts = Counter(deck.next() for _ in range(20_000))
    assert set(counts) == {"new-order", "payment"}
    assert abs(counts["payment"] / 20_000 - 0.005) < 0.002


def test_one_new_order_of_a_hundred_asks_for_an_item_that_there_is_not() -> None:
    orders = _new_orders()
    unused = [order for order in orders if order.unused]
    assert 0.005 < len(unused) / NUMBER < 0.016
    assert all(order.lines[-1].item == 100_001 for order in unused)
    assert all(line.item <= 100_000 for order in orders for line in order.lines[: -1 if order.unused else None])


def test_orders_have_five_to_fifteen_lines_in_the_order_of_their_items() -> None:
    orders = _new_orders()
    assert {len(order.lines) for order in orders} == set(range(5, 16))
    assert all(list(order.lines) == sorted(order.lines) for order in orders)
    assert {line.quantity for order in orders for line in order.lines} == set(range(1, 11))


def test_one_line_of_a_hundred_comes_from_another_warehouse() -> None:
    suppliers = Counter(line.supplier for order in _new_orders() for line in order.lines)
    total = suppliers.total()
    assert 0.008 < 1 - suppliers[3] / total < 0.012
    assert set(suppliers) == set(range(1, 11))


def test_fifteen_payments_of_a_hundred_come_from_customers_of_another_warehouse() -> None:
    payments = _payments()
    remote = [payment for payment in payments if payment.customer_warehouse != 3]
    assert 0.13 < len(remote) / NUMBER < 0.17
    assert all(payment.customer_district == payment.district for payment in payments if payment.customer_warehouse == 3)


def test_a_single_warehouse_has_nobody_else_to_deal_with() -> None:
    clerk = _clerk(Scale(1))
    for _ in range(500):
        order, payment = (clerk.request(kind, warehouse=1, district=1) for kind in ("new-order", "payment"))
        assert isinstance(order, NewOrder)
        assert isinstance(payment, Payment)
        assert {line.supplier for line in order.lines} == {payment.customer_warehouse} == {1}


def test_three_customers_of_five_are_asked_for_by_their_last_name() -> None:
    payments = _payments()
    assert 0.57 < sum(not payment.customer for payment in payments) / NUMBER < 0.63
    assert all(bool(payment.customer) != bool(payment.last_name) for payment in payments)


@pytest.mark.parametrize("kind", KINDS)
def test_a_seed_draws_the_same_requests_again_and_another_seed_others(kind: str) -> None:
    def drawn(seed: int) -> list[object]:
        clerk = _clerk(seed=seed)
        return [clerk.request(kind, warehouse=3, district=2) for _ in range(20)]

    assert drawn(1) == drawn(1)
    assert drawn(1) != drawn(2)


def _fingerprint(asked: Iterator[Any]) -> str:
    return hashlib.sha256("\n".join(map(repr, islice(asked, 500))).encode()).hexdigest()[:12]


def test_what_terminals_ask_and_when_is_the_same_on_every_machine() -> None:
    """Kinds, pauses, instants and inputs of a seed; two engines that are compared are asked the same."""
    closed = Plan(WHOLE, MIX, terminals=3, seed=7, pauses=0.1)
    constants = Constants.of_run(7, Constants.of_database(SEED))
    assert [_fingerprint(_asked(closed, Desk(closed, constants, number))) for number in range(3)] == [
        "91360b4f4596",
        "a5067674ad83",
        "3983220211f1",
    ]
    due = Plan(WHOLE, MIX, terminals=3, seed=7, arrival="poisson", rate_per_s=45.0)
    assert _fingerprint(_arriving(due, [Desk(due, constants, number) for number in range(3)])) == "e6e0a6555111"


def test_users_think_as_long_as_the_specification_has_it_and_never_ten_times_that() -> None:
    clerk = _clerk()
    thought = [clerk.thinking_s("new-order") for _ in range(20_000)]
    assert abs(sum(thought) / len(thought) - 12.0) < 0.5
    assert max(thought) <= 120.0
    assert clerk.keying_s("new-order") == 18.0
