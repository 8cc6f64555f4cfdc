"""Evidence for the rules: the result, the observation of its course, and figures derived from both."""

from __future__ import annotations

import math

from plimsoll.analysis.point.definition import streams
from plimsoll.analysis.point.metric import ALL
from plimsoll.analysis.point.observation import Observation
from plimsoll.records import dataclass
from plimsoll.result import Result
from plimsoll.stored import EngineFacts, Stream, TargetFacts
from plimsoll.units import significant

#: Backends that move no data: their numbers are Plimsoll's own cost.
COST_BACKENDS = ("null", "nop")


@dataclass(frozen=True)
class Evidence:
    """One measured point before it is judged."""

    result: Result
    observation: Observation

    @property
    def backend(self) -> str:
        """The backend that was used; empty when the job never started."""
        return str((self.result.engine.get("backend") or {}).get("used") or "")

    @property
    def moves_data(self) -> bool:
        """Whether a storage target was behind the numbers."""
        return self.backend not in COST_BACKENDS and not self.result.modelled

    @property
    def streams(self) -> list[Stream]:
        """The streams as defined."""
        return streams(self.result.job.definition)

    @property
    def count(self) -> int:
        """Requests completed in the measured phase."""
        return sum(total.count for total in self.result.totals.values())

    @property
    def service_mean_ns(self) -> float | None:
        """Mean time from submission to completion over all operations."""
        timed = [total for total in self.result.totals.values() if total.service_ns is not None and total.count]
        count = sum(total.count for total in timed)
        if not count:
            return None
        return sum(total.count * total.service_ns.mean for total in timed if total.service_ns) / count

    @property
    def latency_mean_ns(self) -> float | None:
        """Mean latency over all operations."""
        timed = [total for total in self.result.totals.values() if total.latency_ns is not None and total.count]
        count = sum(total.count for total in timed)
        return sum(total.count * total.latency_ns.mean for total in timed if total.latency_ns) / count if count else None

    def half_width(self, metric: str) -> float | None:
        """How far the 95 % interval of a metric of all operations reaches from its value, as a share of it."""
        found = self.result.estimates.get(ALL, {}).get(metric)
        if found is None or found.low is None or found.high is None or found.value <= 0:
            return None
        return max(found.high - found.value, found.value - found.low) / found.value

    @property
    def job_depth(self) -> int:
        """Requests that all streams together may have in flight, on all hosts."""
        return max(1, len(self.result.hosts)) * sum(
            int(stream.get("threads", 1)) * int(stream.get("queue_depth", 1)) for stream in self.streams
        )

    @property
    def iops(self) -> float:
        """Completions per second of all operations."""
        return sum(total.iops for total in self.result.totals.values())

    @property
    def engine_facts(self) -> EngineFacts:
        """What the engine says of itself."""
        return self.result.engine.get("engine") or {}

    @property
    def target_facts(self) -> TargetFacts:
        """What the host says of the target."""
        return self.result.host.get("target") or {}


def quantity(value: float) -> str:
    """A count or rate for a sentence, with thousands separated."""
    return f"{value:,.0f}" if abs(value) >= 100 else significant(value)


def at_least(seconds: float) -> str:
    """A time for advice, rounded up to two digits, as a duration is typed: 2440 is 2500."""
    step = 10.0 ** (math.floor(math.log10(seconds)) - 1)
    enough = math.ceil(seconds / step - 1e-9) * step
    return f"{enough:.0f}" if enough >= 10 else significant(enough, 2)
