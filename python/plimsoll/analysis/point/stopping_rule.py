"""Stopping rules: a point is measured until a metric is precise enough, or until an amount was transferred.

Model: a `Pursuit` is told every interval as it arrives and says what it counts as. With a `Precision`, measured intervals count as warm-up
until the response is steady (the five-round window of `steady` over the later half of what was seen), for at most half the time limit;
from then on they are measured until the 95 % interval of the metric is at most that far from its value on either side. With an `Amount`
they are measured until that many bytes were transferred. The interval that decides is the last one measured: whatever arrives later
counts as ``after`` and is in no total, so a modelled target that ran ahead of the decision gives the same result for equal seeds.
The time limit is the duration of the job; when it comes first, the point says so.

Stopping as soon as an interval happens to be narrow favours intervals that are too narrow (Chow and Robbins, "On the asymptotic theory of
fixed-width sequential confidence intervals for the mean", Annals of Mathematical Statistics 36, 1965; Glynn and Whitt, "The asymptotic
validity of sequential stopping rules for stochastic simulations", Annals of Applied Probability 2, 1992). So the interval is first looked
at after `INTERVALS_MIN` measured intervals, then each time a fifth more were measured, and it has to be narrow enough at two looks in a
row: the second is not chosen for being narrow. On AR(1) series of φ up to 0.6 the final intervals then cover about 92 to 96 %, where
stopping at the first narrow one covers about 90 to 95 %.

    pursuit = Pursuit(parse_precision("2% of read p99"), limit_s=60.0)
    phase = pursuit.phase_of(interval)     # "warmup", "measure", "drain" or "after"
    pursuit.reached                        # the job can be stopped
    pursuit.ended()                        # {"by": "precision", "how": "precise to ±1.8 % of read p99 after 12.0 s", …}
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from plimsoll.analysis.point.estimates import PERCENTILES, WITH_INTERVAL, estimate
from plimsoll.analysis.point.metric import ALL, RATES
from plimsoll.analysis.point.observation import Batches, Portion, Series, Slice, implied, portion_key, portion_of
from plimsoll.analysis.statistics.steadiness import ROUNDS, Steadiness, steadiness
from plimsoll.displayed import quoted
from plimsoll.errors import InputError
from plimsoll.histogram import decoded
from plimsoll.records import dataclass
from plimsoll.result import OPS, Estimate
from plimsoll.stored import Ended, Interval, Phase
from plimsoll.units import binary, significant

INTERVALS_MIN = 16
#: How much more has to be measured before the interval is looked at again.
_LOOK_GROWTH = 1.2
#: Looks in a row at which it has to be narrow enough.
_LOOKS_MIN = 2
#: A point that goes on by itself is given up when so many times its least time have not helped, and it would take so many times the limit.
_HOPELESS_AFTER = 5.0
_HOPELESS = 2.0
#: The share of its least time that such a point is looked at before it counts as settled.
_SETTLING_LEAST = 0.25
#: The share of the time limit within which the response may settle.
_SETTLING_SHARE_MAX = 0.5
#: Portions of every kind, drawn or coming with another operation.
_EVERYTHING = (*OPS, *map(implied, OPS))
_WRITTEN = {"p99.9": "p999", "bandwidth": "bytes_per_s"}
_SHOWN = {metric: name for name, metric in _WRITTEN.items()}
_EXAMPLE = "write for example 2% or '2% of read p99'"


@dataclass(frozen=True)
class Precision:
    """Measure until the 95 % interval of a metric is within ``relative`` of its value, for ``least_s`` at least.

    ``own``: nobody asked for it; the response has to be as steady as it shall be precise, a point that does not reach it has missed
    nothing, and one that is far from it after a while is given up.
    """

    relative: float
    op: str = ALL
    metric: str = "mean"
    least_s: float = 0.0
    own: bool = False

    @property
    def subject(self) -> str:
        """What has to be precise, in words."""
        shown = _SHOWN.get(self.metric, self.metric)
        return shown if self.op == ALL else f"{self.op} {shown}"

    def __str__(self) -> str:
        return f"{100 * self.relative:g}% of {self.subject}"


@dataclass(frozen=True)
class Amount:
    """Measure until this many bytes were transferred in the measured time."""

    bytes: int

    def __str__(self) -> str:
        return binary(self.bytes)


Goal = Precision | Amount


def parse_precision(text: str) -> Precision:
    """A precision as typed: ``2%``, ``2% of p99``, ``0.5 % of read bandwidth``."""
    found = re.fullmatch(r"\s*(?P<number>\d+(\.\d*)?|\.\d+)\s*%\s*(of\s+(?P<subject>.*?))?\s*", text)
    if found is None:
        raise InputError(f"precision {quoted(text)} is not a percentage; {_EXAMPLE}.")
    relative = float(found["number"]) / 100
    if not 0 < relative < 1:
        raise InputError(f"precision {quoted(text)} has to lie between 0 and 100 %; {_EXAMPLE}.")
    words = (found["subject"] or "mean").split()
    op = words.pop(0) if words[0] in (*OPS, ALL) else ALL
    metric = " ".join(words) or "mean"
    metric = _WRITTEN.get(metric, metric)
    if metric == "max":
        raise InputError(f"precision {quoted(text)}: a maximum has no confidence interval; name mean or a percentile.")
    if metric not in WITH_INTERVAL:
        known = ", ".join(_SHOWN.get(name, name) for name in WITH_INTERVAL)
        raise InputError(
            f"precision {quoted(text)}: {quoted(metric)} is no metric; metrics are {known}, after an operation ({', '.join(OPS)}) "
            "if one is meant."
        )
    return Precision(relative, op, metric)


class Pursuit:
    """Decides, interval by interval, what the time is for.

    ``modelled`` says that the target lives in virtual time; ``drawn`` are the operations that streams of file operations draw.
    """

    def __init__(self, goal: Goal, limit_s: float, *, modelled: bool = False, drawn: Mapping[str, frozenset[str]] | None = None) -> None:
        self.goal = goal
        self._drawn = drawn or {}
        self.reached = False
        self._limit_s = limit_s
        self._modelled = modelled
        self._settling = isinstance(goal, Precision)
        self._settling_s = 0.0
        self._response = Series()
        self._batches = Batches()
        self._measured_s = 0.0
        self._bytes = 0
        self._intervals = 0
        self._next_look = INTERVALS_MIN
        self._narrow = 0
        self._hopeless = False

    def phase_of(self, interval: Interval) -> Phase:
        """What ``interval`` counts as; `reached` may change with it."""
        phase = interval["phase"]
        if self.reached:
            # A modelled target ran on for as long as it took to stop it, so what was in flight then belongs to no measured time.
            return "drain" if phase == "drain" and not self._modelled else "after"
        if phase != "measure":
            return phase
        seconds = (interval["end_ns"] - interval["start_ns"]) / 1e9
        if self._settling and self._settling_s + seconds <= _SETTLING_SHARE_MAX * self._limit_s:
            self._settle(interval, seconds)
            return "warmup"
        self._settling = False
        self._measure(interval, seconds)
        return "measure"

    def ended(self) -> Ended:
        """Why the measured time ended where it did, as `Result.ended` keeps it, for a job that came to its end."""
        is_reached = self.reached and not self._hopeless
        how = self._how_reached() if is_reached else self._how_limited()
        kind = "precision" if isinstance(self.goal, Precision) else "amount"
        ended: Ended = {"by": kind if is_reached else "limit", "how": how, "settled_s": self._settling_s}
        return ended if isinstance(self.goal, Precision) and self.goal.own else {**ended, "goal": kind}

    def _settle(self, interval: Interval, seconds: float) -> None:
        self._settling_s += seconds
        done = self._done(interval)
        self._response.add(Slice(seconds, done.count, done.latency_sum_ns))
        latest = list(self._response)
        latest = latest[-max(ROUNDS, len(latest) // 2) :]
        rates = isinstance(self.goal, Precision) and self.goal.metric in RATES
        verdict = steadiness([point.rate_per_s if rates else point.mean_ns for point in latest])
        self._settling = verdict is None or not verdict.steady or self._still_rises(verdict)

    def _still_rises(self, verdict: Steadiness) -> bool:
        """A point that goes on by itself has the time to wait until what is left of a rise is within its precision."""
        if not isinstance(self.goal, Precision) or not self.goal.own:
            return False
        return self._settling_s < _SETTLING_LEAST * self.goal.least_s or abs(verdict.slope_percent) > 100 * self.goal.relative

    def _measure(self, interval: Interval, seconds: float) -> None:
        self._measured_s += seconds
        self._intervals += 1
        if isinstance(self.goal, Amount):
            self._bytes += self._done(interval).bytes
            self.reached = self._bytes >= self.goal.bytes
            return
        self._batches.add(seconds, self._portions(interval, histograms=self.goal.metric in PERCENTILES))
        if self._intervals >= self._next_look:
            self._next_look = int(self._intervals * _LOOK_GROWTH) + 1
            precision = self._precision()
            self._narrow = self._narrow + 1 if precision is not None and precision <= self.goal.relative else 0
            self._hopeless = self._is_hopeless(self.goal, precision)
        self.reached = self._hopeless or (self._narrow >= _LOOKS_MIN and self._measured_s >= self.goal.least_s)

    def _is_hopeless(self, goal: Precision, precision: float | None) -> bool:
        """Whether time is no help: the error falls with its root."""
        if not goal.own or precision is None or self._measured_s < _HOPELESS_AFTER * goal.least_s:
            return False
        return (precision / goal.relative) ** 2 * self._measured_s > _HOPELESS * self._limit_s

    def _keys(self) -> tuple[str, ...]:
        """The portions that what has to be precise is made of; an amount is of everything that moves."""
        if not isinstance(self.goal, Precision):
            return _EVERYTHING
        if self.goal.op == ALL:
            return _EVERYTHING if self.goal.metric == "bytes_per_s" else OPS
        return (self.goal.op, implied(self.goal.op))

    def _done(self, interval: Interval) -> Portion:
        """What the operations that count did in an interval, together."""
        done = Portion()
        for portion in self._portions(interval, histograms=False).values():
            done.add(portion)
        return done

    def _portions(self, interval: Interval, *, histograms: bool) -> dict[str, Portion]:
        """What each operation did in an interval; decoding histograms costs time, so only percentiles have them."""
        keys, portions = self._keys(), dict[str, Portion]()
        if not histograms and not self._drawn:
            entries = {op: entry for op, entry in interval.get("summary", {}).items() if op in keys}
            return {
                op: Portion(entry["count"], entry.get("bytes") or 0, entry["count"] * (entry.get("mean_ns") or 0.0))
                for op, entry in entries.items()
            }
        for cell in interval["cells"]:
            key = portion_key(cell, self._drawn)
            if key in keys and cell.get("part") is None:
                latency = decoded(text) if histograms and (text := cell.get("latency")) else None
                portions.setdefault(key, Portion()).add(portion_of(cell, latency))
        return portions

    def _precision(self) -> float | None:
        """How far the interval reaches from the value, as a share of the value."""
        if not isinstance(self.goal, Precision):
            return None
        return relative_half_width(estimate(self._batches, self.goal.op, self.goal.metric))

    def _how_reached(self) -> str:
        if isinstance(self.goal, Amount):
            return f"{binary(self._bytes)} transferred after {self._measured_s:.1f} s"
        return f"precise to ±{significant(100 * (self._precision() or 0.0), 2)} % of {self.goal.subject} after {self._measured_s:.1f} s"

    def _how_limited(self) -> str:
        limit = f"time limit of {self._limit_s:g} s reached"
        if self._hopeless:
            limit = f"given up after {self._measured_s:g} s, since {self._limit_s:g} s would not do,"
        if isinstance(self.goal, Amount):
            return f"{limit} at {binary(self._bytes)}, {self.goal} were asked"
        precision, asked = self._precision(), f"{100 * self.goal.relative:g} % was {'tried' if self.goal.own else 'asked'} for"
        if precision is None:
            return f"{limit} before {self.goal.subject} had an interval, {asked}"
        return f"{limit} at ±{significant(100 * precision, 2)} % of {self.goal.subject}, {asked}"


def relative_half_width(found: Estimate | None) -> float | None:
    """How far the interval of an estimate reaches from its value, as a share of the value; None without interval."""
    if found is None or found.low is None or found.high is None or found.value <= 0:
        return None
    return max(found.high - found.value, found.value - found.low) / found.value
