"""A comparison: two or more sides, point by point and mark by mark, each with the first.

Model: points are matched by workload and by what the experiment set (level, or settings). Closed loops are compared by throughput, open
loops by latency (mean and p99), mixed ones by both, unless metrics are named. Each figure's ratio has a 95 % interval
(`plimsoll.analysis.comparison.ratio`). A difference is shown, *faster* or *slower*, when its probability after Holm's correction over the
whole table, marks included, is below 5 %: if no side differed, at most one such table in twenty would show any difference. Otherwise the
verdict is *no difference shown*, which is not *equal*; the interval says how large a difference may hide. Where there is no interval, or
one too wide to say so, it is *too short to tell*. The interval of a ratio is its own, uncorrected one, so it can lie beside 1 while no
difference is shown.
Limits: whether the sides may be compared at all is said by `plimsoll.analysis.comparison.refusals`. Sides measured once each can differ by
what time changes; the notes say so. Points that only one side has are left out and counted.

    compared = compare([Side("depth 1", shallow), Side("depth 8", deep)], objectives={"random": parse_objective("read mean <= 20ms")})
    compared.to_json()["findings"]
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import field
from typing import TypedDict

from plimsoll.analysis.comparison.answer import answer
from plimsoll.analysis.comparison.backends import backend_notes
from plimsoll.analysis.comparison.drawn_ratio import drawn_notes, drawn_ratio
from plimsoll.analysis.comparison.findings import findings
from plimsoll.analysis.comparison.marks import MarkPair, mark_pair, side_mark
from plimsoll.analysis.comparison.ratio import LONGER_MIN, Ratio, holm, in_turn, ratio, repeats_needed
from plimsoll.analysis.comparison.scatter import Common, Repeats
from plimsoll.analysis.comparison.sides import TOO_SHORT, ComparedMark, ComparedPoint, MarkRow, Point, Row, Side, verdict
from plimsoll.analysis.derivation import derivation, notices
from plimsoll.analysis.load_line.line import longest, usable
from plimsoll.analysis.objective.judgement import Objective
from plimsoll.analysis.point.definition import has_rate
from plimsoll.analysis.point.metric import ALL, RATES, called, in_bytes, metric, rate_noun
from plimsoll.analysis.point.offered_load import lasted_s, saturated
from plimsoll.analysis.point.repeats import pooled_metric
from plimsoll.analysis.statistics.steadiness import ROUNDS
from plimsoll.records import dataclass
from plimsoll.result import Estimate, Result, flag_words

__all__ = ["Comparison", "ComparisonView", "Figure", "MarkRow", "Point", "Row", "Side", "compare", "match_points"]

#: Operation (or ``all``) and metric.
Figure = tuple[str, str]
#: What makes points of several sides the same point.
Key = tuple[str, str, str, str]

#: What is compared when nothing is named, by arrival.
FIGURES: Mapping[str, tuple[Figure, ...]] = {
    "closed": ((ALL, "iops"),),
    "open": ((ALL, "mean"), (ALL, "p99")),
    "mixed": ((ALL, "iops"), (ALL, "mean")),
}


class SideView(TypedDict):
    """A side: what it is called, whether it has results of a model, and what it was measured on."""

    name: str
    modelled: bool
    targets: list[str]


class ComparisonView(TypedDict):
    """A comparison as ``compare --json`` and the page have it."""

    sides: list[SideView]
    baseline: str
    #: One sentence: which side, how much, how sure; empty where nothing could be compared.
    answer: str
    points: list[ComparedPoint]
    marks: list[ComparedMark]
    findings: list[str]
    notes: list[str]
    #: Of workloads that are modelled on a published benchmark, what their figures are not comparable with.
    derived: dict[str, str]


@dataclass(frozen=True)
class Comparison:
    """The table: ``points`` and ``marks`` in the order measured, what they say in sentences, and what to know about them."""

    sides: tuple[str, ...]
    #: Of each side, whether it has results of a model.
    modelled: tuple[bool, ...]
    points: tuple[Row, ...]
    marks: tuple[MarkRow, ...]
    notes: tuple[str, ...]
    #: What each side was measured on.
    targets: tuple[tuple[str, ...], ...] = ()
    #: By workload, what its figures are derived from and not comparable with; of most none.
    derived: Mapping[str, str] = field(default_factory=dict)

    @property
    def baseline(self) -> str:
        """The side that every other one is compared with."""
        return self.sides[0]

    def to_json(self) -> ComparisonView:
        """As ``compare --json`` and the report page read it."""
        return {
            "sides": [
                {"name": name, "modelled": modelled, "targets": list(targets)}
                for name, modelled, targets in zip(self.sides, self.modelled, self.targets, strict=True)
            ],
            "baseline": self.baseline,
            "answer": self.answer(),
            "points": [row.to_json() for row in self.points],
            "marks": [row.to_json() for row in self.marks],
            "findings": self.findings(),
            "notes": list(self.notes),
            "derived": dict(self.derived),
        }

    def answer(self) -> str:
        """What the table says, in one sentence: which side, how much, how sure."""
        return answer(self.baseline, self.sides[1:], self.points, self.marks)

    def findings(self) -> list[str]:
        """What the table says, in sentences with their numbers."""
        return findings(self.baseline, self.sides[1:], self.points, self.marks)


def compare(
    sides: Sequence[Side],
    varying: Collection[str] = (),
    figures: Sequence[Figure] | None = None,
    objectives: Mapping[str, Objective] | None = None,
) -> Comparison:
    """Each side with the first. ``objectives`` are by name of experiment, ``""`` for all that have none of their own.

    ``varying`` may name ``workload``: then sides of one workload each are matched although their workloads differ.
    """
    if len(sides) < 2:
        raise ValueError("a comparison has at least two sides")
    if len({side.label for side in sides}) < len(sides):
        raise ValueError("sides are told apart by their labels")
    matches = list(match_points(sides, varying))
    rows = [row for match in matches for row in _rows(sides, match, figures)]
    scatters = _Scatters(rows)
    ratios = [scatters.ratio(row) for row in rows]
    marks = list(_mark_pairs(sides, _Naming.of(sides, varying), objectives or {}))
    adjusted = holm([*(found.p if found else None for found in ratios), *(pair.p for pair in marks)])
    points = tuple(row.judged(found, p) for row, found, p in zip(rows, ratios, adjusted[: len(rows)], strict=True))
    told = drawn_notes([(_called(row), row.interval) for row in points if row.interval is not None], sides[0].label)
    return Comparison(
        sides=tuple(side.label for side in sides),
        modelled=tuple(side.modelled for side in sides),
        points=points,
        marks=tuple(pair.judged(p) for pair, p in zip(marks, adjusted[len(rows) :], strict=True)),
        notes=(
            *_notes(sides, matches, rows),
            *scatters.notes(),
            *_not_carried(rows),
            *_lower_bounds(rows),
            *_blind(rows, ratios),
            *told,
        ),
        derived={result.job.workload: found for side in sides for result in side.results if (found := derivation(result)) is not None},
        targets=tuple(tuple(dict.fromkeys(result.job.target for result in side.results)) for side in sides),
    )


def match_points(sides: Sequence[Side], varying: Collection[str] = ()) -> Iterator[tuple[Point, list[tuple[Result, ...]]]]:
    """Every point that the first side shares with another, and its repeats on each side, failed ones included."""
    naming = _Naming.of(sides, varying)
    tables = [_grouped(side.results, naming) for side in sides]
    for key, group in tables[0].items():
        groups = [group, *(table.get(key, ()) for table in tables[1:])]
        if any(groups[1:]):
            job, place = group[0].job, group[0].place
            settings = {name: value for name, value in place.get("settings", {}).items() if name != "target"}
            rate = rate_noun(group)
            yield Point(job.workload, job.title, job.group, settings, place.get("level"), place.get("experiment", ""), rate), groups


@dataclass(frozen=True)
class _Naming:
    """What a subject is called: by its experiment where a side has ``several``, by its workload unless ``any_workload`` is meant."""

    several: bool
    any_workload: bool

    @classmethod
    def of(cls, sides: Sequence[Side], varying: Collection[str]) -> _Naming:
        several = any(len({result.place.get("experiment") for result in side.results}) > 1 for side in sides)
        single = all(len({result.job.workload for result in side.results}) == 1 for side in sides)
        return cls(several, "workload" in varying and single)

    def subject(self, result: Result) -> tuple[str, str]:
        experiment = result.place.get("experiment", "") if self.several else ""
        return experiment, "" if self.any_workload else result.job.workload


def _grouped(results: Sequence[Result], naming: _Naming) -> dict[Key, tuple[Result, ...]]:
    stepped = _stepped(results)
    groups: dict[Key, list[Result]] = {}
    # A target that is an axis of the experiment tells points apart; one that is the side's own does not.
    crossed = len({json.dumps(result.place.get("settings", {}).get("target")) for result in results}) > 1
    for result in results:
        place, role = result.place, result.place.get("role", "point")
        if role == "precondition":
            continue
        where = _where(result, stepped) + (f" on {place.get('settings', {}).get('target')}" if crossed else "")
        groups.setdefault((*naming.subject(result), role, where), []).append(result)
    return {key: _standing(key[2], group) for key, group in groups.items()}


def _standing(role: str, group: Sequence[Result]) -> tuple[Result, ...]:
    """The results that a point stands for: the last window of rounds for the steady state, of a level those that lasted longest."""
    if role == "round":
        return tuple(group[-ROUNDS:])
    return tuple(group if group[0].place.get("level") is None else longest(group))


def _stepped(results: Sequence[Result]) -> set[str]:
    """Workloads that plain runs measured at several concurrencies."""
    seen: dict[str, set[tuple[int, int | None]]] = {}
    for result in results:
        if not result.place:
            seen.setdefault(result.job.workload, set()).add((result.job.threads, result.job.queue_depth))
    return {workload for workload, concurrencies in seen.items() if len(concurrencies) > 1}


def _where(result: Result, stepped: set[str]) -> str:
    """The point's place among those of its workload: its level, its settings, or for plain runs its concurrency."""
    place, job = result.place, result.job
    if (level := place.get("level")) is not None:
        return f"level {float(level):g}"
    if place:
        settings = {name: value for name, value in place.get("settings", {}).items() if name != "target"}
        return json.dumps(settings, sort_keys=True, default=str) if settings else ""
    return f"{job.threads} × {job.queue_depth}" if job.workload in stepped else ""


