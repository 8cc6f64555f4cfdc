"""Flags about order entry: data that are not consistent, tables that are not those of the specification.

Model: the driver's section of the outcome says what was asked for and found; the thresholds are here.
Limits: what does not fit the specification is told of, and the figures stay what they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from plimsoll.analysis.point.transactions import inconsistency, section
from plimsoll.analysis.validity.evidence import Evidence
from plimsoll.analysis.validity.severity import of_shift
from plimsoll.result import Flag
from plimsoll.units import binary

#: Terminals of a warehouse in the specification.
TERMINALS = 10
_CUSTOMERS, _ITEMS = 3_000, 100_000
RETRIED_MAX = 0.01
#: Tables that have grown by more are another load than those of the first point.
GROWN_MAX = 2.0


def inconsistent(evidence: Evidence) -> Iterator[Flag]:
    """A condition of consistency does not hold."""
    said = inconsistency(evidence.result.engine)
    if said is not None:
        yield Flag(
            "wrong_data",
            "invalid",
            f"{said[:1].upper()}{said[1:]}",
            "Do not use these figures: the engine, its storage or somebody else changed the data. Keep target and run as evidence.",
        )


def small_tables(evidence: Evidence) -> Iterator[Flag]:
    """The tables are smaller than specified."""
    stream = _orders(evidence).get("stream") or {}
    customers, items = stream.get("customers", _CUSTOMERS), stream.get("items", _ITEMS)
    if customers < _CUSTOMERS or items < _ITEMS:
        yield Flag(
            "small_tables",
            "doubt",
            f"A district has {customers:,} customers and there are {items:,} items; the specification has {_CUSTOMERS:,} and {_ITEMS:,}.",
            "Leave customers and items out, except for trials.",
        )


def crowded_warehouses(evidence: Evidence) -> Iterator[Flag]:
    """More terminals than the specification lets work at a warehouse."""
    stream = _orders(evidence).get("stream") or {}
    terminals, warehouses = int(stream.get("terminals") or 0), int(stream.get("warehouses") or 1)
    if terminals > TERMINALS * warehouses:
        yield Flag(
            "crowded_warehouses",
            "note",
            f"{terminals:,} terminals worked at {warehouses:,} warehouses, more than the {TERMINALS} each of the specification: "
            "they meet at the same rows.",
            f"For the storage's own limit, use {-(-terminals // TERMINALS):,} warehouses or more.",
        )


def tables_in_memory(evidence: Evidence) -> Iterator[Flag]:
    """The tables fit into memory, so that nothing but writing asks the storage."""
    size = _orders(evidence).get("size_bytes")
    memory = (evidence.result.host.get("memory") or {}).get("total_bytes")
    if isinstance(size, int) and isinstance(memory, int) and size <= memory and evidence.moves_data:
        yield Flag(
            "tables_in_memory",
            "note",
            f"The tables take {binary(size)} and fit into the memory of this host ({binary(memory)}): storage was asked for writes, hardly "
            "for reads.",
            f"To read from storage as well, use {max(2, 2 * memory // 100_000_000):,} warehouses or more.",
        )


def conflicts(evidence: Evidence) -> Iterator[Flag]:
    """Many transactions had to be tried again."""
    retries = _orders(evidence).get("retries") or {}
    again, done = sum(retries.values()), evidence.count
    if done and again > RETRIED_MAX * done:
        listed = ", ".join(f"{count:,} × {why}" for why, count in retries.items())
        yield Flag(
            "conflicts",
            of_shift(again / done),
            f"Transactions were tried again {again:,} times ({listed}), beside {done:,} that were completed.",
            "Use more warehouses or fewer terminals. Latencies include every try.",
        )


def grown_tables(evidence: Evidence) -> Iterator[Flag]:
    """Points before this one entered so many orders that the tables are others than in the beginning."""
    found = _orders(evidence)
    stream, before = found.get("stream") or {}, found.get("orders_before")
    first = 10 * int(stream.get("customers") or 0) * int(stream.get("warehouses") or 0)
    if first and isinstance(before, int) and before > GROWN_MAX * first:
        yield Flag(
            "grown_tables",
            "note",
            f"The tables held {before:,} orders when the point began, {before / first:.1f} times as many as when they were filled.",
            "For points that begin alike, use more warehouses or shorter points.",
        )


def _orders(evidence: Evidence) -> Mapping[str, Any]:
    return section(evidence.result.engine) or {}
