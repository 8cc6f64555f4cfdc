"""What the published I/O test says of each side: MB/s per core, written and read, against what is asked.

Model: a stream's time is the real time from the common start until its file is through, its flush included. The figure of a core is the
bytes of a file over the mean of these times, times streams over cores, which the published test has equal. Beside it stands what all
streams moved until the last was through: where some streams were much faster than others, it is less. Repeats are pooled as everywhere
(`plimsoll.analysis.point.repeats`).
Source: the published test divides the size of a file by the mean of the streams' real times.
Limits: with more streams than processors a processor carries several, and they count as through when all of them are.

    found = io_tests(results)[0]
    found.write.per_core.value, found.read.per_core.value
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, Literal, cast

from plimsoll.analysis.analytics.guidance import PUBLISHED, judged, verdict
from plimsoll.analysis.point.repeats import pool_repeats
from plimsoll.records import dataclass
from plimsoll.result import Estimate, Result
from plimsoll.stored import Json
from plimsoll.units import megabytes

DRIVER = "io-test"
PhaseName = Literal["write", "read"]
PHASES: tuple[PhaseName, ...] = ("write", "read")


@dataclass(frozen=True)
class Phase:
    """One phase on one side; rates are bytes per second, ``stream_s`` the seconds of every stream of the first repeat."""

    per_core: Estimate
    together_bytes_per_s: float
    stream_s: tuple[float, ...]
    repeats: int

    def to_json(self) -> Json:
        """With the verdicts."""
        said = {name: verdict(self.per_core, asked) for name, asked in PUBLISHED.items()}
        return {**asdict(self), "verdicts": said}


@dataclass(frozen=True)
class IoTest:
    """Both phases of one side, as far as they were measured, and the files they were measured on."""

    side: str
    cores: int
    streams: int
    file_bytes: int
    total_bytes: int
    memory_bytes: int
    content: str
    write: Phase | None
    read: Phase | None

    def to_json(self) -> Json:
        """For programs."""
        phases = {name: None if phase is None else phase.to_json() for name, phase in (("write", self.write), ("read", self.read))}
        return {**asdict(self), **phases, "asked_bytes_per_s": dict(PUBLISHED)}

    def sentence(self) -> str:
        """``writing 143 MB/s per core reaches …; reading …``, without full stop."""
        said = []
        for word, phase in (("writing", self.write), ("reading", self.read)):
            if phase is not None:
                said.append(f"{word} {rate_text(phase.per_core)} MB/s per core, which {judged(phase.per_core)}")
        return "; ".join(said)


def rate_text(rate: Estimate) -> str:
    """A rate in MB/s with its interval."""
    bounds = "" if rate.low is None or rate.high is None else f" [{megabytes(rate.low)}, {megabytes(rate.high)}]"
    return f"{megabytes(rate.value)}{bounds}"


def tests_io(result: Result) -> bool:
    """Whether the point is a phase of the I/O test."""
    return result.job.definition.get("driver") == DRIVER


def section(result: Result) -> Mapping[str, Any] | None:
    """What the driver said at the end; None for other loads, and for a point that had no end."""
    found = result.engine.get("io_test")
    return found if isinstance(found, Mapping) else None


def io_tests(results: Sequence[Result]) -> list[IoTest]:
    """Of every side and setting, in the order measured; a point that did not come to its end counts for nothing."""
    groups: dict[tuple[str, ...], dict[PhaseName, list[Result]]] = {}
    for result in results:
        found = section(result)
        if found is not None and result.status == "complete" and stream_seconds(result):
            key = (
                result.side,
                *(str(found[name]) for name in ("streams", "file_bytes", "content")),
                str(result.place.get("settings") or ""),
            )
            groups.setdefault(key, {}).setdefault(cast("PhaseName", found["phase"]), []).append(result)
    return [_of(side[0], phases) for side, phases in groups.items()]


def _of(side: str, phases: Mapping[PhaseName, Sequence[Result]]) -> IoTest:
    first = next(iter(phases.values()))[0]
    found = section(first) or {}
    write, read = (_phase(phases[name]) if name in phases else None for name in PHASES)
    return IoTest(
        side=side,
        cores=int(found["cores"]),
        streams=int(found["streams"]),
        file_bytes=int(found["file_bytes"]),
        total_bytes=int(found["total_bytes"]),
        memory_bytes=int(found["memory_bytes"]),
        content=str(found["content"]),
        write=write,
        read=read,
    )


def _phase(repeats: Sequence[Result]) -> Phase:
    figures = [Estimate(per_core(result)) for result in repeats]
    moved = [float((section(result) or {})["total_bytes"]) / max(stream_seconds(result)) for result in repeats]
    return Phase(pool_repeats(figures), sum(moved) / len(moved), tuple(stream_seconds(repeats[0])), len(repeats))


def per_core(result: Result) -> float:
    """Bytes per second of a core."""
    found, seconds = section(result) or {}, stream_seconds(result)
    mean_s = sum(seconds) / len(seconds)
    return float(found["file_bytes"] / mean_s * found["streams"] / found["cores"])


def stream_seconds(result: Result) -> list[float]:
    """How long each stream took, in no order; empty where that is not known."""
    return [float(seconds) for seconds in (section(result) or {}).get("stream_s") or () if seconds > 0]
