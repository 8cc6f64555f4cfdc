"""A server that hosts are clients of, one for all of them: what its driver offers to whoever commands the hosts.

Model: the server, private or the user's, is prepared once, from the commanding host: there it is started, filled, claimed, watched and
removed. The hosts are told where it is and which of the clients they are, and bring nothing but load. What only the server knows (its
counters, whether its data are consistent) is asked once, when all hosts have ended, and stands in the sums; hosts' own results lack it.
Limits: which drivers and targets have such a server is theirs to say (`serves`).

    with shared_server(driver, job, on_event, control, count=3) as server:
        requests = {host: {..., **server.words(number)} for ...}
        outcome = Course(gang, parts, server.heard(on_event), control).run()
        server.gather(whole, gang.fetch)
        outcome = server.told(outcome, engines)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Protocol, cast

from plimsoll.engine.protocol import Control, OnEvent
from plimsoll.engine.protocol import Job as Order
from plimsoll.passwords import kept
from plimsoll.stored import Definition, EngineOutcome, Json
from plimsoll.target import Target

#: The directory of a host, below where it stores, from which is fetched what its driver wrote down.
FOLDER = "client"


class Server(Protocol):
    """What a driver has of a server while hosts are its clients."""

    #: The section of the outcome that it adds to.
    name: str
    #: Where clients reach it.
    target: str
    #: What their driver is told besides, which is stored nowhere.
    given: Mapping[str, Any]

    def begin(self, t0_ns: int) -> None:
        """All hosts begin at this instant of the monotonic clock."""

    def end(self) -> None:
        """All hosts have ended."""

    def take(self, number: int, fetch: Callable[[str], bool], *, whole: bool) -> None:
        """Host ``number`` has ended, well if ``whole``; ``fetch`` copies what its driver wrote down to a directory, if it can."""

    def why(self) -> str | None:
        """The sentence for a server by which hosts could not go on."""

    def section(self, hosts: list[Json], *, failed: bool) -> Json:
        """What it adds to the sum of the hosts' own, which are ``hosts``; ``failed`` says that one of them could not go on."""


def has_shared_server(driver: Any, target: Target) -> bool:
    """Whether hosts are clients of one server at ``target``; raises `InputError` where that cannot be."""
    serves = getattr(driver, "serves", None)
    return serves is not None and bool(serves(target))


class SharedServer:
    """A server for the time of one job."""

    def __init__(self, server: Server, count: int, seed: int) -> None:
        self._server = server
        self._count = count
        self._seed = seed

    def words(self, number: int) -> Json:
        """What host ``number`` is told besides its part."""
        clients = {"number": number, "count": self._count, "seed": self._seed, "given": self._server.given}
        return {"target": self._server.target, "clients": clients, "cache": None}

    def joining(self, workload: Definition) -> Json:
        """What each host is asked before its first point there."""
        target = self._server.target
        secrets = kept(target)
        return {
            "ask": "join",
            "workload": workload,
            "target": target,
            "options": {},
            **({"secrets": {target: secrets}} if secrets else {}),
        }

    def heard(self, on_event: OnEvent) -> OnEvent:
        """Who hears of the hosts; the server is told when they begin."""

        def hear(kind: str, event: Any) -> None:
            if kind == "start":
                self._server.begin(int(event["monotonic_ns"]))
            on_event(kind, event)

        return hear

    def gather(self, whole: Mapping[str, bool], fetch: Callable[[str, str, str], bool]) -> None:
        """Fetch what the drivers of the hosts wrote down: of each whether it ended well. ``fetch(host, folder, into)`` copies it."""
        for number, (host, ended) in enumerate(whole.items()):
            self._server.take(number, lambda into, host=host: fetch(host, FOLDER, into), whole=ended)  # type: ignore[misc]

    def told(self, outcome: EngineOutcome, engines: list[Json]) -> EngineOutcome:
        """The outcome of all hosts, with what the server says."""
        if outcome.get("first_error") is not None and (why := self._server.why()) is not None:
            sentence = f"{why.rstrip('.')}. What hosts measured until then is kept."
            return cast("EngineOutcome", {**outcome, "stopped_by": "error", "first_error": {"message": sentence}})
        name = self._server.name
        own = [engine[name] for engine in engines if isinstance(engine.get(name), dict)]
        if len(own) < max(1, len(engines)):
            return outcome
        section = self._server.section(own, failed=outcome.get("first_error") is not None)
        return cast("EngineOutcome", {**outcome, name: {**cast("Json", outcome).get(name, {}), **section}})

    def end(self) -> None:
        """All hosts have ended."""
        self._server.end()


@contextmanager
def shared_server(driver: Any, job: Order, on_event: OnEvent, control: Control, count: int) -> Iterator[SharedServer]:
    """The server of a job for ``count`` hosts."""
    with driver.shared_server(job, on_event, control, count) as server:
        found = SharedServer(server, count, int(job["job"].get("seed", 0)))
        try:
            yield found
        finally:
            found.end()
