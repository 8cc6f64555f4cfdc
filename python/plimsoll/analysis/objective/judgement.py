"""The objective: the condition on response that a load must keep, and whether a point kept it.

Model: an objective is one or more clauses (`plimsoll.analysis.objective.clause`) joined by ``and``, all of which must hold. A point, or
several repeats of it pooled (`plimsoll.analysis.point.repeats`), is judged by value: the objective *holds* when every clause does. The
judgement is *settled* when the 95 % intervals leave no doubt: all lie wholly within their limits, or one lies wholly beyond. A count of
errors and a maximum have no interval; what was seen settles them. Every other value without an interval leaves the judgement unsettled,
also on a modelled target, because another seed would give another value. A latency without an operation is asked of every operation that
occurred; of queries, each of which is another task, it is asked of all together. A point that failed never holds, and is settled: measuring
it again with another seed is no cure. A request that failed was never answered and is in no latency, so where requests failed an objective
that says nothing of errors is judged as if it said ``errors <= 0``, too. A latency is judged with what was outstanding when the measured
time ended (`plimsoll.analysis.point.summary`): a limit that its lower bound breaks is settled, one that it could break is not held and not
settled. A latency that keeps its limit by value on fewer requests than could show it (`plimsoll.analysis.objective.sample_size`) is not
held and not settled.
Limits: clauses are judged one by one at 95 %; the chance that some of several intervals misses is larger than 5 %.

    objective = parse_objective("read mean <= 20ms and write mean <= 20ms")
    judge(objective, result).failed_by       # 'write mean <= 20ms', or None when it holds
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import get_args

from plimsoll.analysis.objective.clause import ACHIEVED, ERRORS, EXAMPLE, Clause, parse_clause
from plimsoll.analysis.objective.sample_size import Shortage, shortage
from plimsoll.analysis.point.definition import (
    asks_a_list,
    drawn_by_stream,
    drawn_operations,
    file_operations,
    is_all_there_is,
    offered_per_s,
    streams,
)
from plimsoll.analysis.point.metric import ALL, SCORE, called
from plimsoll.analysis.point.offered_load import carried
from plimsoll.analysis.point.repeats import highest, lowest, pooled_metric, unanswered
from plimsoll.analysis.point.score import score_weights
from plimsoll.displayed import quoted
from plimsoll.errors import InputError
from plimsoll.near import listed
from plimsoll.records import dataclass
from plimsoll.result import OPS, Estimate, QueryOp, Result
from plimsoll.stored import Definition, Stream
from plimsoll.units import brief_duration

__all__ = ["Clause", "ClauseJudgement", "Judgement", "Objective", "applies_to", "judge", "parse_objective"]


_MISSING = {ACHIEVED: "no rate was offered", SCORE: "no task that has a weight was done"}
_JOINTS = re.compile(r",|\band\b", re.IGNORECASE)
_VERBS = {
    "read": "reads",
    "write": "writes",
    "trim": "trims",
    "flush": "flushes",
    "create": "creates",
    "open": "opens",
    "close": "closes",
    "access": "asks for access to",
    "stat": "stats",
    "setattr": "sets attributes of",
    "rename": "renames",
    "copy": "copies",
    "move": "moves",
    "delete": "deletes",
    "mkdir": "makes directories of",
    "rmdir": "removes directories of",
    "deliver": "delivers to",
    "new-order": "enters new orders",
    "payment": "enters payments",
    "log-read": "reads its log",
    "log-write": "writes its log",
    "maintenance-read": "reads for maintenance",
    "replication-read": "reads its log for copies",
    "order-status": "asks for the status of orders",
    "delivery": "delivers orders",
    "stock-level": "asks for stock levels",
}


@dataclass(frozen=True)
class Objective:
    """Clauses that must all hold; ``text`` is canonical: equal for equal objectives, and reads back as the same one."""

    clauses: tuple[Clause, ...]

    @property
    def text(self) -> str:
        """The clauses joined by ``and``."""
        return " and ".join(clause.text for clause in self.clauses)

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class ClauseJudgement:
    """One clause on one operation (or ``all``). The estimate is in the unit of the clause's limit, None when nothing was measured.

    ``unanswered`` is how many requests had no answer, where the limit could only be broken by them. ``shortage`` says how many requests
    are lacking, where the value keeps the limit and they are too few to show it.
    """

    clause: Clause
    op: str
    estimate: Estimate | None
    holds: bool
    settled: bool
    unanswered: int = 0
    shortage: Shortage | None = None

    @property
    def text(self) -> str:
        """The condition as it was asked of this operation."""
        return self.clause.text_for(self.op)

    @property
    def undecided(self) -> bool:
        """Whether it is not held only because not enough is known."""
        return self.unanswered > 0 or self.shortage is not None


@dataclass(frozen=True)
class Judgement:
    """Whether a point keeps the objective; ``failed_by`` is the condition furthest beyond its limit, None when all hold."""

    holds: bool
    settled: bool
    failed_by: str | None
    clauses: tuple[ClauseJudgement, ...]

    @property
    def undecided(self) -> bool:
        """Whether nothing keeps it from holding but what is not known: requests without an answer, or too few of them."""
        failed = [clause for clause in self.clauses if not clause.holds]
        return bool(failed) and all(clause.undecided for clause in failed)

    @property
    def too_few(self) -> Shortage | None:
        """What is lacking most, where nothing but too few requests keeps it from holding."""
        failed = [clause.shortage for clause in self.clauses if not clause.holds]
        known = [one for one in failed if one is not None]
        return max(known, key=lambda one: one.needed / one.count) if known and len(known) == len(failed) else None


def parse_objective(text: str) -> Objective:
    """The objective that ``text`` says; raises `InputError` that names the clause, what is wrong in it and what would be right."""
    if not text.strip():
        raise InputError(f"the objective is empty; write for example {quoted(EXAMPLE)}.")
    written = _JOINTS.split(text)
    clauses = []
    for number, part in enumerate(written, start=1):
        place = f"objective {quoted(text)}" + (f", clause {number}" if len(written) > 1 else "")
        if not part.strip():
            raise InputError(f"{place}: a condition is missing beside 'and'; write for example {quoted(EXAMPLE)}.")
        try:
            clauses.append(parse_clause(part))
        except InputError as problem:
            raise InputError(f"{place}: {problem}") from None
    return Objective(tuple(dict.fromkeys(clauses)))


def judge(objective: Objective, results: Result | Sequence[Result]) -> Judgement:
    """Whether the point that ``results`` are (one result, or the repeats of one point) keeps the objective."""
    repeats = [results] if isinstance(results, Result) else list(results)
    if not repeats:
        raise ValueError("there is no result to judge")
    for result in repeats:
        if result.status == "failed":
            return Judgement(holds=False, settled=True, failed_by=f"the point failed: {result.error}", clauses=())
    clauses = (*objective.clauses, *_implied(objective, repeats))
    judged = tuple(_judged(clause, op, repeats) for clause in clauses for op in _asked_of(clause, repeats))
    failed = [item for item in judged if not item.holds]
    if not failed:
        return Judgement(holds=True, settled=all(item.settled for item in judged), failed_by=None, clauses=judged)
    return Judgement(
        holds=False,
        settled=any(item.settled for item in failed),
        # What surely fails comes before what only could.
        failed_by=_reason(max(failed, key=lambda item: (not item.undecided, _overload(item)))),
        clauses=judged,
    )


def applies_to(objective: Objective, definition: Definition, *, rated: bool = False) -> str | None:
    """Why the objective could never hold on a workload (as a canonical definition), in a sentence; None when it could.

    ``rated`` says that points will be given a rate that the definition does not have yet, like those of a curve.
    """
    name = definition.get("name") or "the workload"
    for clause in objective.clauses:
        if clause.metric == ACHIEVED and not rated and not offered_per_s(definition):
            return (
                f"objective {quoted(clause.text)} compares with the offered rate, but no stream of {name} has one; "
                "give it one, for example with arrival=poisson and rate=1000."
            )
        if clause.metric == SCORE and not score_weights(definition):
            return f"objective {quoted(clause.text)} is about mail users, of whom {name} has none; name a latency, for example p95 <= 1s."
        if clause.op in OPS and not any(_issues(stream, clause.op) for stream in streams(definition)):
            occurring = [op for op in OPS if any(_issues(stream, op) for stream in streams(definition))]
            meant = f"; name {listed(occurring, 'or')}." if occurring else "."
            return f"objective {quoted(clause.text)} is about {_verb(clause.op)}, but no stream of {name} {_verb(clause.op)}{meant}"
    return None


def _verb(op: str) -> str:
    """What a stream does with an operation; queries and tasks are named as they are."""
    return _VERBS.get(op) or (f"asks {op}" if op in get_args(QueryOp) else f"does {op}")


def _implied(objective: Objective, results: Sequence[Result]) -> tuple[Clause, ...]:
    """No request may fail, unless the objective says itself how many."""
    failed = any(total.errors for result in results for total in result.totals.values())
    said = any(clause.metric == ERRORS for clause in objective.clauses)
    return (parse_clause("errors <= 0"),) if failed and not said else ()


def _asked_of(clause: Clause, results: Sequence[Result]) -> list[str]:
    """The operations a clause is judged on: the one it names, every one that occurred for a latency, or all together."""
    if clause.op is not None:
        return [clause.op]
    if not clause.is_of_each:
        return [ALL]
    if _is_list(results):
        return [ALL]
    occurred: list[str] = [
        op for op in OPS if any(_drawn(result, op) and lowest([result], op, clause.metric) is not None for result in results)
    ]
    return occurred or [ALL]


def _drawn(result: Result, op: str) -> bool:
    """Whether the streams were asked for ``op``; the opening and closing of a file that is read merely come with it."""
    drawn = drawn_by_stream(result.job.definition)
    return not drawn or any(op in asked for asked in drawn.values())


def _judged(clause: Clause, op: str, results: Sequence[Result]) -> ClauseJudgement:
    found = _by_value(clause, op, results)
    lacking = shortage(clause, op, results) if found.holds and clause.is_latency else None
    return found if lacking is None else replace(found, holds=False, settled=False, shortage=lacking)


def _by_value(clause: Clause, op: str, results: Sequence[Result]) -> ClauseJudgement:
    estimate = _estimate(clause, op, results)
    if clause.is_latency and (bounded := _bounded(clause, op, results, estimate)) is not None:
        return bounded
    if estimate is None:
        return ClauseJudgement(clause, op, None, holds=False, settled=False)
    # A list was done to its end: what it took is a fact, as long as no repeats say how it scatters.
    fact = clause.is_latency and estimate.low is None and all(is_all_there_is(result.job.definition, op) for result in results)
    return ClauseJudgement(clause, op, estimate, clause.holds(estimate.value), fact or clause.settled(estimate))


def _is_list(results: Sequence[Result]) -> bool:
    return all(asks_a_list(result.job.definition) for result in results)


def _bounded(clause: Clause, op: str, results: Sequence[Result], estimate: Estimate | None) -> ClauseJudgement | None:
    """The judgement of a latency that what was outstanding at the end decides or leaves open; None where it changes nothing."""
    least, most = lowest(results, op, clause.metric), highest(results, op, clause.metric)
    if least is None or most is None:
        return None
    holds = clause.holds(least)
    if (estimate is None or estimate.at_least or holds != clause.holds(estimate.value)) and (not holds or clause.relation.startswith(">")):
        return ClauseJudgement(clause, op, Estimate(least, at_least=True), holds, settled=True)
    if holds and not clause.holds(most):
        shown = estimate or Estimate(least, at_least=True)
        return ClauseJudgement(clause, op, shown, holds=False, settled=False, unanswered=unanswered(results, op))
    return None


def _estimate(clause: Clause, op: str, results: Sequence[Result]) -> Estimate | None:
    if clause.metric == ERRORS:
        totals = [total for result in results for name, total in result.totals.items() if op in (name, ALL)]
        return Estimate(float(sum(total.errors for total in totals)))
    if clause.metric == ACHIEVED:
        found = carried(results)
        return None if found is None else _percent(found)
    return pooled_metric(results, op, clause.metric)


def _percent(part: Estimate) -> Estimate:
    low, high = (None if bound is None else 100 * bound for bound in (part.low, part.high))
    return replace(part, value=100 * part.value, low=low, high=high)


def _overload(item: ClauseJudgement) -> float:
    return float("inf") if item.estimate is None else item.clause.overload(item.estimate.value)


def _reason(item: ClauseJudgement) -> str:
    if item.unanswered:
        requests = f"{item.unanswered:,} request{'s' if item.unanswered > 1 else ''}"
        return f"{item.text} (could be broken: {requests} had no answer when the measured time ended)"
    if item.shortage is not None:
        return f"{item.text} ({item.shortage.text})"
    if item.estimate is not None and item.estimate.at_least:
        return f"{item.text} ({called(item.op, item.clause.metric)} ≥ {brief_duration(item.estimate.value)})"
    if item.estimate is not None:
        return item.text
    missing = _MISSING.get(item.clause.metric) or f"no {'request' if item.op == ALL else item.op} was measured"
    return f"{item.text} ({missing})"


def _issues(stream: Stream, op: str) -> bool:
    """Whether the stream can issue ``op``; the defaults of the mix are those of crates/workload/src/stream.rs."""
    # Only the file of a trace says what is in it.
    return bool(stream.get("trace")) or op in _operations(stream)


def _operations(stream: Stream) -> Iterator[str]:
    if drawn_operations(stream) is not None:
        yield from file_operations(stream)
        # The refreshes of decision support come with its queries.
        yield from ("rf1", "rf2") if stream.get("refresh") else ()
        return
    trim, flush = stream.get("trim_percent") or 0, stream.get("flush_percent") or 0
    entries = stream.get("access")
    if entries:
        reads = [entry.get("read_percent", 100) for entry in entries]
        read, write = max(reads), 100 - min(reads)
    else:
        rest = 100 - trim - flush
        read = stream.get("read_percent", rest - stream.get("write_percent", 0))
        write = stream.get("write_percent", rest - stream["read_percent"] if "read_percent" in stream else 0)
    shares = {"read": read, "write": write, "trim": trim, "flush": flush or stream.get("flush_every") or 0}
    yield from (op for op, share in shares.items() if share > 0)
