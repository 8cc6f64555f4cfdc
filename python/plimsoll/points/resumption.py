"""The run that an undertaking writes to: one of the same that was not finished, or a new one.

Model: the same experiments on the same machine have the same fingerprint, by which an unfinished run is found again; its results are handed
to the planners in place of measurements. Points that look at what the medium holds (``verify = "found"``, ``"journal-check"``) or tell a
journal are measured anew every time.

    run, stored = opened(resolved, arguments, Opening(host_facts(), 4, identities(resolved, uses)), listener)
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from plimsoll.analysis.point.definition import streams
from plimsoll.host.machine import versions
from plimsoll.host.target import target_identity
from plimsoll.passwords import withheld
from plimsoll.points.arguments import Arguments
from plimsoll.points.listener import Listener
from plimsoll.points.preconditions import is_of_its_moment
from plimsoll.points.resolution import Resolved, Uses, prices_of
from plimsoll.records import dataclass
from plimsoll.result import Result
from plimsoll.store.resumption import fingerprint, resume_run, unfinished_run
from plimsoll.store.writer import RunInfo, RunWriter
from plimsoll.stored import HostFacts, Json

if TYPE_CHECKING:
    from plimsoll.store.reader import StoredRun


@dataclass(frozen=True)
class Opening:
    """What a run is told of its surroundings: the host, how many points there will be, and what its targets are."""

    host: HostFacts
    total: int | None
    identities: Json


def opened(resolved: Resolved, arguments: Arguments, opening: Opening, listener: Listener) -> tuple[RunWriter, list[Result]]:
    """A run to write to: an unfinished one of the same, with what it measured, or a new one."""
    mark, found = unfinished(resolved, arguments, opening)
    if listener.others is not None:
        # From here on the store is written to.
        listener.others.mark()
    if found is not None:
        run, stored = resume_run(found, arguments.label, prices_of(resolved, arguments))
        points = "1 point is" if len(stored) == 1 else f"{len(stored)} points are"
        listener.remark(f"resuming {found.path}: {points} there (--fresh starts anew)")
        return run, stored
    info = RunInfo(
        name=resolved.asked.name,
        command=["plimsoll", *map(withheld, sys.argv[1:])],
        points_planned=opening.total,
        host=opening.host,
        versions=versions(),
        label=arguments.label,
        experiments=[experiment.to_json() for experiment in resolved.experiments],
        suite=resolved.asked.origin,
        fingerprint=mark,
        prices=prices_of(resolved, arguments),
    )
    return RunWriter.create(arguments.out, info), []


def unfinished(resolved: Resolved, arguments: Arguments, opening: Opening) -> tuple[str, StoredRun | None]:
    """The fingerprint of what is asked for, and the run of the same that can go on."""
    definitions = [experiment.to_json() for experiment in resolved.experiments]
    workloads = [points.definitions() for points in resolved.points]
    mark = fingerprint(
        [definitions, workloads, os.getcwd(), opening.identities, *_traces(resolved), *_hosts(arguments)], opening.host, versions()
    )
    anew = arguments.fresh or any(map(is_of_its_moment, resolved.forms()))
    return mark, None if anew else unfinished_run(arguments.out, mark)


def identities(resolved: Resolved, uses: Uses) -> Json:
    """Which storage each target is: another disk under the same path is another run."""
    found: Json = {target.text: target_identity(resolved.looks.at(workload, target)) for workload, target in uses if not target.layout}
    return found | {one.text: one.identity() for one in resolved.layouts.all()}


def _hosts(arguments: Arguments) -> Iterator[str]:
    """The same on other hosts is another run."""
    if arguments.hosts:
        from plimsoll.points.gang import lineup_from

        lineup = lineup_from(arguments.hosts)
        yield f"{lineup.text} {lineup.identity}".strip()
    if arguments.share:
        yield f"share {arguments.share}"


def _traces(resolved: Resolved) -> Iterator[Json]:
    """What the traces hold that are replayed: a file under the same name may be another by now."""
    paths = {stream["trace"] for workload in resolved.forms() for stream in streams(workload) if stream.get("trace")}
    for path in sorted(paths):
        from plimsoll.points.traces import header_of

        yield header_of(path)
