"""Fits as text for a terminal: of an array to measured rows, of a workload to a trace.

``plimsoll fit array:NAME``: every row as measured and as modelled, and the errors of what was held out beside the null model.

region_length  block_size  measured  modelled  error  null model  error
8G             8K             4,276     4,422   +3.4       4,390   +2.7  held out

``plimsoll fit TRACE``: the trace, the fitted streams, and how well they match it.

measure                 trace  workload  difference
operations  read         70 %      70 %        +0.1
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from plimsoll.analysis.array_fit.figure import RATE, is_distribution
from plimsoll.analysis.array_fit.outcome import FoldOutcome, Outcome, Predicted, mean_error
from plimsoll.analysis.array_fit.row import Row, written
from plimsoll.analysis.array_fit.unknown import Unknown
from plimsoll.analysis.trace.fit import Fit, flow_of, remainder
from plimsoll.analysis.trace.match import Measure, noise
from plimsoll.analysis.trace.profile import Profile
from plimsoll.reports.terminal.table import table
from plimsoll.units import binary, count, duration, seconds, significant, three_digits

_HEAD = ("measured", "modelled", "error %", "null model", "error %", "")
#: Columns of other measurements, which say nothing about what was asked for.
_SHOWN = (
    "label",
    "target",
    "workload",
    "access",
    "region_length",
    "block_size",
    "read_percent",
    "level",
    "rate",
    "read_rate",
    "write_rate",
    "read_block_size",
    "write_block_size",
    "part",
)

#: A value nearer to an end of its range than this part of it stands there.
_END = 0.01
#: A model that misses by so many times what a power law misses by explains nothing.
_FAR_ABOVE = 2


def rows_table(rows: Sequence[Row], predicted: Sequence[Predicted]) -> str:
    """A line per row; columns that are the same in all are left out."""
    columns = [name for name in _SHOWN if len({row.values.get(name) for row in rows}) > 1]
    figures = len({row.figure for row in rows}) > 1 or rows[0].figure != RATE
    lines = [(*(columns or ["row"]), *(["figure"] if figures else []), *_HEAD)]
    for found in predicted:
        row = rows[found.number]
        named = [_cell(row, name) for name in columns] if columns else [row.place]
        figure = [] if not figures else ["responses" if is_distribution(row.figure) else row.figure]
        null = ("–", "–") if found.null is None else (_said(found.null, row), _error(found.null, row))
        mark = "held out" if found.held_out else ""
        said = (_said(found.modelled, row), _error(found.modelled, row))
        lines.append((*named, *figure, _measured(row), *said, *null, mark))
    return table(lines, left=(len(columns) or 1) + figures)


def folds_table(rows: Sequence[Row], folds: Sequence[FoldOutcome]) -> str:
    """A line per fold: the held-out error first, since it alone says how far to trust a prediction."""
    keys = list(folds[0].values)
    lines = [("held out", "rows", "held-out error %", "null model", "fitted rows' error %", "null model", *keys)]
    for fold in folds:
        errors = [mean_error(rows, fold.rows, held_out=held_out, null=null) for held_out in (True, False) for null in (False, True)]
        held_out = sum(row.held_out for row in fold.rows)
        lines.append(
            (
                fold.text,
                str(held_out),
                *map(_percent, errors),
                *(f"{fold.values[key]:g}" if isinstance(fold.values[key], float) else f"{fold.values[key]:,}" for key in keys),
            )
        )
    return table(lines, left=1)


def outcome_lines(rows: Sequence[Row], outcome: Outcome) -> Iterator[str]:
    """How to read it."""
    means = []
    for null, name in ((False, "held-out error"), (True, "null model's")):
        mean, total = _held_out_error(rows, outcome, null=null)
        means.append(mean)
        yield f"{name:15} {_percent(mean)} % on average over {total} held-out rows"
    if len(outcome.folds) > 1:
        yield f"{'all rows':15} the values below are fitted to all of them; their own error says nothing about others"
    if any(is_distribution(row.figure) for row in rows):
        yield "An error is the demerit: how far apart both distributions are, over the mean; the null model is that of the other parts."
    else:
        yield "An error is the mean of |modelled / measured - 1|; the null model is a power law fitted to the same rows."
    error, null_error = means
    if error is not None and null_error is not None and error > null_error * _FAR_ABOVE:
        missed = f"held out it misses by {_percent(error)} %, a power law by {_percent(null_error)} %"
        yield f"The model does not give these rows: {missed}; look for a cause that it lacks, or free other values."


def _held_out_error(rows: Sequence[Row], outcome: Outcome, *, null: bool) -> tuple[float | None, int]:
    """The mean over the held-out rows of all folds for which it is known, and their number."""
    weights = [(sum(row.held_out for row in fold.rows), fold) for fold in outcome.folds]
    errors = [(number, mean_error(rows, fold.rows, held_out=True, null=null)) for number, fold in weights]
    known = [(number, error) for number, error in errors if error is not None]
    total = sum(number for number, _ in known)
    return (sum(number * error for number, error in known) / total if total else None), total


def range_lines(unknowns: Sequence[Unknown], places: Sequence[float]) -> Iterator[str]:
    """Values at an end of their range: what fits best may be beyond it, or nowhere."""
    for unknown, place in zip(unknowns, places, strict=True):
        if not _END < place < 1 - _END:
            end = "high" if place > 0.5 else "low"
            yield f"{unknown.key} stands at the {end} end of its range: look beyond it, or for another cause."


def _cell(row: Row, name: str) -> str:
    return written(row.values[name]) if name in row.values else ""


def _measured(row: Row) -> str:
    return count(row.measured) if row.figure == RATE else duration(row.measured)


def _said(said: float, row: Row) -> str:
    """What was said of a row; of a distribution there is only how wrong it was."""
    if is_distribution(row.figure):
        return ""
    return count(said) if row.figure == RATE else duration(said)


def _error(said: float, row: Row) -> str:
    return f"{100 * said:.1f}" if is_distribution(row.figure) else f"{100 * (said / row.measured - 1):+.1f}"


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.1f}"


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
        mix = ", ".join(f"{significant(percent)} % {op}" for op, percent in stream.ops.items())
        spread = stream.spread.option if stream.random_percent > 0 else "no random requests"
        pace = "closed" if came.kind == "closed" else f"{came.kind} {count(came.rate_per_s)}/s"
        if came.kind == "schedule":
            pace += f" in {len(came.steps)} steps"
        yield f"stream    {stream.name}: {mix}; {significant(stream.random_percent)} % random, {spread}; {pace}"
        yield f"          sizes {_sizes(flow.sizes.shares(), remainder(flow.sizes))}; region {binary(stream.length)}"


def match_table(measures: Sequence[Measure]) -> str:
    """Every measure of both sides."""
    rows = [("measure", "", "trace", "workload", "difference")]
    group = ""
    for measure in measures:
        rows.append((measure.group if measure.group != group else "", _name(measure), *_sides(measure), _difference(measure)))
        group = measure.group
    return table(rows, left=_LEFT)


def match_lines(requests: int, drawn: int, engine: dict[str, Any] | None) -> Iterator[str]:
    """What the table means, and what the engine itself issued."""
    yield (
        f"The workload's side is {drawn:,} requests drawn from the process that its options describe"
        f"{'' if drawn == requests else f' (the trace has {requests:,})'}; distances below {noise(drawn):.3f} are noise. "
        "Hot spots are those of requests that follow no other."
    )
    if engine is not None:
        ops = ", ".join(f"{significant(100 * share)} % {op}" for op, share in engine["ops"].items())
        sizes = ", ".join(f"{op}s of {binary(mean)} on average" for op, mean in engine["mean_bytes"].items())
        issued = f"{engine['requests']:,} requests of it to a model in virtual time"
        yield f"The engine issued {issued}: {ops}; {sizes}; {count(engine['rate_per_s'])}/s."


def _time(ns: int) -> str:
    return seconds(ns / 1e9) if ns >= _MINUTE_NS else duration(ns)


def _sizes(shares: list[tuple[int, float]], rest: tuple[int, int, float] | None) -> str:
    shown = [f"{binary(size)} {significant(100 * share)} %" for size, share in shares[:_TOP_SIZES]]
    if rest is not None:
        shown.append(f"the remainder {significant(100 * rest[2])} % from {binary(rest[0])} to {binary(rest[1])}")
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
