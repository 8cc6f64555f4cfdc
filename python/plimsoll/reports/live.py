"""Live view on a terminal: the running point, its operations per interval, progress and time left, at most four times a second.

Model: drawn with rich, which is imported when the first interval arrives, so that it never delays the first request.
Limits: it shows the latest interval, not an average; the table at the end has the totals.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, TextIO

from plimsoll.displayed import displayed_in_line
from plimsoll.reports.driver_progress import Telling, telling_of
from plimsoll.reports.host_lines import host_rows, is_well
from plimsoll.reports.progress import counted, settings_text, silence_text
from plimsoll.result import OPS, Result
from plimsoll.stored import HostAt, Interval, Silence
from plimsoll.units import binary, count, duration, megabytes, seconds

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.live import Live

REDRAW_S = 0.25
_BAR_CELLS = 30
_HEADINGS = ("", "IOPS", "MB/s", "p50", "p99", "max")


class LiveView:
    """`Progress` on a terminal."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._live: Live | None = None
        self._drawn = 0.0
        self._place = 0
        self._total: int | None = None
        self._left: int | None = None
        self._point: Result | None = None
        self._errors = 0
        self._silence: Silence | None = None
        self._interval: Interval | None = None
        self._telling: Telling | None = None
        self._hosts: Sequence[HostAt] = ()

    def preparing(self, target: str, done_bytes: int, total_bytes: int) -> None:
        share = done_bytes / total_bytes if total_bytes else 1.0
        if self._due() or share >= 1.0:
            self._draw(f"preparing {displayed_in_line(target)}  {_bar(share)}  {binary(done_bytes)} of {binary(total_bytes)}")

    def laying(self, layout: str, what: str, step: int, steps: int) -> None:
        self._draw(f"layout {displayed_in_line(layout)}  {_bar((step - 1) / steps)}  {displayed_in_line(what)}")

    def expected(self, left: int) -> None:
        self._left = left

    def begin(self, place: int, total: int | None, skeleton: Result) -> None:
        self._place, self._total, self._point, self._errors = place, total, skeleton, 0
        self._drawn = 0.0
        self._silence = self._interval = None
        self._hosts = ()
        self._telling = telling_of(skeleton)

    def interval(self, interval: Interval) -> None:
        if self._telling is not None:
            self._telling.hear(interval)
        self._errors += sum(entry.get("errors") or 0 for entry in interval.get("summary", {}).values())
        self._interval = interval
        if interval.get("summary"):
            self._silence = None
        if self._point is not None and self._due():
            self._draw(self._table(self._point, interval))

    def hosts(self, hosts: Sequence[HostAt]) -> None:
        lost = [host["name"] for host in hosts if not is_well(host)] != [host["name"] for host in self._hosts if not is_well(host)]
        self._hosts = hosts
        if lost and self._point is not None and self._interval is not None:
            self._draw(self._table(self._point, self._interval))

    def silent(self, silence: Silence) -> None:
        self._silence = silence
        if self._point is not None and self._interval is not None:
            self._draw(self._table(self._point, self._interval))
        else:
            self._draw(silence_text(silence))

    def end(self, result: Result) -> None:
        self._point = None

    def close(self) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None

    def _due(self) -> bool:
        return time.monotonic() - self._drawn >= REDRAW_S

    def _draw(self, view: RenderableType) -> None:
        if self._live is None:
            from rich.console import Console
            from rich.live import Live

            console = Console(file=self._stream, highlight=False)
            self._live = Live(console=console, auto_refresh=False, transient=True)
            self._live.start()
        self._live.update(view, refresh=True)
        self._drawn = time.monotonic()

    def _table(self, point: Result, interval: Interval) -> RenderableType:
        from rich.console import Group
        from rich.table import Table
        from rich.text import Text

        planned_s = point.job.warmup_s + point.job.duration_s
        passed_s = interval["end_ns"] / 1e9
        following = self._total - self._place if self._total is not None else self._left or 0
        left_s = max(0.0, planned_s - passed_s) + following * planned_s
        head = Text(f"[{counted(self._place, self._total, self._left)}] ", style="dim")
        head.append(displayed_in_line(point.job.title or point.job.workload), style="bold")
        head.append(displayed_in_line(f"  on {point.job.target}"))
        if settings_text(point):
            head.append(displayed_in_line(f"  {settings_text(point)}"))
        if point.modelled:
            head.append("  modelled", style="yellow")
        telling = self._telling
        table = Table(box=None, padding=(0, 2), header_style="dim")
        for name in _HEADINGS if telling is None else telling.headings:
            table.add_column(name, justify="left" if not name else "right", min_width=9)
        for cells in _operation_rows(interval) if telling is None else telling.rows():
            table.add_row(*cells)
        at_most = "" if self._total is not None or self._left is None else "at most "
        left = f"{at_most}{seconds(left_s)} left{'' if self._total is not None or at_most else ' of this point'}"
        share = None if telling is None else telling.share()
        if share is None:
            share = passed_s / planned_s if planned_s else 1.0
        else:
            left = telling.line() if telling is not None else left
        foot = Text(f"{_bar(share)}  {interval['phase']}  {left}")
        if self._errors:
            foot.append(f"  {self._errors:,} error{'s' if self._errors > 1 else ''}", style="bold red")
        if self._silence is not None:
            foot.append(f"\n{silence_text(self._silence)}", style="bold red")
        return Group(head, table, *([_hosts_table(self._hosts)] if self._hosts else []), foot)


def _hosts_table(hosts: Sequence[HostAt]) -> RenderableType:
    """A line for each host, below those of all."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, padding=(0, 2), show_header=False)
    unwell = {host["name"] for host in hosts if not is_well(host)}
    for name, *figures in host_rows(hosts):
        style = "bold red" if name in unwell else "dim"
        table.add_row(Text(name, style=style), Text("  ".join(f"{figure:>12}" for figure in figures), style=style))
    return table


def _operation_rows(interval: Interval) -> list[tuple[str, ...]]:
    elapsed_s = (interval["end_ns"] - interval["start_ns"]) / 1e9
    rows = []
    for op in OPS:
        entry = interval.get("summary", {}).get(op)
        if entry and elapsed_s > 0:
            latencies = (duration(entry[name]) for name in ("p50_ns", "p99_ns", "max_ns"))
            rows.append((op, count(entry["count"] / elapsed_s), megabytes((entry.get("bytes") or 0) / elapsed_s), *latencies))
    return rows


def _bar(share: float) -> str:
    filled = round(min(1.0, max(0.0, share)) * _BAR_CELLS)
    return "━" * filled + "─" * (_BAR_CELLS - filled)
