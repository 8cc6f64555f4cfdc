"""Checks of this host: settings and circumstances that make numbers wrong, and what to do about them.

Model: `examine` collects facts (half a second, to see other load), each check is a pure function from them to a verdict; `CHECKS` is the
whole list. A fact that this host does not offer gives ``unknown`` with the reason; no check needs root.

    for check in diagnose(examine(engine, "/data/file")):
        print(check.status, check.finding)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from plimsoll.doctor import machine, storage, target
from plimsoll.doctor.examination import Check, Examination, examine

__all__ = ["CHECKS", "Check", "Examination", "diagnose", "examine"]

CHECKS: tuple[Callable[[Examination], Iterator[Check]], ...] = (
    machine.io_uring,
    machine.locked_memory,
    machine.own_cost,
    machine.governor,
    machine.turbo,
    machine.clocksource,
    machine.virtual_machine,
    machine.busy,
    target.scheduler,
    target.write_cache,
    target.other_io,
    target.permission,
    target.direct_io,
    target.allocation,
    target.memory,
    target.free_space,
    target.mount_options,
    target.medium,
    storage.alignment,
    storage.stripes,
    storage.read_ahead,
    storage.barriers,
    storage.nearly_full,
    storage.raid,
    storage.paths,
    storage.thin_pools,
    target.leftovers,
)


def diagnose(examination: Examination) -> list[Check]:
    """The verdict of every check that applies."""
    return [check for rule in CHECKS for check in rule(examination)]
