"""What all points of a run share: engine, store, listener, host, and what may be done to targets.

Setup(engine, run, listener, host, total=12)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import field

from plimsoll.engine.protocol import Engine, Permission
from plimsoll.points.ahead import Hands
from plimsoll.points.layouts import Layouts
from plimsoll.points.listener import Listener, Progress
from plimsoll.points.point import PlannedPoint
from plimsoll.records import dataclass
from plimsoll.result import Result
from plimsoll.store.writer import RunWriter
from plimsoll.stored import HostFacts
from plimsoll.target import Target


@dataclass(frozen=True)
class Setup:
    """See the module. ``total`` is None when results decide how many there will be; ``before_load`` is called once, when the first point is
    ready to be measured."""

    engine: Engine
    run: RunWriter
    listener: Listener
    host: HostFacts
    permission: Permission | None = None
    keep: bool = False
    total: int | None = None
    stored: Sequence[Result] = ()
    before_load: Callable[[], None] = lambda: None
    layouts: Layouts = field(default_factory=Layouts)
    #: The points that are known in advance, in their order, and who measures modelled ones of them beside each other, so many at most.
    foreseen: Callable[[], Iterable[PlannedPoint]] = lambda: ()
    hands: Callable[[int], Hands] | None = None

    def permission_of(self, target: Target) -> Permission | None:
        """What may be done to a target: on a layout, what that gives leave to."""
        return self.layouts.at(target.layout).permission() if target.layout else self.permission

    @property
    def progress(self) -> Progress:
        """Who hears of the stages."""
        return self.listener.progress
