"""A layout is taken away: back through its journal, the last step first.

Model: each thing is looked for by the identity in its facts; what is not there is done with, what is something else by now stays, and the
removal ends there, since what lies below it is in use. The journal goes when nothing is left. Called again it goes on where it ended.

    remove(Journal.of("lvm-xfs"), ThisHost(journal.key_path), lambda step: print(step))
"""

from __future__ import annotations

from collections.abc import Callable

from plimsoll.errors import TargetError
from plimsoll.layouts.journal import Journal
from plimsoll.layouts.kinds import UNMAKE
from plimsoll.layouts.kinds.kind import Host
from plimsoll.layouts.members import still_there
from plimsoll.layouts.step import Member


def check_members(journal: Journal) -> None:
    """Raise `TargetError` when a member is gone, or is another device by now."""
    for member in journal.plan["members"]:
        still_there(Member(**{**member, "identity": tuple(member["identity"])}))


def remove(journal: Journal, host: Host, on_step: Callable[[str], None]) -> None:
    """Raises `TargetError` with the step that stays."""
    for number in journal.left():
        step = journal.plan["steps"][number]
        if step["made"] != "cleared device":
            on_step(f"taking back: {step['what']}")
        try:
            UNMAKE[step["made"]](host, journal.facts(number))
        except TargetError as problem:
            raise TargetError(
                f"step {number + 1} ({step['what']}) cannot be taken back: {problem} What came before it stays, too."
            ) from None
        journal.note(number, "removed")
    journal.forget()
