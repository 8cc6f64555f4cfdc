"""The price of one unit of each side's headline, side by side.

Model: price over headline, so less is better; the interval is that of the headline, turned round. The first side that has a price is what
the others are compared with. Prices of different currencies are not compared.
Limits: the ratio of two prices per unit is as sure as the figures it is made of; what a comparison shows of these, its verdicts say.

    prices(sides, {"A": Price(288751.0), "B": Price(254586.0)}, {}).rows[0].per_unit
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TypedDict

from plimsoll.analysis.comparison.comparison import ComparisonView
from plimsoll.analysis.comparison.sides import Side
from plimsoll.analysis.objective.judgement import Objective
from plimsoll.analysis.point.metric import one_of
from plimsoll.analysis.price.headline import Headline, headlines
from plimsoll.analysis.price.price import Price, in_currency, money, years_text
from plimsoll.displayed import quoted
from plimsoll.errors import InputError
from plimsoll.near import listed
from plimsoll.records import dataclass
from plimsoll.stored import StoredPrice


class PricedView(TypedDict):
    """The price per unit of one side's headline for one load."""

    side: str
    #: Whether the side has results of a model.
    modelled: bool
    experiment: str
    workload: str
    title: str
    #: What the headline is: a mark at its objective, a rate, or what a driver calls it.
    figure: str
    #: What one of it is called: IOPS, MB/s, composite@SF.
    unit: str
    #: In that unit; null where the side holds no level.
    value: float | None
    low: float | None
    high: float | None
    #: No level failed, so that the value may be higher and the price per unit lower.
    at_least: bool
    per_unit: float | None
    per_unit_low: float | None
    per_unit_high: float | None
    #: Price per unit over that of the first side with a price: less is better.
    ratio: float | None


class SidePrice(TypedDict):
    """What a side costs."""

    side: str
    price: StoredPrice


class PricesView(TypedDict):
    """What sides cost, as ``--json`` and the page have it."""

    currency: str
    prices: list[SidePrice]
    rows: list[PricedView]
    findings: list[str]
    notes: list[str]


class PricedComparisonView(ComparisonView, total=False):
    """A comparison, with what its sides cost where that is known."""

    prices: PricesView


@dataclass(frozen=True)
class Priced:
    """One side's headline with its price."""

    side: str
    modelled: bool
    price: Price
    headline: Headline
    #: Over the price per unit of the first side that has one.
    ratio: float | None

    @property
    def per_unit(self) -> float | None:
        """What one unit costs."""
        return _over(self.price, self.headline.value)

    def to_json(self) -> PricedView:
        """Flat, as pages and programs read it."""
        headline = self.headline
        return {
            "side": self.side,
            "modelled": self.modelled,
            "experiment": headline.load[0],
            "workload": headline.load[1],
            "title": headline.title,
            "figure": headline.figure,
            "unit": headline.unit,
            "value": headline.value,
            "low": headline.low,
            "high": headline.high,
            "at_least": headline.at_least,
            "per_unit": self.per_unit,
            "per_unit_low": _over(self.price, headline.high),
            "per_unit_high": _over(self.price, headline.low),
            "ratio": self.ratio,
        }

    def words(self) -> str:
        """``24.23 USD per composite@300``."""
        if self.per_unit is None:
            return f"no price per {one_of(self.headline.unit)}, since no level was held"
        most = "at most " if self.headline.at_least else ""
        return f"{most}{in_currency(money(self.per_unit), self.price.currency)} per {one_of(self.headline.unit)}"


@dataclass(frozen=True)
class Prices:
    """What each side costs, in all and per unit, and what to know about it."""

    by_side: Mapping[str, Price]
    rows: tuple[Priced, ...]
    notes: tuple[str, ...]
    loads: _Loads

    @property
    def currency(self) -> str:
        """That of all prices."""
        return next((price.currency for price in self.by_side.values() if price.currency), "")

    def of(self, side: str, load: tuple[str, str]) -> Priced | None:
        """What a unit of one load costs on a side; None where the side has no price, or carried nothing of it."""
        key = self.loads.key(load)
        return next((row for row in self.rows if row.side == side and self.loads.key(row.headline.load) == key), None)

    def findings(self) -> list[str]:
        """A sentence for each load: what one unit costs on each side."""
        by_load: dict[tuple[str, str], list[Priced]] = {}
        for row in self.rows:
            by_load.setdefault(self.loads.key(row.headline.load), []).append(row)
        return [_finding(rows, several=len(by_load) > 1) for rows in by_load.values()]

    def to_json(self) -> PricesView:
        """As ``--json`` and the page have it."""
        return {
            "currency": self.currency,
            "prices": [{"side": side, "price": price.to_json()} for side, price in self.by_side.items()],
            "rows": [row.to_json() for row in self.rows],
            "findings": self.findings(),
            "notes": list(self.notes),
        }


