"""Queues whose mark is known from theory, and a conductor that measures a plan on them with the real engine in virtual time.

Sources: L. Kleinrock, Queueing Systems I (1975): M/M/1 (3.2), M/M/c by Erlang's C formula (3.5), M/G/1 by Pollaczek and Khinchine (5.6);
M. Reiser, S. Lavenberg, Mean-value analysis of closed multichain queuing networks (1980) for the closed loop with think time.
Service takes 1 ms on average everywhere; rates are per second, times seconds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from math import factorial, log
from typing import Any
from unittest.mock import patch

from plimsoll import calibration
from plimsoll.analysis.objective.judgement import parse_objective
from plimsoll.engine.block import native
from plimsoll.experiments.plan import Ask, Conclusion, Configuration, Plan, Request, Subject
from plimsoll.experiments.probe import Bounds, Resolution
from plimsoll.experiments.search import ramp, search
from plimsoll.measure import Job, measure
from plimsoll.own_cost import OwnCost
from plimsoll.result import Result
from plimsoll.target import Target

Json = dict[str, Any]
SERVICE_S = 0.001
MU = 1 / SERVICE_S


def mm1_mean(limit_s: float) -> float:
    """The rate at which 1 / (μ − λ) is ``limit_s``."""
    return MU - 1 / limit_s


def mm1_p95(limit_s: float) -> float:
    """The response is exponential: its 95th percentile is ln 20 / (μ − λ)."""
    return MU - log(20) / limit_s


def md1_mean(limit_s: float) -> float:
    """Pollaczek and Khinchine without variance: s + ρ s / (2 (1 − ρ))."""
    waits = 2 * (limit_s / SERVICE_S - 1)
    return MU * waits / (1 + waits)


def erlang_c(servers: int, rate: float) -> float:
    """The share of requests that wait."""
    offered = rate / MU
    waiting = offered**servers / factorial(servers) / (1 - offered / servers)
    return waiting / (sum(offered**k / factorial(k) for k in range(servers)) + waiting)


def mmc_mean(servers: int, limit_s: float) -> float:
    """The rate at which 1/μ + C / (cμ − λ) is ``limit_s``."""
    return _root(lambda rate: SERVICE_S + erlang_c(servers, rate) / (servers * MU - rate) - limit_s, servers * MU)


def closed_loop(think_s: float, limit_s: float) -> tuple[int, float]:
    """The most requests in the loop that respond within ``limit_s`` on average, and their throughput."""
    depth, queued, last = 0, 0.0, (0, 0.0)
    while True:
        depth += 1
        response = SERVICE_S * (1 + queued)
        throughput = depth / (response + think_s)
        queued = throughput * response
        if response > limit_s:
            return last
        last = (depth, throughput)


def _root(function: Callable[[float], float], above: float) -> float:
    """Where a rising function of the rate crosses 0 below ``above``."""
    low, high = 1.0, above - 1e-6
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if function(middle) < 0 else (low, middle)
    return low


@dataclass(frozen=True)
class Known:
    """A modelled target under a load, and the throughput of the mark for each objective."""

    target: str
    stream: Json
    marks: Mapping[str, float]
    #: Requests per point at the mark; why so many, stands in test_known_marks.py.
    requests: int = 0


class Bench:
    """Conducts plans on a `Known` at one job seed, without store, host facts or calibration; ``results`` holds what was measured.

    Points further from ``mark`` than `NEAR` are plain after a quarter of the time.
    """

    def __init__(self, known: Known, seed: int, seconds: float, *, mark: float | None = None, streams: list[Json] | None = None) -> None:
        self.known = known
        self.mark = mark
        self.engine = native()
        self.workload = self.engine.check_workload({"name": "known", "stream": streams or [{"name": "main", **known.stream}]}, "known.toml")
        self.options, self.options_far = self._options(seed, seconds), self._options(seed, seconds / 4)
        self.subject = Subject("known", Configuration("known", known.target))
        self.results: dict[Any, Result] = {}

    def _options(self, seed: int, seconds: float) -> Json:
        duration_ms = round(1000 * seconds)
        times = {"duration": f"{duration_ms}ms", "warmup": "1s", "interval": f"{max(1, duration_ms // INTERVALS)}ms"}
        return self.engine.check_job({**times, "seed": seed})

    def conclusion(self, plan: Plan) -> Conclusion:
        """The conclusion of ``plan``."""
        try:
            ask = next(plan)
            while True:
                ask = plan.send(self.measured(ask))
        except StopIteration as stop:
            conclusion: Conclusion = stop.value
            return conclusion

    def measured(self, ask: Ask) -> Result:
        """One point. What another plan asked before is not run again: equal jobs have equal results in virtual time."""
        key = (tuple(ask.settings.items()), ask.repeat)
        if key not in self.results:
            self.results[key] = self._run(ask)
        return replace(self.results[key], place=Request("known", "known", self.subject, ask).place)

    def _run(self, ask: Ask) -> Result:
        is_far = self.mark is not None and abs(float(ask.settings.get("rate", self.mark)) / self.mark - 1) > NEAR
        workload, options = self.workload, self.options_far if is_far else self.options
        options = {**options, "seed": options["seed"] + ask.repeat - 1}
        for name, value in ask.settings.items():
            workload, options = self.engine.set_option(workload, options, name, value)
        job = Job("point", workload, options, Target(self.known.target), {"target": {"kind": "queue"}}, repeat=ask.repeat)
        # The engine's own cost says nothing in virtual time.
        with patch.object(calibration, "load", lambda: OwnCost({"null": {}, "nop": {}})):
            return measure(job, self.engine, _Nowhere(), self.engine.control())


class _Nowhere:
    def interval(self, interval: Json) -> None:
        pass

    def monitor(self, sample: Json) -> None:
        pass


#: The fewest that give an interval: every interval of the record has a cost, here without a use.
INTERVALS = 6
#: How near to the mark, as a share of it, the length of a point matters.
NEAR = 0.05
#: Slots are never short. Small blocks, because no byte of them is looked at.
_POISSON = {"arrival": "poisson", "rate": 100, "queue_depth": 8192, "block_size": 512}
_THINKING = {"think_time": "20ms", "think_distribution": "exponential", "block_size": 512}

#: Mean and 95th percentile of M/M/1 have their marks near each other, so that their plans share points.
KNOWN = {
    "M/M/1": Known(
        "queue:?service=exp:1ms",
        _POISSON,
        {"mean <= 8ms": mm1_mean(0.008), "p95 <= 24ms": mm1_p95(0.024)},
        requests=97_000,
    ),
    "M/D/1": Known("queue:?service=const:1ms", _POISSON, {"mean <= 5ms": md1_mean(0.005)}, requests=21_000),
    "M/M/4": Known("queue:?service=exp:1ms&servers=4", _POISSON, {"mean <= 3ms": mmc_mean(4, 0.003)}, requests=50_000),
    # Twelve requests respond in 1.89 ms on average, thirteen in 2.04 ms.
    "closed loop": Known("queue:?service=exp:1ms", _THINKING, {"mean <= 1.96ms": closed_loop(0.02, 0.00196)[1]}, requests=30_000),
}
RESOLUTION = Resolution(0.005)


def errors(name: str, seed: int) -> dict[str, float]:
    """How far the mark that each planner finds for each objective is from theory, relative."""
    known = KNOWN[name]
    first = next(iter(known.marks.values()))
    is_open = known.stream.get("arrival") == "poisson"
    bench = Bench(known, seed, seconds=known.requests / first, mark=first if is_open else None)
    axis, bounds = ("rate", Bounds(round(first * 0.53), 100_000)) if is_open else ("queue_depth", Bounds(1, 256, integer=True))
    found = {}
    for text, expected in known.marks.items():
        objective = parse_objective(text)
        plans = {"ramp": ramp(axis, bounds, objective, RESOLUTION), "search": search(axis, bounds, objective, RESOLUTION, repeats_max=2)}
        for planner, plan in plans.items():
            mark = bench.conclusion(plan).mark
            found[f"{planner}, {text}"] = (mark.iops if mark else 0.0) / expected - 1
    return found
