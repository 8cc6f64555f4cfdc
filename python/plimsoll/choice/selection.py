"""The whole of a choice: candidates by arithmetic, bounds, trials in parallel, load lines of those that carry the demand.

Model: candidates are independent of each other, so as many are worked out at the same time as there are processes; they are handed out in
their order, and what was tried beyond the last one that is needed is not told. So the answer is the same with any number of processes.
Limits: a candidate that cannot be built is told with the reason and the others go on.

    chosen = select(Selection(load, ("nvme-raid10?drives=4,8,12",), Limits(4 * 10**12, survive=1)))
    chosen.best.candidate.name
"""

from __future__ import annotations

import os
import signal
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field, replace
from functools import partial
from multiprocessing import get_context
from typing import Any

from plimsoll.choice.bounds import bound_of
from plimsoll.choice.candidates import Candidate, Considered, Limits, candidates, considered, overfull
from plimsoll.choice.demand import DemandedLoad
from plimsoll.choice.doubt import Doubt, doubt_of
from plimsoll.choice.line import Line, ascend, line_of
from plimsoll.choice.neighbours import Surge, surges
from plimsoll.choice.prices import PriceBook, price_book
from plimsoll.choice.ranking import Entry, in_turn, ranked
from plimsoll.choice.risk import loss_per_year
from plimsoll.choice.search import Search
from plimsoll.choice.trial import STATES, Outcome, Trial, examine
from plimsoll.errors import EngineError, PlimsollError
from plimsoll.target import target_of
from plimsoll.uncertainty.figures import Plan

Heard = Callable[[str], None]

#: The choice and the runner-up.
FINALISTS = 2
#: Candidates handed to a process at once where each takes milliseconds.
_BATCH = 16
#: Fewer candidates than this are worked out here.
_ALONE = 3


@dataclass(frozen=True)
class Selection:
    """What is asked for; ``states`` are those in which the demand has to be carried, ``draws`` what is drawn of those that do."""

    load: DemandedLoad
    among: tuple[str, ...]
    limits: Limits = field(default_factory=Limits)
    prices: str | None = None
    finalists: int = FINALISTS
    states: tuple[str, ...] = STATES
    seed: int = 1
    jobs: int | None = None
    draws: Plan | None = None


@dataclass(frozen=True)
class Chosen:
    """Every candidate, the best first."""

    selection: Selection
    entries: tuple[Entry, ...]
    currency: str

    @property
    def best(self) -> Entry | None:
        """What is chosen; None where nothing carries the demand."""
        return self.entries[0] if self.entries and self.entries[0].carries else None

    @property
    def runner_up(self) -> Entry | None:
        """The next one that carries it."""
        return self.entries[1] if len(self.entries) > 1 and self.entries[1].carries else None

    @property
    def simulated(self) -> int:
        """How many were tried."""
        return sum(entry.simulated for entry in self.entries)


def select(selection: Selection, heard: Heard = lambda _: None) -> Chosen:
    """Carry it out; raises `InputError` for what cannot be asked."""
    book = price_book(selection.prices)
    found = candidates(selection.among)
    with Processes(selection.jobs, len(found)) as processes:
        entries = list(processes.map(partial(sifted, selection), found, _BATCH))
        left = sum(entry.rejected is None for entry in entries)
        heard(f"candidates: {len(found):,}; left after capacity, survived failures, budget and bounds: {left:,}")
        told = {entry.candidate.target: entry for entry in entries}
        for queue in in_turn(entries):
            told |= {entry.candidate.target: entry for entry in _tried(selection, queue, processes, heard)}
        told |= {entry.candidate.target: entry for entry in _with_lines(selection, list(told.values()), processes, heard)}
    return Chosen(selection, tuple(ranked(_with_risk(entry, book) for entry in told.values())), book.currency)


def sifted(selection: Selection, candidate: Candidate) -> Entry:
    """One candidate by arithmetic and bounds alone."""
    try:
        if (full := overfull(candidate)) is not None:
            return Entry(Considered(candidate), rejected=full)
        bound = bound_of(target_of(candidate.target), selection.load)
        found = considered(candidate, selection.limits, price_book_of(selection.prices), bound.size_bytes)
        return Entry(found, rejected=found.rejected or bound.rejection(selection.load))
    except PlimsollError as problem:
        return Entry(Considered(candidate), rejected=f"it cannot be built: {problem}")


_BOOKS: dict[str | None, PriceBook] = {}


def price_book_of(path: str | None) -> PriceBook:
    """Read once in each process."""
    if path not in _BOOKS:
        _BOOKS[path] = price_book(path)
    return _BOOKS[path]


