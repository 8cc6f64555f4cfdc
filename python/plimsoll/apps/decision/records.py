"""What was carried out, one record for each query, refresh and phase, and the metrics that follow from them.

Model: records arise in several threads and are kept in the order of their ends; each is handed on with the interval in which it ended, so
that a run that is killed has them in its store as well. Figures are taken of whole tests only: a power test without one of its queries, or
streams that were cut off, have none.
What a query did to storage is parsed when its record is asked for, and not in the time between two queries of a stream.
Limits: memory grows with the number of queries asked, some 500 bytes each; those are few.

    kept = Kept(); kept.add(Done("q14", "power", 0, 0, 120_000_000, seen={}))
    figures(kept, plan)["power"]
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from plimsoll.decision import metrics
from plimsoll.stored import Json

Phase = Literal["power", "throughput"]
REFRESHES = ("rf1", "rf2")


class Later:
    """A value that is worked out when it is first asked for; what it is worked out of is forgotten then."""

    def __init__(self, work: Callable[[], Mapping[str, object]]) -> None:
        self._work: Callable[[], Mapping[str, object]] | None = work
        self._found: Mapping[str, object] = {}
        self._lock = threading.Lock()

    def __call__(self) -> Mapping[str, object]:
        with self._lock:
            if self._work is not None:
                self._found, self._work = self._work(), None
            return self._found


@dataclass(frozen=True)
class Done:
    """A query or refresh that came to its end; ``op`` is its operation, ``stream`` 0 for the power test and None for the refresh stream of
    a throughput test. Instants are nanoseconds from the start of the job."""

    op: str
    phase: Phase
    stream: int | None
    start_ns: int
    end_ns: int
    rows: int
    seen: Mapping[str, object] | Later = field(default_factory=dict)
    spill_bytes: int | None = None
    validated: bool | None = None

    @property
    def seconds(self) -> float:
        """From its submission to its last row."""
        return (self.end_ns - self.start_ns) / 1e9

    def to_json(self) -> Json:
        """As it is stored; a query has its number, a refresh its name."""
        what: Json = {"refresh": self.op} if self.op in REFRESHES else {"number": int(self.op[1:])}
        times: Json = {"start_ns": self.start_ns, "end_ns": self.end_ns, "seconds": self.seconds}
        seen = self.seen() if isinstance(self.seen, Later) else self.seen
        last: Json = {"spill_bytes": self.spill_bytes, "validated": self.validated}
        return {**what, "phase": self.phase, "stream": self.stream, **times, "rows": self.rows, **_SEEN, **seen, **last}


#: What is stored of every query, where nothing was seen.
_SEEN: Json = dict.fromkeys(("bytes_read", "bytes_written"))


@dataclass
class Span:
    """A phase: from the submission of its first query to the end of its last query or refresh."""

    name: str
    start_ns: int
    end_ns: int
    seen: Mapping[str, object] = field(default_factory=dict)
    spill_bytes: int | None = None

    def to_json(self) -> Json:
        """As it is stored."""
        times: Json = {"start_ns": self.start_ns, "end_ns": self.end_ns, "seconds": (self.end_ns - self.start_ns) / 1e9}
        return {"name": self.name, **times, **self.seen, "spill_bytes": self.spill_bytes}


class Kept:
    """All records of a job; any thread may add."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._fresh: list[Done] = []
        self.done: list[Done] = []
        self.spans: list[Span] = []

    def add(self, done: Done) -> None:
        """One more has ended."""
        with self._lock:
            self.done.append(done)
            self._fresh.append(done)

    def fresh(self) -> list[Json]:
        """Those that ended since this was asked for the last time."""
        with self._lock:
            found, self._fresh = self._fresh, []
        return [done.to_json() for done in found]

    def of(self, phase: Phase) -> list[Done]:
        """Those of one phase."""
        return [done for done in self.done if done.phase == phase]


@dataclass(frozen=True)
class Whole:
    """What a whole run has: its scale, queries and streams, and whether orders come and go."""

    scale: float
    queries: Sequence[int]
    streams: int
    refresh: bool
    spec_rounding: bool


def figures(kept: Kept, whole: Whole) -> Json:
    """``power``, ``throughput`` and ``composite`` at the scale; None for a test that was not carried out, or not to its end."""
    power, throughput = _power(kept, whole), _throughput(kept, whole)
    composite = None if power is None or throughput is None else metrics.composite(power, throughput)
    found = {"power": power, "throughput": throughput, "composite": composite}
    if not whole.spec_rounding:
        return found
    return {name: None if value is None else float(metrics.rounded(value, 1)) for name, value in found.items()}


def _power(kept: Kept, whole: Whole) -> float | None:
    seconds = {done.op: _counted(done.seconds, whole) for done in kept.of("power")}
    wanted = [f"q{number}" for number in whole.queries]
    refreshes = REFRESHES if whole.refresh else ()
    if not seconds.keys() >= {*wanted, *refreshes}:
        return None
    return metrics.power(whole.scale, [seconds[op] for op in wanted], [seconds[op] for op in refreshes])


def _throughput(kept: Kept, whole: Whole) -> float | None:
    done = kept.of("throughput")
    asked = sum(one.op not in REFRESHES for one in done)
    refreshed = sum(one.op in REFRESHES for one in done)
    if not done or asked < len(whole.queries) * whole.streams or (whole.refresh and refreshed < 2 * whole.streams):
        return None
    elapsed_s = (max(one.end_ns for one in done) - min(one.start_ns for one in done)) / 1e9
    return metrics.throughput(whole.scale, asked, _counted(elapsed_s, whole))


def _counted(seconds: float, whole: Whole) -> float:
    return metrics.spec_seconds(seconds) if whole.spec_rounding else seconds
