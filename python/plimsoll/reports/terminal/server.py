"""What ``plimsoll serve-array`` reports, as text for a terminal: requests, modelled service, lateness, data, and doubts.

Model: a report is one object of the server (`crates/serve/src/report.rs`), which ``--json`` prints as it came; only this
file knows its keys.

    print(serving_text(report))

    served    8,211 requests in 20.0 s (411 per s): 8,211 reads; at most 4 at once
    service   mean 9.73 ms, p50 9.52 ms, p99 21.9 ms (modelled)
    lateness  mean 21.0 µs, p50 14.0 µs, p99 92.0 µs, max 1.20 ms; p99 is 0.9 % of the mean service
    data      memory, 12 MiB of at most 1 GiB kept
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from plimsoll.units import binary, count, duration


@dataclass(frozen=True, slots=True)
class Served:
    """A report as far as it is told. Times are in nanoseconds; ``service`` and ``lateness`` map mean, p50, p99 and max."""

    answers: int
    elapsed_ns: float
    answers_per_s: float
    outstanding_max: int
    counts: Mapping[str, int]
    service: Mapping[str, float]
    lateness: Mapping[str, float]
    #: p99 of the lateness over the mean service.
    lateness_share: float
    #: Where the bytes are kept, and of those in memory how many there are of how many at most.
    data: str
    kept_bytes: int
    bound_bytes: int
    #: Whether the server comes before other programs.
    scheduled_first: bool
    flags: tuple[tuple[str, str], ...]

    @classmethod
    def from_json(cls, report: Mapping[str, Any]) -> Served:
        """The server's report."""
        kept = report["data"]
        return cls(
            **{name: report[name] for name in ("answers", "elapsed_ns", "answers_per_s", "outstanding_max", "lateness_share")},
            counts={kind: report["counts"][kind] for kind in ("reads", "writes", "trims", "flushes", "failed")},
            service=_digest(report["service"]),
            lateness=_digest(report["lateness"]),
            data=kept["kind"],
            kept_bytes=kept.get("kept_bytes", 0),
            bound_bytes=kept.get("bound_bytes", 0),
            scheduled_first=report["scheduled_first"],
            flags=tuple((flag["name"], flag["text"]) for flag in report["flags"]),
        )


def _digest(times: Mapping[str, float] | None) -> Mapping[str, float]:
    return {name.removesuffix("_ns"): value for name, value in (times or {}).items()}


def serving_text(report: Mapping[str, Any]) -> str:
    """A report in lines."""
    served = Served.from_json(report)
    lines = [f"served    {_requests(served)}"]
    if served.answers:
        lines.append(f"service   {_times(served.service, 'mean', 'p50', 'p99')} (modelled)")
        late = _times(served.lateness, "mean", "p50", "p99", "max")
        lines.append(f"lateness  {late}; p99 is {served.lateness_share * 100:.1f} % of the mean service")
    lines.append(f"data      {_data(served)}")
    if not served.scheduled_first and any(name == "late" for name, _ in served.flags):
        lines.append("advice    as root, or with a limit 'ulimit -r 1', the server comes before other programs and is less late")
    return "\n".join([*lines, *(f"flag      {name}: {text}" for name, text in served.flags)])


def _requests(served: Served) -> str:
    kinds = ", ".join(f"{number:,} {kind}" for kind, number in served.counts.items() if number)
    total = f"{served.answers:,} requests in {served.elapsed_ns / 1e9:.1f} s ({count(served.answers_per_s)} per s)"
    return f"{total}: {kinds}; at most {served.outstanding_max} at once" if kinds else total


def _times(times: Mapping[str, float], *names: str) -> str:
    return ", ".join(f"{name} {duration(times[name])}" for name in names)


def _data(served: Served) -> str:
    if served.data == "memory":
        return f"memory, {binary(served.kept_bytes)} of at most {binary(served.bound_bytes)} kept"
    return served.data