def _tried(selection: Selection, queue: Sequence[Entry], processes: Processes, heard: Heard) -> Iterator[Entry]:
    """The queue in its order until enough carry the demand; the rest is not needed."""
    search = Search(queue, selection.finalists)
    while places := search.next():
        trials = (Trial(queue[place].candidate.target, selection.load, selection.seed) for place in places)
        for place, outcomes in zip(places, processes.in_order(partial(examine, states=selection.states), trials), strict=True):
            entry = _examined(queue[place], outcomes)
            heard(f"{entry.candidate.name}: {entry.rejected or 'carries it'}")
            search.learn(place, entry)
    yield from search.entries()


def _examined(entry: Entry, outcomes: dict[str, Outcome]) -> Entry:
    last = list(outcomes.values())[-1]
    return replace(entry, outcomes=outcomes, simulated=True, rejected=None if last.carries else f"{last.state}: {last.rejection}")


def _with_lines(selection: Selection, entries: Sequence[Entry], processes: Processes, heard: Heard) -> Iterator[Entry]:
    """Those that carry the demand, with how much more they carry."""
    carrying = [entry for entry in entries if entry.carries]
    if carrying:
        heard(f"measuring what {len(carrying)} of them {'carries' if len(carrying) == 1 else 'carry'} at most, and how sure that is")
    draws = None if selection.draws is None else replace(selection.draws, jobs=max(1, processes.count // max(1, len(carrying))))
    trials = (Trial(entry.candidate.target, selection.load, selection.seed) for entry in carrying)
    found: Iterator[_Beyond] = processes.in_order(partial(_beyond, draws=draws, among=len(carrying)), trials)
    for entry, beyond in zip(carrying, found, strict=True):
        yield replace(entry, line=beyond.line, surges=beyond.surges, doubt=beyond.doubt)


@dataclass(frozen=True)
class _Beyond:
    line: Line
    surges: tuple[Surge, ...]
    doubt: Doubt


def _beyond(trial: Trial, draws: Plan | None, among: int) -> _Beyond:
    """What a candidate does with more than was demanded, and how sure that is."""
    ascent = ascend(trial)
    line = line_of(trial.load, ascent)
    mark = line.mark.iops if line.mark is not None else line.held_per_s
    doubt = Doubt() if draws is None or not draws.draws or mark is None else doubt_of(trial, ascent, mark, draws, among)
    return _Beyond(line, surges(trial), doubt)


def _with_risk(entry: Entry, book: PriceBook) -> Entry:
    """With the chance that any group loses data, each by its own drives and its own rebuild."""
    kept = 1.0
    for shape in entry.considered.shapes:
        hours = entry.further_hours.get(shape.group, entry.rebuild_hours)
        if hours is None:
            return entry
        kept *= 1 - loss_per_year([shape], book.failing(shape.drive), hours)
    return replace(entry, loss_per_year=1 - kept) if entry.considered.shapes else entry


class Processes:
    """Work that is handed out to processes of this machine; one of them is this one where there is little to do."""

    def __init__(self, jobs: int | None, tasks: int) -> None:
        self.count = min(jobs or len(os.sched_getaffinity(0)), max(1, tasks))
        #: How many there are.
        alone = self.count == 1 or (jobs is None and tasks < _ALONE)
        self._pool = None if alone else ProcessPoolExecutor(self.count, get_context("spawn"), _deaf)

    def map(self, work: Callable[[Any], Any], tasks: Sequence[Any], batch: int) -> Iterator[Any]:
        """What ``work`` makes of each, in their order."""
        if self._pool is None:
            yield from map(work, tasks)
            return
        try:
            yield from self._pool.map(work, tasks, chunksize=batch)
        except BrokenProcessPool:
            raise _ended() from None

    def in_order(self, work: Callable[[Any], Any], tasks: Iterator[Any]) -> Iterator[Any]:
        """The same, no further ahead than there are processes: what is not asked for is not begun."""
        if self._pool is None:
            yield from map(work, tasks)
            return
        waiting: deque[Future[Any]] = deque()
        try:
            while True:
                while len(waiting) < self.count and (task := next(tasks, None)) is not None:
                    waiting.append(self._pool.submit(work, task))
                if not waiting:
                    return
                yield waiting.popleft().result()
        except BrokenProcessPool:
            raise _ended() from None
        finally:
            for future in waiting:
                future.cancel()

    def __enter__(self) -> Processes:
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)


def _ended() -> EngineError:
    return EngineError("a process of the choice was ended from outside; choose again, with --jobs 1 if memory was short.")


def _deaf() -> None:
    # An interrupt is for the process that was asked; it ends the others.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
