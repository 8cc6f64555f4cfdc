"""Marks of several sides, each with the baseline's.

Model: the ratio is that of the throughputs at which the response crosses the limit, with its interval from those of both marks. Where these
do not tell, because one is missing, a bound or too wide, the levels that both sides measured are tested themselves: at a level where one
side kept the objective and the other did not, the probability is that of the weaker of the two statements (intersection-union test, Berger,
Technometrics 24, 1982), which each rest on the Student distribution of the logarithm of what was measured over its limit. All clauses must
hold for a side to keep the objective, one broken clause is enough to fail it (Bonferroni over the clauses). The smallest probability of all
levels counts, times the number of levels and both directions. Levels that contradict one another show nothing.
Limits: that one side carries more says nothing of how much; such a ratio has no interval.

    row = mark_row(Subject(own, theirs, objective), "B")
    row.judged(p_adjusted)
"""

from __future__ import annotations

from collections.abc import Sequence
from math import hypot, log

from plimsoll.analysis.comparison.ratio import LONGER_MIN, Ratio, ratio_of_edges, repeats_needed
from plimsoll.analysis.comparison.scatter import degrees_of_freedom
from plimsoll.analysis.comparison.sides import TOO_SHORT, MarkRow, verdict
from plimsoll.analysis.load_line.line import by_level, usable
from plimsoll.analysis.load_line.mark import Mark, mark_of
from plimsoll.analysis.objective.judgement import ClauseJudgement, Judgement, Objective, judge
from plimsoll.analysis.point.definition import has_rate
from plimsoll.analysis.point.metric import ALL, load_noun
from plimsoll.analysis.point.offered_load import lasted_s
from plimsoll.analysis.point.repeats import pooled_metric
from plimsoll.analysis.statistics.distributions import quantile, two_sided_p
from plimsoll.records import dataclass
from plimsoll.result import Estimate, Result, tells

_UPPER = 0.975
#: Levels nearer than this are near enough.
_GAP_MIN = log(1.1)


@dataclass(frozen=True)
class SideMark:
    """What one side measured of a subject, and its mark."""

    label: str
    results: Sequence[Result]
    mark: Mark | None


@dataclass(frozen=True)
class MarkPair:
    """A side and the baseline on one subject. ``evidence`` is what the levels themselves say, None when nothing."""

    baseline: SideMark
    side: SideMark
    objective: Objective
    experiment: str
    found: Ratio | None
    evidence: Evidence | None

    @property
    def p(self) -> float | None:
        """By which the difference is judged: of the marks where they tell, else of the levels."""
        if self.found is not None and (tells(self.found.low, self.found.high) or self.evidence is None):
            return self.found.p
        return self.evidence.p if self.evidence else None

    def judged(self, p_adjusted: float | None) -> MarkRow:
        """The row, with the word for its probability after correction."""
        found, job = self.found, self.baseline.results[0].job
        by_levels = self.evidence is not None and (found is None or not tells(found.low, found.high))
        word = verdict(found, p_adjusted, more_is_better=True)
        note = _note(self.baseline, self.side)
        is_coarse = word == TOO_SHORT and self._is_coarse()
        if is_coarse:
            note = f"{note} The levels around the marks are far apart: measure more between them.".strip()
        if by_levels and self.evidence is not None:
            better = Ratio(2.0 if self.evidence.better is self.side else 0.5, None, None, None)
            shown = verdict(better, p_adjusted, more_is_better=True)
            if shown != TOO_SHORT:
                word, note = shown, f"{note} {self.evidence.note()}".strip()
        return MarkRow(
            workload=job.workload,
            title=job.title,
            group=job.group,
            experiment=self.experiment,
            objective=str(self.objective),
            side=self.side.label,
            values=(self.baseline.mark, self.side.mark),
            ratio=found.value if found else None,
            low=found.low if found else None,
            high=found.high if found else None,
            p_adjusted=p_adjusted,
            verdict=word,
            note=note,
            needed_s=self._needed_s() if word == TOO_SHORT and not self._of_a_list else None,
            needed_repeats=self._needed_repeats() if word == TOO_SHORT and self._of_a_list else None,
            is_coarse=is_coarse and word == TOO_SHORT,
            noun=load_noun([*self.baseline.results, *self.side.results]),
        )

    def _is_coarse(self) -> bool:
        """Whether no time would tell the marks apart, because the throughputs around them are further apart than what they differ by."""
        gaps = [_gap(one) for one in (self.baseline, self.side)]
        return self.found is not None and max(gaps) > max(abs(log(self.found.value)), _GAP_MIN)

    @property
    def _of_a_list(self) -> bool:
        """Whether the levels ask for a list once, so that more time gives them nothing."""
        return all(not has_rate(result.job.definition) for one in (self.baseline, self.side) for result in one.results)

    def _needed_s(self) -> float | None:
        """How long the levels around both marks would have to last."""
        lacking = self._lacking()
        seconds = max(lasted_s(result) for one in (self.baseline, self.side) for result in one.results)
        return None if lacking is None else seconds * max(LONGER_MIN, lacking)

    def _needed_repeats(self) -> int | None:
        """How often they would have to be measured; None where nothing but levels between them helps."""
        if self._is_coarse():
            return None
        repeats = min(len(usable(group)) for one in (self.baseline, self.side) for _, group in by_level(one.results))
        return repeats_needed(repeats, self._lacking())

    def _lacking(self) -> float | None:
        """How many times as much of the levels around both marks would tell."""
        errors = [_mark_error(one, self.objective) for one in (self.baseline, self.side)]
        if self.found is None or any(error is None for error in errors) or self._is_coarse():
            return None
        return Ratio(self.found.value, None, None, None, hypot(*(error or 0.0 for error in errors))).lacking


