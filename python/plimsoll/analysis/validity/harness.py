"""The flag about Plimsoll's own work beside a database: processor time, or turns, that the database could have had.

Model: `OWN_SHARE_MAX` is the limit of every share of time that is ours. Of decision support it is a share of one processor; of order entry
one of all processors, and of an engine in the same process also how much faster transactions would be without us.
Limits: what the guard and the sampler of the host take is in the processor time of the process, and counted as ours.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from plimsoll.analysis.decision import runs
from plimsoll.analysis.point import transactions
from plimsoll.analysis.validity.evidence import Evidence
from plimsoll.analysis.validity.severity import of_shift
from plimsoll.result import Flag

#: The share of processors or of time that Plimsoll may take beside a database, and of one thread that serves every terminal.
OWN_SHARE_MAX, BUSY_MAX = 0.10, 0.80
#: The share of their time that terminals may wait for requests.
STARVED_MAX = 0.01


def harness_share(evidence: Evidence) -> Iterator[Flag]:
    """Plimsoll itself took what the database could have used."""
    yield from _of_queries(evidence)
    yield from _of_transactions(evidence)


def _of_queries(evidence: Evidence) -> Iterator[Flag]:
    """Of one processor, since a query may have no more than one for itself."""
    share = (runs.section(evidence.result) or {}).get("own_cpu_share")
    if isinstance(share, (int, float)) and share > OWN_SHARE_MAX:
        yield Flag(
            "harness_share",
            "doubt",
            f"Plimsoll itself used {share:.0%} of one processor beside the engine (limit {OWN_SHARE_MAX:.0%}).",
            "Ask for a larger --scale, so that queries take longer, or run fewer streams.",
        )


def _of_transactions(evidence: Evidence) -> Iterator[Flag]:
    """Of this host's processors, of the thread that serves terminals, of the time of transactions, or of idle terminals."""
    found, engine = transactions.section(evidence.result.engine) or {}, evidence.result.engine
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
            "Plimsoll's thread for the terminals was busy all the time: Plimsoll, not the database, may have set the rate.",
            "Read the rate as a lower bound.",
        )
    elif (idle := _starved(found)) > STARVED_MAX:
        yield Flag(
            "harness_share",
            of_shift(idle),
            f"Terminals were idle for {idle:.1%} of their time because Plimsoll had not drawn their next requests yet.",
            "Read the rate as a lower bound; use a host with more processors.",
        )


def _slower(found: Mapping[str, Any], inside: float) -> float:
    """The share of the time of transactions, without that of waiting for a turn, that was ours."""
    waits = found.get("waits") or {}
    processor, storage = float(waits.get("processor") or 0.0), float(waits.get("storage") or 0.0)
    return inside * processor / (processor + storage) if processor + storage else 0.0


def _starved(found: Mapping[str, Any]) -> float:
    """The share of the terminals' time in which they had no request."""
    all_ns = float(found.get("watched_s") or 0.0) * 1e9 * int((found.get("stream") or {}).get("terminals") or 0)
    return float(found.get("starved_ns") or 0) / all_ns if all_ns else 0.0
