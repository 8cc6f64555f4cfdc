"""The database of decision support whose streams are on several hosts: loaded and claimed from the host that commands them.

Model: each host's streams are numbered on from those of the host before, so that together they ask what as many streams of one host would.
The metrics are those of all streams: from the first submission to the last end, which count from the instant at which all hosts began.
Limits: hosts' beginnings differ by the skew of the start. What a phase did to the server is as its first client saw it.

    with driver.shared_server(job, on_event, control, count=3) as shared: ...
    shared.section([db1["decision"], db2["decision"]], failed=False)["metrics"]["throughput"]
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from plimsoll.apps.decision.options import QueryOptions
from plimsoll.apps.decision.records import Done, Kept, Whole, figures
from plimsoll.stored import Json


class SharedServer:
    """See the module. ``target`` is where clients reach the database."""

    #: What hosts are told besides where the database is.
    given: Mapping[str, Any] = {}

    #: The section of the outcome that it adds to.
    name = "decision"

    def __init__(self, target: str, count: int, asked: QueryOptions, memory_bytes: int | None) -> None:
        self.target = target
        self._asked = replace(asked, streams=count * asked.streams)
        self._memory_bytes = memory_bytes

    def begin(self, t0_ns: int) -> None:
        """Streams count for themselves."""

    def end(self) -> None:
        """They have ended."""

    def take(self, number: int, fetch: Callable[[str], bool], *, whole: bool) -> None:
        """A host has ended; what it did, it has told."""

    def why(self) -> str | None:
        """Why hosts could not go on: each says that itself."""
        return None

    def section(self, hosts: list[Json], *, failed: bool) -> Json:
        """What all streams did together; a host that ``failed`` leaves no metric, which its queries are lacking for."""
        del failed
        asked = self._asked
        queries, refreshes = ([one for host in hosts for one in host[name]] for name in ("queries", "refreshes"))
        whole = Whole(asked.scale, asked.queries, asked.streams, asked.refresh, asked.spec_rounding)
        return {
            **hosts[0],
            "streams": asked.streams,
            "refresh": asked.refresh,
            "metrics": figures(_kept([*queries, *refreshes]), whole),
            "memory_bytes": self._memory_bytes,
            "own_cpu_share": max(host["own_cpu_share"] for host in hosts),
            "whole": all(host["whole"] for host in hosts),
            "phases": [_phase([host["phases"][place] for host in hosts]) for place in range(min(len(host["phases"]) for host in hosts))],
            "queries": sorted(queries, key=lambda one: one["start_ns"]),
            "refreshes": sorted(refreshes, key=lambda one: one["start_ns"]),
        }


def _kept(records: list[Json]) -> Kept:
    kept = Kept()
    for one in records:
        op = one["refresh"] if "refresh" in one else f"q{one['number']}"
        kept.add(Done(op, one["phase"], one["stream"], one["start_ns"], one["end_ns"], one["rows"]))
    return kept


def _phase(own: list[Json]) -> Json:
    start_ns, end_ns = min(one["start_ns"] for one in own), max(one["end_ns"] for one in own)
    return {**own[0], "start_ns": start_ns, "end_ns": end_ns, "seconds": (end_ns - start_ns) / 1e9}
