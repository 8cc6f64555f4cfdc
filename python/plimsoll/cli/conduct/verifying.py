"""What has to be there before a point verifies what an earlier one has stamped.

Model: `verify = "found"` reads stamps of whichever run; a target that does not exist yet would be made without any, and every sector of it
called corrupt. A workload that also writes stamps has its own order, and is left to it.

    check_stamped(workload, lambda: driver.inspect_target(target))        # raises InputError

`verify = "journal-check"` looks at what a power cut left: its target is taken as it stands, and neither made, filled nor removed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable

from plimsoll.analysis.definition import streams
from plimsoll.engine import Json
from plimsoll.errors import InputError
from plimsoll.host.target import target_paths


def is_of_its_moment(workload: Json) -> bool:
    """Whether points say what the medium holds, or tell a journal of writes to it: a finished one says nothing of a later moment."""
    return any(stream.get("verify") in ("found", "journal", "journal-check") for stream in streams(workload))


def check_journalled(workloads: Iterable[Json]) -> None:
    """Raises `InputError` when several points would tell one journal, which is of one run of one workload."""
    telling = [workload for workload in workloads if any(stream.get("verify") == "journal" for stream in streams(workload))]
    if len(telling) > 1:
        raise InputError(
            "verify = 'journal' is for a single point, because a journal tells of one; "
            "give 'plimsoll run' one workload and one target, without --repeat."
        )


def check_stamped(workload: Json, inspect: Callable[[], Json]) -> None:
    """Raises `InputError` when the workload verifies what nobody can have stamped."""
    asked = streams(workload)
    if not any(stream.get("verify") in ("found", "journal-check") for stream in asked):
        return
    if any(stream.get("verify") in ("all", "reads") or stream.get("content") == "stamps" for stream in asked):
        return
    missing = next((path for path in target_paths(inspect()) if not os.path.exists(path)), None)
    if missing is not None:
        raise InputError(
            f"{missing}: it is not there, so nothing stamped can be verified in it; run the workload that writes it with --keep first."
        )
