"""By how much an objective was missed, in words: the value beside its limit.

missed(judge(parse_objective("p99 <= 50us"), result))        # "read p99 was 209 µs, 4.18 × the limit of 50us"
"""

from __future__ import annotations

from plimsoll.analysis.objective.clause import ACHIEVED, BANDWIDTH, ERRORS, Clause
from plimsoll.analysis.objective.judgement import ClauseJudgement, Judgement
from plimsoll.analysis.point.metric import called
from plimsoll.units import count, duration, megabytes, significant, three_digits

#: From here on a latency is said in multiples of its limit, below in percent.
_MULTIPLE_FROM = 2.0


def missed(judgement: Judgement) -> str | None:
    """What of the objective was missed by how much, the worst first; None where it held."""
    if judgement.holds:
        return None
    failed = [one for one in judgement.clauses if not one.holds and not one.undecided and one.estimate is not None]
    if not failed:
        return judgement.failed_by
    ordered = sorted(failed, key=lambda one: -_overload(one))
    return "; ".join(_text(one) for one in ordered)


def _overload(one: ClauseJudgement) -> float:
    return one.clause.overload(one.estimate.value) if one.estimate is not None else 0.0


def _text(one: ClauseJudgement) -> str:
    assert one.estimate is not None
    clause, value = one.clause, one.estimate.value
    least = "at least " if one.estimate.at_least else ""
    return f"{_subject(one)} {least}{figure(clause, value)}, {_distance(clause, value)}"


def _subject(one: ClauseJudgement) -> str:
    if one.clause.metric == ERRORS:
        return f"{one.op + ' ' if one.op != 'all' else ''}errors were"
    if one.clause.metric == ACHIEVED:
        return "the achieved share of the offered rate was"
    return f"{called(one.op, one.clause.metric)} {'were' if one.clause.metric == 'iops' else 'was'}"


def figure(clause: Clause, value: float) -> str:
    """A value in the unit of its clause."""
    if clause.is_latency:
        return duration(value)
    if clause.metric == BANDWIDTH:
        return f"{megabytes(value)} MB/s"
    return f"{significant(value)} %" if clause.metric == ACHIEVED else count(value)


def _distance(clause: Clause, value: float) -> str:
    limit = clause.text.rpartition(" ")[2]
    if not clause.limit:
        return f"where {limit} are allowed"
    factor = value / clause.limit
    if factor >= _MULTIPLE_FROM:
        return f"{three_digits(factor)} × the limit of {limit}"
    if factor == 1:
        return f"which is the limit of {limit} itself"
    return f"{three_digits(abs(factor - 1) * 100)} % {'above' if factor > 1 else 'below'} the limit of {limit}"
