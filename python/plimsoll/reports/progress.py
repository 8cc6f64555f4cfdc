"""Progress of a run: the plain form of a line now and then, and the quiet form.

Model: a run pushes its stages here; the plain form writes lines to a stream that is no terminal, `reports.live` draws on one that is. The
quiet form says only what failed. Intervals end along the clock of the target, and that of a modelled array runs far ahead of ours, so
the plain form counts real time: a line per point, and at most one per `LINE_EVERY_S` for the interval that ends then.
Limits: intervals between two lines are not shown; the store has all of them.

    [ 3/12] oltp-db  measure  4.0 s  read 12,345/s 101 MB/s p50 1.20 ms p99 4.50 ms
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TextIO

from plimsoll.displayed import displayed_in_line
from plimsoll.reports.driver_progress import Telling, telling_of
from plimsoll.reports.host_lines import host_rows, is_well
from plimsoll.result import OPS, Result
from plimsoll.stored import HostAt, Interval, Silence
from plimsoll.units import binary, count, duration, megabytes, seconds

#: Real seconds between two lines for intervals, at least.
LINE_EVERY_S = 10.0


class PlainLines:
    """A line per point and now and then one for an interval, for logs and pipes.

    ``now_s`` is the clock of this machine in seconds.
    """

    #: Real seconds between two lines about one silence.
    _silent_every_s = LINE_EVERY_S

    def __init__(self, stream: TextIO, now_s: Callable[[], float] = time.monotonic) -> None:
        self._stream = stream
        self._now_s = now_s
        self._due_s = float("-inf")
        self._place = ""
        self._tenth = -1
        self._silent_ns = 0
        self._silent_due_s = float("-inf")
        self._left: int | None = None
        self._telling: Telling | None = None
        self._hosts: Sequence[HostAt] = ()
        self._unwell: set[str] = set()

    def preparing(self, target: str, done_bytes: int, total_bytes: int) -> None:
        tenth = 10 * done_bytes // total_bytes if total_bytes else 10
        if tenth != self._tenth:
            self._tenth = tenth
            self._write(f"preparing {target}: {binary(done_bytes)} of {binary(total_bytes)}")

    def laying(self, layout: str, what: str, step: int, steps: int) -> None:
        self._write(f"layout {layout}: [{step}/{steps}] {what}")

    def expected(self, left: int) -> None:
        self._left = left

    def begin(self, place: int, total: int | None, skeleton: Result) -> None:
        self._place = f"[{counted(place, total, self._left)}] {skeleton.job.workload}"
        self._hosts, self._unwell = (), set()
        self._telling = telling_of(skeleton)
        settings = settings_text(skeleton)
        ahead = "" if total is not None or self._left is None or skeleton.modelled else f"  {_ahead(self._left, skeleton)}"
        self._write(f"{self._place}  on {skeleton.job.target}" + (f"  {settings}" if settings else "") + ahead)

    def interval(self, interval: Interval) -> None:
        if self._telling is not None:
            self._telling.hear(interval)
        if interval["phase"] == "drain":
            return  # a rate over the last microseconds says nothing
        now_s = self._now_s()
        if now_s < self._due_s:
            return
        self._due_s = now_s + LINE_EVERY_S
        told = operations(interval) if self._telling is None else [self._telling.line()]
        words = [self._place, interval["phase"], f"{interval['end_ns'] / 1e9:.1f} s", *told]
        self._write("  ".join(words))
        for row in host_rows(self._hosts):
            self._write(f"{' ' * len(self._place)}  {'  '.join(row)}")

    def hosts(self, hosts: Sequence[HostAt]) -> None:
        self._hosts = hosts
        for host in hosts:
            if not is_well(host) and host["name"] not in self._unwell:
                self._unwell.add(host["name"])
                self._write(f"{self._place}  {host['name']}: {host['why'] or host['state']}")

    def silent(self, silence: Silence) -> None:
        now_s = self._now_s()
        if silence["ns"] < self._silent_ns:
            self._silent_due_s = float("-inf")  # it answered in between
        self._silent_ns = silence["ns"]
        if now_s >= self._silent_due_s:
            self._silent_due_s = now_s + self._silent_every_s
            self._write("  ".join(filter(None, (self._place, silence_text(silence)))))

    def end(self, result: Result) -> None:
        if result.status != "complete":
            self._write(f"{self._place}  {result.status}: {result.error}")

    def close(self) -> None:
        """Every line is complete."""

    def _write(self, line: str) -> None:
        self._stream.write(displayed_in_line(line) + "\n")
        self._stream.flush()


class FailuresOnly(PlainLines):
    """A line per point that failed and per silence of a target, and nothing about the others."""

    _silent_every_s = float("inf")

    def preparing(self, target: str, done_bytes: int, total_bytes: int) -> None:
        """Nothing: it is no failure."""

    def laying(self, layout: str, what: str, step: int, steps: int) -> None:
        """Nothing: it is no failure."""

    def begin(self, place: int, total: int | None, skeleton: Result) -> None:
        self._place = f"[{counted(place, total, self._left)}] {skeleton.job.workload}"
        self._unwell = set()

    def interval(self, interval: Interval) -> None:
        """Nothing: it is no failure."""


def silence_text(silence: Silence) -> str:
    """``no answer from /dev/sdb for 12 s, 64 requests waiting``."""
    waiting = silence["waiting"]
    requests = "" if waiting is None else f", {waiting:,} request{'' if waiting == 1 else 's'} waiting"
    return f"no answer from {silence['target']} for {silence['ns'] / 1e9:.0f} s{requests}"


def counted(place: int, total: int | None, left: int | None = None) -> str:
    """``12/56``; ``12/≤19`` where at most ``left`` follow, or ``12`` while nobody knows how many there will be."""
    if total is not None:
        return f"{place:>{len(str(total))}}/{total}"
    return str(place) if left is None else f"{place}/≤{place + left}"


def _ahead(left: int, point: Result) -> str:
    """How long it takes at most from here, as the point that begins does."""
    return f"at most {seconds((left + 1) * (point.job.warmup_s + point.job.duration_s))} left"


def settings_text(result: Result) -> str:
    """What the experiment set for this point, or what the point is for: ``queue_depth 4, read_percent 70``.

    What the plan calls the point comes first: ``50 %: arrival poisson, rate 1234``.
    """
    settings = result.place.get("settings") or {}
    text = ", ".join(f"{name} {value:g}" if isinstance(value, float) else f"{name} {value}" for name, value in settings.items())
    role = result.place.get("role", "point")
    label = result.place.get("label")
    named = f"{label}: {text}" if label and text else label or text
    named += ", again" if result.place.get("again") else ""
    return named if role == "point" else f"{role} {named}".rstrip()


def operations(interval: Interval) -> list[str]:
    """Rate, bandwidth, latencies and errors of each operation in one interval."""
    elapsed_s = (interval["end_ns"] - interval["start_ns"]) / 1e9
    shown = []
    for op in OPS:
        entry = interval.get("summary", {}).get(op)
        if not entry or elapsed_s <= 0:
            continue
        text = (
            f"{op} {count(entry['count'] / elapsed_s)}/s {megabytes((entry.get('bytes') or 0) / elapsed_s)} MB/s "
            f"p50 {duration(entry['p50_ns'])} p99 {duration(entry['p99_ns'])}"
        )
        shown.append(f"{text} errors {entry['errors']:,}" if entry.get("errors") else text)
    return shown
