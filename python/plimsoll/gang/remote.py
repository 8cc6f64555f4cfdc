"""Hosts that are reached over ssh: each gets what it lacks, a keeper and a worker, and a line by which it is asked.

Model: all hosts are talked to side by side. A host's keeper hangs on its connection: when that ends, or nobody asks any more, it takes
everything down there. Calls go through Ray, which listens beyond loopback and therefore asks everybody for the gang's token and a
certificate of its authority, or through ssh alone, where nothing listens at all. Credentials are made for each gang and go over ssh into
files of the gang's directory. Nodes of a Ray cluster that runs already are reached and asked through that. What workers store lies in the
user's state on each host until it has been collected.

    launcher = Remote(lineup)
    lines = launcher.launch()
    launcher.close(keep=False)
"""

from __future__ import annotations

import json
import os
import secrets
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from plimsoll.errors import EngineError, InputError
from plimsoll.gang.credentials import Credentials
from plimsoll.gang.credentials import check_installed as check_certificates
from plimsoll.gang.environment import Environment, environment_of
from plimsoll.gang.head import Head
from plimsoll.gang.keeper import COLLECTED
from plimsoll.gang.line import Line
from plimsoll.gang.lineup import Lineup
from plimsoll.gang.nest import KEEPER, LEASE, SPECIFICATION
from plimsoll.gang.ssh import COMMANDS, Seat
from plimsoll.gang.ssh_line import SshLine
from plimsoll.gang.switchboard import carrier_here, carrier_of_host, free_port
from plimsoll.gang.switchboard import check_installed as check_ray
from plimsoll.gang.talk import Talk
from plimsoll.gang.visit import Visit
from plimsoll.stored import Json

Found = TypeVar("Found")
#: Beside a keeper that ends its workers' points, the command does not wait.
_KEEPER_LEAVES_S = 10.0


