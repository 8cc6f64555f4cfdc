"""The course of one point on several hosts: ready, one instant, intervals that come together, an end for each, and what that makes.

Model: nobody begins before all could. The instant lies `LEAD_NS` ahead, on each host's own clock by the offset that was just estimated;
offsets are estimated again at the end. A host that ends badly or is lost ends nothing for the others: what they measured stays, the point
has failed, and says which host, when and why.
Limits: what a lost host had in flight is not known; the sums lack it from the last interval on that it told.

    Course(gang, {"db1": part, "db2": part}, on_event, control).run()["hosts"]
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, cast

from plimsoll.analysis.hosts.sections import summed_sections
from plimsoll.analysis.hosts.together import Together
from plimsoll.engine.protocol import Control, OnEvent
from plimsoll.gang.gang import Gang, Offset, refusal
from plimsoll.gang.progress import Progress
from plimsoll.gang.skew import skew_of
from plimsoll.result import HostResult
from plimsoll.stored import EngineOutcome, Json
from plimsoll.units import significant

#: From naming the instant to the instant: the message has to be there before.
LEAD_NS = 250_000_000


@dataclass(frozen=True)
class Part:
    """What one host is handed, and the directory that takes the copy of what it stores; empty where none is wanted."""

    request: Json
    into: str


@dataclass
class _OfHost:
    """What is known of one host by now."""

    result: Json | None = None
    error: str | None = None
    point: str | None = None
    gang: Json | None = None
    left_behind: list[str] = field(default_factory=list)

    @property
    def status(self) -> str:
        if self.result is None:
            return "lost"
        return str(self.result["status"])


class Course:
    """See the module."""

    def __init__(self, gang: Gang, parts: Mapping[str, Part], on_event: OnEvent, control: Control) -> None:
        self._gang = gang
        self._parts = parts
        self._on_event = on_event
        self._control = control
        self._hosts = {host: _OfHost() for host in parts}
        self._together = Together(list(parts))
        self._progress = Progress(list(parts), on_event)
        self._t0_ns: int | None = None
        self._before: dict[str, Offset] = {}
        self._after: dict[str, Offset] = {}

    def run(self) -> EngineOutcome:
        """To the end of all hosts; the outcome of all of them as one."""
        requests = {host: part.request for host, part in self._parts.items()}
        self._progress.tell()
        if self._gang.ready(requests, self._hear, lambda: self._control.stopped):
            self._start()
        else:
            self._gang.abort()
        left = {host for host, known in self._hosts.items() if known.result is None and known.error is None}
        for host, event in self._gang.progress(left, lambda: self._control.stopped):
            self._hear(host, event)
        if self._t0_ns is not None:
            self._after = self._gang.clock()
        for host, known in self._hosts.items():
            if known.point is not None and self._parts[host].into:
                self._gang.collect(host, known.point, self._parts[host].into)
        return self._outcome()

    def _start(self) -> None:
        self._before = self._gang.clock()
        self._t0_ns = time.monotonic_ns() + LEAD_NS
        wall_ns = time.time_ns() + LEAD_NS
        self._gang.start(self._t0_ns, self._before)
        self._on_event("start", {"monotonic_ns": self._t0_ns, "wall_ns": wall_ns})

    def _hear(self, host: str, event: Json) -> None:
        known = self._hosts[host]
        said = event["say"]
        if said == "interval":
            self._progress.interval(host, event["interval"])
            self._tell(self._together.add(host, event["interval"]))
        elif said == "ready":
            # It came too late for the instant: whoever stopped the others stops it.
            self._gang.abort()
        elif said == "silence":
            self._on_event("silence", event["silence"])
        elif said == "left_behind":
            known.left_behind.append(event["message"])
        elif said == "result":
            known.result, known.point, known.gang = event["result"], event["point"], event.get("gang")
            known.error = known.result["error"] if known.result["status"] == "failed" else None
            self._progress.put(host, "ended" if known.error is None else "failed", known.error)
            self._tell(self._together.leave(host))
        elif said == "refused":
            known.error = str(refusal(host, event)).removeprefix(f"{host}: ")
            self._progress.put(host, "failed", known.error)
            self._tell(self._together.leave(host))
        elif said == "lost":
            known.error = self._lost_at(host)
            self._progress.put(host, "lost", known.error)
            self._tell(self._together.leave(host))

    def _tell(self, intervals: list[Any]) -> None:
        for interval in intervals:
            self._on_event("interval", interval)

    def _lost_at(self, host: str) -> str:
        lost = self._gang.lost[host]
        if self._t0_ns is None:
            return f"lost before the start: {lost.why}"
        return f"lost {significant(max(0.0, (lost.at_ns - self._t0_ns) / 1e9))} s after the start: {lost.why}"

    @property
    def engines(self) -> list[Json]:
        """What the engines of the hosts said, as far as they came to an end."""
        return [known.result["engine"] for known in self._hosts.values() if known.result is not None]

    @property
    def whole(self) -> dict[str, bool]:
        """Of each host, whether it came to an end."""
        return {host: known.result is not None for host, known in self._hosts.items()}

    def _outcome(self) -> EngineOutcome:
        engines = self.engines
        failed = {host: known.error for host, known in self._hosts.items() if known.error is not None}
        outcome: Json = {"hosts": [asdict(self._of(host)) for host in self._hosts], "stopped_by": self._stopped_by(failed, engines)}
        if engines:
            outcome |= summed_outcome(engines)
        if self._t0_ns is not None:
            outcome["start"] = {"appointed_ns": self._t0_ns}
        if failed:
            outcome["first_error"] = {"message": _sentence(failed, len(self._hosts), began=self._t0_ns is not None)}
        return cast("EngineOutcome", outcome)

    def _stopped_by(self, failed: Mapping[str, str], engines: list[Json]) -> str:
        if failed:
            return "error"
        words = {str(engine.get("stopped_by")) for engine in engines}
        return next((word for word in ("error", "signal", "duration", "amount") if word in words), "duration")

    def _of(self, host: str) -> HostResult:
        known, before, after = self._hosts[host], self._before.get(host), self._after.get(host)
        result = known.result or {}
        skew = skew_of(None if known.result is None else (result.get("engine") or {}).get("start") or {})
        return HostResult(
            name=host,
            status=known.status,
            error=known.error,
            totals=result.get("totals") or {},
            offset_ns=before.offset_ns if before else None,
            offset_bound_ns=before.bound_ns if before else None,
            skew_ns=skew.ns,
            skew_unknown=skew.unknown,
            drift_ns=after.offset_ns - before.offset_ns if before and after else None,
            clock_set_ns=after.wall_ns - before.wall_ns if before and after else None,
            target=str(self._parts[host].request["target"]),
            touches=self._parts[host].request.get("touches"),
            point=known.point and f"hosts/{host}/points/{known.point.rpartition('/')[2]}",
            flags=result.get("flags") or [],
            gang=known.gang,
        )


def summed_outcome(engines: Sequence[Any]) -> EngineOutcome:
    """What the engines of all hosts say as one: sums, and the first's word where all say the same."""
    first = engines[0]
    own = [engine.get("engine") or {} for engine in engines]
    unissued = [one.get("unissued") for one in own]
    together: Json = {
        "backend": first.get("backend"),
        "engine": {
            "workers": sum(int(one.get("workers") or 0) for one in own),
            "clock": own[0].get("clock"),
            "facts": own[0].get("facts") or {},
            # Of a host that refused its part nobody knows.
            **({} if None in unissued else {"unissued": sum(unissued)}),
        },
        "cpu_ns": {name: sum(float((engine.get("cpu_ns") or {}).get(name) or 0) for engine in engines) for name in ("user", "system")},
        **({"offered_per_s": sum(offered)} if None not in (offered := [engine.get("offered_per_s") for engine in engines]) else {}),
        "end_ns": max(int(engine.get("end_ns") or 0) for engine in engines),
        **({"verify": _verified(found)} if (found := [engine["verify"] for engine in engines if engine.get("verify")]) else {}),
        **summed_sections(engines),
    }
    return cast("EngineOutcome", together)


def _verified(findings: list[Json]) -> Json:
    """What verification found on all hosts."""
    total: Json = {"examples": []}
    for found in findings:
        for name, value in found.items():
            if isinstance(value, dict):
                known = total.setdefault(name, dict.fromkeys(value, 0))
                total[name] = {key: known.get(key, 0) + number for key, number in value.items()}
            elif isinstance(value, list):
                total[name] = [*total.get(name, []), *value]
            elif isinstance(value, int | float) and not isinstance(value, bool):
                total[name] = total.get(name, 0) + value
    return total


def _sentence(failed: Mapping[str, str], count: int, *, began: bool) -> str:
    """Which hosts, when, why, and what is left."""
    named = "; ".join(f"{host}: {why.rstrip('.')}" for host, why in failed.items())
    if not began:
        return f"{named}. Nothing was measured, since all {count} hosts begin together."
    rest = count - len(failed)
    kept = "" if not rest else " What the other host measured is kept." if rest == 1 else f" What the other {rest} measured is kept."
    return f"{named}.{kept} The sums are partial."
