"""Levels, rates and responses as the sentences of conclusions write them.

level_text("queue_depth", 24)      # "queue_depth 24"; of threads "24 threads"
measured(clause_judgement)         # "read mean was 20.4 ms [20.1, 20.7]"
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from plimsoll.analysis.objective.clause import ACHIEVED, BANDWIDTH, ERRORS, Clause
from plimsoll.analysis.point.metric import IOPS, MB_PER_S, RESPONSES, load_noun, spoken
from plimsoll.result import Estimate, Result, tells
from plimsoll.units import duration, megabytes, significant

if TYPE_CHECKING:
    from plimsoll.analysis.objective.judgement import ClauseJudgement


def number(value: float) -> str:
    """A level or rate: thousands separated, as many digits as it has, at most six."""
    return f"{value:,.0f}" if abs(value) >= 1e5 or float(value).is_integer() else f"{value:,.6g}"


def level_text(axis: str, level: float) -> str:
    """Where on the axis; threads, people and workflows are counted as one speaks of them."""
    if axis in ("threads", "users", "workflows"):
        return f"{number(level)} {axis.removesuffix('s') if level == 1 else axis}"
    return f"{axis} {number(level)}"


def rate(per_s: float, noun: str = IOPS) -> str:
    """Requests per second, or what else comes in one."""
    return f"{per_s:,.0f} {noun}" if per_s >= 100 else f"{significant(per_s)} {noun}"


def load(iops: float, bytes_per_s: float, results: Sequence[Result]) -> str:
    """A throughput in what people speak of it in."""
    noun = load_noun(results)
    if noun == MB_PER_S:
        return figure(BANDWIDTH, bytes_per_s)
    return rate(spoken(iops, noun), noun)


def figure(metric: str, value: float) -> str:
    """A value of ``metric`` with its unit."""
    if metric in RESPONSES:
        return duration(value)
    if metric == BANDWIDTH:
        return f"{megabytes(value)} MB/s"
    if metric == ACHIEVED:
        return f"{value:.1f} %"
    return f"{value:,.0f}" if metric == ERRORS else rate(value)


def measured(item: ClauseJudgement) -> str:
    """What a clause's metric was, with its interval where there is one."""
    subject = item.clause.text_for(item.op).partition(f" {item.clause.relation} ")[0]
    if item.estimate is None:
        return f"{subject} could not be measured"
    said = f"{_beside_limit(item.clause, item.estimate.value)}{_interval(item.clause.metric, item.estimate)}"
    if item.estimate.at_least:
        said = f"at least {said}"
    if item.unanswered:
        requests = f"{item.unanswered:,} request{'s' if item.unanswered > 1 else ''}"
        return f"{subject} was {said}, and {requests} had no answer when the measured time ended"
    if item.shortage:
        return f"{subject} was {said}, which is not known well: {item.shortage.text}"
    return f"{subject} was {said}"


def _beside_limit(clause: Clause, value: float) -> str:
    """The value; in words where it would read like a limit that it misses."""
    said = figure(clause.metric, value)
    if clause.holds(value) or said != figure(clause.metric, clause.limit):
        return said
    return f"just {'above' if value > clause.limit else 'below'} {said}"


def failures(points: Iterable[tuple[str, Result]]) -> list[str]:
    """A sentence for every point that failed."""
    return [f"The point at {where} failed: {_stopped(result.error)}" for where, result in points if result.status == "failed"]


def reason(result: Result) -> str:
    """Why a point has no figures, without full stop."""
    return _stopped(result.error).removesuffix(".") if result.error else "nothing was completed"


def _interval(metric: str, estimate: Estimate) -> str:
    """In brackets; one that says nothing is left out, and said to be."""
    if estimate.low is None or estimate.high is None:
        return ""
    if metric in RESPONSES and not tells(estimate.low, estimate.high):
        return " (too few samples to be sure)"
    return f" [{figure(metric, max(0.0, estimate.low))}, {figure(metric, estimate.high)}]"


def _stopped(text: str | None) -> str:
    sentence = (text or "no reason is known").strip()
    return sentence if sentence.endswith(".") else f"{sentence}."
