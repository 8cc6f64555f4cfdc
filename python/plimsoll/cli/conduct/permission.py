"""What ``--destroy-data`` allows, as the engine takes it, and what is refused without it before a run is made.

Model: the inspection of a target says why nothing may be written to it without permission. Without any, that refusal stands, so it is
raised while nothing is stored yet; with one, the engine judges when it opens the target, because it alone weighs what was typed.

    permission("WD-123")        # {"destroy": True, "typed": "WD-123"}
    check_permitted([(workload, "/dev/sdb")], engine, None)
"""

from __future__ import annotations

from collections.abc import Iterable

from plimsoll.analysis.definition import overwrites
from plimsoll.cli.conduct.driving import driver_name
from plimsoll.engine import Engine, Json
from plimsoll.errors import SafetyRefusal


def permission(typed: str | None) -> Json | None:
    """None when nothing was typed; an empty text is the bare option."""
    return None if typed is None else {"destroy": True, "typed": typed or None}


def check_permitted(pairs: Iterable[tuple[Json, str]], engine: Engine, typed: str | None) -> None:
    """Raise `SafetyRefusal` for the first workload that would write to a target, the other of its pair, that must not be written to.

    Drivers of their own write elsewhere than to their target, and look after that themselves.
    """
    if typed is not None:
        return
    targets = dict.fromkeys(target for workload, target in pairs if driver_name(workload) is None and overwrites(workload))
    for target in targets:
        reason = engine.inspect_target(target).get("write_refusal")
        if reason:
            raise SafetyRefusal(str(reason))
