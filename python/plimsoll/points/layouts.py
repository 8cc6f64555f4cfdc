"""The layouts that targets of a run lie on: planned and judged before anything is touched, as everything else that is known in advance.

Model: a target ``layout:…`` becomes the path that the layout will give (a scratch file where it is mounted, or its volumes) and remembers
the layout that it needs. Until that is made, a look at the target tells what will be there. What is to be made must be allowed: the words
for writing devices hold for every member, whatever the workload does, and hold before the first layout is made for all of them
(`plimsoll.points.planned_layout`). A run that names no layout imports nothing that plans one.
Limits: sizes of what is yet to be made are not known.

    layouts = Layouts(("/dev/sdb", "/dev/sdc"))
    layouts.target("layout:raid1-lun", engine).text         # "/dev/md/plimsoll-raid1-lun"
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from plimsoll.engine.protocol import Engine
from plimsoll.experiments.layout_target import LayoutTarget, layout_target
from plimsoll.scratch import default_target
from plimsoll.target import Composer, Target

if TYPE_CHECKING:
    from plimsoll.points.planned_layout import PlannedLayout


class Layouts:
    """Makes targets of texts, and plans every layout that they name once."""

    def __init__(self, on: Sequence[str] = (), composer: Composer | None = None, *, looks: bool = True) -> None:
        """``on`` are the devices of layouts that name none. Without ``looks`` nothing is planned, and targets stay what was typed."""
        self._on = tuple(on)
        self._composer = composer or Composer()
        self._looks = looks
        self._planned: dict[str, PlannedLayout] = {}
        self._targets: dict[tuple[str, str | None], Target] = {}
        #: The kernel's names of members that this run, or the killed one that it resumes, has laid out before.
        self.own: set[str] = set()

    def target(self, text: str, driver: Engine, name: str | None) -> Target:
        """What ``text`` names for a driver, which workloads call ``name``; of a layout, what it will give. Each is made once."""
        known = (text, name)
        if known not in self._targets:
            self._targets[known] = self._target(text, driver, name)
        return self._targets[known]

    def _target(self, text: str, driver: Engine, name: str | None) -> Target:
        asked = layout_target(text)
        if asked is None:
            return self._composer.target(text, name)
        if not self._looks:
            return Target(asked.text, None, name)
        from plimsoll.points.planned_layout import place_on

        found = self.at(asked.text)
        return Target(place_on(found, default_target(driver), whole=name is None), None, name, found.text)

    def at(self, text: str) -> PlannedLayout:
        """The layout that a target remembers; raises `InputError` where it cannot be made of its devices."""
        if text not in self._planned:
            asked = layout_target(text)
            assert asked is not None
            # A run without layouts starts without what plans them.
            from plimsoll.points.planned_layout import plan_layout

            taken = {one.plan.named.name for one in self._planned.values()}
            self._planned[text] = plan_layout(asked, asked.on or self._on, taken)
        return self._planned[text]

    def all(self) -> Sequence[PlannedLayout]:
        """Those that were asked for so far."""
        return list(self._planned.values())


def beside(text: str, folder: str) -> str:
    """The target of a suite in ``folder``, whose files of layouts lie there."""
    asked = layout_target(text)
    if asked is None or not asked.layout.endswith(".toml"):
        return text
    return LayoutTarget(os.path.join(folder, asked.layout), asked.on, asked.at).text
