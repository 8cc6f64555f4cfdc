"""A plan is carried out: each step is noted in the journal, then made, then noted as done.

Model: what a step finds before it begins and has to put back (directories that were not there) is noted with it. A step that fails leaves
the journal as it is; `plimsoll.layouts.removal` takes back what was made.

    make(plan, journal, ThisHost(journal.key_path), lambda number, step: print(step.what))
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

from plimsoll.errors import TargetError
from plimsoll.layouts.journal import Journal, directories_of_layouts
from plimsoll.layouts.kinds.kind import Host
from plimsoll.layouts.plan import Plan
from plimsoll.layouts.step import Step

OnStep = Callable[[int, Step], None]


def make(plan: Plan, journal: Journal, host: Host, on_step: OnStep) -> None:
    """Raises `TargetError` with the step that failed."""
    for number, step in enumerate(plan.steps):
        on_step(number, step)
        try:
            journal.note(number, "begun", _found(step, host))
            for action in step.commands:
                host.act(action)
        except TargetError as problem:
            raise TargetError(f"step {number + 1} of {len(plan.steps)} ({step.what}): {problem}") from None
        journal.note(number, "done")


def _found(step: Step, host: Host) -> Mapping[str, Any] | None:
    """What has to be put back besides, and is known only now."""
    if step.made == "setting of the host":
        before = {path: text for pattern in step.facts["files"] for path, text in host.texts(str(pattern)).items()}
        if not before:
            raise TargetError(f"this host has no setting {step.facts['name']}, as many guests; leave it out.")
        return {"before": before}
    if step.made != "mount":
        return None
    directories, path = [], str(step.facts["point"])
    # What another layout made goes with the last one that needs it.
    others = directories_of_layouts()
    while not host.exists(path) or path in others:
        directories.append(path)
        path = os.path.dirname(path)
    return {"directories": directories}
