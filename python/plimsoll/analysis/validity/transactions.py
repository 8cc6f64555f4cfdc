"""Flags about order entry: data that are not consistent, a harness that costs, tables that are not those of the specification.

Model: the driver's section of the outcome says what was asked for and found; the thresholds are here. How much Plimsoll itself costs is its
processor time over that of all processors; of an engine in the same process also how much faster transactions would be without it.
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

#: The share of all processors that Plimsoll may take beside the database, and of one thread that serves every terminal.
OWN_SHARE_MAX, BUSY_MAX = 0.10, 0.80
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


def harness_share(evidence: Evidence) -> Iterator[Flag]:
    """Plimsoll itself took processor time that the database could have used."""
    found, engine = _orders(evidence), evidence.result.engine
    cpus = (evidence.result.host.get("cpu") or {}).get("usable")
    used, end_ns = sum((engine.get("cpu_ns") or {}).values()), engine.get("end_ns") or 0
    if not found or not isinstance(cpus, int) or not cpus or not end_ns:
        return
    inside = found.get("own_share")
    share = used * (1.0 if inside is None else float(inside)) / (cpus * end_ns)
    if share > OWN_SHARE_MAX:
        yield Flag(
            "harness_share",
            "doubt",
            f"Plimsoll itself used {share:.0%} of this host's processors (limit {OWN_SHARE_MAX:.0%}).",
            "Use a host with more processors, or a server on another host. Read the rate as a lower bound.",
        )
    elif inside is not None and (slower := _slower(found, float(inside))) > OWN_SHARE_MAX:
        yield Flag(
            "harness_share",
            of_shift(slower),
            f"{slower:.0%} of the time of transactions was Plimsoll's own work between statements (limit {OWN_SHARE_MAX:.0%}).",
            "Read latencies as upper bounds; compare only results of the same host. On slower storage the share is smaller.",
        )
    elif inside is None and float(found.get("loop_cpu_ns") or 0) > BUSY_MAX * end_ns:
        yield Flag(
            "harness_share",
            "doubt",
            "The thread that serves the terminals was busy all the time: Plimsoll, not the database, may have set the rate.",
            "Read the rate as a lower bound.",
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


def _slower(found: Mapping[str, Any], inside: float) -> float:
    """The share of the time of transactions, without that of waiting for a turn, that was ours."""
    waits = found.get("waits") or {}
    processor, storage = float(waits.get("processor") or 0.0), float(waits.get("storage") or 0.0)
    return inside * processor / (processor + storage) if processor + storage else 0.0
