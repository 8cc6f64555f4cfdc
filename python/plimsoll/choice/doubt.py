"""How sure it is what a candidate carries, given what nobody has looked up of its parts.

Model: the candidate is drawn (`plimsoll.uncertainty`): every value that is assumed, from memory or derived gets another one of its range,
and for each draw the rate is looked for at which an objective fails. It begins at the candidate's own mark and goes on in steps until the
limit lies between two rates; between them it is taken from the worst latency over its limit, both logarithmic. Draws are held against the
same search on the candidate itself, so that what the search is coarse in cancels: a draw that fails at 0.9 times the rate moves the mark
to 0.9 of it.
`carries` is the share of draws that carry what was demanded.
Candidates that share a part draw the same values for it. How many draws are made follows from how many requests they take, and how many
commands of drives each of these takes, never from a clock: equal questions have equal answers on any machine.
Limits: healthy arrays alone. A draw is loaded for as long as the candidate itself before it is measured. Rates beyond eight times the
demand are not looked at.

    doubt_of(trial, ascend(trial), 6_490.0, Plan(draws=20)).interval.low
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from plimsoll.analysis.point.array import component_sets
from plimsoll.analysis.uncertainty.hypercube import BLOCK
from plimsoll.analysis.uncertainty.interval import Interval, interval
from plimsoll.choice.line import FACTOR_MAX, Ascent
from plimsoll.choice.trial import Trial, is_latency, judged, responses, run_of
from plimsoll.engine.block import native
from plimsoll.engine.protocol import Engine
from plimsoll.errors import InputError
from plimsoll.points.point import PlannedPoint
from plimsoll.result import Result
from plimsoll.target import Target, target_of
from plimsoll.uncertainty.figures import Plan, spread
from plimsoll.units import count, significant

#: So many requests are worked out for the draws of all candidates, unless a number of draws was asked for: about half a minute.
REQUESTS_MAX = 20_000_000
#: That is of requests that take so many commands of drives, as those of mirrors and of RAID 5 do. Where a record lies on many drives one
#: takes ten, and counts as five.
_COMMANDS = 2.0
#: A draw is worked out at so many rates, in the mean.
_RATES = 2.5
#: A step of the search, and so many requests or seconds that are measured at each.
_STEP = 1.2
_REQUESTS = 20_000
_SECONDS = (1.0, 60.0)


@dataclass(frozen=True)
class Doubt:
    """``interval`` of the mark in requests per second and ``carries``, the share of draws that carry the demand; None where nothing was
    drawn, with ``why``."""

    interval: Interval | None = None
    carries: float | None = None
    why: str = ""


def doubt_of(trial: Trial, ascent: Ascent, mark_per_s: float, plan: Plan, among: int = 1) -> Doubt:
    """Draw the candidate of a load line whose mark is known; ``among`` is how many share the requests that draws are worth."""
    engine, target = native(), target_of(trial.target)
    start = ascent.low or ascent.high or 1.0
    draws = plan.draws if plan.budget_s is None else _affordable(_cost(trial, ascent, start) * among, plan.draws)
    if not draws:
        return Doubt(why=_undrawn(_requests(trial, ascent, start), _commands(_nearest(ascent, start))))

    def carried(drawn: Target) -> float:
        return _crossing(start, lambda factor: _seen(trial, ascent, drawn, factor, engine))

    own = carried(target)
    found = spread(target, lambda drawn: {"factor": carried(drawn)}, engine, replace(plan, draws=draws, budget_s=None))
    factors = found.values.get("factor", ())
    ends = interval([None if one is None else mark_per_s * one / own for one in factors], found.drawn, found.level)
    if ends is None:
        return Doubt(why="nothing of it is uncertain" if not found.drawn else "no draw gave a figure")
    given = [one for one in factors if one is not None]
    return Doubt(ends, sum(one >= 1 for one in given) / len(given))


def _affordable(cost: float, most: int) -> int:
    """Whole blocks of draws that the requests suffice for."""
    return min(most, int(REQUESTS_MAX / max(cost, 1.0)) // BLOCK * BLOCK)


def _cost(trial: Trial, ascent: Ascent, factor: float) -> float:
    """What a draw takes, in requests of `_COMMANDS` commands."""
    return _requests(trial, ascent, factor) * max(1.0, _commands(_nearest(ascent, factor)) / _COMMANDS)


def _requests(trial: Trial, ascent: Ascent, factor: float) -> float:
    """Requests of a draw."""
    warmup_s, measured_s = _times(trial, ascent, factor)
    return _RATES * factor * trial.load.rate_per_s * (warmup_s + measured_s)


def _commands(result: Result) -> float:
    """Commands of drives for each request that was answered."""
    answered_per_s = sum(total.iops for total in result.totals.values())
    drives_per_s = sum(one.operations_per_s for one in component_sets(result) if one.kind in ("disk", "flash"))
    return drives_per_s / answered_per_s if answered_per_s else 0.0


def _undrawn(requests: float, commands: float) -> str:
    each = f" of {significant(commands)} commands each" if commands > _COMMANDS else ""
    return f"{BLOCK} draws take about {count(requests * BLOCK)} requests{each}; ask with --uncertainty {BLOCK}"


def _nearest(ascent: Ascent, factor: float) -> Result:
    """What was measured nearest to a rate."""
    return ascent.results[min(ascent.results, key=lambda known: (abs(math.log(known / factor)), known))]


def _times(trial: Trial, ascent: Ascent, factor: float) -> tuple[float, float]:
    """Warm-up and measured seconds at a rate: the candidate was in balance after that at the nearest rate that was measured."""
    result = _nearest(ascent, factor)
    warmup_s = float(result.job.options["warmup"]) + float(result.ended.get("settled_s") or 0.0)
    return warmup_s, min(max(_REQUESTS / (factor * trial.load.rate_per_s), _SECONDS[0]), _SECONDS[1])


def _seen(trial: Trial, ascent: Ascent, drawn: Target, factor: float, engine: Engine) -> tuple[bool, float | None]:
    """Whether a draw carries so many times the demand, and the logarithm of its worst latency over its limit, if only latencies count."""
    warmup_s, measured_s = _times(trial, ascent, factor)
    options = engine.check_job(
        {"duration": f"{measured_s:.4f}s", "warmup": f"{warmup_s:.4f}s", "interval": "auto", "seed": trial.seed},
    )
    result = run_of(PlannedPoint(trial.load.at(factor), options, drawn), engine, factor * trial.load.rate_per_s)
    if result.status == "failed":
        raise InputError(f"the draw failed: {result.error}")
    found = responses(trial.load, result)
    holds = judged(trial.load, result)[0]
    if not all(is_latency(one) and one.value and one.limit for one in found):
        return holds, None
    return holds, max(math.log(one.value / one.limit) for one in found if one.value)


def _crossing(start: float, seen: Callable[[float], tuple[bool, float | None]]) -> float:
    """The factor at which the objective fails; the end of what is looked at where it holds or fails everywhere."""
    holds, excess = seen(start)
    step = _STEP if holds else 1 / _STEP
    last, last_excess = start, excess
    while 1 / FACTOR_MAX < last * step < FACTOR_MAX * _STEP and not (holds and last >= FACTOR_MAX):
        factor = min(last * step, FACTOR_MAX)
        now, now_excess = seen(factor)
        if now != holds:
            low, high = ((last, last_excess), (factor, now_excess)) if holds else ((factor, now_excess), (last, last_excess))
            return _between(low, high)
        last, last_excess = factor, now_excess
    return last


def _between(low: tuple[float, float | None], high: tuple[float, float | None]) -> float:
    """Where the worst latency reaches its limit, between a rate that holds and one that does not; their middle where that is not known."""
    (held, below), (failed, above) = low, high
    share = -below / (above - below) if below is not None and above is not None and below <= 0 < above else 0.5
    return held * math.exp(share * math.log(failed / held))