@dataclass(frozen=True)
class Evidence:
    """At ``level`` one side kept the objective and the other did not."""

    level: float
    axis: str
    better: SideMark
    worse: SideMark
    p: float

    def note(self) -> str:
        """What was seen."""
        return f"Shown by one level: at {self.axis} {self.level:g} {self.better.label} kept the objective and {self.worse.label} did not."


def mark_pair(baseline: SideMark, side: SideMark, objective: Objective) -> MarkPair:
    """The marks of both, and what the levels say besides."""
    found = _ratio(baseline.mark, side.mark)
    evidence = _evidence(baseline, side, objective)
    if evidence is not None and found is not None and (found.value > 1) != (evidence.better is side):
        evidence = None
    return MarkPair(baseline, side, objective, baseline.results[0].place.get("experiment", ""), found, evidence)


def side_mark(label: str, results: Sequence[Result], objective: Objective) -> SideMark:
    """One side with its mark."""
    return SideMark(label, results, mark_of(results, objective))


def _ratio(before: Mark | None, now: Mark | None) -> Ratio | None:
    """Of the throughputs at which the response crosses the limit where both are known, else of the highest levels that held."""
    if before is None or now is None or before.failed_by is None or now.failed_by is None:
        return None
    crossed = before.crossing is not None and now.crossing is not None
    return ratio_of_edges(_as_estimate(now, crossed=crossed), _as_estimate(before, crossed=crossed))


def _as_estimate(mark: Mark, *, crossed: bool) -> Estimate:
    low, high = mark.interval or (None, None)
    return Estimate(mark.crossing if crossed and mark.crossing is not None else mark.iops, low, high)


def _note(baseline: SideMark, side: SideMark) -> str:
    before, now = baseline.mark, side.mark
    if before is None and now is None:
        return "Neither held the objective at any level."
    if before is None or now is None:
        return f"{baseline.label if before is None else side.label} held the objective at no level."
    marks = ((baseline.label, before), (side.label, now))
    never = [label for label, mark in marks if mark.failed_by is None]
    if never:
        return f"{' and '.join(never)} failed at no level, so {'both marks are' if len(never) == 2 else 'this mark is'} at least that."
    without = [label for label, mark in marks if mark.interval is None]
    return f"The mark of {' and of '.join(without)} has no interval." if without else ""


