"""Prices as they are typed: ``--price A=288751``, or a price list in a TOML file, and which side each is of.

Model: SIDE is what the side is called, by its name, its run's label or its target; it may be left out where there is one side. An amount
may have a currency and separators of thousands. A price list has items; their amounts, each as often as its ``count``, are summed. What a
run was given when it was measured stands in its run.json, and holds until another price is typed.

    # array-a.toml
    currency = "USD"
    years = 3

    [[item]]
    name = "Array with 24 drives"
    amount = 221000

    [[item]]
    name = "Server"
    amount = 33875.50
    count = 2

    typed_prices(["A=288,751 USD", "B=array-b.toml"])
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping, Sequence
from string import ascii_uppercase
from typing import Any

from plimsoll.analysis.comparison.sides import Side
from plimsoll.analysis.objective.judgement import Objective
from plimsoll.analysis.price.per_unit import Prices, prices
from plimsoll.analysis.price.price import SYMBOLS, Item, Price
from plimsoll.displayed import quoted
from plimsoll.errors import InputError
from plimsoll.near import meant
from plimsoll.points.sides import every_side, objectives
from plimsoll.store.reader import StoredRun
from plimsoll.stored import Run, StoredPrice

#: What sides cost, as a function is told: one price, several texts, or a table from sides to amounts and files.
PriceWords = str | float | Sequence[str] | Mapping[str, str | float]

_NUMBER = r"(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(?:\.[0-9]+)?"
_AMOUNT = re.compile(rf"\s*([{SYMBOLS}]|[A-Z]{{3}}\b)?\s*({_NUMBER})\s*([{SYMBOLS}]|[A-Z]{{3}})?\s*")
#: More than any array costs, and exact to the cent.
_AMOUNT_MAX = 1e12
_YEARS_MAX = 100
_COUNT_MAX = 1_000_000
_ADVICE = "write for example A=288751, 'A=288,751 USD' or A=prices.toml"
_KEYS = ("currency", "years", "item")
_ITEM_KEYS = ("name", "amount", "count")


def price_texts(price: PriceWords) -> tuple[str, ...]:
    """Prices as they are typed."""
    if isinstance(price, Mapping):
        return tuple(f"{side}={amount}" for side, amount in price.items())
    return (str(price),) if isinstance(price, str | int | float) else tuple(price)


def typed_prices(texts: Sequence[str]) -> dict[str, Price]:
    """Each price by the side that was typed, ``""`` where none was; raises `InputError` for what is no price."""
    found: dict[str, Price] = {}
    for text in texts:
        side, _, price = text.rpartition("=")
        side = side.strip()
        if side in found:
            again = f"{quoted(side)} has two prices" if side else "two prices without a side are given"
            raise InputError(f"--price {text}: {again}; give one for each side, SIDE=AMOUNT.")
        found[side] = read_price_list(price.strip()) if price.strip().lower().endswith(".toml") else _amount(text, price)
    return found


def priced_sides(typed: Mapping[str, Price], names: Sequence[Sequence[str]], option: str = "--price") -> dict[int, Price]:
    """Each price by the position of its side; ``names`` are what every side can be called. Of several sides the first is A and the second B
    too, unless one has that for its name. Raises `InputError` for another name."""
    found: dict[int, Price] = {}
    for side, price in typed.items():
        if not side and len(names) > 1:
            raise InputError(f"{option}: there are {len(names)} sides, {_listed(names)}; write {option} {names[0][0]}=AMOUNT.")
        places = [position for position, known in enumerate(names) if not side or side in known]
        if not places and len(names) > 1 and side in tuple(ascii_uppercase[: len(names)]):
            places = [ascii_uppercase.index(side)]
        if not places:
            raise InputError(f"{option} {side}=…: no side is called {quoted(side)}; there are {_listed(names)}.")
        if places[0] in found:
            raise InputError(f"{option} {side}=…: {quoted(names[places[0]][0])} has a price already; give one for each side.")
        found[places[0]] = price
    return found


def side_names(side: Side) -> tuple[str, ...]:
    """What a side can be called: its name, and what it was measured on, as that was named."""
    return tuple(dict.fromkeys([side.label, *(result.side for result in side.results), *(result.job.target for result in side.results)]))


def prices_of(sides: Sequence[Side], metas: Mapping[str, Run], texts: Sequence[str], asked: Mapping[str, Objective]) -> Prices | None:
    """What the sides cost, as typed or else as stored with their runs (``metas`` by path); None where nothing is known of it."""
    typed = priced_sides(typed_prices(texts), [side_names(side) for side in sides])
    found: dict[str, Price] = {}
    for position, side in enumerate(sides):
        of_run = sum(other.run == side.run for other in sides)
        price = typed.get(position) or _stored(
            side, (metas[side.run].get("prices") if side.run in metas else None) or {}, alone=of_run == 1
        )
        if price is not None:
            found[side.label] = price
    return prices(sides, found, asked) if found else None


def prices_of_runs(runs: Sequence[StoredRun], texts: Sequence[str] = ()) -> Prices | None:
    """What every side of stored runs costs, as typed or as they have it; None where nothing is known of it."""
    if not texts and not any(run.meta.get("prices") for run in runs):
        return None
    return prices_of(every_side(runs), {run.path: run.meta for run in runs}, texts, objectives(runs, None))


def priced_points(runs: Sequence[StoredRun], texts: Sequence[str] = ()) -> dict[tuple[str, str], dict[str, str | float | None]]:
    """What the table of results says of prices (`plimsoll.tables.points.PRICES`), by the path of a run and the id of its point."""
    prices = prices_of_runs(runs, texts)
    if prices is None:
        return {}
    of_load = {(row.side, row.headline.load): row for row in prices.rows}
    found: dict[tuple[str, str], dict[str, str | float | None]] = {}
    for side in every_side(runs):
        price = prices.by_side.get(side.label)
        if price is None:
            continue
        for result in side.results:
            row = of_load.get((side.label, (result.place.get("experiment", ""), result.job.workload)))
            found[side.run, result.id] = {
                "price": price.amount,
                "currency": prices.currency or None,
                "price_per_unit": None if row is None else row.per_unit,
                "priced_unit": None if row is None else row.headline.unit,
            }
    return found


def to_store(texts: Sequence[str], names: Sequence[Sequence[str]]) -> dict[str, StoredPrice]:
    """The prices of a run that is to begin, by the first name of each of its sides."""
    return {names[position][0]: price.to_json() for position, price in priced_sides(typed_prices(texts), names).items()}


def read_price_list(path: str) -> Price:
    """The price that a TOML file lists; raises `InputError` with the place of what is wrong in it."""
    import tomllib

    try:
        with open(path, "rb") as file:
            document = tomllib.load(file)
    except OSError as problem:
        raise InputError(f"{path}: the price list cannot be read ({(problem.strerror or str(problem)).lower()}).") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise InputError(f"{path}: not TOML ({str(problem)[:1].lower()}{str(problem)[1:]}).") from None
    _check_keys(document, _KEYS, path)
    items = document.get("item")
    if not isinstance(items, list) or not items or not all(isinstance(item, dict) for item in items):
        raise InputError(f'{path}: a price list has items; write [[item]] and below it name = "Array" and amount = 221000.')
    currency = document.get("currency", "")
    if not isinstance(currency, str) or (currency and not re.fullmatch(rf"[A-Z]{{3}}|[{SYMBOLS}]", currency)):
        raise InputError(f"{path}: currency is {quoted(currency)}; write its three letters, for example USD or EUR.")
    years = (
        None
        if "years" not in document
        else _number(document["years"], f"{path}: years", "a number of years above 0, for example 3", _YEARS_MAX)
    )
    listed = Price.of_items([_item(item, f"{path}: item {number}") for number, item in enumerate(items, 1)], currency, years)
    if not 0 < listed.amount <= _AMOUNT_MAX:
        raise InputError(f"{path}: the items cost {listed.amount:,.2f} together; a price is above 0 and at most {_AMOUNT_MAX:,.0f}.")
    return listed


def _item(item: Mapping[str, Any], where: str) -> Item:
    _check_keys(item, _ITEM_KEYS, where)
    name = item.get("name")
    if not isinstance(name, str) or not name.strip():
        raise InputError(f"{where}: name is {quoted(name) if 'name' in item else 'missing'}; write what is bought.")
    if "amount" not in item:
        raise InputError(f"{where} ({name}): amount is missing; write what one costs, for example amount = 221000.")
    amount = _number(item["amount"], f"{where} ({name}): amount", "what one costs, for example 221000 or 33875.50", _AMOUNT_MAX, least=0)
    count = item.get("count", 1)
    if not isinstance(count, int) or isinstance(count, bool) or not 1 <= count <= _COUNT_MAX:
        raise InputError(f"{where} ({name}): count is {quoted(count)}; write how many are bought, a whole number from 1.")
    return Item(name, amount, count)


def _number(value: Any, where: str, right: str, most: float, least: float | None = None) -> float:
    """A number above 0, or from ``least`` on."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    if not is_number or value > most or (value <= 0 if least is None else value < least):
        raise InputError(f"{where} is {quoted(value)}; write {right}.")
    return float(value)


