"""What has to be there before a point is measured: a target of its sort, stamps that it verifies, a journal of its own, room for the trace.

Model: `verify = "found"` reads stamps of whichever run; a target that does not exist yet would be made without any, and every sector of it
called corrupt. A workload that also writes stamps has its own order, and is left to it. `verify = "journal-check"` looks at what a power
cut left: its target is taken as it stands, and neither made, filled nor removed.
What ``--map refuse`` needs is how far the trace reaches, what ``--map squeeze`` needs is what it touches; the target has what it will have
when it is prepared. Several devices stand one above the other at multiples of 1 MiB, or have a part of the target each.
Limits: where a region of the target was asked for, the engine tells whether a trace fits. Blocks larger than 1 MiB are not thought of.

    check_stamped(workload, lambda: driver.inspect_target(target))        # raises InputError
    check_reach(header, stream, inspection, size_bytes=None)
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable

from plimsoll.analysis.point.definition import streams
from plimsoll.displayed import quoted
from plimsoll.errors import InputError
from plimsoll.host.target import target_paths
from plimsoll.stored import Definition, Inspection, Json, Stream
from plimsoll.target import Target
from plimsoll.units import binary

PLACE_BYTES = 1 << 20


#: Targets that the load of an application is for, with what they are and the load.
_OF_APPLICATIONS = {
    "duckdb": ("a database", "decision-support"),
    "postgresql": ("a database", "decision-support or order-entry"),
    "spark": ("a database", "decision-support"),
    "sqlite": ("a database", "order-entry"),
    "mail": ("a mail server", "groupware-2003"),
    "imap": ("a mail server", "groupware-2003"),
    "imaps": ("a mail server", "groupware-2003"),
}
_SIZE = re.compile(r"\d+(\.\d+)?\s*([KMGT]i?B|[kMGT])")


def check_meant(workload: Definition, target: Target) -> None:
    """Raises `InputError` for requests to storage at what is none: a database, a mail server, a size."""
    if workload.get("driver") not in (None, "mailstore"):
        return
    if target.kind in _OF_APPLICATIONS and ":" in target.text:
        what, load = _OF_APPLICATIONS[target.kind]
        raise InputError(
            f"target {quoted(target.text)} is {what}, and {workload['name']} asks for blocks; "
            f"measure it with {load}, or name a file or device."
        )
    if _SIZE.fullmatch(target.text) and not os.path.exists(target.text):
        raise InputError(
            f"target {quoted(target.text)} reads as a size; write --size {target.text}, or ./{target.text} for a file of that name."
        )


def is_of_its_moment(workload: Definition) -> bool:
    """Whether points say what the medium holds, or tell a journal of writes to it: a finished one says nothing of a later moment."""
    return any(stream.get("verify") in ("found", "journal", "journal-check") for stream in streams(workload))


def check_journalled(workloads: Iterable[Definition]) -> None:
    """Raises `InputError` when several points would tell one journal, which is of one run of one workload."""
    telling = [workload for workload in workloads if any(stream.get("verify") == "journal" for stream in streams(workload))]
    if len(telling) > 1:
        raise InputError(
            "verify = 'journal' is for a single point, because a journal tells of one; "
            "give 'plimsoll run' one workload and one target, without --repeat."
        )


def check_stamped(workload: Definition, inspect: Callable[[], Inspection]) -> None:
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


def check_reach(header: Json, stream: Stream, inspection: Inspection, size_bytes: int | None) -> None:
    """Refuse a trace that reaches beyond the target, in the words of the command; ``size_bytes`` is what ``--size`` says."""
    mapping = stream["trace_map"]
    if mapping not in ("refuse", "squeeze") or stream.get("region_start") or stream.get("region_length"):
        return
    resized = size_bytes is not None and (not inspection["exists"] or inspection.get("made_by_plimsoll"))
    room_bytes = size_bytes if resized and size_bytes is not None else int(inspection["size_bytes"])
    parts = len(inspection["parts"])
    if parts > 1 and parts == len(header["devices"]):
        # Parts may differ in size, and only the engine knows which device meets which.
        return
    needed_bytes = header["places"] * header["place_bytes"] if mapping == "squeeze" else stacked_bytes(header)
    if needed_bytes > room_bytes:
        does = "touches places of" if mapping == "squeeze" else "reaches to"
        others = "wrap or scale" if mapping == "squeeze" else "wrap, scale or squeeze"
        raise InputError(
            f"--map {mapping}: the trace {does} {binary(needed_bytes)}, and {inspection['spec']} has {binary(room_bytes)} for it; "
            f"write --map {others}, or give a larger target or --size."
        )


def stacked_bytes(header: Json) -> int:
    """Where the last device of a trace ends when they stand one above the other."""
    end = 0
    for device in header["devices"]:
        end = -(-end // PLACE_BYTES) * PLACE_BYTES + int(device["end_bytes"])
    return end
