"""What ``plimsoll serve-array`` shows of a session: requests, modelled service, lateness, data, and doubts.

served    8,211 requests in 20.0 s (411 per s): 8,211 reads; at most 4 at once
service   mean 9.73 ms, p50 9.52 ms, p99 21.9 ms (modelled)
lateness  mean 21.0 µs, p50 14.0 µs, p99 92.0 µs, max 1.20 ms; p99 is 0.9 % of the mean service
data      memory, 12 MiB of at most 1 GiB kept
"""

from __future__ import annotations

from typing import Any

from plimsoll.units import binary, count, duration

Json = dict[str, Any]

_KINDS = ("reads", "writes", "trims", "flushes", "failed")


def serving_text(report: Json) -> str:
    """A report in lines."""
    lines = [f"served    {_served(report)}"]
    if report["answers"]:
        service, late = report["service"], report["lateness"]
        lines.append(f"service   {_digest(service, ('p50', 'p99'))} (modelled)")
        share = report["lateness_share"] * 100
        lines.append(f"lateness  {_digest(late, ('p50', 'p99', 'max'))}; p99 is {share:.1f} % of the mean service")
    lines.append(f"data      {_data(report['data'])}")
    if not report["scheduled_first"] and any(flag["name"] == "late" for flag in report["flags"]):
        lines.append("advice    as root, or with a limit 'ulimit -r 1', the server comes before other programs and is less late")
    lines += [f"flag      {flag['name']}: {flag['text']}" for flag in report["flags"]]
    return "\n".join(lines)


def _served(report: Json) -> str:
    counts = report["counts"]
    kinds = ", ".join(f"{counts[kind]:,} {kind}" for kind in _KINDS if counts[kind])
    elapsed_s = report["elapsed_ns"] / 1e9
    total = f"{report['answers']:,} requests in {elapsed_s:.1f} s ({count(report['answers_per_s'])} per s)"
    return f"{total}: {kinds}; at most {report['outstanding_max']} at once" if kinds else total


def _digest(digest: Json, names: tuple[str, ...]) -> str:
    return ", ".join(f"{name} {duration(digest[f'{name}_ns'])}" for name in ("mean", *names))


def _data(kept: Json) -> str:
    if kept["kind"] == "memory":
        return f"memory, {binary(kept['kept_bytes'])} of at most {binary(kept['bound_bytes'])} kept"
    return str(kept["kind"])