@dataclass(frozen=True)
class _Pair:
    """One figure of a point on the baseline (``others``) and on a side (``ones``), repeat by repeat."""

    point: Point
    figure: Figure
    side: str
    ones: tuple[Estimate, ...]
    others: tuple[Estimate, ...]
    values: tuple[Estimate, Estimate]
    rate_not_achieved: bool
    #: Whether all sides of the point were measured turn by turn.
    in_turn: bool
    #: How long each side was measured, repeats together.
    seconds: float = 0.0
    #: Whether the point asks for a list once, so that more time gives it nothing.
    of_a_list: bool = False

    def judged(self, found: Ratio | None, p_adjusted: float | None) -> Row:
        op, name = self.figure
        value = found.value if found else None
        word = verdict(found, p_adjusted, more_is_better=name in RATES)
        lacking = found.lacking if found and word == TOO_SHORT else None
        return Row(
            point=self.point,
            op=op,
            metric=name,
            side=self.side,
            values=self.values,
            ratio=value,
            low=found.low if found else None,
            high=found.high if found else None,
            p_adjusted=p_adjusted,
            verdict=word,
            rate_not_achieved=self.rate_not_achieved,
            needed_s=None if lacking is None or self.of_a_list else self.seconds * max(LONGER_MIN, lacking),
            needed_repeats=repeats_needed(min(len(self.ones), len(self.others)), lacking) if self.of_a_list and word == TOO_SHORT else None,
            interval=drawn_ratio(self.ones, self.others),
        )


