"""The command's end of a visit to a Ray cluster that runs already: what lets in is checked, a guest joins, hosts are reached through it.

Model: nothing is started before the cluster's directory has let this machine in (`plimsoll.gang.cluster`). The guest hangs on a keeper as
what carries a gang does, so that it goes with the command, however that ends; the cluster itself is never stopped.

    visit = Visit(lineup)
    visit.command(seat, 7000)                 # in ssh's place
    lines = visit.lines({"db1": {"nest": …, "environment": …}})
    visit.close()
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace

from plimsoll import errors
from plimsoll.errors import EngineError, PlimsollError
from plimsoll.gang.cluster import check_admission
from plimsoll.gang.guest import REFUSED, guest_here
from plimsoll.gang.head import Head
from plimsoll.gang.line import Line, LineLost
from plimsoll.gang.lineup import Lineup, check_names
from plimsoll.gang.nodes import names_of, nodes_from
from plimsoll.gang.ssh import COMMANDS, Seat
from plimsoll.gang.switchboard import SETTINGS, check_installed, is_up, line_in
from plimsoll.stored import Json

#: How long the cluster may take to let the guest in, and its nodes to answer.
_UP_S = 150.0
_LOOK_S = 0.05
#: How long a node of ours has to tell the cluster that it goes, which else takes it for lost for half a minute.
_LEAVES_S = 8.0
_RELAY_S = 60.0
Command = Callable[[Seat, int], list[str]]


class Visit:
    """See the module. Raises `PlimsollError` where the cluster is not joined, having taken everything down."""

    def __init__(self, lineup: Lineup) -> None:
        assert lineup.cluster is not None
        cluster = lineup.cluster.resolved(os.environ)
        check_admission(cluster)
        self._hosts = lineup.names
        seats = [(seat.name, seat.address or seat.name) for seat in lineup.seats]
        told = {"address": cluster.address, "own": lineup.head, "seats": seats}
        self._head = Head({}, lambda nest: [guest_here(nest, told, cluster.settings())], _LEAVES_S)
        try:
            self._await_guest()
        except BaseException:
            self._head.close()
            raise

    def command(self, seat: Seat, length: int) -> list[str]:
        """What runs a text of so many bytes in the node's Python, in ssh's place."""
        return [
            sys.executable,
            "-m",
            "plimsoll.gang.pipe",
            self._head.nest,
            seat.name,
            str(length),
            *([seat.python] if seat.python else []),
        ]

    def lines(self, places: Mapping[str, Json]) -> dict[str, Line]:
        """A line to the relay of each host, where its keeper has said to be."""
        lines = {host: line_in(self._head.nest, host) for host in self._hosts}
        for host, line in lines.items():
            place = places[host]
            try:
                line.call("attend", place["environment"], os.path.join(place["nest"], host), within_s=_RELAY_S)
            except (LineLost, OSError) as lost:
                raise EngineError(f"{host}: its worker cannot be asked ({lost}).") from None
        return lines

    def close(self) -> None:
        """Leave the cluster."""
        self._head.close()

    def _await_guest(self) -> None:
        until_s = time.monotonic() + _UP_S
        while not is_up(self._head.nest):
            if (refused := self._refused()) is not None:
                raise refused
            if time.monotonic() > until_s:
                raise EngineError(f"--hosts: the cluster was not joined: it took longer than {_UP_S:.0f} s.")
            time.sleep(_LOOK_S)

    def _refused(self) -> PlimsollError | None:
        with suppress(OSError), open(os.path.join(self._head.nest, REFUSED), encoding="utf-8") as file:
            said = json.load(file)
            kind = getattr(errors, said["kind"], EngineError)
            message = str(said["message"])
            return kind(message if message.endswith(".") else f"{message}.")
        return None


def of_all_nodes(lineup: Lineup) -> Lineup:
    """The line-up of a lab that names no hosts: a host for every node of its cluster that is alive. Raises as a visit does."""
    assert lineup.cluster is not None
    check_installed()
    cluster = lineup.cluster.resolved(os.environ)
    check_admission(cluster)
    found = nodes_from(cluster.address, {**SETTINGS, **cluster.settings()})
    nodes = names_of(found.nodes, cluster.address)
    check_names(tuple(nodes), f"--hosts {lineup.text}")
    usual = lineup.usual or Seat("")
    targets = dict.fromkeys(nodes, lineup.usual_target) if lineup.usual_target else {}
    return replace(
        lineup,
        names=tuple(nodes),
        seats=tuple(replace(usual, name=name, address=node.id) for name, node in nodes.items()),
        targets=targets,
        identity=f"{lineup.identity} {' '.join(nodes)}",
    )


@contextmanager
def way_to(lineup: Lineup) -> Iterator[Command]:
    """What reaches hosts one by one, whatever brings them up."""
    if lineup.launcher != "ray":
        yield COMMANDS[lineup.launcher]
        return
    visit = Visit(lineup)
    try:
        yield visit.command
    finally:
        visit.close()
