"""Several hosts in place of this one: brought up when the first of them is asked something, let go at the end, whatever happened.

with gang_for(asked) as engine:
    carry_out(...)
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, cast

from plimsoll.engine.block import native
from plimsoll.engine.protocol import Engine
from plimsoll.gang.collection import Collected, collect, gang_of
from plimsoll.gang.driver import GangEngine, Session
from plimsoll.gang.gang import Gang, Launcher
from plimsoll.gang.lineup import Lineup, lineup_of
from plimsoll.gang.local import Local
from plimsoll.passwords import withheld
from plimsoll.points.arguments import Arguments
from plimsoll.points.drivers import driver_of
from plimsoll.points.host_hands import HostHands
from plimsoll.points.host_work import HostWork
from plimsoll.points.permission import permission
from plimsoll.store.reader import StoredRun


def examined(hosts: str) -> list[dict[str, Any]]:
    """What each host finds at itself that would distort results, with its versions and its clock against ours."""
    engine = engine_of(hosts)
    try:
        gang = engine.gang()
        clocks = gang.clock()
        checks = gang.ask({host: {"ask": "examine"} for host in gang.hosts})
        return [
            {
                "name": host,
                "versions": engine.introduced[host]["versions"],
                "clock": {"offset_ns": clocks[host].offset_ns, "bound_ns": clocks[host].bound_ns, "agree": clocks[host].agree},
                "checks": checks[host],
            }
            for host in gang.hosts
        ]
    finally:
        engine.close()


def engine_of(hosts: str, share: str | None = None) -> GangEngine:
    """The hosts that are named, not yet brought up."""
    lineup = lineup_from(hosts, share)
    return GangEngine(native(), Gang(_launcher_of(lineup)), lineup, driver_of)


def lineup_from(hosts: str, share: str | None = None, *, ask: bool = True) -> Lineup:
    """The hosts that ``--hosts`` names, in words or by the file of a lab.

    A file that names a cluster alone means all its nodes, which it is asked for unless not to ``ask``.
    """
    if not hosts.strip().endswith(".toml"):
        return lineup_of(hosts, share)
    from plimsoll.lab.document import read_lab

    lineup = read_lab(hosts.strip(), share)
    if lineup.cluster is None or lineup.seats or not ask:
        return lineup
    from plimsoll.gang.visit import of_all_nodes

    return of_all_nodes(lineup)


def _launcher_of(lineup: Lineup) -> Launcher:
    if lineup.same_machine:
        return Local(lineup)
    from plimsoll.gang.remote import Remote

    return Remote(lineup)


def collected(run: StoredRun, tell: Callable[[str], None]) -> Collected:
    """What the hosts of a run stored after its command was killed, brought together; ``tell`` hears of hosts that cannot be reached."""
    gang = gang_of(run)
    if "launcher" not in gang:
        return collect(run)
    from plimsoll.gang.remote_remains import remote_remains

    with remote_remains(lineup_from(gang["hosts"]), gang["stores"], tell) as stores:
        return collect(run, stores)


@contextmanager
def gang_for(arguments: Arguments) -> Iterator[Engine]:
    """The hosts that are asked for, as one engine."""
    engine = engine_of(arguments.hosts or "", arguments.share)
    command = ["plimsoll", *map(withheld, sys.argv[1:])]
    engine.hands = lambda _most: HostHands(engine)
    engine.session = Session(command, permission(arguments.destroy_data), arguments.keep)
    try:
        yield cast("Engine", engine)
    finally:
        engine.close()


@contextmanager
def host_work(hosts: str) -> Iterator[HostWork]:
    """The hosts that ``--hosts`` names, for work on models."""
    engine = engine_of(hosts)
    try:
        yield HostWork(engine)
    finally:
        engine.close()
