"""What a stream of ours does, as other tools state it: shares of reads and writes, how much is random, whether it waits for answers.

Model: an access specification of several lines is stated as a whole, its lines weighted.

    shares({"read_percent": 70})        # (70.0, 30.0, 0.0)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plimsoll.stored import Json


def is_open(stream: Mapping[str, Any]) -> bool:
    """Whether requests are due whatever the target does, so that latency and service time differ."""
    return bool(stream.get("arrival", "closed") != "closed")


def shares(stream: Mapping[str, Any]) -> tuple[float, float, float]:
    """Percent of requests that read, write and discard; of the whole of an access specification, weighted."""
    entries = stream.get("access") or [stream]
    weights = [float(entry.get("weight", 1)) for entry in entries]
    reads, writes, trims = (
        sum(weight * float(_share(entry, op)) for weight, entry in zip(weights, entries, strict=True)) / sum(weights)
        for op in ("read", "write", "trim")
    )
    return reads, writes, trims


def random_percent(stream: Mapping[str, Any]) -> float:
    """Percent of requests that go to a random address; of an access specification, of its largest line."""
    entries = stream.get("access") or [stream]
    return max(float(entry.get("random_percent", 100)) for entry in entries)


def _share(entry: Json, op: str) -> float:
    given = entry.get(f"{op}_percent")
    if given is not None:
        return float(given)
    others = sum(float(entry.get(f"{other}_percent") or 0) for other in ("read", "write", "trim", "flush") if other != op)
    if op == "read":
        return 100.0 - others
    return 100.0 - others if op == "write" and entry.get("read_percent") is not None else 0.0
