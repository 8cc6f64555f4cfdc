"""Sample size: how many requests a latency has to rest on before a limit on it may be called held, and what is lacking.

Model: that the percentile p lies within an upper limit is known at `CONFIDENCE` only when some order statistic of n requests bounds it from
above. The slowest of them is the last that can, and it lies below the percentile with probability pⁿ; so n is at least
ln(1 - confidence) / ln(p): 5 for p50, 29 for p90, 59 for p95, 299 for p99, 2,995 for p99.9 (David and Nagaraja, "Order Statistics", 3rd
ed., 7.1). A lower limit is the mirror image, with the fastest request and 1 - p. It makes no assumption on the distribution.

- Mean: no number of requests bounds a mean whatever their distribution (Bahadur and Savage, "The nonexistence of certain statistical
  procedures in nonparametric problems", Annals of Mathematical Statistics 27, 1956). `MEAN_MIN` is for latencies that scatter like
  exponential ones: the true mean of 30 is then with 95 % at most 60 / χ²(5 %, 60) = 1.39 times the measured one.
- Maximum: it is a fact of the requests that were seen. No number of them says what the next one takes, so none is asked for.
- Score: what the 95th percentile needs, of each task that has a weight; the task with the fewest requests says what is lacking.
- A list of queries that were all asked is no sample of more: its mean and its percentiles are facts, like a maximum. A percentile only
  needs as many queries as make it another figure than the slowest of them: 2 for p50, 10 for p90, 20 for p95, 100 for p99.
- Repeats of a point add up. The percentile of a repeat with fewer than 1 / (1 - p) requests is its slowest one, and the mean of several
  such is too low; they count only when the slowest of all keeps the limit, too.

Limits: the requests are taken as independent. Slow ones come in bursts, so the number is the least, not enough to be settled: the 95 %
interval of the percentile says that. What fails by its value fails on fewer, too.

    shortage(parse_clause("read p99 <= 5ms"), "read", [result]).text
    # 'too few requests: 40 in 2 s, 299 are needed; measure for 15 s'
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from plimsoll.analysis.objective.clause import Clause
from plimsoll.analysis.point.definition import is_all_there_is, runs_workflows
from plimsoll.analysis.point.metric import ALL, SCORE, together
from plimsoll.analysis.point.repeats import pooled_metric
from plimsoll.analysis.point.score import PERCENT, score_weights
from plimsoll.records import dataclass
from plimsoll.result import OPS, OpTotals, Result
from plimsoll.units import significant

CONFIDENCE = 0.95
MEAN_MIN = 30
PERCENTS = {"p50": 50.0, "p90": 90.0, "p95": 95.0, "p99": 99.0, "p999": 99.9, SCORE: PERCENT}
#: Rounding must not ask for one request more where the quotient is a whole number.
_SLACK = 1e-9


@dataclass(frozen=True)
class Shortage:
    """``count`` requests came in ``seconds`` and ``needed`` would have had to; of every repeat where ``each``."""

    count: int
    seconds: float
    needed: int
    each: bool = False
    #: The operation that is lacking, where it is not the one that the condition names.
    op: str = ""
    #: Whether the point ends by itself, so that more time gives no more requests.
    by_amount: bool = False
    #: What there would have to be more of where it ends with a list, of which each does all: streams of queries, or workflows.
    of_a_list: str = ""

    @property
    def text(self) -> str:
        """What is lacking, and what to do."""
        came = f"{self.count:,}{f' of {self.op}' if self.op else ''} in {'a repeat of ' if self.each else ''}{_shown(self.seconds)} s"
        return f"too few requests: {came}, {self.needed:,} are needed{' in each' if self.each else ''}; {self.remedy}"

    @property
    def remedy(self) -> str:
        """What to do, for instance ``measure for 15 s``."""
        if self.of_a_list:
            return f"use more {self.of_a_list} or a lower percentile"
        if self.by_amount:
            return "ask for a larger amount"
        return f"measure for {_shown(_up(self.seconds_needed))} s"

    @property
    def seconds_needed(self) -> float:
        """How long a point would have had to last at this rate."""
        return self.seconds * self.needed / self.count

    def cured_by(self, repeats: int) -> bool:
        """Whether so many times the requests would do."""
        return not self.each and self.count * repeats >= self.needed


def least(clause: Clause) -> int:
    """How many requests must have completed before the clause can be called held; 1 where any number will do."""
    if clause.metric == "mean":
        return MEAN_MIN
    if clause.metric not in PERCENTS:
        return 1
    inside = PERCENTS[clause.metric] / 100.0
    return math.ceil(math.log(1.0 - CONFIDENCE) / math.log(inside if _is_upper(clause) else 1.0 - inside) - _SLACK)


def shortage(clause: Clause, op: str, results: Sequence[Result]) -> Shortage | None:
    """What is lacking before ``results``, the repeats of a point, can be said to keep ``clause``; None when nothing is."""
    if clause.metric == SCORE:
        return _of_score(clause, results)
    seen = [(result, count) for result in results if (count := sum(total.count for total in _totals(result, op)))]
    of_a_list = _of_a_list(op, results)
    needed = _of_each(clause) if of_a_list else least(clause)
    if not seen or needed <= 1:
        return None
    count = sum(number for _, number in seen)
    by_amount = any(result.ended.get("by") == "amount" for result, _ in seen)
    if count < needed:
        return Shortage(count, sum(_seconds(result, op) for result, _ in seen), needed, by_amount=by_amount, of_a_list=of_a_list)
    result, fewest = min(seen, key=lambda pair: pair[1])
    of_each = _of_each(clause)
    if len(seen) == 1 or fewest >= of_each:
        return None
    slowest = pooled_metric(results, op, "max")
    if slowest is not None and clause.holds(slowest.value):
        return None
    return Shortage(fewest, _seconds(result, op), of_each, each=True, by_amount=by_amount, of_a_list=of_a_list)


def _of_a_list(op: str, results: Sequence[Result]) -> str:
    """Who does everything of a list once, where all of these points are such; else nothing."""
    if not all(is_all_there_is(result.job.definition, op) for result in results):
        return ""
    return "workflows" if any(runs_workflows(result.job.definition) for result in results) else "streams"


def _of_score(clause: Clause, results: Sequence[Result]) -> Shortage | None:
    """What the rarest of the tasks with a weight lacks."""
    weights = {task for result in results for task in score_weights(result.job.definition)}
    counts = {task: sum(total.count for result in results for total in _totals(result, task)) for task in OPS if task in weights}
    if not counts:
        return None
    task = min(counts, key=lambda one: counts[one])
    if counts[task] >= least(clause):
        return None
    seconds = sum(_seconds(result, ALL) for result in results)
    # One that was not seen at all is about to come.
    return Shortage(max(counts[task], 1), seconds, least(clause), op=task)


def idle(results: Sequence[Result]) -> bool:
    """Whether no request was due at all: such a point says nothing of its load, which was too small for its time."""
    return bool(results) and all(
        result.status == "complete" and not result.outstanding and not any(total.count or total.errors for total in result.totals.values())
        for result in results
    )


def _of_each(clause: Clause) -> int:
    """The requests of a repeat from which on its percentile is not simply its slowest one."""
    if clause.metric not in PERCENTS or not _is_upper(clause):
        return 1
    return math.ceil(100.0 / (100.0 - PERCENTS[clause.metric]) - _SLACK)


def _is_upper(clause: Clause) -> bool:
    return clause.relation in ("<=", "<")


def _totals(result: Result, op: str) -> list[OpTotals]:
    return together(result) if op == ALL else [result.totals[op]] if op in result.totals else []


def _seconds(result: Result, op: str) -> float:
    """The measured time: completions over their rate."""
    totals = _totals(result, op)
    rate = sum(total.iops for total in totals)
    return sum(total.count for total in totals) / rate if rate > 0 else result.job.duration_s


def _up(seconds: float) -> float:
    """Rounded up to two digits, as a duration is typed."""
    step = 10.0 ** (math.floor(math.log10(seconds)) - 1) if seconds > 0 else 1.0
    return math.ceil(seconds / step - _SLACK) * step


def _shown(seconds: float) -> str:
    return f"{seconds:,.0f}" if seconds >= 100 else significant(seconds)
