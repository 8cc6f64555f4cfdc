"""A figure of an array under uncertainty: worked out for many draws of the array, several at a time.

Model: whoever asks gives a function from an array to its figures; it is called for each draw, in threads, since the engine computes without
the interpreter's lock. Draws come in blocks (`plimsoll.analysis.uncertainty.hypercube`), and as many blocks are made as are asked for, or
as the time allows; results depend on the number of draws and the seed, and on nothing else. A draw whose figures cannot be worked out is
told as failed.

    found = interval_of(target, lambda drawn: carried_by(drawn), engine)
    found.low, found.high, found.mostly[0].name
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from plimsoll.analysis.uncertainty.hypercube import BLOCK
from plimsoll.analysis.uncertainty.interval import LEVEL, DrawnValue, Interval, interval
from plimsoll.engine.protocol import Engine
from plimsoll.errors import InputError, PlimsollError
from plimsoll.target import Target
from plimsoll.uncertainty.draws import SEED, Draws

#: Draws, unless the time or somebody says otherwise.
DRAWS = 60
#: What is worth the time without being asked for; 0 draws nothing then.
BUDGET_S = 30.0

#: Draws that can be asked for.
_DRAWS = (20, 10_000)

#: The figures of an array by their names; called in several threads at once.
Figures = Callable[[Target], Mapping[str, float]]


@dataclass(frozen=True)
class Plan:
    """How many draws: ``draws`` at most, and as many blocks as end within ``budget_s``. ``jobs`` are worked out at a time."""

    draws: int = DRAWS
    budget_s: float | None = None
    seed: int = SEED
    level: float = LEVEL
    jobs: int = 0

    @property
    def hands(self) -> int:
        """How many are worked out at a time: as many as there are processors for this process, unless it was said."""
        return self.jobs or len(os.sched_getaffinity(0))

    def affords(self, seconds: float) -> bool:
        """Whether a block fits into the time, where one draw takes so many seconds."""
        return self.budget_s is None or seconds * -(-BLOCK // self.hands) <= self.budget_s


def plan_of(typed: str) -> Plan | None:
    """The plan that ``60``, ``100@7`` with another seed, or ``off`` means; raises `InputError` for anything else."""
    if typed == "off":
        return None
    draws, at, seed = typed.partition("@")
    if not draws.isdecimal() or not _DRAWS[0] <= int(draws) <= _DRAWS[1] or not (seed if at else "1").isdecimal():
        raise InputError(f"--uncertainty {typed}: write a number of draws from {_DRAWS[0]} to {_DRAWS[1]:,}, with a seed 60@7, or off.")
    return Plan(draws=int(draws), seed=int(seed)) if seed else Plan(draws=int(draws))


def affordable() -> Plan | None:
    """What is drawn without being asked for; None where nothing is."""
    return Plan(budget_s=BUDGET_S) if BUDGET_S else None


@dataclass(frozen=True)
class Spread:
    """What the draws gave: the values of every figure, one for each draw, None where a draw failed."""

    values: Mapping[str, Sequence[float | None]]
    drawn: Sequence[DrawnValue]
    count: int
    seed: int
    level: float
    redrawn: int
    fingerprint: str
    seconds: float = field(compare=False)

    def interval(self, name: str) -> Interval | None:
        """The interval of one figure; None where the draws gave none."""
        return interval(self.values.get(name, ()), self.drawn, self.level)


def interval_of(target: Target, figure: Callable[[Target], float], engine: Engine, plan: Plan = Plan()) -> Interval | None:
    """The interval of one figure of one array.

    ``figure`` takes an array like ``target``, with other values for what nobody has looked up, and gives the figure that it comes to: a
    rate, a mark, a latency. It is called ``plan.draws`` times (60), ``plan.jobs`` at a time in threads (all processors; 1 where the caller
    works out several arrays at once), and raises a `PlimsollError` where there is none. Equal seeds give equal draws, and what two arrays
    have in common is drawn alike: to compare two, use `spread` and the ratio of their values, draw by draw. None where nothing of the
    array is uncertain, or no draw gave a figure.
    """
    found = spread(target, lambda drawn: {"figure": figure(drawn)}, engine, plan)
    return found.interval("figure") if found.drawn else None


def spread(target: Target, figures: Figures, engine: Engine, plan: Plan = Plan()) -> Spread:
    """Several figures of one array, for every draw."""
    draws, began_s = Draws(target, engine, plan.seed), time.monotonic()
    found: list[Mapping[str, float]] = []
    with ThreadPoolExecutor(plan.hands, thread_name_prefix="plimsoll-draws") as pool:
        while draws.uncertain and len(found) < plan.draws:
            numbers = range(len(found), min(len(found) + BLOCK, plan.draws))
            try:
                found += pool.map(lambda number: _figures(draws.target(number), figures), numbers)
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise
            spent_s = time.monotonic() - began_s
            if plan.budget_s is not None and spent_s * (1 + BLOCK / len(found)) > plan.budget_s:
                break
    names = dict.fromkeys(name for one in found for name in one)
    return Spread(
        {name: [one.get(name) for one in found] for name in names},
        draws.drawn(len(found)),
        len(found),
        plan.seed,
        plan.level,
        draws.redrawn(len(found)),
        draws.fingerprint(len(found)),
        time.monotonic() - began_s,
    )


def _figures(target: Target, figures: Figures) -> Mapping[str, float]:
    try:
        return figures(target)
    except PlimsollError:
        return {}