def _evidence(baseline: SideMark, side: SideMark, objective: Objective) -> Evidence | None:
    """The level that tells the sides apart most surely; None where there is none, or where levels contradict one another."""
    groups = [{level: usable(group) for level, group in by_level(one.results) if usable(group)} for one in (baseline, side)]
    common = [level for level in groups[0] if level in groups[1]]
    found: list[Evidence] = []
    for level in common:
        held = [judge(objective, group[level]) for group in groups]
        if held[0].holds == held[1].holds:
            continue
        better, worse = (0, 1) if held[0].holds else (1, 0)
        p = max(_p_holds(held[better]), _p_fails(held[worse]))
        sides = (baseline, side)
        found.append(Evidence(level, _axis(groups[0][level][0], level), sides[better], sides[worse], min(1.0, 2 * len(common) * p)))
    if not found or len({id(one.better) for one in found}) > 1:
        return None
    return min(found, key=lambda one: one.p)


def _axis(result: Result, level: float) -> str:
    settings = result.place.get("settings") or {}
    named = [name for name, value in settings.items() if value == level]
    return named[0].rpartition(".")[2] if named else "level"


def _p_holds(judgement: Judgement) -> float:
    """Of seeing this although some clause does not hold."""
    return max((_p_clause(clause) for clause in judgement.clauses), default=1.0)


def _p_fails(judgement: Judgement) -> float:
    """Of seeing this although every clause holds."""
    failed = [_p_clause(clause) for clause in judgement.clauses if not clause.holds and not clause.undecided]
    return min(1.0, len(judgement.clauses) * min(failed, default=1.0))


def _p_clause(item: ClauseJudgement) -> float:
    """Of a value so far on its side of the limit although the true one lies on the other."""
    estimate, limit = item.estimate, item.clause.limit
    if estimate is None or estimate.value <= 0 or limit <= 0:
        return 1.0
    error = _relative_error(estimate)
    if error is None:
        return 0.0 if item.settled else 1.0
    apart = abs(log(estimate.value / limit))
    return two_sided_p(apart / error, degrees_of_freedom(estimate)) / 2 if error > 0 else 0.0 if apart else 0.5


def _relative_error(estimate: Estimate) -> float | None:
    """The standard error as a share of the value, which is that of the logarithm to first order."""
    if estimate.low is None or estimate.high is None or estimate.value <= 0:
        return None
    # The lower side is cut off at 0, so the upper one says how wide it is.
    return (estimate.high - estimate.value) / estimate.value / quantile(_UPPER, degrees_of_freedom(estimate))


def _gap(one: SideMark) -> float:
    """How far the throughputs around the mark are apart, as a logarithm."""
    mark = one.mark
    group = next((usable(found) for level, found in by_level(one.results) if mark and level == mark.next_level), ())
    above = pooled_metric(group, ALL, "iops") if group else None
    return abs(log(above.value / mark.iops)) if mark and above and above.value > 0 and mark.iops > 0 else 0.0


def _mark_error(one: SideMark, objective: Objective) -> float | None:
    """The standard error of the logarithm of the mark: of the response around it, over how steeply it rises with throughput."""
    mark = one.mark
    if mark is None or mark.next_level is None:
        return None
    levels = {level: usable(group) for level, group in by_level(one.results)}
    held, failed = levels.get(mark.level), levels.get(mark.next_level)
    if not held or not failed:
        return None
    broken = next((clause for clause in judge(objective, failed).clauses if not clause.holds and clause.clause.is_latency), None)
    before = pooled_metric(held, broken.op, broken.clause.metric) if broken else None
    rates = [pooled_metric(group, ALL, "iops") for group in (held, failed)]
    if broken is None or broken.estimate is None or before is None or any(rate is None for rate in rates):
        return None
    errors = [_relative_error(before), _relative_error(broken.estimate)]
    known = [error for error in errors if error is not None]
    low, high = (rate.value for rate in rates if rate is not None)
    steepness = log(broken.estimate.value / before.value) / log(high / low) if high > low > 0 and before.value > 0 else 1.0
    return max(known) / max(1.0, steepness) if known else None
