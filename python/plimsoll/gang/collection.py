"""What hosts of a run measured, brought together after its command was killed: copies first, then the points of all as one.

Model: run.json names the gang and where each host keeps its run. Every point that a host has stored is copied into the run's directory, as
it would have been; a point that all hosts have ended and the command has not is made of theirs: intervals are added up and judged by the
same code as in a run. Collecting twice changes nothing, and a host that still measures is left to its point.
Limits: what a host stores is read where it is, over ssh when that is elsewhere (`plimsoll.gang.remote_remains`). Offsets of clocks are
those that were estimated before the start.

    collect(open_run("latest"))        # Collected(points=3, made=1, going_on=())
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Protocol

from plimsoll.analysis.hosts.together import Together
from plimsoll.analysis.point.definition import drawn_by_stream
from plimsoll.analysis.point.observation import Observation
from plimsoll.analysis.point.summary import Summary
from plimsoll.analysis.validity.conclusion import conclude
from plimsoll.errors import InputError, StoreError
from plimsoll.gang.copies import fetch
from plimsoll.gang.course import summed_outcome
from plimsoll.gang.local_remains import LocalRemains
from plimsoll.gang.skew import skew_of
from plimsoll.result import HostResult, Result, Status
from plimsoll.store.reader import StoredPoint, StoredRun, open_run
from plimsoll.store.writer import PointWriter


@dataclass(frozen=True)
class Collected:
    """``points`` copies of hosts' points are new, ``made`` points of all hosts; ``going_on`` are hosts that still measure, ``missing`` are
    those whose store is not there."""

    points: int
    made: int
    going_on: tuple[str, ...]
    missing: tuple[str, ...]


def gang_of(run: StoredRun) -> dict[str, Any]:
    """What run.json says of the hosts; raises `InputError` for a run of one host."""
    gang = run.meta.get("gang")
    if not gang:
        raise InputError(f"{run.name} was measured by this host alone, so there is nothing to collect.")
    return gang


class Store(Protocol):
    """What one host stored of a gang that nobody commands any more."""

    def runs(self) -> list[str]:
        """The runs, as paths from where it stores."""

    def points(self, run: str) -> list[str]:
        """The names of its points."""

    def is_measuring(self, run: str) -> bool:
        """Whether who writes the run still does."""

    def files(self, path: str) -> list[tuple[str, int]]:
        """The files in a directory, with their sizes."""

    def piece(self, path: str, offset: int) -> str:
        """A piece of one of them, in base64."""

    def forget(self) -> None:
        """It has been collected."""


def collect(run: StoredRun, stores: Mapping[str, Store] | None = None) -> Collected:
    """Bring what the hosts of ``run`` stored into its directory. Raises `StoreError` where it cannot be kept."""
    if run.status == "running":
        raise InputError(f"{run.name} is still being measured; its command collects by itself.")
    hosts: list[str] = list(gang_of(run)["stores"])
    if stores is None:
        stores = {host: LocalRemains(store) for host, store in gang_of(run)["stores"].items()}
    copied, going_on, missing = 0, [], []
    for host in hosts:
        theirs = stores[host].runs() if host in stores else []
        if not theirs:
            if not os.path.isdir(os.path.join(run.path, "hosts", host)):
                missing.append(host)
            continue
        if stores[host].is_measuring(theirs[-1]):
            going_on.append(host)
        copied += _copied(stores[host], theirs[-1], os.path.join(run.path, "hosts", host))
    made = sum(_made(run, point, hosts) for point in run.points) if not going_on else 0
    if not going_on and not missing:
        for store in stores.values():
            store.forget()
    return Collected(copied, made, tuple(going_on), tuple(missing))


def _copied(store: Store, run: str, into: str) -> int:
    """How many points of a host are new here."""

    def call(verb: str, *arguments: Any) -> Any:
        return getattr(store, verb)(*arguments)

    new = 0
    for point in store.points(run):
        path = os.path.join(run, "points", point)
        ended = os.path.join(into, "points", point, "result.json")
        if not os.path.exists(ended) and any(name == "result.json" for name, _ in store.files(path)):
            fetch(call, path, into)
            new += 1
    return new


def _made(run: StoredRun, point: StoredPoint, hosts: list[str]) -> int:
    """Whether the point of all hosts was made of theirs: it had not ended, and all of theirs are here."""
    if os.path.exists(os.path.join(point.path, "result.json")):
        return 0
    parts: dict[str, StoredPoint] = {}
    for host in hosts:
        path = os.path.join(run.path, "hosts", host)
        with suppress(InputError, StoreError):
            # A host that was ended before it began with the point has none of it.
            for part in open_run(path).points:
                if part.id == point.id:
                    parts[host] = part
    if parts.keys() != set(hosts):
        return 0
    results = {host: part.result for host, part in parts.items()}
    together, summary, observation = Together(hosts), *_accounts(point.result)
    with suppress(OSError):
        os.unlink(os.path.join(point.path, "intervals.jsonl"))
    with PointWriter(point.path) as writer:
        for host, part in parts.items():
            told = [one for interval in part.intervals() for one in together.add(host, interval)] + together.leave(host)
            for interval in told:
                writer.interval(interval)
                summary.add(interval)
                observation.add(interval)
        writer.finish(conclude(_ended(point.result, results), summary, observation))
    return 1


def _accounts(skeleton: Result) -> tuple[Summary, Observation]:
    drawn = drawn_by_stream(skeleton.job.definition)
    return Summary(drawn), Observation(drawn)


def _ended(skeleton: Result, results: Mapping[str, Result]) -> Result:
    """The point as it ended on all hosts."""
    failed = {host: result.error for host, result in results.items() if result.status == "failed"}
    statuses = {result.status for result in results.values()}
    whole: Status = "failed" if failed else "complete" if statuses == {"complete"} else "interrupted"
    error = "; ".join(f"{host}: {why}" for host, why in failed.items()) or (
        None if whole == "complete" else "Not every host came to the end."
    )
    empty = replace(skeleton, totals={}, streams={}, parts={}, errors={}, flags=[], estimates={}, outstanding={})
    hosts = [host_result(host, result, skeleton.id) for host, result in results.items()]
    return replace(empty, status=whole, error=error, engine=summed_outcome([result.engine for result in results.values()]), hosts=hosts)


def host_result(host: str, result: Result, point: str) -> HostResult:
    """What a host's own result says of its part."""
    start: Any = result.engine.get("start") or {}
    skew = skew_of(start)
    return HostResult(
        name=host,
        status=result.status,
        error=result.error if result.status == "failed" else None,
        totals=result.totals,
        offset_ns=start.get("offset_ns"),
        offset_bound_ns=start.get("offset_bound_ns"),
        skew_ns=skew.ns,
        skew_unknown=skew.unknown,
        target=result.job.target,
        touches=start.get("touches"),
        point=f"hosts/{host}/points/{point}",
        flags=result.flags,
    )
