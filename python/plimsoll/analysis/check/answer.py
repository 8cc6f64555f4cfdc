"""The answer of a check: one sentence per target, with the mark of its load line, its quickest corner and the number of doubts.

Model: a check is one run of three experiments (``catalog/check.toml``): reads and writes at the corners, and an OLTP mix whose load
is raised until its objective fails. Everything is made from the points alone, so a run that is read back says the same. A doubt is a flag
that is no note; it is told once, with the number of points that carry it.
Limits: rates are those of the measured levels, rounded to three digits; the mark's interval says how sure they are.

    answer = answers_of(results, "mean <= 5ms")[0]
    answer.sentence      # "/dev/sdb carries 11,400 OLTP requests per second before their mean passes 5 ms (12 at a time); it is …"
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypedDict

from plimsoll.analysis.load_line.mark import Mark, MarkView, mark_of
from plimsoll.analysis.objective.clause import Clause
from plimsoll.analysis.objective.judgement import Objective, judge, parse_objective
from plimsoll.analysis.point.definition import overwrites
from plimsoll.analysis.point.metric import ALL, metric
from plimsoll.analysis.validity.severity import gathered
from plimsoll.near import listed
from plimsoll.records import dataclass
from plimsoll.result import Result
from plimsoll.units import brief_duration, count, megabytes

#: What the suite of a check is called in its run.
CHECK = "check"
#: The experiment of a check that raises the load; the others measure the corners.
LOAD = "OLTP"
#: What a target is called that nobody named.
SCRATCH = "scratch file"
_CORNERS = {
    "random-read-4k": "random reads",
    "sequential-read-128k": "sequential reads",
    "random-write-4k": "random writes",
    "sequential-write-128k": "sequential writes",
}


class DoubtView(TypedDict):
    """A flag of some points that is no note."""

    name: str
    severity: str
    sentence: str


class CornerView(TypedDict):
    """What one of the corners came to."""

    name: str
    iops: float
    bytes_per_s: float


class CheckedTarget(TypedDict):
    """What a check found on one target."""

    target: str
    answer: str
    #: Null where no level is known to have held.
    mark: MarkView | None
    corners: list[CornerView]
    doubts: list[DoubtView]


class Diagnosed(TypedDict):
    """What ``plimsoll doctor`` says of one thing."""

    name: str
    #: ``ok``, ``warn``, ``fail`` or ``unknown``.
    status: str
    finding: str
    advice: str


class CheckView(TypedDict):
    """The answer, its mark and its doubts; results, experiments and conclusions stand beside them as of every run."""

    answer: str
    #: Of a check of one target.
    mark: MarkView | None
    doubts: list[DoubtView]
    targets: list[CheckedTarget]
    doctor: list[Diagnosed]


@dataclass(frozen=True)
class Doubt:
    """A flag of some points that is no note: its name, how grave it is, and one sentence."""

    name: str
    severity: str
    sentence: str


@dataclass(frozen=True)
class Corner:
    """What one of the corners came to: requests and bytes per second."""

    name: str
    iops: float
    bytes_per_s: float


@dataclass(frozen=True)
class Answer:
    """What a check found on one target; without a mark no level is known to have held."""

    target: str
    sentence: str
    mark: Mark | None
    corners: tuple[Corner, ...]
    doubts: tuple[Doubt, ...]

    def to_json(self) -> CheckedTarget:
        """As ``check --json`` prints it."""
        return {
            "target": self.target,
            "answer": self.sentence,
            "mark": None if self.mark is None else self.mark.to_json(),
            "corners": [{"name": one.name, "iops": one.iops, "bytes_per_s": one.bytes_per_s} for one in self.corners],
            "doubts": [{"name": one.name, "severity": one.severity, "sentence": one.sentence} for one in self.doubts],
        }


def answers_of(results: Sequence[Result], objective: str) -> list[Answer]:
    """The answer of each target, in the order measured."""
    names = dict.fromkeys(str(result.place.get("configuration")) for result in results)
    return [_answer(name, [one for one in results if one.place.get("configuration") == name], parse_objective(objective)) for name in names]


def _answer(name: str, results: Sequence[Result], objective: Objective) -> Answer:
    levels = [result for result in results if result.place.get("experiment") == LOAD and result.place.get("level") is not None]
    found = _corners(result for result in results if result.place.get("experiment") != LOAD)
    # Always in one order, so that equal ones are told alike whoever reads the points.
    corners = tuple(sorted(found, key=lambda corner: [*_CORNERS.values(), corner.name].index(corner.name)))
    doubts = tuple(_doubts(results))
    mark = mark_of(levels, objective) if levels else None
    shown = f"{_shown(name, results)}{' (modelled)' if any(result.modelled for result in results) else ''}"
    parts = [f"{shown} {_carried(levels, mark, objective)}", *_quickest(corners), _doubted(doubts)]
    return Answer(name, f"{'; '.join(part for part in parts if part)}.", mark, corners, doubts)


def _shown(name: str, results: Sequence[Result]) -> str:
    """What the sentence calls the target: the name of its side, and where a scratch file is that nobody named."""
    return f"The {name} {results[0].job.target}" if name == SCRATCH else name


def _carried(levels: Sequence[Result], mark: Mark | None, objective: Objective) -> str:
    """What follows the target's name: the load that it carries."""
    if not levels:
        return "was not measured under an OLTP load"
    noun = f"OLTP {'requests' if any(overwrites(level.job.definition) for level in levels) else 'reads'}"
    if mark is None:
        return _not_carried(levels, noun, objective)
    rate, at_a_time = _rounded(mark.iops), _at_a_time(next(level for level in levels if level.place["level"] == mark.level))
    if mark.next_level is None:
        return f"carries at least {rate} {noun} per second ({at_a_time} at a time), the most tried, without failing '{objective}'"
    return f"carries {rate} {noun} per second before {_limit(objective)} ({at_a_time} at a time)"


