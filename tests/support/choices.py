"""Demands and trials for tests of `plimsoll.choice`: one open stream of random requests, in virtual time."""

from __future__ import annotations

from plimsoll.analysis.objective.judgement import parse_objective
from plimsoll.choice.bounds import Bound, bound_of
from plimsoll.choice.demand import KEPT_UP, DemandedLoad, Part
from plimsoll.choice.trial import HEALTHY, Trial, examine
from plimsoll.engine.block import native
from plimsoll.target import target_of


def demand(rate: float, reads: float = 70, size: str = "8KiB", objective: str = KEPT_UP, **stream: object) -> DemandedLoad:
    """One stream with Poisson arrivals."""
    own = {"name": "d", "arrival": "poisson", "rate": rate, "read_percent": reads, "block_size": size, "queue_depth": 256, **stream}
    about = dict.fromkeys(("title", "purpose", "source", "rationale"), "a test")
    workload = native().check_workload({"name": "d", **about, "stream": [own]}, "a test")
    return DemandedLoad(workload, (Part("d", "a test", ("d",), parse_objective(objective), rate),))


def bounded(target: str, load: DemandedLoad) -> Bound:
    """The bound of a target under a load."""
    return bound_of(target_of(target), load)


def rate_beyond(target: str, reads: float, size: str) -> float:
    """The lowest rate, to a thousandth, at which the bound excludes the target."""
    low, high = 1.0, 1e8
    while high / low > 1.001:
        middle = (low * high) ** 0.5
        excluded = bounded(target, demand(middle, reads, size)).rejection(demand(middle, reads, size)) is not None
        low, high = (low, middle) if excluded else (middle, high)
    return high


def carried(target: str, load: DemandedLoad) -> bool:
    """Whether the simulation says that the healthy target carries the load."""
    return examine(Trial(target, load), (HEALTHY,))[HEALTHY].carries
