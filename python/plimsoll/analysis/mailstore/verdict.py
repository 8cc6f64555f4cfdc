"""Whether a mail store's counters keep the limits of its generation.

Model: the limits stand in the result, as the driver found them for the generation and the length of the run. A limit is on the mean or
the slowest of reads, writes or log writes, and every database has to keep it. A run in which requests failed does not pass.

    verdict(result).passed
    verdict(result).checks[0].text       # "database-1: read mean 12.7 ms, at most 20 ms"
"""

from __future__ import annotations

from plimsoll.analysis.mailstore.counters import section
from plimsoll.records import dataclass
from plimsoll.result import Result
from plimsoll.units import brief_duration

_MS = 1e6
#: What the keys of limits are on.
_OPS = {"read": "read", "write": "write", "log_write": "log-write"}
_FIGURES = ("mean", "max")


@dataclass(frozen=True)
class Check:
    """One limit on one database; ``value_ns`` is None where nothing of the kind was done."""

    database: str
    op: str
    figure: str
    limit_ns: float
    value_ns: float | None

    @property
    def holds(self) -> bool:
        """What was not done is within every limit."""
        return self.value_ns is None or self.value_ns <= self.limit_ns

    @property
    def text(self) -> str:
        """What was found beside what is allowed."""
        found = "none" if self.value_ns is None else brief_duration(self.value_ns)
        return f"{self.database}: {self.op} {self.figure} {found}, at most {brief_duration(self.limit_ns)}"


@dataclass(frozen=True)
class Verdict:
    """``source`` says whose limits they are."""

    checks: tuple[Check, ...]
    errors: int
    source: str

    @property
    def passed(self) -> bool:
        """Whether every limit was kept and no request failed."""
        return self.errors == 0 and all(check.holds for check in self.checks)


def verdict(result: Result) -> Verdict | None:
    """None where no limits are known, or nothing but a backup was done."""
    limits = dict(section(result).get("limits") or {})
    source = str(limits.pop("source", ""))
    if not limits or result.job.definition.get("test", "operations") != "operations":
        return None
    checks = [check for name in result.streams for key, limit in limits.items() if (check := _check(result, name, key, float(limit)))]
    return Verdict(tuple(checks), sum(total.errors for total in result.totals.values()), source)


def _check(result: Result, database: str, key: str, limit_ms: float) -> Check | None:
    op, _, figure = key.removesuffix("_ms").rpartition("_")
    if op not in _OPS or figure not in _FIGURES:
        return None
    total = result.streams[database].get(_OPS[op])
    value = None if total is None or total.latency_ns is None else float(getattr(total.latency_ns, figure))
    return Check(database, _OPS[op], figure, limit_ms * _MS, value)