def _rows(sides: Sequence[Side], match: tuple[Point, list[tuple[Result, ...]]], figures: Sequence[Figure] | None) -> Iterator[_Pair]:
    point, groups = match
    baseline = usable(groups[0])
    if not baseline:
        return
    one_run = len({side.run for side in sides}) == 1 and sides[0].run
    by_turns = bool(one_run) and in_turn([group for group in groups if group])
    for figure in figures or _usual_figures(baseline):
        others, before = _estimates(baseline, figure), pooled_metric(baseline, *figure)
        for side, group in zip(sides[1:], groups[1:], strict=True):
            taken = usable(group)
            ones, now = _estimates(taken, figure), pooled_metric(taken, *figure)
            if before is not None and now is not None:
                # What was carried of a load is a fact also where it was less than was asked for; how long requests waited is not.
                late = figure[1] not in RATES and (saturated(baseline) or saturated(taken))
                whole = by_turns and (len(ones), len(others)) == (len(group), len(groups[0]))
                seconds = max(sum(map(lasted_s, each)) for each in (baseline, taken))
                listed = all(not has_rate(result.job.definition) for result in (*baseline, *taken))
                yield _Pair(point, figure, side.label, ones, others, (before, now), late, whole, seconds, listed)


def _called(row: Row) -> str:
    """A row in a sentence: ``oltp-db queue_depth 8 IOPS of B``."""
    at = "" if row.point.level is None else f" {row.point.axis} {row.point.level:g}"
    return f"{row.point.workload}{at} {called(row.op, row.metric, row.point.rate)} of {row.side}"


