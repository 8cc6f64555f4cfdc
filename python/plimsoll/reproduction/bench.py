"""Chains side by side, several at a time, in virtual time; Ctrl-C stops them all.

Model: each chain is a function of itself alone, so how many run at once changes no number. The engine computes without the interpreter's
lock, so threads do. Those that are likely to take longest begin first.
Limits: what was measured before a signal is not kept; a bench is short.

    readings = Bench(engine, jobs=2).readings(chains, on_done)
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed

from plimsoll.engine.protocol import Control, Engine
from plimsoll.errors import EXIT_INTERRUPTED, EngineError, Interrupted, TargetError
from plimsoll.points.signals import handled
from plimsoll.reproduction.chain import Chain
from plimsoll.reproduction.readings import Reading
from plimsoll.reproduction.runs import carried_out

Readings = dict[Chain, tuple[Reading, ...]]
OnDone = Callable[[Chain, tuple[Reading, ...]], None]


class Bench:
    """Carries out chains with one engine."""

    def __init__(self, engine: Engine, jobs: int) -> None:
        self._engine = engine
        self._jobs = jobs
        self._pulled = False
        self._controls: list[Control] = []

    def readings(self, chains: Sequence[Chain], on_done: OnDone) -> Readings:
        """The readings of every chain; ``on_done`` hears of each from this thread, in the order in which they end."""
        found: Readings = {}
        with handled(self._pull), ThreadPoolExecutor(self._jobs, thread_name_prefix="plimsoll-bench") as pool:
            waiting = {pool.submit(self._chain, chain): chain for chain in sorted(chains, key=longest_first)}
            try:
                for ended in as_completed(waiting):
                    if not self._pulled:
                        found[waiting[ended]] = ended.result()
                        on_done(waiting[ended], found[waiting[ended]])
            except BaseException:
                # The pool waits for all of its work; without this, what nobody will look at would be finished first.
                self._stop()
                raise
        if self._pulled:
            raise Interrupted("stopped; claims are judged when all their runs are there, so there is nothing to show.")
        return found

    def _chain(self, chain: Chain) -> tuple[Reading, ...]:
        if self._pulled:
            return ()
        try:
            return carried_out(chain, self._engine, self._guard)
        except (EngineError, TargetError) as problem:
            return tuple(Reading(failure=str(problem)) for _ in chain)

    def _guard(self, control: Control) -> Control:
        self._controls.append(control)
        if self._pulled:
            control.stop()
        return control

    def _pull(self) -> None:
        if self._pulled:
            os._exit(EXIT_INTERRUPTED)
        self._stop()

    def _stop(self) -> None:
        self._pulled = True
        for control in tuple(self._controls):
            control.stop()


def longest_first(chain: Chain) -> int:
    """Runs in order take longest, then those that look for a level, then those with several."""
    return -max(len(chain), *(8 if run.ramp else 4 if run.over else 1 for run in chain))
