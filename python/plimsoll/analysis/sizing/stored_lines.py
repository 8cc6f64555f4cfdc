"""Stored load lines that carry a demand, and with what headroom.

Model: results are gathered into load lines: points of one run and configuration that differ in load alone (depth, threads, rate). Each line
has its mark under the demanded objective, or without one its highest throughput. At the mark, reads per second, writes per second and bytes
per second are each divided by what is demanded, growth included; the headroom is the smallest quotient. It is a lower bound as long as

- taking requests away makes nothing slower (so a line that did more reads and more writes than demanded carries the demand), and
- a request costs no less than a smaller one, and one of twice the size at most twice as much (so both rate and bandwidth are asked).

A line whose mix, size or randomness is further from the demand than `MIX_POINTS`, `SIZE_FACTOR` and `RANDOM_POINTS` allow is refused,
with the reason: that would be extrapolation. So is one whose mark carries an ``invalid`` flag.
A demand of mailboxes is what a mail store of their generation is modelled on, so a line of one answers it by its transfers alone, at the
original's rule where no objective is given; one of another generation is refused.
Limits: working set, skew, content and burstiness are not compared; look at them before believing a narrow headroom. A line that never
failed only shows a lower end of its headroom.

    fits = size_lines({"run-1": results}, demand, parse_objective("mean <= 20ms"))
    fits[0].headroom, fits[0].verdict          # (1.34, "yes")
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from plimsoll.analysis.load_line.line import by_level, load_line, usable
from plimsoll.analysis.load_line.mark import Mark, mark_of
from plimsoll.analysis.mailstore.counters import DRIVER, section
from plimsoll.analysis.mailstore.mark import RULE
from plimsoll.analysis.objective.judgement import Objective, applies_to, parse_objective
from plimsoll.analysis.point.definition import streams
from plimsoll.analysis.point.repeats import pooled_metric
from plimsoll.analysis.sizing.demand import Demand
from plimsoll.analysis.sizing.view import FitView
from plimsoll.analysis.validity.evidence import COST_BACKENDS
from plimsoll.result import Result, flag_words
from plimsoll.stored import Stream
from plimsoll.units import significant

#: Percentage points that the read share of a line may be away from the demanded one.
MIX_POINTS = 10.0
#: How many times larger or smaller its mean request may be.
SIZE_FACTOR = 2.0
#: Percentage points that its share of random requests may be away.
RANDOM_POINTS = 20.0
#: Reads or writes below this percentage of the demanded requests need not be shown by a line.
NEGLIGIBLE_PERCENT = 1.0
#: What `random_percent` is when no share is given (crates/workload/src/access.rs).
DEFAULT_RANDOM_PERCENT = 100.0
#: What stands for the objective when none is demanded.
HIGHEST = "none; the highest throughput measured"
#: Options of a stream that say how hard, not what.
_LOAD_OPTIONS = frozenset({"queue_depth", "threads", "rate", "arrival", "think_time", "think_distribution"})


@dataclass(frozen=True)
class StoredLine:
    """Points of one run and configuration that differ in load alone."""

    run: str
    workload: str
    configuration: str | None
    target: str
    modelled: bool
    results: tuple[Result, ...]


@dataclass(frozen=True)
class Shape:
    """What a line did at its mark, per second and on average."""

    reads_per_s: float
    writes_per_s: float
    bytes_per_s: float
    random_percent: float
    doubts: tuple[str, ...] = ()
    invalid: tuple[str, ...] = ()

    @property
    def iops(self) -> float:
        """Reads and writes."""
        return self.reads_per_s + self.writes_per_s

    @property
    def read_percent(self) -> float:
        """Reads of reads and writes."""
        return 100 * self.reads_per_s / self.iops if self.iops else 0.0

    @property
    def block_bytes(self) -> float:
        """The mean request."""
        return self.bytes_per_s / self.iops if self.iops else 0.0


@dataclass(frozen=True)
class Fit:
    """A line held against the demand. ``refused`` says why it was not; then there is no headroom."""

    line: StoredLine
    mark: Mark | None = None
    shape: Shape | None = None
    headroom: float = 0.0
    limited_by: str = ""
    refused: str | None = None

    @property
    def carries(self) -> bool:
        """Whether the mark reaches the demand, by value."""
        return self.refused is None and self.headroom >= 1

    @property
    def interval(self) -> tuple[float, float] | None:
        """The headroom at both ends of the mark's interval."""
        if self.mark is None or self.mark.interval is None or not self.mark.iops:
            return None
        low, high = (self.headroom * end / self.mark.iops for end in self.mark.interval)
        return low, high

    def mailboxes(self, demand: Demand) -> int | None:
        """How many of the demanded mailboxes the mark carries, growth kept free; None where none are demanded, or nothing is known."""
        return None if demand.mailboxes is None or self.refused is not None else math.floor(self.headroom * demand.mailboxes)

    @property
    def at_least(self) -> bool:
        """Whether more was never tried: no level of the line failed."""
        return self.mark is not None and self.mark.failed_by is None

    @property
    def settled(self) -> bool:
        """Whether the interval of the mark leaves no doubt about `carries`."""
        if self.interval is not None:
            return min(self.interval) >= 1 or max(self.interval) < 1
        return self.at_least and self.carries

    @property
    def verdict(self) -> str:
        """``yes``, ``no``, ``not shown`` (the line ends below the demand without having failed), or why it was refused."""
        if self.refused is not None:
            return "refused"
        if not self.carries and self.at_least:
            return "not shown"
        return ("yes" if self.carries else "no") + ("" if self.settled else ", not settled")

    def to_json(self, demand: Demand) -> FitView:
        """For programs."""
        shape = self.shape
        return {
            "run": self.line.run,
            "workload": self.line.workload,
            "configuration": self.line.configuration,
            "target": self.line.target,
            "modelled": self.line.modelled,
            "carries": self.carries,
            "verdict": self.verdict,
            "refused": self.refused,
            "headroom": None if self.refused else self.headroom,
            "headroom_interval": None if self.refused else self.interval,
            "headroom_at_least": self.at_least,
            "limited_by": self.limited_by or None,
            "mailboxes": self.mailboxes(demand),
            "mark": None if self.mark is None else self.mark.to_json(),
            "read_percent": None if shape is None else shape.read_percent,
            "block_bytes": None if shape is None else shape.block_bytes,
            "random_percent": None if shape is None else shape.random_percent,
            "mix_points_away": None if shape is None else shape.read_percent - demand.read_percent,
            "size_factor": None if shape is None or not shape.block_bytes else shape.block_bytes / demand.block_bytes,
            "flags": [] if shape is None else [*shape.invalid, *shape.doubts],
        }


