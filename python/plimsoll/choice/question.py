"""What ``plimsoll choose`` was asked, as it is typed, and the selection that it means.

selection_of(Question(demands=("oltp-db@2k",), among=("nvme-*",), objectives=("p99 <= 5ms",)))
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from plimsoll.choice.candidates import Limits
from plimsoll.choice.demand import Source, demand_of, name_of
from plimsoll.choice.selection import FINALISTS, Selection
from plimsoll.choice.trial import HEALTHY, STATES
from plimsoll.displayed import quoted
from plimsoll.engine.block import native
from plimsoll.errors import InputError
from plimsoll.near import meant
from plimsoll.points.quantity import size_bytes
from plimsoll.uncertainty.figures import affordable, plan_of

#: ``NAME=REST``, where the rest does not begin with another =, as in conditions.
_OWN = re.compile(r"([\w.@/-]+)=(?!=)\s*(.+)", re.DOTALL)


@dataclass(frozen=True, kw_only=True)
class Question:
    """Every option as typed; ``demands`` are files, workloads with rates or stored runs."""

    demands: tuple[str, ...] = ()
    among: tuple[str, ...] = ()
    objectives: tuple[str, ...] = ()
    caps: tuple[str, ...] = ()
    capacity: str | None = None
    survive: int = 1
    budget: str | None = None
    prices: str | None = None
    device: str | None = None
    percentile: str | None = None
    random_percent: str | None = None
    growth: str | None = None
    healthy_only: bool = False
    finalists: int = FINALISTS
    seed: int = 1
    jobs: int | None = None
    out: str = "results"
    uncertainty: str | None = None


def selection_of(asked: Question) -> Selection:
    """Raises `InputError` for what makes no sense, before anything is simulated."""
    if not asked.demands:
        raise InputError("--demand: nothing is demanded; give a file, for example what 'plimsoll watch -o demand.json' kept.")
    if not asked.among:
        raise InputError("--among: say what could be bought, for example --among 'msa2000 nvme-raid10?drives=4,8'.")
    sources = _sources(asked)
    limits = Limits(
        capacity_bytes=0 if asked.capacity is None else size_bytes("--capacity", asked.capacity),
        survive=asked.survive,
        budget=None if asked.budget is None else _amount(asked.budget),
    )
    # What survives no failure is never degraded.
    states = STATES if asked.survive and not asked.healthy_only else (HEALTHY,)
    return Selection(
        load=demand_of(sources, native(), asked.out),
        among=asked.among,
        limits=limits,
        prices=asked.prices,
        finalists=asked.finalists,
        states=states,
        seed=asked.seed,
        jobs=asked.jobs,
        draws=affordable() if asked.uncertainty is None else plan_of(asked.uncertainty),
    )


def _sources(asked: Question) -> list[Source]:
    """Each demand with what was said of it alone, or of all."""
    names = {name_of(text): text for text in asked.demands}
    objectives, caps = _said("--objective", asked.objectives, names), _said("--cap", asked.caps, names)
    if len(asked.demands) == 1 and caps:
        raise InputError("--cap: a cap keeps one demand from disturbing another; give several demands, or leave it out.")
    if None in caps:
        raise InputError(f"--cap {caps[None]}: say whose requests it caps, for example --cap {next(iter(names))}={caps[None]}.")
    return [
        Source(
            text,
            objective=objectives.get(name_of(text), objectives.get(None)),
            cap=caps.get(name_of(text)),
            device=asked.device,
            percentile=asked.percentile,
            random_percent=asked.random_percent,
            growth=asked.growth,
        )
        for text in asked.demands
    ]


def _said(option: str, texts: Sequence[str], names: dict[str, str]) -> dict[str | None, str]:
    """By the demand that each is of; None for all."""
    found: dict[str | None, str] = {}
    for text in texts:
        own = _OWN.fullmatch(text.strip())
        name = None if own is None else own[1]
        if name is not None and name not in names:
            raise InputError(f"{option} {text}: no demand is called {quoted(name)}; {meant(name, names)}")
        if name in found:
            raise InputError(f"{option} {text}: it is said twice of {'all demands' if name is None else name}; say it once.")
        found[name] = text if own is None else own[2]
    return found


def _amount(text: str) -> float:
    try:
        value = float(text.replace(",", ""))
    except ValueError:
        value = 0.0
    if not 0 < value < math.inf:
        raise InputError(f"--budget: {quoted(text)} is not an amount; write a number above 0, for example 42000.")
    return value
