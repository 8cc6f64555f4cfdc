"""Who hears of a run while it goes on: the stages of its points, remarks on what was asked for, and that a signal stops it.

Model: a run says everything once, to one listener, and never writes to a terminal itself. Nobody has to listen.

    carry_out(undertaking, options, Listener(progress, remark=remarks.append))
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, Literal, Protocol

from plimsoll.records import dataclass
from plimsoll.result import Result
from plimsoll.stored import HostAt, Interval, Silence

if TYPE_CHECKING:
    from plimsoll.monitor.others import Others
    from plimsoll.points.preview import Preview

#: Takes a sentence on what was asked for.
Remark = Callable[[str], None]


class Progress(Protocol):
    """Receives the stages of a run."""

    def preparing(self, target: str, done_bytes: int, total_bytes: int) -> None:
        """A scratch file is being filled."""

    def laying(self, layout: str, what: str, step: int, steps: int) -> None:
        """Step ``step`` of ``steps`` of a layout begins."""

    def expected(self, left: int) -> None:
        """Results decide how many points there will be: at most ``left`` follow the next one."""

    def begin(self, place: int, total: int | None, skeleton: Result) -> None:
        """Point ``place`` of ``total`` starts; None when results decide how many there will be."""

    def interval(self, interval: Interval) -> None:
        """An interval has ended."""

    def hosts(self, hosts: Sequence[HostAt]) -> None:
        """How far each of several hosts is, now and then, and at once when one is lost."""

    def silent(self, silence: Silence) -> None:
        """The ``target`` has given no answer for so many ``ns``, while so many requests were ``waiting``."""

    def end(self, result: Result) -> None:
        """The point has ended."""

    def close(self) -> None:
        """Nothing more comes."""


@dataclass(frozen=True)
class Step:
    """What a callback hears of a run. ``str(step)`` is a line for people.

    ``stage``: ``preparing`` a target, ``begin`` and ``end`` of a point, an ``interval`` of it, or ``silent`` while no answer comes.
    ``point`` counts from 1; ``points`` is None when results decide how many there will be. ``seconds`` are of the point's own time, warm-up
    included (virtual on models), or how long the target has been silent. ``per_s`` is the rate of completed requests in the interval, or
    of the whole point at its end. ``done`` is the share of a target that is prepared, 0 to 1.
    """

    stage: Literal["preparing", "begin", "interval", "silent", "end"]
    target: str
    workload: str = ""
    point: int = 0
    points: int | None = None
    seconds: float = 0.0
    per_s: float | None = None
    done: float | None = None
    result: Result | None = None

    def __str__(self) -> str:
        if self.stage == "preparing":
            return f"preparing {self.target}: {100 * (self.done or 0):.0f} %"
        if self.stage == "silent":
            return f"no answer from {self.target} for {self.seconds:.0f} s"
        place = f"[{self.point}{'' if self.points is None else f'/{self.points}'}] {self.workload} on {self.target}"
        rate = "" if self.per_s is None else f" {self.per_s:,.0f} requests/s"
        if self.stage == "end":
            return f"{place}: {self.result.status if self.result else 'ended'}{rate}"
        return f"{place}{f': {self.seconds:.1f} s' if self.stage == 'interval' else ''}{rate}"


class CallbackProgress:
    """`Progress` that tells a callback of every step. What the callback raises ends the run and passes on."""

    def __init__(self, callback: Callable[[Step], object]) -> None:
        self._callback = callback
        self._at = Step("begin", "")

    def preparing(self, target: str, done_bytes: int, total_bytes: int) -> None:
        self._callback(Step("preparing", target, done=done_bytes / total_bytes if total_bytes else 1.0))

    def laying(self, layout: str, what: str, step: int, steps: int) -> None:
        self._callback(Step("preparing", f"layout {layout}: {what}", done=(step - 1) / steps))

    def expected(self, left: int) -> None:
        """How many points follow is a guess, which no step tells."""

    def begin(self, place: int, total: int | None, skeleton: Result) -> None:
        self._at = Step("begin", skeleton.job.target, skeleton.job.workload, place, total)
        self._callback(self._at)

    def interval(self, interval: Interval) -> None:
        lasted_s = (interval["end_ns"] - interval["start_ns"]) / 1e9
        done = sum(entry["count"] for entry in interval.get("summary", {}).values())
        rate = done / lasted_s if lasted_s > 0 else None
        self._callback(replace(self._at, stage="interval", seconds=interval["end_ns"] / 1e9, per_s=rate))

    def hosts(self, hosts: Sequence[HostAt]) -> None:
        """Steps are of all hosts together."""

    def silent(self, silence: Silence) -> None:
        self._callback(replace(self._at, stage="silent", target=silence["target"], seconds=silence["ns"] / 1e9))

    def end(self, result: Result) -> None:
        rate = sum(total.iops for total in result.totals.values())
        self._callback(replace(self._at, stage="end", result=result, per_s=rate if result.totals else None))

    def close(self) -> None:
        """The call returns."""


class Unwatched:
    """`Progress` that nobody looks at."""

    def preparing(self, target: str, done_bytes: int, total_bytes: int) -> None: ...

    def laying(self, layout: str, what: str, step: int, steps: int) -> None: ...

    def expected(self, left: int) -> None: ...

    def begin(self, place: int, total: int | None, skeleton: Result) -> None: ...

    def interval(self, interval: Interval) -> None: ...

    def hosts(self, hosts: Sequence[HostAt]) -> None: ...

    def silent(self, silence: Silence) -> None: ...

    def end(self, result: Result) -> None: ...

    def close(self) -> None: ...


@dataclass(frozen=True)
class Listener:
    """``remark`` takes sentences on what was asked for; ``stopping`` is called once, from a signal handler, so it may only write bytes.

    ``planned`` is called once all that is known in advance was found right, before anything is touched; ``begun`` with the run's directory
    once that is there, before anything is measured.
    ``others`` counts what others do on the host, of which is remarked before anything is measured; None where nobody wants to know.
    """

    progress: Progress = field(default_factory=Unwatched)
    remark: Remark = lambda _: None
    stopping: Callable[[], None] | None = None
    planned: Callable[[Preview], None] = lambda _: None
    begun: Callable[[str], None] = lambda _: None
    others: Others | None = None
