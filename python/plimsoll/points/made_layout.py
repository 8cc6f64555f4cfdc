"""A layout made for a run: step by step, told as it goes, and taken back when it cannot be finished.

Model: the journal names the run, and is held by it as long as the layout stands, so that `plimsoll.points.layouts` can tell what a killed
run has left from what is in use. A signal ends it after the step that is under way.

    standing = MadeLayout(layout, made(layout, setup, brake), ExitStack())
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass

from plimsoll.displayed import quoted
from plimsoll.errors import Interrupted, PlimsollError, TargetError
from plimsoll.layouts.creation import make
from plimsoll.layouts.host import ThisHost
from plimsoll.layouts.journal import Journal
from plimsoll.layouts.step import Step
from plimsoll.points.brake import Brake
from plimsoll.points.planned_layout import PlannedLayout, check_allowed, take_away
from plimsoll.points.setup import Setup


@dataclass(frozen=True)
class MadeLayout:
    """A layout that is made; ``kept`` holds what is removed before it goes."""

    layout: PlannedLayout
    journal: Journal
    kept: ExitStack


def made(layout: PlannedLayout, setup: Setup, brake: Brake) -> Journal:
    """The journal, held. Raises `TargetError` for the step that failed, once what was made before is taken back, and `SafetyRefusal` for a
    member that must not be written to by now."""
    allowed = setup.permission
    # Anew, since hours may have passed: by now somebody may have mounted a member, or put another one there.
    check_allowed(layout, setup.engine, None if allowed is None else allowed.typed or "", own=setup.layouts.own)
    plan = layout.renewed()

    def on_step(number: int, step: Step) -> None:
        if brake.pulled:
            raise Interrupted(f"layout {quoted(plan.named.name)}")
        setup.progress.laying(plan.named.name, step.what, number + 1, len(plan.steps))

    journal = Journal.made(plan, for_run=setup.run.path)
    setup.layouts.own |= layout.members
    try:
        make(plan, journal, ThisHost(journal.key_path), on_step)
    except BaseException as problem:
        with journal:
            try:
                take_away(journal)
            except TargetError as left:
                raise TargetError(f"layout {quoted(plan.named.name)}: {problem} {left}") from None
        if isinstance(problem, PlimsollError) and not isinstance(problem, Interrupted):
            raise TargetError(f"layout {quoted(plan.named.name)}: {problem}") from None
        raise
    return journal
