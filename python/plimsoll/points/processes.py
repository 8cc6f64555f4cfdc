"""Processes of this machine that measure points of modelled targets, each one point at a time.

Model: each is a run like any other, in a directory that goes with it: points come over a pipe, and what is measured is told when it is
stored. They are spawned, so nothing of this process is in them; they end when this one does, however it ends.
Limits: one process for each processor that this one may use. What a process that died had under way is told as lost.

    hands = Processes(setup, most=12)
    hands.begin(0, point)
    hands.ended(0.1)
"""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from typing import Any

from plimsoll.engine.block import native
from plimsoll.errors import PlimsollError
from plimsoll.host.machine import versions
from plimsoll.points.ahead import Kept
from plimsoll.points.brake import Brake
from plimsoll.points.listener import Listener
from plimsoll.points.point import PlannedPoint
from plimsoll.points.setup import Setup
from plimsoll.store.writer import RunInfo, RunWriter
from plimsoll.stored import HostFacts

_PR_SET_PDEATHSIG = 1
#: How long a process that was killed may take to be gone.
_GONE_S = 5.0


@dataclass
class _Hand:
    process: Any
    wire: Connection
    #: The number of the point that it measures.
    busy: int | None = None


class Processes:
    """See the module; `plimsoll.points.ahead.Hands`."""

    def __init__(self, host: HostFacts, most: int) -> None:
        self._folder = tempfile.mkdtemp(prefix="plimsoll-points-")
        self._hands: list[_Hand] = []
        context = get_context("spawn")
        for number in range(min(most, len(os.sched_getaffinity(0)))):
            ours, theirs = context.Pipe()
            folder = os.path.join(self._folder, str(number))
            process = context.Process(target=_work, args=(theirs, folder, host, os.getpid()), daemon=True)
            process.start()
            theirs.close()
            self._hands.append(_Hand(process, ours))

    @property
    def count(self) -> int:
        return len(self._hands)

    @property
    def idle(self) -> int:
        return sum(1 for hand in self._hands if hand.busy is None)

    def begin(self, number: int, point: PlannedPoint) -> None:
        hand = next(hand for hand in self._hands if hand.busy is None)
        hand.busy = number
        with suppress(OSError):
            # One that has died is heard of where its answer should come from.
            hand.wire.send(point)

    def ended(self, within_s: float) -> list[tuple[int, Kept | None]]:
        found: list[tuple[int, Kept | None]] = []
        ready = wait([hand.wire for hand in self._hands], within_s)
        for hand in [hand for hand in self._hands if hand.wire in ready]:
            try:
                kept: Kept | None = hand.wire.recv()
            except (EOFError, OSError):
                self._hands.remove(hand)
                kept = None
            if hand.busy is not None:
                found.append((hand.busy, kept))
            hand.busy = None
        return found

    def close(self) -> None:
        for hand in self._hands:
            hand.wire.close()
            hand.process.kill()
        for hand in self._hands:
            hand.process.join(_GONE_S)
        shutil.rmtree(self._folder, ignore_errors=True)


def _work(wire: Connection, folder: str, host: HostFacts, parent: int) -> None:
    """Measure what comes over the pipe until it ends."""
    # An interrupt is for the process that was asked; it ends the others, and nobody outlives it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        return
    from plimsoll.points.loop import Loop
    from plimsoll.points.outcome import Outcome
    from plimsoll.points.targets import Targets
    from plimsoll.store.reader import StoredPoint

    run = RunWriter.create(folder, RunInfo("points", [], None, host, versions()))
    setup, outcome = Setup(native(), run, Listener(), host), Outcome()
    with Brake() as brake, Targets(setup, brake, lambda _: None) as targets, suppress(EOFError, OSError):
        loop = Loop(setup, brake, targets, outcome)
        while True:
            point: PlannedPoint = wire.recv()
            kept, failures = None, len(outcome.failures)
            with suppress(PlimsollError):
                result = loop.measured(point)
                if result is not None:
                    code = outcome.failures[-1] if len(outcome.failures) > failures else 0
                    folder = os.path.join(run.path, "points", result.id)
                    kept = Kept(StoredPoint(folder).begun(), result, folder, code)
            # A run that goes on for thousands of points keeps none of them here.
            outcome.results.clear()
            wire.send(kept)