def _not_carried(levels: Sequence[Result], noun: str, objective: Objective) -> str:
    """Why no level held: the points failed, too few requests, or the lowest level was too slow."""
    measured = [level for level in levels if level.status != "failed"]
    if not measured:
        return f"could not be measured: {(levels[0].error or 'no reason is known').rstrip('.')}"
    lowest = min(measured, key=lambda level: float(level.place["level"] or 0.0))
    judgement = judge(objective, lowest)
    if judgement.too_few is not None:
        return f"completed too few {noun} to show that '{objective}' holds: {judgement.too_few.text}"
    rate = metric(lowest, ALL, "iops")
    done = f" ({_rounded(rate.value)} per second)" if rate is not None else ""
    failed = next((item for item in judgement.clauses if not item.holds and item.clause.is_latency and item.estimate is not None), None)
    if failed is None or failed.estimate is None:
        return f"carries no {noun}: even {_at_a_time(lowest)} at a time fails '{judgement.failed_by}'{done}"
    what = f"{'' if failed.op == ALL else f'{failed.op} '}{failed.clause.metric}"
    return (
        f"carries no {noun} within {brief_duration(failed.clause.limit)}: "
        f"with {_at_a_time(lowest)} at a time the {what} is already {brief_duration(failed.estimate.value)}{done}"
    )


def _limit(objective: Objective) -> str:
    """``their mean passes 5 ms``; for what is no upper limit on a latency, ``'…' fails``."""
    if all(clause.is_latency and clause.relation.startswith("<") for clause in objective.clauses):
        return f"their {listed([_passes(clause) for clause in objective.clauses])}"
    return f"'{objective}' fails"


def _passes(clause: Clause) -> str:
    return f"{clause.text.partition(f' {clause.relation} ')[0]} passes {brief_duration(clause.limit)}"


def _at_a_time(level: Result) -> str:
    """Requests outstanding at once."""
    streams = level.job.definition.get("stream") or []
    return f"{sum(int(stream.get('threads', 1)) * int(stream.get('queue_depth', 1)) for stream in streams):,}"


def _corners(results: Iterator[Result]) -> Iterator[Corner]:
    for result in results:
        iops, moved = metric(result, ALL, "iops"), metric(result, ALL, "bytes_per_s")
        if result.status != "failed" and iops is not None and moved is not None:
            yield Corner(_CORNERS.get(result.job.workload, result.job.workload), iops.value, moved.value)


def _quickest(corners: Sequence[Corner]) -> Iterator[str]:
    """The corner that moves most; small random requests speak in IOPS, so the quicker of theirs is named as well."""
    if not corners:
        return
    most = max(corners, key=lambda corner: corner.bytes_per_s)
    said = f"it is quickest at {most.name} ({megabytes(most.bytes_per_s)} MB/s)"
    random = [corner for corner in corners if corner.name.startswith("random") and corner is not most]
    if random:
        best = max(random, key=lambda corner: corner.iops)
        said += f" and does {_rounded(best.iops)} {best.name} of 4 KiB per second"
    yield said


def _doubts(results: Sequence[Result]) -> Iterator[Doubt]:
    """Each flag that is no note once, the gravest first."""
    for one in gathered(results):
        if one.severity != "note":
            where = f" ({len(one.grave):,} of {len(results):,} points)" if len(results) > 1 else ""
            yield Doubt(one.name, one.severity, f"{one.worst.message.rstrip('.')}{where}.")


def _doubted(doubts: Sequence[Doubt]) -> str:
    """``2 doubts: other load, not steady``."""
    if not doubts:
        return "no doubts"
    return f"{len(doubts)} doubt{'s' if len(doubts) > 1 else ''}: {', '.join(doubt.name.replace('_', ' ') for doubt in doubts)}"


def _rounded(rate: float) -> str:
    """Three digits that count: ``11,400``."""
    return count(float(f"{rate:.3g}"))
