"""What progress says of drivers whose operations are no requests to storage: queries by stream, transactions by kind, workflows by step.

Model: a point of such a driver has a `Telling`, which hears every interval and says in a line how far the point is, and in rows what each
of its streams or kinds does. Queries are counted from their records, and what is under way from what an interval leaves outstanding.
Limits: rates are those of the last interval; the table at the end has those of the whole time.

    telling = telling_of(skeleton)          # None for block I/O
    telling.hear(interval)
    telling.line()                          # "streams: 31 of 44 queries, last Q9 of stream 2 in 1.48 s"
"""

from __future__ import annotations

from typing import Any, Protocol, get_args

from plimsoll.analysis.point.definition import ANALYTICS, DECISION_SUPPORT, ORDER_ENTRY
from plimsoll.result import Result, StepOp, TransactionOp
from plimsoll.stored import Interval
from plimsoll.units import brief_duration, count, duration, megabytes

#: Streams beyond this are counted, and not listed.
_ROWS = 12
NEW_ORDER: TransactionOp = "new-order"


class Telling(Protocol):
    """Hears the intervals of one point."""

    #: Of the columns of `rows`.
    headings: tuple[str, ...]

    def hear(self, interval: Interval) -> None:
        """One more has ended."""

    def line(self) -> str:
        """How far the point is."""

    def rows(self) -> list[tuple[str, ...]]:
        """What is done beside each other."""

    def share(self) -> float | None:
        """Of what is to be done; None where time decides that."""


def telling_of(point: Result) -> Telling | None:
    """That of a point, by its driver; None where rates of its operations say it all."""
    driver = point.job.definition.get("driver")
    if driver == DECISION_SUPPORT:
        return _Queries(point)
    if driver == ANALYTICS:
        return _Workflows(point)
    return _Transactions() if driver == ORDER_ENTRY else None


class _Queries:
    """Decision support: which query each stream is at."""

    headings: tuple[str, ...] = ("", "done", "under way", "last", "took")

    def __init__(self, point: Result) -> None:
        stream: dict[str, Any] = dict(point.job.definition["stream"][0])
        test, each = stream.get("test", "throughput"), len(stream.get("operation") or ())
        self._each = each
        streams = int(stream.get("threads", 1)) if test != "power" else 0
        self._total = each * (streams + (test in ("both", "power")))
        self._done: dict[str, int] = {}
        self._last: dict[str, tuple[str, float]] = {}
        self._under_way: dict[str, str] = {}
        self._latest = ""

    def hear(self, interval: Interval) -> None:
        """Queries that have ended, and those under way."""
        for done in interval.get("queries") or ():
            if "number" not in done:
                continue
            name = "power" if done["phase"] == "power" else f"stream {done['stream']}"
            self._done[name] = self._done.get(name, 0) + 1
            self._last[name] = (f"Q{done['number']}", float(done["seconds"]))
            self._latest = name
        self._under_way = {str(one["stream"]): str(one["op"]).upper() for one in interval.get("outstanding") or ()}

    def line(self) -> str:
        """``streams: 31 of 44 queries, last Q9 of stream 2 in 1.48 s``."""
        done = sum(self._done.values())
        if not done:
            return f"{done} of {self._total} queries"
        op, seconds = self._last[self._latest]
        return f"{done} of {self._total} queries, last {op} of {_named(self._latest)} in {brief_duration(seconds * 1e9)}"

    def rows(self) -> list[tuple[str, ...]]:
        """A row per stream that asked something."""
        names = sorted({*self._done, *self._under_way}, key=_order)
        if any(name.startswith("stream") for name in names):
            names = [name for name in names if name != "power"]
        found = [self._row(name) for name in names[:_ROWS]]
        more = len(names) - _ROWS
        return [*found, (f"and {more} more", "", "", "", "")] if more > 0 else found

    def _row(self, name: str) -> tuple[str, ...]:
        op, seconds = self._last.get(name, ("", 0.0))
        done = "" if name == "refresh" else f"{self._done.get(name, 0)} of {self._each}"
        return (name, done, self._under_way.get(name, ""), op, duration(seconds * 1e9) if op else "")

    def share(self) -> float | None:
        """Of all queries."""
        return sum(self._done.values()) / self._total if self._total else None


def _named(stream: str) -> str:
    return "the power test" if stream == "power" else stream


def _order(name: str) -> tuple[int, int]:
    """Power first, the refreshes last."""
    number = name.removeprefix("stream ")
    return (1, int(number)) if number.isdigit() else (0 if name == "power" else 2, 0)


