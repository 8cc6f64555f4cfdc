"""Assertions on a comparison: conditions on how much a side may differ from the baseline, for pipelines.

Model: an assertion is ``[OPERATION] METRIC RELATION RATIO``, such as ``throughput >= 0.95x`` or ``read p99 <= 1.1x``: the ratio is that of
each side over the baseline, at every point that both have. ``throughput`` is requests per second, ``bandwidth`` bytes per second, ``mark``
the highest load that kept the objective; latencies are ``mean p50 p90 p95 p99 p99.9 max``. A ratio *holds* when its whole 95 % interval
satisfies the relation, *fails* when none of it does, and is *undecided* otherwise, or where it has no interval. Only what holds everywhere
passes: undecided is a failure that says so, and so is an assertion that meets no point.
Limits: every ratio is judged by its own interval; among many, one in forty of those that lie at the limit passes or fails by chance.

    wanted = parse_assertion("throughput >= 0.95x")
    [found] = asserted([wanted], compare(sides, figures=[wanted.figure]))
    found.holds, found.sentences()
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import field
from typing import Literal, TypedDict

from plimsoll.analysis.comparison.comparison import Comparison, Figure
from plimsoll.analysis.comparison.sides import MarkRow, Row
from plimsoll.analysis.objective.clause import METRICS_BY_WORD, RELATIONS, measured_words, parse_metric
from plimsoll.displayed import quoted
from plimsoll.errors import InputError
from plimsoll.near import listed, meant
from plimsoll.records import dataclass
from plimsoll.units import three_digits

Verdict = Literal["held", "failed", "undecided"]

EXAMPLE = "throughput >= 0.95x"
MARK = "mark"
#: Words for metrics besides those of objectives.
_ALSO = {"throughput": "iops"}
_SAID = {"held": "held", "failed": "failed", "undecided": "is undecided"}
_SIGNS = {"≤": "<=", "≥": ">="}
_PARTS = re.compile(r"^\s*(?P<metric>.*?)\s*(?P<relation><=|>=|=<|=>|==|<|>|=|≤|≥)\s*(?P<limit>.*?)\s*$", re.DOTALL)
_RATIO = re.compile(r"^(\d+(?:\.\d+)?)\s*(x|×|%)$", re.IGNORECASE)
_JOINTS = re.compile(r",|\band\b", re.IGNORECASE)


class JudgedView(TypedDict):
    """An assertion at one point or mark, as programs read it."""

    assertion: str
    where: str
    side: str
    ratio: float | None
    low: float | None
    high: float | None
    verdict: Verdict
    beyond_percent: float | None
    text: str


class AssertedView(TypedDict):
    """An assertion with all of them."""

    text: str
    holds: bool
    points: list[JudgedView]


@dataclass(frozen=True)
class Assertion:
    """One condition; ``limit`` is a ratio of the side over the baseline, ``metric`` is ``mark`` or one of results."""

    op: str
    metric: str
    relation: str
    limit: float
    text: str

    @property
    def figure(self) -> Figure | None:
        """Operation and metric to compare points by; None for marks."""
        return None if self.metric == MARK else (self.op, self.metric)

    def holds(self, ratio: float) -> bool:
        """Whether one ratio satisfies the relation."""
        if self.relation == "<=":
            return ratio <= self.limit
        if self.relation == "<":
            return ratio < self.limit
        return ratio >= self.limit if self.relation == ">=" else ratio > self.limit


@dataclass(frozen=True)
class Judged:
    """An assertion at one point or mark of one side."""

    assertion: Assertion
    where: str
    side: str
    ratio: float | None
    low: float | None
    high: float | None
    note: str = ""

    @property
    def verdict(self) -> Verdict:
        """Whether the interval leaves a doubt."""
        if self.ratio is None or self.low is None or self.high is None:
            return "undecided"
        ends = {self.assertion.holds(self.low), self.assertion.holds(self.high)}
        return "undecided" if len(ends) > 1 else "held" if ends.pop() else "failed"

    @property
    def beyond_percent(self) -> float | None:
        """By how much of the limit the ratio lies on the wrong side of it; None where it does not."""
        if self.ratio is None or self.assertion.holds(self.ratio):
            return None
        return abs(self.ratio / self.assertion.limit - 1) * 100

    @property
    def text(self) -> str:
        """The value, and by how much it failed or why nothing is decided."""
        if self.ratio is None:
            return self.note or "it has no ratio"
        value = f"{three_digits(self.ratio)} ×"
        if self.low is None or self.high is None:
            return f"{value}, without an interval: measure longer, or repeat"
        value += f" [{three_digits(self.low)}, {three_digits(self.high)}]"
        if self.verdict == "undecided":
            return f"{value}, and the interval reaches across the limit: measure longer, or repeat"
        beyond = self.beyond_percent
        if beyond is None:
            return value
        return f"{value}, {three_digits(beyond)} % {'above' if self.assertion.relation.startswith('<') else 'below'} the limit"

    def to_json(self) -> JudgedView:
        """As programs read it."""
        return {
            "assertion": self.assertion.text,
            "where": self.where,
            "side": self.side,
            "ratio": self.ratio,
            "low": self.low,
            "high": self.high,
            "verdict": self.verdict,
            "beyond_percent": self.beyond_percent,
            "text": self.text,
        }


@dataclass(frozen=True)
class Asserted:
    """An assertion with everything it was held against."""

    assertion: Assertion
    judged: tuple[Judged, ...] = field(default_factory=tuple)

    @property
    def holds(self) -> bool:
        """Whether it holds everywhere, and anywhere at all."""
        return bool(self.judged) and all(found.verdict == "held" for found in self.judged)

    def sentences(self) -> list[str]:
        """What keeps it from holding, the failures first; empty when it holds."""
        if not self.judged:
            about = "no side has a mark to compare" if self.assertion.metric == MARK else "no point has this figure on two sides"
            return [f"{self.assertion.text} is not shown: {about}"]
        left = sorted((found for found in self.judged if found.verdict != "held"), key=lambda found: found.verdict != "failed")
        return [
            f"{self.assertion.text} {_SAID[found.verdict]} for {found.where} on {found.side}: {found.text.rstrip('.')}" for found in left
        ]

    def to_json(self) -> AssertedView:
        """As programs read it."""
        return {"text": self.assertion.text, "holds": self.holds, "points": [found.to_json() for found in self.judged]}


def parse_assertions(texts: Sequence[str]) -> list[Assertion]:
    """Every assertion of ``texts``, each of which may join several by ``and`` or a comma; each once."""
    parts = [part for text in texts for part in (_JOINTS.split(text) if text.strip() else [text])]
    return list(dict.fromkeys(parse_assertion(part) for part in parts))


def parse_assertion(text: str) -> Assertion:
    """The assertion that ``text`` says; raises `InputError` with what is wrong and what would be right."""
    parts = _PARTS.match(text)
    if parts is None or not parts["metric"]:
        raise InputError(f"--assert {quoted(text.strip())}: not a condition; write METRIC RELATION RATIO, for example {quoted(EXAMPLE)}.")
    relation = _SIGNS.get(parts["relation"], parts["relation"])
    if relation not in RELATIONS:
        raise InputError(f"--assert {quoted(text.strip())}: {quoted(relation)} is not a relation; write one of {listed(RELATIONS)}.")
    op, metric, called = _metric(parts["metric"].lower(), text)
    found = _RATIO.match(parts["limit"])
    if found is None or not float(found[1]):
        raise InputError(
            f"--assert {quoted(text.strip())}: {quoted(parts['limit'])} is not a ratio to the baseline; write for example 0.95x or 95%. "
            "A limit in a unit is an objective: see --objective."
        )
    limit = float(found[1]) / (100 if found[2] == "%" else 1)
    return Assertion(op, metric, relation, limit, f"{called} {relation} {limit:g}x")


def _metric(words: str, text: str) -> tuple[str, str, str]:
    """Operation, metric, and how both are written."""
    called = " ".join(words.split())
    if called == MARK:
        return "all", MARK, MARK
    *ops, name = called.split()
    try:
        op, metric = parse_metric(" ".join([*ops, _ALSO.get(name, name)]))
    except InputError as problem:
        known = [MARK, *_ALSO, *measured_words()]
        if len(ops) <= 1 and name not in (*METRICS_BY_WORD, *_ALSO):
            raise InputError(f"--assert {quoted(text.strip())}: {quoted(name)} is not a metric; {meant(name, known)}") from None
        raise InputError(f"--assert {quoted(text.strip())}: {problem}") from None
    return op, metric, called


def asserted(assertions: Sequence[Assertion], comparison: Comparison) -> list[Asserted]:
    """Each assertion held against every row of its figure; ``comparison`` has to be by these figures."""
    return [Asserted(one, tuple(_judged(one, row) for row in _rows(one, comparison))) for one in assertions]


def _rows(assertion: Assertion, comparison: Comparison) -> Sequence[Row | MarkRow]:
    if assertion.metric == MARK:
        return comparison.marks
    return [row for row in comparison.points if (row.op, row.metric) == assertion.figure]


def _judged(assertion: Assertion, row: Row | MarkRow) -> Judged:
    if isinstance(row, MarkRow):
        return Judged(assertion, f"{row.workload}, {row.objective}", row.side, row.ratio, row.low, row.high, row.note)
    settings = ", ".join(f"{name} {value}" for name, value in row.point.settings.items())
    where = f"{row.point.workload}{f' at {settings}' if settings else ''}"
    if row.rate_not_achieved:
        note = "the offered rate was not achieved, so this latency says how long the load lasted"
        return Judged(assertion, where, row.side, None, None, None, note)
    return Judged(assertion, where, row.side, row.ratio, row.low, row.high)
