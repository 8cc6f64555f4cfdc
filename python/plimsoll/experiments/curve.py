"""Response at percentages of the maximum.

The curve: first the maximum, then how long requests take at given percentages of it.

Model: first the workload runs as it stands, as fast as its closed loop goes; that is the maximum. Then the same streams run open-loop
at percentages of it: requests are due at their own instants (Poisson unless told otherwise), and latency counts from when they were due.
Several streams get the total in proportion to what they completed at the maximum.

Outstanding requests: an open stream may have as many outstanding as its threads × queue depth. The depth that reached the maximum is enough
to carry any rate below it, but random arrivals come in clusters, and what exceeds the depth waits in this program, unseen by the target. So
the depth is raised to four times what it was and at least `OUTSTANDING_MIN` per thread, as far as `OUTSTANDING_MAX` per stream (each takes
a buffer of one block); it is never lowered. With ``outstanding = "kept"`` never more requests are outstanding than at the maximum: what is
due waits for the first of all slots of its stream that gets free, as it does for the threads of an SD in Vdbench, so a stream becomes one
thread with all of its slots, and its amount is that of all its threads. Streams of file operations have no depth, and their maximum is of
the operations that are drawn: the opening and closing that come with these are not asked for by a rate. At 100 % the queue may grow for as
long as the point lasts; the point then says that the rate was not achieved, and its latency means little. With a given maximum nothing was
measured yet, and depths stay as they are.

Limits: a maximum that was measured with another kind of arrival than closed is only what was offered. Equal rounded rates are asked once.

    plan = curve(SPC_PERCENTS, Pace(rounding="vdbench"), parse_objective("p99 <= 30ms"))

Rounding: a percentage of the maximum as a rate to ask for, exact or as Vdbench rounds it.

Model of Vdbench 5.04.07, reproduced on all 525 curve points of 40 published runs: the maximum is rounded half up to a whole number, the
percentage of it is cut to a whole number, and that goes up to the next multiple of 10, or of 100 when it is above 1,000. A tiny rate
becomes 10. (Its manual says "above 100".)

    vdbench(12_345.4, 50)        # 6,200
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from plimsoll.analysis.load_line.mark import Mark, mark_of
from plimsoll.analysis.objective.judgement import Objective
from plimsoll.analysis.point.definition import ORDER_ENTRY, drawn_operations, streams
from plimsoll.analysis.point.metric import ALL, metric, rate_noun
from plimsoll.analysis.point.offered_load import offered_kind_per_s, share, share_min
from plimsoll.displayed import quoted
from plimsoll.errors import InputError
from plimsoll.experiments import phrases
from plimsoll.experiments.plan import Ask, Conclusion, Plan
from plimsoll.experiments.probe import setting
from plimsoll.result import Estimate, Result, Totals
from plimsoll.stored import Json, Stream

#: Vdbench's own percentages.
DEFAULT_PERCENTS = (10, 50, 70, 80, 90, 100)
#: The ramp of SPC-1's response time curve.
SPC_PERCENTS = (10, 50, 80, 90, 95, 100)

#: What becomes of the requests outstanding once the loop is open.
OUTSTANDING = ("raised", "kept")
OUTSTANDING_MIN = 32
OUTSTANDING_MAX = 256
#: The most that the engine takes as the depth of one thread.
DEPTH_MAX = 65_536
#: The least rate of a stream that the engine takes.
RATE_MIN = 0.001


@dataclass(frozen=True)
class Pace:
    """How a percentage becomes a load: its rounding, how requests arrive, and the maximum where it is known (nothing is searched then).

    ``outstanding`` says whether streams may have more requests outstanding than at the maximum. ``shares`` divide a known maximum over the
    streams by name; a workload with one stream needs none.
    """

    rounding: Literal["none", "vdbench"] = "none"
    arrival: Literal["poisson", "constant"] = "poisson"
    outstanding: Literal["raised", "kept"] = "raised"
    maximum: float | None = None
    shares: Mapping[str, float] | None = None

    def __post_init__(self) -> None:
        if self.rounding not in ROUNDINGS:
            raise InputError(f"rounding {quoted(self.rounding)} is unknown; write {' or '.join(ROUNDINGS)}.")
        if self.arrival not in ("poisson", "constant"):
            raise InputError(f"arrival {quoted(self.arrival)} does not make a curve; write poisson or constant.")
        if self.outstanding not in OUTSTANDING:
            raise InputError(f"outstanding {quoted(self.outstanding)} is unknown; write {' or '.join(OUTSTANDING)}.")
        if self.outstanding == "kept" and self.maximum is not None:
            raise InputError("with a given maximum depths stay as they are; leave 'outstanding' out.")
        if self.maximum is not None and not (self.maximum > 0 and math.isfinite(self.maximum)):
            raise InputError(f"maximum is {self.maximum:g}; write a rate above 0, or leave it out to have it measured.")


@dataclass(frozen=True)
class _Load:
    """The streams of the open loop: the share of each (None: the only one), and settings that go with every rate."""

    shares: Mapping[str, float] | None
    settings: Json

    def at(self, rate: float) -> Json:
        """The settings that offer ``rate`` in total."""
        if self.shares is None:
            return {**self.settings, "rate": setting(rate)}
        whole = sum(self.shares.values())
        parts = {name: round(rate * share / whole, 3) for name, share in self.shares.items()}
        return {**self.settings, **{f"{name}.rate": setting(part) if part >= RATE_MIN else 0 for name, part in parts.items()}}


def curve(
    percents: Sequence[float] = DEFAULT_PERCENTS,
    pace: Pace | None = None,
    objective: Objective | None = None,
    repeat: int = 1,
) -> Plan:
    """Percentages of the maximum in the order given, repeats outermost; with an objective the mark is read off."""
    pace = pace or Pace()
    found: Result | None = None
    maximum = pace.maximum or 0.0
    load = _Load(pace.shares, {"arrival": pace.arrival})
    if pace.maximum is None:
        found = yield Ask(role="maximum")
        rate = _done(found) if found.status != "failed" else None
        if rate is None or rate.value <= 0:
            return Conclusion((f"The maximum could not be measured ({phrases.reason(found)}), so no rates follow from it.",))
        maximum, load = rate.value, _load(found, pace)
    # Percentages that are rounded to one rate are one point, called by the first of them.
    rates: dict[float, float] = {}
    for percent in percents:
        rates.setdefault(ROUNDINGS[pace.rounding](maximum, percent), percent)
    points: list[tuple[float, Result]] = []
    for number in range(1, repeat + 1):
        for rate_per_s, percent in rates.items():
            result = yield Ask(load.at(rate_per_s), level=rate_per_s, repeat=number, label=f"{percent:g} %")
            points.append((rate_per_s, result))
            if load.shares is None and len(result.streams) > 1:
                return Conclusion((_unshared(result),))
    return _concluded(maximum, found, points, objective)


def _load(maximum: Result, pace: Pace) -> _Load:
    """The same streams as in ``maximum``, open-loop."""
    described = streams(maximum.job.definition)
    several = len(maximum.streams) > 1
    settings: Json = {"arrival": pace.arrival}
    for stream in described:
        if drawn_operations(stream) is not None:
            continue
        of_stream = f"{stream['name']}." if several else ""
        slots = _kept(stream) if pace.outstanding == "kept" else {"queue_depth": _raised(stream)}
        settings |= {f"{of_stream}{option}": level for option, level in slots.items()}
    if any(stream.get("think_time") for stream in described):
        # A pause between completion and next request means nothing where requests do not wait for completions.
        settings["think_time"] = 0
    if not several:
        return _Load(None, settings)
    return _Load({name: _completed(described, name, totals) for name, totals in maximum.streams.items()}, settings)


def _completed(described: Sequence[Stream], name: str, totals: Totals) -> float:
    """What a stream completed of the kind that a rate asks for."""
    nameless: Stream = {"name": name}
    return offered_kind_per_s(next((stream for stream in described if stream.get("name") == name), nameless), totals)


def _done(result: Result) -> Estimate | None:
    """What was completed of the kind that a rate asks for."""
    described = streams(result.job.definition)
    if all(drawn_operations(stream) is None for stream in described):
        return metric(result, ALL, "iops")
    return Estimate(sum(_completed(described, name, totals) for name, totals in result.streams.items()))


def _raised(stream: Stream) -> int:
    """Requests that each thread may have outstanding in the open loop, more than in the closed one."""
    threads, depth = int(stream.get("threads", 1)), int(stream.get("queue_depth", 1))
    return max(depth, min(max(4 * depth, OUTSTANDING_MIN), math.ceil(OUTSTANDING_MAX / threads)))


def _kept(stream: Stream) -> Json:
    """One thread with the slots and the goals of all threads of the stream."""
    threads, depth = int(stream.get("threads", 1)), int(stream.get("queue_depth", 1))
    if threads * depth > DEPTH_MAX:
        return {}
    goals = {goal: int(stream[goal]) * threads for goal in ("amount", "requests") if stream.get(goal)}
    return {"threads": 1, "queue_depth": threads * depth, **goals}


def _concluded(maximum: float, found: Result | None, points: Sequence[tuple[float, Result]], objective: Objective | None) -> Conclusion:
    mark = mark_of([result for _, result in points], objective) if objective else None
    rows = [_row(maximum, rate, result) for rate, result in points]
    noun = _noun([result for _, result in points])
    return Conclusion(
        sentences=(
            _maximum_said(maximum, found, noun),
            *(_missed(row, noun) for row in rows if row["kept_up"] is False),
            *([_mark_said(objective, mark, [result for _, result in points])] if objective else []),
            *phrases.failures((phrases.level_text("rate", rate), result) for rate, result in points),
        ),
        mark=mark,
        figures={
            "maximum": {"iops": maximum, "measured": found is not None},
            "objective": str(objective) if objective else None,
            "points": rows,
        },
    )


def _row(maximum: float, rate: float, result: Result) -> Json:
    done = _done(result) if result.status != "failed" else None
    response = metric(result, ALL, "mean") if result.status != "failed" else None
    return {
        "rate": rate,
        "percent": 100 * rate / maximum,
        "iops": done.value if done else None,
        "achieved_percent": 100 * done.value / rate if done else None,
        # In a short measurement fewer requests fall due than the rate says, which is not the target's doing.
        "kept_up": share(result, done, rate).value >= share_min([result]) if done else None,
        "response_ns": response.value if response else None,
    }


def _noun(results: Sequence[Result]) -> str:
    """What comes at the rate: of order entry new orders, with which the other transactions come."""
    if results and all(result.job.definition.get("driver") == ORDER_ENTRY for result in results):
        return "new orders/s"
    return rate_noun(results)


def _maximum_said(maximum: float, found: Result | None, noun: str) -> str:
    said = phrases.rate(maximum, noun)
    if found is None:
        return f"The maximum was given: {said}."
    if found.job.arrival != "closed":
        return f"The workload sets its own rate and completed {said}; that is not its maximum. Use arrival=closed to find it."
    return f"The maximum was {said}, with the workload as it stands."


def _missed(row: Json, noun: str) -> str:
    asked = f"{phrases.rate(row['rate'], noun)} ({row['percent']:.0f} % of the maximum)"
    return f"Only {row['achieved_percent']:.1f} % of {asked} was completed."


def _mark_said(objective: Objective | None, mark: Mark | None, results: Sequence[Result]) -> str:
    if mark is None:
        return f"No rate meets '{objective}'."
    met = f"Meets '{objective}' up to {phrases.level_text('rate', mark.level)} ({phrases.load(mark.iops, mark.bytes_per_s, results)})"
    if mark.next_level is None:
        return f"{met}. No rate failed; the limit is higher."
    return f"{met}; at {phrases.number(mark.next_level)}, it misses '{mark.failed_by}'."


def _unshared(result: Result) -> str:
    return (
        f"The workload has the streams {', '.join(result.streams)}, and how a given maximum divides over them is not known; "
        "leave 'maximum' out, so that it is measured."
    )


#: A rate from the maximum and a percentage.
Rounding = Callable[[float, float], float]

FINE, COARSE, COARSE_ABOVE = 10, 100, 1000


def exact(maximum: float, percent: float) -> float:
    """The percentage as it is, to a thousandth of a request per second."""
    return round(maximum * percent / 100, 3)


def vdbench(maximum: float, percent: float) -> float:
    """As Vdbench asks it."""
    # Fractions, so that 12.5 % of a whole number is cut where Vdbench's integers cut it.
    whole = math.floor(math.floor(maximum + 0.5) * Fraction(str(percent)) / 100)
    step = COARSE if whole > COARSE_ABOVE else FINE
    return float(max(FINE, -(-whole // step) * step))


#: By the word that experiment files use.
ROUNDINGS: dict[str, Rounding] = {"none": exact, "vdbench": vdbench}
