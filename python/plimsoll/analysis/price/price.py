"""A price: an amount, in a currency, for so many years, with the items that it is the sum of.

Price(288751.0, "USD", years=3.0).words()          # "288,751 USD for 3 years"
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal

from plimsoll.decision.metrics import rounded
from plimsoll.records import dataclass
from plimsoll.stored import PriceItem, StoredPrice

#: Symbols stand before an amount, names of currencies behind it.
SYMBOLS = "$€£¥"
#: Amounts from here on have two decimals, as on an invoice; smaller ones three digits that count.
_CENTS_FROM = 0.1
_DIGITS = 3


@dataclass(frozen=True)
class Item:
    """A line of a price list: ``amount`` is that of one piece."""

    name: str
    amount: float
    count: int = 1


@dataclass(frozen=True)
class Price:
    """``currency`` is empty, and ``years`` None, where nobody said them."""

    amount: float
    currency: str = ""
    years: float | None = None
    items: tuple[Item, ...] = ()

    @classmethod
    def of_items(cls, items: Sequence[Item], currency: str = "", years: float | None = None) -> Price:
        """The sum of a list."""
        return cls(math.fsum(item.amount * item.count for item in items), currency, years, tuple(items))

    @classmethod
    def of_stored(cls, value: StoredPrice) -> Price:
        """As a run has it."""
        items = tuple(Item(item["name"], float(item["amount"]), int(item["count"])) for item in value.get("items") or [])
        years = value.get("years")
        return cls(float(value["amount"]), value.get("currency") or "", None if years is None else float(years), items)

    def to_json(self) -> StoredPrice:
        """As a run and a comparison store it."""
        items: list[PriceItem] = [{"name": item.name, "amount": item.amount, "count": item.count} for item in self.items]
        return {"amount": self.amount, "currency": self.currency, "years": self.years, "items": items}

    def words(self) -> str:
        """For people."""
        whole = f"{self.amount:,.0f}" if self.amount == int(self.amount) else money(self.amount)
        return f"{in_currency(whole, self.currency)}{f' for {years_text(self.years)}' if self.years else ''}"


def money(amount: float) -> str:
    """An amount as a bill has it: ``24.23``; what is far below one keeps its digits: ``0.00123``."""
    if amount >= _CENTS_FROM or amount <= 0:
        return f"{rounded(amount, 2):,}"
    return f"{rounded(amount, _DIGITS - 1 - Decimal(repr(amount)).adjusted()):f}"


def in_currency(amount: str, currency: str) -> str:
    """``$24.23``, ``24.23 USD``, or the amount alone."""
    if not currency:
        return amount
    return f"{currency}{amount}" if currency in SYMBOLS else f"{amount} {currency}"


def years_text(years: float) -> str:
    """``3 years``."""
    return "1 year" if years == 1 else f"{years:g} years"
