"""What on this host would make numbers wrong, and what to do about it.

Model: `examine` collects facts (half a second, to see other load), each check is a pure function from them to a verdict; `CHECKS` is the
whole list. A fact that this host does not offer gives ``unknown`` with the reason; no check needs root.

    for check in diagnosed(examine(engine, "/data/file")):
        print(check.status, check.finding)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from plimsoll.doctor import device, generator, processor, target
from plimsoll.doctor.examination import Check, Examination, examine

__all__ = ["CHECKS", "Check", "Examination", "diagnosed", "examine"]

CHECKS: tuple[Callable[[Examination], Iterator[Check]], ...] = (
    generator.io_uring,
    generator.locked_memory,
    generator.own_cost,
    processor.governor,
    processor.turbo,
    processor.clocksource,
    processor.virtual_machine,
    processor.busy,
    device.scheduler,
    device.write_cache,
    device.other_io,
    target.permission,
    target.direct_io,
    target.allocation,
    target.memory,
    target.free_space,
    target.mount_options,
    target.medium,
    target.leftovers,
)


def diagnosed(examination: Examination) -> list[Check]:
    """The verdict of every check that applies."""
    return [check for rule in CHECKS for check in rule(examination)]