class _Workflows:
    """Analytics: which step each workflow is in, and what all of them move."""

    headings: tuple[str, ...] = ("", "step", "took")

    def __init__(self, point: Result) -> None:
        stream: dict[str, Any] = dict(point.job.definition["stream"][0])
        self._total = int(stream.get("workflows", 1)) * int(stream.get("iterations", 1))
        self._ended: dict[int, Any] = {}
        self._done = self._failed = 0
        self._steps: dict[str, str] = {}
        self._moved = (0.0, 0.0)

    def hear(self, interval: Interval) -> None:
        """Workflows that have ended, and the steps of the others."""
        for one in interval.get("workflows") or ():
            self._done += 1
            self._failed += one["status"] == "failed"
            self._ended[int(one["number"])] = one
        self._steps = dict(interval.get("steps") or {})
        seconds = max((interval["end_ns"] - interval["start_ns"]) / 1e9, 1e-9)
        summary: Any = interval.get("summary", {})
        read, written = (summary.get(op, {}).get("bytes", 0) / seconds for op in ("read", "write"))
        self._moved = (read, written)

    def line(self) -> str:
        """``3 of 8 workflows ended, 1 failed; data-step 2, sort 3; read 412 MB/s, write 398 MB/s``."""
        said = [f"{self._done} of {self._total} workflows ended{f', {self._failed} failed' if self._failed else ''}"]
        under_way = {step: list(self._steps.values()).count(step) for step in get_args(StepOp) if step in self._steps.values()}
        if under_way:
            said.append(", ".join(f"{step} {number}" for step, number in under_way.items()))
        return "; ".join([*said, f"read {megabytes(self._moved[0])} MB/s, write {megabytes(self._moved[1])} MB/s"])

    def rows(self) -> list[tuple[str, ...]]:
        """A row per workflow."""
        numbers = sorted({*self._ended, *map(int, self._steps)})
        found = [self._row(number) for number in numbers[:_ROWS]]
        more = len(numbers) - _ROWS
        return [*found, (f"and {more} more", "", "")] if more > 0 else found

    def _row(self, number: int) -> tuple[str, ...]:
        if step := self._steps.get(str(number)):
            return (f"workflow {number}", step, "")
        ended = self._ended[number]
        return (f"workflow {number}", "ended" if ended["status"] == "complete" else ended["status"], duration(ended["real_s"] * 1e9))

    def share(self) -> float | None:
        """Of all workflows."""
        return self._done / self._total if self._total else None


class _Transactions:
    """Order entry: what is entered in a minute, and how long each kind takes."""

    headings: tuple[str, ...] = ("", "per minute", "p50", "p99", "max")

    def __init__(self) -> None:
        self._interval: Interval | None = None

    def hear(self, interval: Interval) -> None:
        """The last one is shown."""
        self._interval = interval

    def line(self) -> str:
        """``new-order 12,859 per minute, p50 13.8 ms, p99 70.8 ms; 486 transactions/s``."""
        per_s = {op: entry["count"] / self._seconds() for op, entry in self._entries()}
        entered = next((entry for op, entry in self._entries() if op == NEW_ORDER), None)
        said = "no new order yet"
        if entered is not None:
            p50, p99 = (duration(entered[name]) for name in ("p50_ns", "p99_ns"))
            said = f"{NEW_ORDER} {count(60 * per_s[NEW_ORDER])} per minute, p50 {p50}, p99 {p99}"
        errors = sum(int(entry.get("errors") or 0) for _, entry in self._entries())
        failed = f", {errors:,} failed" if errors else ""
        return f"{said}; {count(sum(per_s.values()))} transactions/s{failed}"

    def rows(self) -> list[tuple[str, ...]]:
        """A row per kind of transaction."""
        latencies = ("p50_ns", "p99_ns", "max_ns")
        return [
            (op, count(60 * entry["count"] / self._seconds()), *(duration(entry[name]) for name in latencies))
            for op, entry in self._entries()
        ]

    def share(self) -> float | None:
        """Time decides."""
        return None

    def _entries(self) -> list[tuple[str, Any]]:
        summary: Any = {} if self._interval is None else self._interval.get("summary", {})
        return [(op, summary[op]) for op in get_args(TransactionOp) if op in summary]

    def _seconds(self) -> float:
        assert self._interval is not None
        return max((self._interval["end_ns"] - self._interval["start_ns"]) / 1e9, 1e-9)
