"""One condition on one metric: ``read p99 <= 5ms``.

Model: ``[OPERATION] METRIC RELATION LIMIT``; ``p90 of new-order`` is the same as ``new-order p90``. Spaces are optional around relation
and unit, case does not matter except in units of bytes. A clause is kept with its limit in the unit of the metric (nanoseconds, per
second, bytes per second, percent, a count) and with its canonical text, which reads back as the same clause. Conversion is in decimals, so
``0.1ms`` is exactly 100,000 ns.

    clause = parse_clause("read mean<=0.02 s")
    clause.text                      # 'read mean <= 20ms'
    clause.holds(19e6)               # True
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal

from plimsoll.analysis.point.metric import ALL, LATENCIES, RESPONSES, SCORE
from plimsoll.displayed import quoted
from plimsoll.errors import InputError
from plimsoll.near import listed, meant
from plimsoll.records import dataclass
from plimsoll.result import OPS, Estimate
from plimsoll.units import BINARY, THOUSANDS, TIMES

EXAMPLE = "read p99 <= 5ms"
ACHIEVED = "achieved"
ERRORS = "errors"
BANDWIDTH = "bytes_per_s"

#: Metrics as they are written, and what they are called in results.
METRICS_BY_WORD: Mapping[str, str] = {
    **{name: name for name in LATENCIES if name != "max"},
    "p99.9": "p999",
    "max": "max",
    "iops": "iops",
    "bandwidth": BANDWIDTH,
    ACHIEVED: ACHIEVED,
    ERRORS: ERRORS,
    SCORE: SCORE,
}
#: What is of all operations together, and in what words.
_WHOLE = {ACHIEVED: "the share of all offered requests", SCORE: "of all tasks of mail users together"}
#: As canonical text writes those that results call otherwise.
_WORDS = {"p999": "p99.9", BANDWIDTH: "bandwidth"}
#: What has no interval because nothing was sampled: a count, and the slowest request that was seen.
EXACT = (ERRORS, "max")

#: What no point is measured for.
_UNMEASURED = (ACHIEVED, ERRORS, SCORE)

RELATIONS = ("<=", "<", ">=", ">")
_RELATION_WORDS = {"at most": "<=", "below": "<", "at least": ">=", "above": ">", "≤": "<=", "≥": ">="}
_PARTS = re.compile(r"^(.*?)\s*(<=|>=|=<|=>|==|<|>|=|≤|≥|\bat most\b|\bbelow\b|\bat least\b|\babove\b)\s*(.*)$", re.IGNORECASE | re.DOTALL)
_QUANTITY = re.compile(r"^(\d+(?:\.\d+)?)\s*(.*)$", re.DOTALL)

_TIMES = {unit: TIMES[unit] for unit in ("s", "ms", "us", "ns")}
_MICRO = ("µs", "μs")
_DECIMAL_BYTES = {"TB": 10**12, "GB": 10**9, "MB": 10**6, "kB": 10**3, "B": 1}
_BINARY_BYTES = {**{unit: size for unit, size in BINARY.items() if unit != "PiB"}, "B": 1}


@dataclass(frozen=True)
class Clause:
    """One condition. ``op`` is None when none is named: a latency must then hold for every operation that occurred.

    ``metric`` is one of `plimsoll.analysis.point.metric.METRICS`, ``achieved`` (percent of the offered rate) or ``errors`` (failed
    requests).
    """

    op: str | None
    metric: str
    relation: str
    limit: float
    text: str

    @property
    def is_latency(self) -> bool:
        """Whether the limit is a time in nanoseconds."""
        return self.metric in RESPONSES

    @property
    def is_of_each(self) -> bool:
        """Whether every operation has to keep it where none is named."""
        return self.metric in LATENCIES

    def text_for(self, op: str) -> str:
        """The clause as it reads for one operation of several."""
        return self.text if self.op is not None or op == ALL else f"{op} {self.text}"

    def holds(self, value: float) -> bool:
        """Whether ``value`` satisfies the relation."""
        if self.relation == "<=":
            return value <= self.limit
        if self.relation == "<":
            return value < self.limit
        return value >= self.limit if self.relation == ">=" else value > self.limit

    def settled(self, estimate: Estimate) -> bool:
        """Whether every value of the interval answers `holds` alike; without one only where the value is `EXACT`."""
        if estimate.low is None or estimate.high is None:
            return self.metric in EXACT
        return self.holds(estimate.low) == self.holds(estimate.high)

    def overload(self, value: float) -> float:
        """How far ``value`` is beyond the limit: 1 at the limit, 2 at twice it (or at half of it where more is better)."""
        over, under = (value, self.limit) if self.relation.startswith("<") else (self.limit, value)
        return over / under if under > 0 else float("inf")


def parse_clause(text: str) -> Clause:
    """The clause that ``text`` says; raises `InputError` with what is wrong and what would be right, without the place."""
    parts = _PARTS.match(text.strip())
    if parts is None:
        raise InputError(f"{quoted(text.strip())} is not a condition; write METRIC RELATION LIMIT, for example {quoted(EXAMPLE)}.")
    op, metric = _subject(parts[1].lower().split())
    relation = _relation(parts[2].lower())
    limit, written = _limit(metric, parts[3].strip())
    words = [*([op] if op else []), _WORDS.get(metric, metric), relation, written]
    return Clause(op, metric, relation, float(limit), " ".join(words))


def parse_metric(text: str) -> tuple[str, str]:
    """Operation (or ``all``) and metric of ``[OPERATION] METRIC``, without limit; a metric that points are measured for."""
    op, metric = _subject(text.lower().split(), measured_words())
    if metric in _UNMEASURED:
        raise InputError(f"{quoted(metric)} cannot be aimed at; name one of {listed(measured_words())}.")
    return op or ALL, metric


def measured_words() -> list[str]:
    """The words for metrics that have an interval or a value per operation."""
    return [word for word in _metric_words() if word not in _UNMEASURED]


def _subject(words: list[str], known: list[str] | None = None) -> tuple[str | None, str]:
    """Operation and metric; ``known`` are the words for metrics that a message lists, all when None."""
    if len(words) == 3 and words[1] == "of":
        # "p90 of new-order", as it is spoken.
        words = [words[2], words[0]]
    if not words:
        raise InputError(f"no metric is named before the relation; write one of {listed(_metric_words())}, for example {quoted(EXAMPLE)}.")
    if len(words) > 2:
        raise InputError(
            f"{quoted(' '.join(words))} is too much before the relation; write [OPERATION] METRIC, for example {quoted(EXAMPLE)}."
        )
    if len(words) == 1 and words[0] in (*OPS, ALL):
        raise InputError(f"{quoted(words[0])} is an operation without a metric; write for example '{words[0]} mean <= 20ms'.")
    op = words[0] if len(words) == 2 else None
    if op is not None and op not in (*OPS, ALL):
        raise InputError(f"{quoted(op)} is not an operation; {_meant(op, (*OPS, ALL))}")
    word = words[-1]
    if word not in METRICS_BY_WORD:
        raise InputError(f"{quoted(word)} is not a metric; {_meant(word, known or _metric_words(), OPS if op is None else ())}")
    metric = METRICS_BY_WORD[word]
    if metric in _WHOLE and op is not None:
        raise InputError(f"{quoted(metric)} is {_WHOLE[metric]}; write it without {quoted(op)}.")
    return op, metric


def _relation(found: str) -> str:
    relation = _RELATION_WORDS.get(found, found)
    if relation not in RELATIONS:
        advice = {"=<": "did you mean '<='?", "=>": "did you mean '>='?"}.get(relation, f"write one of {listed(RELATIONS)}.")
        raise InputError(f"{quoted(found)} is not a relation; {advice}")
    return relation


def _limit(metric: str, text: str) -> tuple[Decimal, str]:
    found = _QUANTITY.match(text)
    if found is None:
        raise InputError(
            f"{quoted(text)} is not a limit; write {_form(metric)}." if text else f"the limit is missing; write {_form(metric)}."
        )
    limit, written = _READERS.get(metric, _time)(Decimal(found[1]), found[2].strip(), text)
    if limit <= 0 and metric != ERRORS:
        raise InputError(f"the limit {quoted(text)} can never decide anything; write {_form(metric)}.")
    return limit, written


def _time(number: Decimal, unit: str, text: str) -> tuple[Decimal, str]:
    factor = _TIMES.get("us" if unit.lower() in _MICRO else unit.lower())
    if factor is None:
        problem = "has no unit" if not unit else "is not a time"
        raise InputError(f"{quoted(text)} {problem}; write {_form('mean')} (units are ns us ms s).")
    return number * factor, _scaled(number * factor, _TIMES)


def _rate(number: Decimal, unit: str, text: str) -> tuple[Decimal, str]:
    factor = THOUSANDS.get(unit.lower().removesuffix("/s").strip())
    if factor is None:
        raise InputError(f"{quoted(text)} is not a number of requests per second; write {_form('iops')}.")
    return number * factor, _plain(number * factor)


def _bandwidth(number: Decimal, unit: str, text: str) -> tuple[Decimal, str]:
    name = unit.removesuffix("/s").strip()
    factor = (_DECIMAL_BYTES | _BINARY_BYTES).get(name)
    if factor is None:
        raise InputError(
            f"{quoted(text)} is not a bandwidth; write {_form(BANDWIDTH)} (kB MB GB TB count in 1000, KiB MiB GiB TiB in 1024)."
        )
    limit = number * factor
    # The same limit has one text, whichever way it was written: the shorter one.
    written = min(_scaled(limit, _DECIMAL_BYTES), _scaled(limit, _BINARY_BYTES), key=len)
    return limit, f"{written}/s"


def _share(number: Decimal, unit: str, text: str) -> tuple[Decimal, str]:
    if unit != "%" or number > 100:
        raise InputError(f"{quoted(text)} is not a share of the offered rate; write {_form(ACHIEVED)}.")
    return number, f"{_plain(number)}%"


def _count(number: Decimal, unit: str, text: str) -> tuple[Decimal, str]:
    if unit or number != number.to_integral_value():
        raise InputError(f"{quoted(text)} is not a number of failed requests; write {_form(ERRORS)}.")
    return number, _plain(number)


_READERS = {"iops": _rate, BANDWIDTH: _bandwidth, ACHIEVED: _share, ERRORS: _count}
_FORMS = {"iops": "5000 or 5k", BANDWIDTH: "200MB/s or 200MiB/s", ACHIEVED: "97%", ERRORS: "a whole number such as 0"}


def _form(metric: str) -> str:
    return _FORMS.get(metric, "20ms, 500us or 1s")


def _scaled(value: Decimal, units: Mapping[str, int]) -> str:
    """The value in its largest unit that leaves it at 1 or above."""
    for unit, factor in units.items():
        if value >= factor:
            return f"{_plain(value / factor)}{unit}"
    return f"{_plain(value)}{list(units)[-1]}"


def _plain(number: Decimal) -> str:
    text = f"{number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _metric_words() -> list[str]:
    return [word for word in METRICS_BY_WORD if word not in _WORDS]


def _meant(word: str, known: Sequence[str], also: Sequence[str] = ()) -> str:
    """The nearest word, also of those that are not listed."""
    return meant(word, [*known, *also], f"write one of {listed(known)}.")