class Remote:
    """See the module."""

    def __init__(self, lineup: Lineup) -> None:
        self._lineup = lineup
        self._gang = f"{time.strftime('%Y-%m-%dT%H-%M-%S')}-{secrets.token_hex(3)}"
        self._talks: dict[str, Talk] = {}
        self._more: list[Talk] = []
        self._places: dict[str, Json] = {}
        self._head: Head | None = None
        self._visit: Visit | None = None

    @property
    def hosts(self) -> tuple[str, ...]:
        return self._lineup.names

    def launch(self) -> dict[str, Line]:
        through_ray = self._lineup.carrier == "ray"
        if self._lineup.launcher == "ray":
            check_ray()
            self._visit = Visit(self._lineup)
        if through_ray:
            check_ray()
            check_certificates()
        environment = environment_of(["ray"] if through_ray else [])

        def greet(seat: Seat) -> None:
            talk = self._talks[seat.name] = self._talk(seat, environment)
            talk.carry()

        self._each(greet)
        if self._visit is not None:
            self._places = self._each(lambda seat: self._talks[seat.name].become(self._wanted(seat, {}, [])))
            return self._visit.lines(self._places)
        return self._through_ray(environment) if through_ray else self._through_ssh(environment)

    def serve(self, run: str) -> Json:
        """The run that is measured; where each host keeps what it measures, for who finds the run."""
        stores = {host: os.path.join(self._gang, host) for host in self.hosts}
        text = self._lineup.text
        hosts = os.path.abspath(text) if text.endswith(".toml") else text
        return {"hosts": hosts, "stores": stores, "launcher": self._lineup.launcher}

    def close(self, *, keep: bool) -> None:
        def let_go(seat: Seat) -> None:
            talk = self._talks.get(seat.name)
            if talk is None:
                return
            if not keep:
                talk.tell(COLLECTED)
            talk.close(_KEEPER_LEAVES_S)

        self._each(let_go)
        if self._visit is not None:
            self._visit.close()
        if self._head is not None:
            self._head.close()

    def _talk(self, seat: Seat, environment: Environment) -> Talk:
        launcher = self._lineup.launcher
        return Talk(seat, environment, self._visit.command if self._visit is not None else COMMANDS[launcher], launcher)

    def _through_ssh(self, environment: Environment) -> dict[str, Line]:
        """A second connection to each host, whose other end answers for the relay."""
        self._places = self._each(lambda seat: self._talks[seat.name].become(self._wanted(seat, {}, [])))

        def line_to(seat: Seat) -> Line:
            talk = self._talk(seat, environment)
            self._more.append(talk)
            talk.carry()
            talk.become({"be": "attendant", "words": ["relay", os.path.join(self._places[seat.name]["nest"], seat.name)]})
            return SshLine(talk)

        return self._each(line_to)

    def _through_ray(self, _environment: Environment) -> dict[str, Line]:
        """Ray here and on every host, each with its part of the credentials."""
        credentials = Credentials()
        addresses = {host: self._connection(host)[1] for host in self.hosts}
        here = self._head_address()
        head = f"{here}:{free_port(here)}"
        self._head = Head(credentials.files([here]), lambda nest: [carrier_here(nest, head, network=True)])

        def settle(seat: Seat) -> Json:
            files = credentials.files([addresses[seat.name], seat.name])
            carrier = carrier_of_host(seat.name, addresses[seat.name], head)
            return self._talks[seat.name].become(self._wanted(seat, files, [carrier]))

        self._places = self._each(settle)
        return self._head.lines({host: os.path.join(place["nest"], host) for host, place in self._places.items()}, self._failed)

    def _failed(self) -> str | None:
        """Why a host will not come, once its keeper has gone."""
        return next((f"{host}: {talk.last_words}" for host, talk in self._talks.items() if talk.ended), None)

    def _wanted(self, seat: Seat, files: dict[str, str], carriers: list[Any]) -> Json:
        """What a host's keeper is told."""
        specification = {"name": seat.name, "store": f"{{store}}/{seat.name}", "cwd": "{directory}"}
        keeper = {"workers": [seat.name], "carriers": carriers, "store": "{store}"}
        return {
            "be": "keeper",
            "gang": self._gang,
            "host": seat.name,
            "directory": seat.directory,
            "files": {
                f"{seat.name}/{SPECIFICATION}": json.dumps(specification),
                f"{seat.name}/{LEASE}": "",
                KEEPER: json.dumps(keeper),
                **files,
            },
        }

    def _connection(self, host: str) -> tuple[str, str]:
        """Our address as the host sees it, and its own as we reach it."""
        words = str(self._talks[host].introduction["connection"]).split()
        if len(words) != 4:
            raise InputError(
                f'{host}: ssh does not say from where it is reached; carry calls through ssh alone (carrier = "ssh" in a lab\'s file).'
            )
        return words[0], words[2]

    def _head_address(self) -> str:
        """The one address of this machine that all hosts reach."""
        if self._lineup.head:
            return self._lineup.head
        seen = {host: self._connection(host)[0] for host in self.hosts}
        if len(set(seen.values())) > 1:
            named = ", ".join(f"{host} sees {address}" for host, address in seen.items())
            raise InputError(
                f"--hosts {self._lineup.text}: hosts see this machine differently ({named}); name what all reach: 'head' in a lab's file."
            )
        return next(iter(seen.values()))

    def _each(self, work: Callable[[Seat], Found]) -> dict[str, Found]:
        """What the work makes of every host, side by side; raises what the first of them raised, when all have ended."""
        with ThreadPoolExecutor(len(self._lineup.seats)) as pool:
            working = {seat.name: pool.submit(work, seat) for seat in self._lineup.seats}
        failures = [one.exception() for one in working.values() if one.exception() is not None]
        if failures:
            # Nothing has been measured yet: nothing of it has to stay.
            for talk in self._talks.values():
                talk.tell(COLLECTED)
            for talk in (*self._more, *self._talks.values()):
                talk.close(within_s=1.0)
            raise _first(failures)
        return {host: one.result() for host, one in working.items()}


def _first(failures: list[BaseException | None]) -> BaseException:
    """What the user should correct, before what merely went wrong."""
    return (
        next((one for one in failures if isinstance(one, InputError)), None) or failures[0] or EngineError("a host could not be reached.")
    )