def size_lines(runs: Mapping[str, Sequence[Result]], demand: Demand, objective: Objective | None) -> list[Fit]:
    """Every load line of ``runs`` (results by name of the run) against the demand: by headroom, largest first, then the refused."""
    fits = [fit(line, demand, objective) for line in stored_lines(runs)]
    return sorted(fits, key=lambda found: (found.refused is not None, -found.headroom))


def stored_lines(runs: Mapping[str, Sequence[Result]]) -> list[StoredLine]:
    """The load lines in ``runs``, in the order they were measured."""
    groups: dict[str, list[tuple[str, Result]]] = {}
    for run, results in runs.items():
        for result in results:
            if result.place.get("role", "point") == "point":
                groups.setdefault(_identity(run, result), []).append((run, result))
    return [_line(members) for members in groups.values()]


def fit(line: StoredLine, demand: Demand, objective: Objective | None) -> Fit:
    """One line held against the demand."""
    found = Fit(line)
    impossible = _impossible(line, demand, objective)
    if impossible is not None:
        return replace(found, refused=impossible)
    answers = _answers_mailboxes(line, demand)
    if answers and objective is None:
        objective = parse_objective(RULE)
    mark = highest(line.results) if objective is None else mark_of(line.results, objective)
    if mark is None:
        return replace(found, refused=_nothing_held(line, objective))
    shape = shape_at(line, mark.level)
    found = replace(found, mark=mark, shape=shape)
    refusal = _other_store(line, demand, shape) if answers else _too_far(shape, demand)
    if refusal is not None:
        return replace(found, refused=refusal)
    headroom, limited_by = (shape.iops / demand.grown_iops, "transfers") if answers else _headroom(shape, demand)
    return replace(found, headroom=headroom, limited_by=limited_by)


