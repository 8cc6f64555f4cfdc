"""What has to be in a database after its server was killed: every refresh that was acknowledged, whole; one under way, whole or not at all.

Model: RF1 of a set brings new orders with their items, RF2 lets others go with theirs, a transaction each, which also counts itself. Both
are known row by row from the data alone. An order is whole when its price is as drawn and its items are as many as drawn, with prices that
add up. The refresh under way may have been committed without a word; then it counts as acknowledged from there on.
Limits: prices stand for rows; other columns are not compared.

    account = Account(0.01)
    account.acknowledge(Refresh("rf1", 1))
    account.judged(contents, Refresh("rf2", 1)).lost        # [] where RF1 of set 1 is there
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import lru_cache
from typing import Any, Literal

from plimsoll.apps.databases.database import Session
from plimsoll.apps.decision.refresh import Sets
from plimsoll.decision import data

Op = Literal["rf1", "rf2"]
#: Of an order: its price, how many items it has, and the sum of their prices.
Order = tuple[Decimal, int, Decimal]


@dataclass(frozen=True, order=True)
class Refresh:
    """One refresh: RF1 or RF2 of a set."""

    number: int
    op: Op

    def __str__(self) -> str:
        return f"{self.op.upper()} of set {self.number}"


@dataclass(frozen=True)
class Contents:
    """What a database holds of the orders that were asked for: each as far as there is anything of it."""

    sets: Sets
    orders: Mapping[int, Order]


@dataclass
class Verdict:
    """What was found after a kill. ``under_way`` says what became of the refresh that had no answer."""

    lost: list[Refresh] = field(default_factory=list)
    halves: list[Refresh] = field(default_factory=list)
    miscounted: bool = False
    under_way: Literal["committed", "undone", "half", None] = None

    @property
    def is_kept(self) -> bool:
        """Whether everything is as it was promised."""
        return not self.lost and not self.halves and not self.miscounted


class Account:
    """The refreshes of one scale that were acknowledged so far; ``loaded`` are the sets that had come and gone before."""

    def __init__(self, scale: float, loaded: Sets = Sets(0, 0)) -> None:  # noqa: B008  # a value
        self._scale = scale
        self._loaded = loaded
        self._acknowledged: dict[Refresh, None] = {}

    @property
    def acknowledged(self) -> int:
        """How many there are."""
        return len(self._acknowledged)

    def acknowledge(self, refresh: Refresh) -> None:
        """Its commit was answered."""
        self._acknowledged[refresh] = None

    def keys(self, under_way: Refresh | None) -> list[int]:
        """The orders that tell what is there."""
        refreshes = [*self._acknowledged, *([under_way] if under_way else [])]
        return sorted({key for refresh in refreshes for key in _keys(self._scale, refresh)})

    def judged(self, contents: Contents, under_way: Refresh | None) -> Verdict:
        """What the contents say; what is lost is not expected any more, what was committed without a word is."""
        verdict = Verdict()
        for refresh in list(self._acknowledged):
            state = _state(self._scale, refresh, contents.orders)
            if state != "done":
                (verdict.halves if state == "half" else verdict.lost).append(refresh)
                del self._acknowledged[refresh]
        if under_way is not None:
            state = _state(self._scale, under_way, contents.orders)
            verdict.under_way = {"done": "committed", "undone": "undone", "half": "half"}[state]  # type: ignore[assignment]
            if state == "done":
                self.acknowledge(under_way)
            elif state == "half":
                verdict.halves.append(under_way)
        verdict.miscounted = verdict.is_kept and contents.sets != self._counted()
        return verdict

    def _counted(self) -> Sets:
        """What the database itself has to have counted."""
        came = sum(refresh.op == "rf1" for refresh in self._acknowledged)
        return Sets(self._loaded.inserted + came, self._loaded.deleted + len(self._acknowledged) - came)


def contents_of(session: Session, keys: Iterable[int]) -> Contents:
    """What a database holds of these orders."""
    session.run(["CREATE TEMPORARY TABLE IF NOT EXISTS plimsoll_asked (orderkey BIGINT)", "DELETE FROM plimsoll_asked"])
    session.copy("plimsoll_asked", [b"".join(b"%d\n" % key for key in keys)])
    prices: dict[Any, Any] = dict(session.run(["SELECT o_orderkey, o_totalprice FROM orders JOIN plimsoll_asked ON o_orderkey = orderkey"]))
    items = session.run(
        ["SELECT l_orderkey, count(*), sum(l_extendedprice) FROM lineitem JOIN plimsoll_asked ON l_orderkey = orderkey GROUP BY l_orderkey"]
    )
    orders: dict[int, Order] = {int(key): (Decimal(price), 0, Decimal(0)) for key, price in prices.items()}
    for key, count, total in items:
        # An order without its own row has the price -1, which none has.
        orders[int(key)] = (orders.get(int(key), (Decimal(-1), 0, Decimal(0)))[0], int(count), Decimal(total))
    return Contents(Sets.of(session), orders)


def _state(scale: float, refresh: Refresh, orders: Mapping[int, Order]) -> Literal["done", "undone", "half"]:
    keys = _keys(scale, refresh)
    there = [key for key in keys if key in orders]
    if refresh.op == "rf1":
        drawn = _drawn(scale, refresh.number)
        if not there:
            return "undone"
        return "done" if all(orders.get(key) == drawn[key] for key in keys) else "half"
    if not there:
        return "done"
    whole = len(there) == len(keys) and all(orders[key][0] >= 0 and orders[key][1] > 0 for key in there)
    return "undone" if whole else "half"


def _keys(scale: float, refresh: Refresh) -> Sequence[int]:
    return list(_drawn(scale, refresh.number)) if refresh.op == "rf1" else _deleted(scale, refresh.number)


@lru_cache(maxsize=2 * data.REFRESH_SETS)
def _drawn(scale: float, number: int) -> Mapping[int, Order]:
    """The orders that a set brings."""
    rows = data.refresh(scale, number)
    prices = {int(fields[0]): Decimal(fields[3]) for fields in _fields(rows.orders)}
    counts, totals = dict.fromkeys(prices, 0), dict.fromkeys(prices, Decimal(0))
    for fields in _fields(rows.lineitem):
        counts[int(fields[0])] += 1
        totals[int(fields[0])] += Decimal(fields[5])
    return {key: (price, counts[key], totals[key]) for key, price in prices.items()}


@lru_cache(maxsize=2 * data.REFRESH_SETS)
def _deleted(scale: float, number: int) -> Sequence[int]:
    return tuple(data.refresh(scale, number).deletes)


def _fields(text: bytes) -> Iterable[list[str]]:
    return (line.split("\t") for line in text.decode().splitlines())
