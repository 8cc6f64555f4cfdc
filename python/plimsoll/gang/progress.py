"""How far each host is while a point goes on: for who looks on, and at no cost to who measures.

Model: what a host tells changes its entry; all entries are told together, at once where a state changed, else at most so often that people
see it move.

    progress = Progress(["db1", "db2"], on_event)
    progress.interval("db1", interval)
    progress.put("db2", "lost", "lost 3.2 s after the start: its worker was killed by SIGKILL")
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from plimsoll.engine.protocol import OnEvent
from plimsoll.stored import HostAt, Interval

#: Figures are told at most so often.
_EVERY_S = 0.25


class Progress:
    """See the module."""

    def __init__(self, hosts: Sequence[str], on_event: OnEvent) -> None:
        self._hosts = {host: _beginning(host) for host in hosts}
        self._on_event = on_event
        self._told_s = 0.0

    def interval(self, host: str, interval: Interval) -> None:
        """A host has told an interval."""
        known = self._hosts[host]
        began = known["state"] != "measuring"
        lasted_s = (interval["end_ns"] - interval["start_ns"]) / 1e9
        entries = list(interval.get("summary", {}).values())
        known["state"], known["passed_s"] = "measuring", interval["end_ns"] / 1e9
        if lasted_s > 0 and interval["phase"] != "drain":
            counts = [entry["count"] for entry in entries]
            done = sum(counts)
            known["per_s"], known["bytes_per_s"] = done / lasted_s, sum(entry.get("bytes") or 0 for entry in entries) / lasted_s
            means = sum(number * (entry.get("mean_ns") or 0.0) for number, entry in zip(counts, entries, strict=True))
            known["mean_ns"] = means / done if done else None
        if began or time.monotonic() >= self._told_s + _EVERY_S:
            self.tell()

    def put(self, host: str, state: str, why: str | None = None) -> None:
        """A host is in another state; one that is not well has no rate."""
        known = self._hosts[host]
        known["state"], known["why"] = state, why
        if why is not None:
            known["per_s"] = known["bytes_per_s"] = known["mean_ns"] = None
        self.tell()

    def tell(self) -> None:
        """Tell how all are now."""
        self._told_s = time.monotonic()
        self._on_event("hosts", {"hosts": [known.copy() for known in self._hosts.values()]})


def _beginning(host: str) -> HostAt:
    return {"name": host, "state": "getting ready", "why": None, "passed_s": 0.0, "per_s": None, "bytes_per_s": None, "mean_ns": None}