def highest(results: Sequence[Result]) -> Mark | None:
    """The highest throughput of a line as its mark, where no objective is asked."""
    points = load_line(results).points
    if not points:
        return None
    best = max(points, key=lambda point: point.iops.value)
    bounds = (best.iops.low, best.iops.high)
    interval = None if bounds[0] is None or bounds[1] is None else (bounds[0], bounds[1])
    return Mark(best.iops.value, best.bytes_per_s.value, best.level, interval, HIGHEST, failed_by=None, next_level=None)


def shape_at(line: StoredLine, level: float) -> Shape:
    """What the line did at one of its levels, repeats pooled."""
    repeats = next(usable(group) for at, group in by_level(line.results) if at == level)
    rates = {(op, name): _pooled(repeats, op, name) for op in ("read", "write") for name in ("iops", "bytes_per_s")}
    flags = [flag for result in repeats for flag in result.flags]
    return Shape(
        reads_per_s=rates["read", "iops"],
        writes_per_s=rates["write", "iops"],
        bytes_per_s=rates["read", "bytes_per_s"] + rates["write", "bytes_per_s"],
        random_percent=sum(map(random_percent, repeats)) / len(repeats),
        doubts=tuple(dict.fromkeys(flag.name for flag in flags if flag.severity == "doubt")),
        invalid=tuple(dict.fromkeys(flag.name for flag in flags if flag.severity == "invalid")),
    )


def random_percent(result: Result) -> float:
    """The share of requests at random places, streams weighted by what they completed."""
    weighted = [(_stream_random_percent(stream), _completed(result, stream["name"])) for stream in streams(result.job.definition)]
    total = sum(weight for _, weight in weighted)
    if not total:
        return sum(percent for percent, _ in weighted) / len(weighted) if weighted else DEFAULT_RANDOM_PERCENT
    return sum(percent * weight for percent, weight in weighted) / total


def _identity(run: str, result: Result) -> str:
    """Equal for points of one line."""
    what = [{name: value for name, value in stream.items() if name not in _LOAD_OPTIONS} for stream in streams(result.job.definition)]
    place = [result.place.get(name) for name in ("experiment", "configuration")]
    return json.dumps([run, *place, result.job.workload, result.job.target, result.cache.get("state"), what], sort_keys=True, default=str)


def _line(members: Sequence[tuple[str, Result]]) -> StoredLine:
    run, first = members[0]
    return StoredLine(
        run=run,
        workload=first.job.workload,
        configuration=first.place.get("configuration"),
        target=first.job.target,
        modelled=any(result.modelled for _, result in members),
        results=tuple(result for _, result in members),
    )


def _impossible(line: StoredLine, demand: Demand, objective: Objective | None) -> str | None:
    """Why the line cannot answer, before its mark is looked for."""
    if not any(result.totals for result in line.results):
        return "nothing was measured: every point failed"
    if any((result.engine.get("backend") or {}).get("used") in COST_BACKENDS for result in line.results):
        return "its target moves no data, so it says what this host can generate and nothing of storage"
    if objective is not None:
        reason = applies_to(objective, line.results[0].job.definition)
        if reason is not None:
            return reason.rstrip(".")
    for op, percent in (("read", demand.read_percent), ("write", 100 - demand.read_percent)):
        if percent >= NEGLIGIBLE_PERCENT and not any(op in result.totals for result in line.results):
            return f"it measured no {op}s, and {significant(percent)} % of the demand are {op}s"
    return None


