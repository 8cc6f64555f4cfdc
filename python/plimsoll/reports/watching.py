"""What ``plimsoll watch`` shows: a line per device and interval in iostat's columns, and the distribution at the end.

Device             r/s     rkB/s   r_await  rareq-sz       w/s …    aqu-sz     %util
vda            8123.00  32492.00      0.11      4.00      0.00 …      0.93     98.20
"""

from __future__ import annotations

from collections.abc import Mapping

from plimsoll.analysis.sizing.demand import COLUMNS, Distribution, Observed
from plimsoll.reports.terminal import table
from plimsoll.units import seconds, three_digits

#: The columns of a line; discards and flushes are kept but not shown.
SHOWN = tuple(name for name in COLUMNS if name not in ("d/s", "f/s"))
#: Lines between two heads, so that one is always on the screen.
HEAD_EVERY = 20
_FIRST = 12
_WIDTH = 9
_QUANTILES = ("mean", "p50", "p90", "p95", "p99", "max")
_UNITS = {"%read": "%", "%util": "%", "areq-sz": "kB", "rareq-sz": "kB", "wareq-sz": "kB", "r_await": "ms", "w_await": "ms"}


def head() -> str:
    """The names of the columns."""
    return "Device".ljust(_FIRST) + "".join(f" {name:>{_WIDTH}}" for name in SHOWN)


def line(device: str, columns: Mapping[str, float]) -> str:
    """One device in one interval."""
    return device.ljust(_FIRST) + "".join(f" {columns[name]:>{_WIDTH}.2f}" for name in SHOWN)


def distribution(observed: Observed) -> str:
    """Every metric of a device with its percentiles over the intervals."""
    model = observed.about.get("model")
    named = observed.name + (f" ({model})" if model and not str(model).startswith("absent:") else "")
    watched_s = sum(observed.seconds)
    title = f"{named}: {_intervals(len(observed.seconds))} in {seconds(watched_s) if watched_s >= 10 else f'{watched_s:.1f} s'}"
    summary = observed.summary()
    if "iops" not in summary:
        return title
    if not summary["iops"].max:
        return f"{title}, in which it did nothing"
    rows = [("", *_QUANTILES, "intervals"), *(_row(name, found) for name, found in summary.items() if found.max or name in SHOWN)]
    return f"{title}\n{table(rows, left=1)}"


def _row(name: str, found: Distribution) -> tuple[str, ...]:
    unit = f" {_UNITS[name]}" if name in _UNITS else ""
    return (
        f"{name}{unit if unit.strip() not in name else ''}",
        *(_figure(getattr(found, quantile)) for quantile in _QUANTILES),
        str(found.intervals),
    )


def _figure(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else three_digits(value)


def _intervals(number: int) -> str:
    return f"{number} {'interval' if number == 1 else 'intervals'}"