def _usual_figures(results: Sequence[Result]) -> Sequence[Figure]:
    """What a point is compared by when nothing is named; the throughput of large requests is their bandwidth."""
    usual = FIGURES[results[0].job.arrival]
    return [(ALL, "bytes_per_s") if figure == (ALL, "iops") and in_bytes(results) else figure for figure in usual]


def _estimates(results: Sequence[Result], figure: Figure) -> tuple[Estimate, ...]:
    return tuple(found for result in results if (found := metric(result, *figure)) is not None)


class _Scatters:
    """What the rows of each figure say together of the scatter between repeats."""

    def __init__(self, rows: Sequence[_Pair]) -> None:
        points: dict[tuple[Figure, int], dict[str, tuple[Estimate, ...]]] = {}
        for row in rows:
            points.setdefault((row.figure, id(row.point)), {"": row.others})[row.side] = row.ones
        out_of_turn = {(row.figure, id(row.point)) for row in rows if not row.in_turn}
        self._repeats = {key: Repeats(list(sides.values()), key not in out_of_turn) for key, sides in points.items()}
        self._common = {
            figure: Common.of([each for (of_figure, _), each in self._repeats.items() if of_figure == figure])
            for figure in dict.fromkeys(row.figure for row in rows)
        }

    def ratio(self, row: _Pair) -> Ratio | None:
        if all(value.at_least for value in row.values):
            return None  # of two lower bounds nobody knows which is larger
        return ratio(row.ones, row.others, self._common[row.figure].at(self._repeats[row.figure, id(row.point)]))

    def notes(self) -> list[str]:
        names = [called(*figure) for figure, common in self._common.items() if common.by_turn]
        if not names:
            return []
        return [
            f"The sides were measured in turn, and turns differed ({', '.join(names)}): the intervals leave out what made whole turns "
            "faster or slower."
        ]


def _lower_bounds(rows: Sequence[_Pair]) -> list[str]:
    if not any(value.at_least for row in rows for value in row.values):
        return []
    return [
        "Latencies marked ≥ are lower bounds, because requests had no answer when the measured time ended: their ratio is at least what is "
        "shown (at most, for the baseline), and two of them have none."
    ]


def _subjects(side: Side, naming: _Naming) -> dict[tuple[str, str], tuple[int, list[Result]]]:
    """The results of everything that the side measured at levels: at how many, and which."""
    found: dict[tuple[str, str], list[Result]] = {}
    levels: dict[tuple[str, str], set[str]] = {}
    stepped = _stepped(side.results)
    for result in side.results:
        if result.place.get("role", "point") == "point" and (not result.place or result.place.get("level") is not None):
            found.setdefault(naming.subject(result), []).append(result)
            levels.setdefault(naming.subject(result), set()).add(_where(result, stepped))
    return {subject: (len(levels[subject]), results) for subject, results in found.items()}