def prices(sides: Sequence[Side], by_side: Mapping[str, Price], objectives: Mapping[str, Objective]) -> Prices:
    """Every side that has a price, with what a unit of each of its headlines costs; raises `InputError` for several currencies."""
    _check_currencies(by_side)
    measured = {side.label: headlines(side, objectives) for side in sides if side.label in by_side}
    modelled = {side.label: side.modelled for side in sides}
    loads = _Loads.of(measured)
    first: dict[tuple[str, str, str], float] = {}
    rows = []
    for label, own in measured.items():
        for headline in own:
            each = _over(by_side[label], headline.value)
            key = (*loads.key(headline.load), headline.unit)
            ratio = each / first[key] if each is not None and key in first else None
            if each is not None:
                first.setdefault(key, each)
            rows.append(Priced(label, modelled[label], by_side[label], headline, ratio))
    shown = {label: by_side[label] for label in measured}
    return Prices(shown, tuple(rows), tuple(_notes(sides, shown, rows)), loads)


@dataclass(frozen=True)
class _Loads:
    """What makes loads of several sides the same: the workload, and its experiment where one side measured it in several."""

    repeated: frozenset[str]

    @classmethod
    def of(cls, measured: Mapping[str, Sequence[Headline]]) -> _Loads:
        counted = [Counter(headline.load[1] for headline in own) for own in measured.values()]
        return cls(frozenset(workload for one in counted for workload, times in one.items() if times > 1))

    def key(self, load: tuple[str, str]) -> tuple[str, str]:
        experiment, workload = load
        return (experiment if workload in self.repeated else "", workload)


def _over(price: Price, value: float | None) -> float | None:
    return price.amount / value if value else None


def _check_currencies(by_side: Mapping[str, Price]) -> None:
    named: dict[str, str] = {}
    for side, price in by_side.items():
        if price.currency:
            named.setdefault(price.currency, side)
    if len(named) > 1:
        said = listed([f"{currency} ({side})" for currency, side in named.items()], "and")
        raise InputError(f"prices are in {said}; give all of them in one currency.")


def _finding(rows: Sequence[Priced], *, several: bool) -> str:
    """``A costs 24.23 USD per composite@300; B 30.18 USD per composite@300, 1.25 × as much.``"""
    said = [f"{row.side}{' costs' if not index else ''} {row.words()}{_times(row.ratio)}" for index, row in enumerate(rows)]
    return f"{f'{rows[0].headline.title}: ' if several else ''}{'; '.join(said)}."


def _times(ratio: float | None) -> str:
    return "" if ratio is None else f", {ratio:.2f} × as much" if ratio >= 1 else f", {ratio:.2f} × of that"


def _notes(sides: Sequence[Side], by_side: Mapping[str, Price], rows: Sequence[Priced]) -> list[str]:
    notes = list(dict.fromkeys(row.headline.fair for row in rows if row.headline.fair))
    notes = [f"{fair[:1].upper()}{fair[1:]}." for fair in notes]
    without = [quoted(side.label) for side in sides if side.label not in by_side]
    if without:
        notes.append(f"{listed(without, 'and')} {'has' if len(without) == 1 else 'have'} no price.")
    years = {price.years: side for side, price in by_side.items()}
    if len(years) > 1:
        said = [f"{side} {years_text(price.years) if price.years else 'nobody says how many years'}" for side, price in by_side.items()]
        notes.append(f"The prices cover different times: {listed(said, 'and')}.")
    if any(row.headline.at_least for row in rows):
        notes.append("Where no level failed, the side may carry more than was measured, and a unit of it cost less.")
    return notes
