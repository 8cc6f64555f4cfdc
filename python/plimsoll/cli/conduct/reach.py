"""Whether a trace fits the target that it is replayed at, told before anything is made there.

Model: what ``--map refuse`` needs is how far the trace reaches, what ``--map squeeze`` needs is what it touches; the target has what it
will have when it is prepared. Several devices stand one above the other at multiples of 1 MiB, or have a part of the target each.
Limits: where a region of the target was asked for, the engine tells. Blocks larger than 1 MiB are not thought of.

    check_reach(header, stream, inspection, size_bytes=None)
"""

from __future__ import annotations

from typing import Any

from plimsoll.errors import InputError
from plimsoll.units import binary

Json = dict[str, Any]

PLACE_BYTES = 1 << 20


def check_reach(header: Json, stream: Json, inspection: Json, size_bytes: int | None) -> None:
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
