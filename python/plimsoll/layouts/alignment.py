"""Whether the parts of a plan fit each other: stripes on what lies below, read-ahead on stripes, partitions on both.

Model: rules over the plan alone, each a sentence with what would be better; nothing is refused. Sources: mkfs.xfs(8) for stripes, the
eight-LUN script of report 002 for read-ahead.

    remarks(plan)       # ["The stripe unit of 64 KiB is no multiple of …"]
"""

from __future__ import annotations

from collections.abc import Iterator

from plimsoll.layouts.plan import Plan
from plimsoll.layouts.step import Stripe
from plimsoll.units import binary

_MIB = 1 << 20


def remarks(plan: Plan) -> list[str]:
    """What does not fit; none when all does."""
    return list(dict.fromkeys([*_partitions(plan), *_strips(plan), *_filesystems(plan), *_read_ahead(plan)]))


def _partitions(plan: Plan) -> Iterator[str]:
    unit = plan.layout.facts["strip"] or _MIB
    for offset in [int(layer.options["offset"]) for layer in plan.layout.layers if layer.kind == "partitions"]:
        if offset % unit:
            better = binary(_up(offset, unit))
            yield f"Partitions begin at {binary(offset)}, no multiple of {binary(unit)}: aligned requests touch two; begin at {better}."


def _strips(plan: Plan) -> Iterator[str]:
    strip = plan.layout.facts["strip"]
    # A file system can be told stripes where nothing below it has any: those of the storage.
    for unit in dict.fromkeys(volume.stripe.unit_bytes for volume in (*plan.devices, *plan.volumes) if volume.stripe is not None):
        if strip is not None and unit % strip:
            yield (
                f"A stripe unit of {binary(unit)} is no multiple of the {binary(strip)} that the storage writes to one disk, so that units"
                f" touch two disks; take {binary(_up(unit, strip))}."
            )


def _up(size: int, unit: int) -> int:
    return -(-size // unit) * unit


def _filesystems(plan: Plan) -> Iterator[str]:
    below = {volume.stripe for volume in plan.devices}
    for volume in plan.volumes:
        if plan.layout.filesystem is None or volume.stripe is None or volume.stripe in below:
            continue
        under = next((stripe for stripe in below if stripe is not None), None)
        if under is not None:
            yield f"The file system is told stripes of {_told(volume.stripe)}, and what lies below has {_told(under)}; leave them out."


def _read_ahead(plan: Plan) -> Iterator[str]:
    ahead = plan.layout.settings.options["read_ahead"] if plan.layout.settings else None
    for stripe in dict.fromkeys(volume.stripe for volume in (*plan.devices, *plan.volumes) if volume.stripe is not None):
        if ahead is not None and ahead < stripe.full_bytes:
            yield (
                f"Read-ahead of {binary(ahead)} is less than a full stripe of {binary(stripe.full_bytes)}: one reader never has all"
                f" {stripe.width} devices at work; take {binary(stripe.full_bytes)} or more."
            )


def _told(stripe: Stripe) -> str:
    return f"{stripe.width} × {binary(stripe.unit_bytes)}"