def _mark_pairs(sides: Sequence[Side], naming: _Naming, objectives: Mapping[str, Objective]) -> Iterator[MarkPair]:
    tables = [_subjects(side, naming) for side in sides]
    for subject, (count, own) in tables[0].items():
        experiment = own[0].place.get("experiment", "")
        objective = objectives.get(experiment) or objectives.get("")
        if objective is None:
            continue
        before = side_mark(sides[0].label, own, objective)
        for side, table in zip(sides[1:], tables[1:], strict=True):
            if subject not in table:
                continue
            others, measured = table[subject]
            now = side_mark(side.label, measured, objective)
            # A single level is no load line, unless it was too high already while the other side went on.
            lines = [levels > 1 or one.mark is None for levels, one in ((count, before), (others, now))]
            if all(lines) and max(count, others) > 1:
                yield mark_pair(before, now, objective)


def _notes(sides: Sequence[Side], matches: Sequence[tuple[Point, list[tuple[Result, ...]]]], rows: Sequence[_Pair]) -> Iterator[str]:
    for position, side in enumerate(sides):
        yield from _left_out(side, [groups[position] for _, groups in matches])
    if rows and all(len(row.ones) < 2 or len(row.others) < 2 for row in rows):
        yield ("Each point was measured once per side, so drift between runs is not covered. Use --repeat 3 --interleave.")
    yield from backend_notes([side.label for side in sides], [[usable(group) for group in groups] for _, groups in matches])
    results = [result for _, groups in matches for group in groups for result in usable(group)]
    invalid = sorted({flag.name for result in results for flag in result.flags if flag.severity == "invalid"})
    if invalid:
        count = sum(any(flag.severity == "invalid" for flag in result.flags) for result in results)
        named, their = ", ".join(map(flag_words, invalid)), "its" if count == 1 else "their"
        yield f"{_points(count)} flagged invalid ({named}): do not trust {their} figures or ratios."
    if any(result.modelled for result in results):
        yield "Modelled: these figures come from a model in virtual time, not from storage."
    yield from notices(results)


def _not_carried(rows: Sequence[_Pair]) -> list[str]:
    """What the findings leave out because its latencies say how long the load lasted."""
    count = len({id(row.point) for row in rows if row.rate_not_achieved})
    if not count:
        return []
    are, their = ("is", "its") if count == 1 else ("are", "their")
    return [
        f"{_points(count)} missed the offered rate on some side and {are} left out of the findings: {their} latencies grow "
        "as long as the load lasts, so their ratios mean nothing. Compare at rates that every side carries."
    ]


def _blind(rows: Sequence[_Pair], ratios: Sequence[Ratio | None]) -> list[str]:
    blind = [row for row, found in zip(rows, ratios, strict=True) if found is not None and found.p is None]
    if not blind:
        return []
    figures, them = ("1 figure has", "it") if len(blind) == 1 else (f"{len(blind)} figures have", "them")
    advice = "Use --repeat 3" if all(row.of_a_list for row in blind) else "Measure longer, or use --repeat"
    return [f"{figures} no interval, so no difference can be shown for {them}. {advice}."]


def _left_out(side: Side, groups: Sequence[tuple[Result, ...]]) -> Iterator[str]:
    """What of a side takes no part: points that failed, and points that the other sides do not have."""
    failed = sum(1 for group in groups if group and not usable(group))
    if failed:
        yield f"{_points(failed)} of {side.label} failed and {'is' if failed == 1 else 'are'} not compared."
    taken = {id(result) for group in groups for result in group}
    points = [result for result in side.results if result.place.get("role", "point") in ("point", "maximum")]
    alone = {
        (result.place.get("experiment"), result.job.workload, _where(result, {result.job.workload}))
        for result in points
        if id(result) not in taken
    }
    if alone:
        was, is_ = ("was", "is") if len(alone) == 1 else ("were", "are")
        yield f"{_points(len(alone))} {was} measured only on {side.label} and {is_} not compared."


def _points(count: int) -> str:
    return f"{count} point" if count == 1 else f"{count} points"