def _answers_mailboxes(line: StoredLine, demand: Demand) -> bool:
    """Whether mailboxes are demanded and the line is of a mail store."""
    return demand.profile is not None and line.results[0].job.definition.get("driver") == DRIVER


def _other_store(line: StoredLine, demand: Demand, shape: Shape) -> str | None:
    """Why a mail store does not answer a demand of mailboxes."""
    if shape.invalid:
        return _invalid(shape)
    generation = section(line.results[0]).get("generation")
    if generation != demand.generation:
        return f"a mail store of {generation or 'no generation'} where mailboxes of {demand.generation} are demanded"
    return None


def _invalid(shape: Shape) -> str:
    return f"its mark is flagged invalid ({', '.join(map(flag_words, shape.invalid))}), so the number does not mean what it says"


def _nothing_held(line: StoredLine, objective: Objective | None) -> str:
    if objective is None:
        return "no point has a latency and a rate"
    if all(result.place.get("level") is None for result in line.results):
        return "the objective did not hold where least was carried"
    lowest = by_level(line.results)[0][0]
    return f"the objective did not hold at its lowest level, {lowest:g}"


def _too_far(shape: Shape, demand: Demand) -> str | None:
    """Why the line's workload is not near enough to the demand."""
    if shape.invalid:
        return _invalid(shape)
    if abs(shape.read_percent - demand.read_percent) > MIX_POINTS:
        return f"{_shares(shape.read_percent, 'reads', demand.read_percent)}, more than {MIX_POINTS:g} points away"
    factor = shape.block_bytes / demand.block_bytes
    if not 1 / SIZE_FACTOR <= factor <= SIZE_FACTOR:
        return f"requests {_times(factor)} as large as demanded, beyond a factor of {SIZE_FACTOR:g}"
    if abs(shape.random_percent - demand.random_percent) > RANDOM_POINTS:
        return f"{_shares(shape.random_percent, 'random', demand.random_percent)}, more than {RANDOM_POINTS:g} points away"
    return None


def _shares(found: float, what: str, demanded: float) -> str:
    return f"{significant(found)} % {what} where {significant(demanded)} % are demanded"


def _headroom(shape: Shape, demand: Demand) -> tuple[float, str]:
    """The smallest quotient of measured over demanded, and what it is of."""
    asked = []
    if demand.read_percent >= NEGLIGIBLE_PERCENT:
        asked.append(("reads", shape.reads_per_s, demand.reads_per_s))
    if 100 - demand.read_percent >= NEGLIGIBLE_PERCENT:
        asked.append(("writes", shape.writes_per_s, demand.writes_per_s))
    asked.append(("bandwidth", shape.bytes_per_s, demand.grown_bytes_per_s))
    quotients = {name: measured / demanded if demanded else math.inf for name, measured, demanded in asked}
    # Where sizes are equal, rate and bandwidth differ by rounding only; then the rate is named.
    limit = min(quotients, key=lambda name: float(f"{quotients[name]:.6g}"))
    return quotients[limit], limit


def _stream_random_percent(stream: Stream) -> float:
    entries = stream.get("access")
    if not entries:
        return float(stream.get("random_percent", DEFAULT_RANDOM_PERCENT))
    weights = [float(entry.get("weight", 1)) for entry in entries]
    shares = [float(entry.get("random_percent", DEFAULT_RANDOM_PERCENT)) for entry in entries]
    return sum(weight * share for weight, share in zip(weights, shares, strict=True)) / (sum(weights) or 1)


def _completed(result: Result, stream: str) -> int:
    return sum(total.count for op, total in result.streams.get(stream, {}).items() if op in ("read", "write"))


def _pooled(repeats: Sequence[Result], op: str, name: str) -> float:
    estimate = pooled_metric(repeats, op, name)
    return 0.0 if estimate is None else estimate.value


def _times(factor: float) -> str:
    return f"{significant(factor)} times" if factor >= 1 else f"1/{significant(1 / factor)}"