def _check_keys(table: Mapping[str, Any], known: Sequence[str], where: str) -> None:
    for key in table:
        if key not in known:
            raise InputError(f"{where}: key {quoted(key)} is not known; {meant(key, known)}")


def _amount(text: str, price: str) -> Price:
    found = _AMOUNT.fullmatch(price)
    if found is None or (found[1] and found[3]):
        if os.path.exists(price):
            raise InputError(f"--price {text}: a price list is a TOML file, and {quoted(price)} does not end in .toml.")
        raise InputError(f"--price {text}: {quoted(price)} is no price; {_ADVICE}.")
    amount = float(found[2].replace(",", ""))
    if not 0 < amount <= _AMOUNT_MAX:
        raise InputError(f"--price {text}: a price is above 0 and at most {_AMOUNT_MAX:,.0f}.")
    return Price(amount, found[1] or found[3] or "")


def _stored(side: Side, stored: Mapping[str, StoredPrice], *, alone: bool) -> Price | None:
    """The price that the run of a side has for it."""
    own = next((stored[name] for name in side_names(side) if name in stored), None)
    if own is None and alone and len(stored) == 1:
        own = next(iter(stored.values()))
    return None if own is None else Price.of_stored(own)


def _listed(names: Sequence[Sequence[str]]) -> str:
    return ", ".join(quoted(own[0]) for own in names)
