"""The targets of a run: each is prepared when a point first needs it and kept until the end, however the points take turns.

Model: points of an interleaved experiment go A B A B, so scratch files of several targets stand beside each other; they are removed
together at the end, and other runs of Plimsoll are kept away until then. A layout that points lie on is made when the first of them comes,
and taken away for another one on the same devices, or at the end. A target that could not be prepared is not tried again: all its
points fail with the same reason. A point that wants another size than the target has got has it prepared anew. What a run made before it
was killed, and no point prepared since it was resumed, is removed with the others.

    with Targets(setup, brake, left.append) as targets:
        inspection = targets.prepared(engine, point)
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import ExitStack
from typing import TYPE_CHECKING

from plimsoll.engine.claims import holding
from plimsoll.engine.protocol import Engine
from plimsoll.errors import PlimsollError, StoreError
from plimsoll.points.brake import Brake
from plimsoll.points.drivers import copying_driver, files_driver, server_driver
from plimsoll.points.point import PlannedPoint
from plimsoll.points.setup import Setup
from plimsoll.scratch import Hearer, Wanted, prepared, remove_leftovers
from plimsoll.stored import Inspection
from plimsoll.target import Target

if TYPE_CHECKING:
    from plimsoll.points.made_layout import MadeLayout


class Targets:
    """Every target that a run has used so far."""

    def __init__(self, setup: Setup, brake: Brake, on_left: Callable[[str], None]) -> None:
        self._setup = setup
        self._on_left = on_left
        self._brake = brake
        self._kept = ExitStack()
        self._held = ExitStack()
        self._standing: dict[str, MadeLayout] = {}
        self._failed: dict[str, PlimsollError] = {}
        self._known: dict[Target, Inspection | PlimsollError] = {}
        self._sizes: dict[Target, int] = {}

    def prepared(self, driver: Engine, point: PlannedPoint) -> Inspection:
        """The inspection of the point's target, ready to be measured; the same error as the first time when it cannot be."""
        target, size_bytes = point.target, point.options.get("size")
        known = self._known.get(target)
        if isinstance(known, PlimsollError):
            raise known
        if known is None or known.get("changes_between_points") or size_bytes not in (None, self._sizes.get(target)):
            known = self._prepare(target, driver, size_bytes)
        return known

    def _prepare(self, target: Target, driver: Engine, size_bytes: int | None) -> Inspection:
        setup = self._setup
        control = self._brake.guard(driver.control())

        def on_progress(done_bytes: int, total_bytes: int) -> None:
            setup.progress.preparing(target.text, done_bytes, total_bytes)

        def on_quiet(seconds: float) -> None:
            setup.progress.silent({"target": target.text, "ns": round(seconds * 1e9), "waiting": None})

        wanted = Wanted(target, size_bytes, setup.permission_of(target), setup.keep, frozenset(setup.run.scratch), on_quiet)
        try:
            hearer = Hearer(on_progress, setup.run.keep_scratch, self._on_left)
            kept = self._standing[target.layout].kept if target.layout else self._kept
            inspection = kept.enter_context(prepared(driver, wanted, hearer, control))
        except StoreError:
            raise
        except PlimsollError as error:
            if not self._brake.pulled:
                self._known[target] = error
            raise
        self._known[target] = inspection
        if size_bytes is not None:
            self._sizes[target] = size_bytes
        return inspection

    def join(self, driver: Engine, target: Target, size_bytes: int | None) -> Inspection:
        """A target that another process of the same run has made ready, and will remove."""
        inspection = self._known[target] = driver.inspect_target(target)
        if size_bytes is not None:
            self._sizes[target] = size_bytes
        return inspection

    def lay(self, target: Target) -> None:
        """Make the layout that a target lies on, unless it stands; those on the same devices are taken away before.

        Raises what kept it from being made, the same for every point on it.
        """
        if not target.layout or target.layout in self._standing:
            return
        known = self._failed.get(target.layout)
        if known is not None:
            raise known
        # A run without layouts starts without what makes them.
        from plimsoll.points import made_layout

        layout = self._setup.layouts.at(target.layout)
        for other in [one for one in self._standing.values() if one.layout.members & layout.members]:
            self._take_away(other)
        try:
            self._standing[layout.text] = made_layout.MadeLayout(layout, made_layout.made(layout, self._setup, self._brake), ExitStack())
        except PlimsollError as problem:
            if not self._brake.pulled:
                self._failed[layout.text] = problem
            raise

    def _take_away(self, standing: MadeLayout) -> None:
        """What was made on it goes first, and what this process claims there; the layout last."""
        from plimsoll.points.planned_layout import take_away

        del self._standing[standing.layout.text]
        self._known = {target: known for target, known in self._known.items() if target.layout != standing.layout.text}
        self._sizes = {target: size for target, size in self._sizes.items() if target.layout != standing.layout.text}
        with standing.journal as journal:
            standing.kept.close()
            # Claims are of a whole run: those of other targets are taken anew with their next points.
            self._held.close()
            self._held.enter_context(holding())
            take_away(journal)

    def __enter__(self) -> Targets:
        # First in, last out: nobody else gets a target before it is removed or released.
        self._held.enter_context(holding())
        return self

    def __exit__(self, *_: object) -> None:
        try:
            with ExitStack() as last:
                last.callback(self._held.close)
                last.callback(self._kept.close)
                for standing in list(self._standing.values()):
                    last.callback(self._left, standing)
        finally:
            remove_leftovers(self._drivers, self._setup.run.scratch, self._on_left, keep=self._setup.keep)

    def _left(self, standing: MadeLayout) -> None:
        """Take a layout away at the end, when nobody else will: what stays is told."""
        try:
            self._take_away(standing)
        except PlimsollError as problem:
            self._on_left(str(problem))

    def _drivers(self, path: str) -> Engine:
        """Who removes what is at ``path``."""
        engine = self._setup.engine
        if "://" in path:
            return server_driver(path)
        return files_driver(engine) if os.path.isdir(path) else copying_driver(engine)
