"""Who hears of a run while it goes on: the stages of its points, remarks on what was asked for, and that a signal stops it.

Model: a run says everything once, to one listener, and never writes to a terminal itself. Nobody has to listen.

    carry_out(undertaking, options, Listener(progress, remark=remarks.append))
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from plimsoll.result import Result

if TYPE_CHECKING:
    from plimsoll.points.preview import Preview

Json = dict[str, Any]
#: Takes a sentence on what was asked for.
Remark = Callable[[str], None]


class Progress(Protocol):
    """Receives the stages of a run."""

    def preparing(self, target: str, done_bytes: int, total_bytes: int) -> None:
        """A scratch file is being filled."""

    def expected(self, left: int) -> None:
        """Results decide how many points there will be: at most ``left`` follow the next one."""

    def begin(self, place: int, total: int | None, skeleton: Result) -> None:
        """Point ``place`` of ``total`` starts; None when results decide how many there will be."""

    def interval(self, interval: Json) -> None:
        """An interval has ended."""

    def silent(self, silence: Json) -> None:
        """The ``target`` has given no answer for so many ``ns``, while so many requests were ``waiting``."""

    def end(self, result: Result) -> None:
        """The point has ended."""

    def close(self) -> None:
        """Nothing more comes."""


class Unwatched:
    """`Progress` that nobody looks at."""

    def preparing(self, target: str, done_bytes: int, total_bytes: int) -> None: ...

    def expected(self, left: int) -> None: ...

    def begin(self, place: int, total: int | None, skeleton: Result) -> None: ...

    def interval(self, interval: Json) -> None: ...

    def silent(self, silence: Json) -> None: ...

    def end(self, result: Result) -> None: ...

    def close(self) -> None: ...


@dataclass(frozen=True)
class Listener:
    """``remark`` takes sentences on what was asked for; ``stopping`` is called once, from a signal handler, so it may only write bytes.

    ``planned`` is called once all that is known in advance was found right, before anything is touched.
    """

    progress: Progress = field(default_factory=Unwatched)
    remark: Remark = lambda _: None
    stopping: Callable[[], None] = lambda: None
    planned: Callable[[Preview], None] = lambda _: None
