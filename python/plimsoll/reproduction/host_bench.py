"""Chains on the hosts of a gang, several at a time on each; the readings are those of one machine.

Model: hosts have the same catalog, so a chain is named by what was asked for and its place among the chains of that. Readings come back in
JSON, which keeps every figure to its last bit.

    readings = HostBench(work, reports, numbers).readings(chains(claims), on_done)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from plimsoll.engine.protocol import Control, Engine
from plimsoll.errors import EngineError, Interrupted, TargetError
from plimsoll.points.host_work import HostWork
from plimsoll.points.signals import handled
from plimsoll.reproduction.bench import OnDone, Readings, longest_first
from plimsoll.reproduction.chain import Chain, chains
from plimsoll.reproduction.readings import Reading
from plimsoll.reproduction.runs import carried_out
from plimsoll.reproduction.selection import chosen
from plimsoll.stored import Json


class HostBench:
    """Carries out the chains of what was asked for on hosts."""

    def __init__(self, work: HostWork, reports: Sequence[str], numbers: Sequence[str]) -> None:
        self._work = work
        self._words = {"reports": list(reports), "numbers": list(numbers)}
        self._pulled = False

    def readings(self, needed: Sequence[Chain], on_done: OnDone) -> Readings:
        """The readings of every chain; ``on_done`` hears of each in the order in which they end."""
        found: Readings = {}
        order = sorted(range(len(needed)), key=lambda place: longest_first(needed[place]))
        requests = [{"ask": "chain", "place": place, **self._words} for place in order]
        try:
            with handled(self._pull):
                for number, value in self._work.done(requests, lambda: self._pulled):
                    chain = needed[order[number]]
                    found[chain] = tuple(Reading.from_json(one) for one in value)
                    on_done(chain, found[chain])
        except Interrupted:
            raise Interrupted("stopped; claims are judged when all their runs are there, so there is nothing to show.") from None
        return found

    def _pull(self) -> None:
        self._pulled = True


def readings_at(request: Json, engine: Engine, guard: Callable[[Control], Control]) -> list[Json]:
    """What a host answers: the readings of the chain at the place that is asked for."""
    chain = chains(chosen(request["reports"], request["numbers"]))[int(request["place"])]
    try:
        readings = carried_out(chain, engine, guard)
    except (EngineError, TargetError) as problem:
        readings = tuple(Reading(failure=str(problem)) for _ in chain)
    return [reading.to_json() for reading in readings]
