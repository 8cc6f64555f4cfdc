"""What ``plimsoll fit`` shows: the trace, the fitted streams, and how well they match it.

measure                 trace  workload  difference
operations  read         70 %      70 %        +0.1
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from plimsoll.analysis.trace.fit import Fit, flow_of, remainder
from plimsoll.analysis.trace.match import Measure, noise
from plimsoll.analysis.trace.profile import Profile
from plimsoll.reports.terminal import table
from plimsoll.units import binary, count, duration, seconds, three_digits

Json = dict[str, Any]

_MOST_TARGETS = 5
_LEFT = 2
_TOP_SIZES = 4
_MINUTE_NS = 60_000_000_000


def trace_lines(profile: Profile, title: str, left_out: dict[str, int]) -> Iterator[str]:
    """What was read."""
    spacing = profile.total.spacing
    lasting = f" in {_time(spacing.span_ns)}" if profile.timed and spacing.span_ns else ""
    yield f"trace     {profile.count:,} requests{lasting}, {title}"
    if len(profile.targets) > 1:
        named = [f"{name} ({number:,})" for name, number in profile.targets.most_common(_MOST_TARGETS)]
        more = len(profile.targets) - len(named)
        others = f" and {more:,} more" if more else ""
        yield f"targets   {', '.join(named)}{others}, taken together; --device chooses one"
    if profile.outstanding is not None and profile.mean_service_ns is not None:
        yield f"answered  in {duration(profile.mean_service_ns)} on average, with {three_digits(profile.outstanding)} outstanding"
    yield from (f"left out  {number:,} {reason}" for reason, number in sorted(left_out.items()))


def stream_lines(fit: Fit) -> Iterator[str]:
    """What each stream is."""
    for stream in fit.streams:
        flow = flow_of(fit.profile, stream)
        came = stream.arrival
        mix = ", ".join(f"{percent:.3g} % {op}" for op, percent in stream.ops.items())
        spread = stream.spread.option if stream.random_percent > 0 else "no random requests"
        pace = "closed" if came.kind == "closed" else f"{came.kind} {count(came.rate_per_s)}/s"
        if came.kind == "schedule":
            pace += f" in {len(came.steps)} steps"
        yield f"stream    {stream.name}: {mix}; {stream.random_percent:.3g} % random, {spread}; {pace}"
        yield f"          sizes {_sizes(flow.sizes.shares(), remainder(flow.sizes))}; region {binary(stream.length)}"


def match_table(measures: Sequence[Measure]) -> str:
    """Every measure of both sides."""
    rows = [("measure", "", "trace", "workload", "difference")]
    group = ""
    for measure in measures:
        rows.append((measure.group if measure.group != group else "", _name(measure), *_sides(measure), _difference(measure)))
        group = measure.group
    return table(rows, left=_LEFT)


def match_lines(requests: int, drawn: int, engine: Json | None) -> Iterator[str]:
    """What the table means, and what the engine itself issued."""
    yield (
        f"The workload's side is {drawn:,} requests drawn from the process that its options describe"
        f"{'' if drawn == requests else f' (the trace has {requests:,})'}; distances below {noise(drawn):.3f} are noise. "
        "Hot spots are those of requests that follow no other."
    )
    if engine is not None:
        ops = ", ".join(f"{100 * share:.3g} % {op}" for op, share in engine["ops"].items())
        sizes = ", ".join(f"{op}s of {binary(mean)} on average" for op, mean in engine["mean_bytes"].items())
        issued = f"{engine['requests']:,} requests of it to a model in virtual time"
        yield f"The engine issued {issued}: {ops}; {sizes}; {count(engine['rate_per_s'])}/s."


def _time(ns: int) -> str:
    return seconds(ns / 1e9) if ns >= _MINUTE_NS else duration(ns)


def _sizes(shares: list[tuple[int, float]], rest: tuple[int, int, float] | None) -> str:
    shown = [f"{binary(size)} {100 * share:.3g} %" for size, share in shares[:_TOP_SIZES]]
    if rest is not None:
        shown.append(f"the remainder {100 * rest[2]:.3g} % from {binary(rest[0])} to {binary(rest[1])}")
    return ", ".join(shown)


def _name(measure: Measure) -> str:
    op, _, size = measure.name.partition(" ")
    return f"{op} {binary(int(size))}" if measure.group == "sizes" and size.isdigit() else measure.name


def _sides(measure: Measure) -> tuple[str, str]:
    if measure.original is None or measure.synthetic is None:
        return "", ""
    return _figure(measure.original, measure.unit), _figure(measure.synthetic, measure.unit)


def _figure(value: float, unit: str) -> str:
    if unit == "share":
        return f"{100 * value:.2f} %"
    if unit == "ns":
        return duration(value)
    if unit == "bytes":
        return binary(value)
    return f"{value:.2f}" if unit == "ratio" else count(value)


def _difference(measure: Measure) -> str:
    if measure.unit == "distance":
        return f"{measure.difference:.3f}"
    if measure.unit in ("share", "ratio"):
        return f"{100 * measure.difference:+.2f}" if measure.unit == "share" else f"{measure.difference:+.2f}"
    if not measure.original:
        return ""
    return f"{100 * measure.difference / measure.original:+.1f} %"
