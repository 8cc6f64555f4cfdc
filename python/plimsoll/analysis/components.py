"""What the components of a modelled array did: equal ones put together, the busiest first.

Model: components of a set (the disks of a shelf) share the load, so their mean says how busy the set is and their maximum whether the load
is spread evenly. The set with the busiest component limits the throughput, if anything does: at less than nine tenths nothing is saturated.
Caches are never busy; of them the share of reads that they answered is told. Of flash drives that were written to, write amplification is:
what their cells were programmed with over what was written to them, collection and padding included.
Limits: nothing is known of real targets.

    sets = component_sets(result)
    [one.name for one in sets]            # ["disk", "pci-x", "p600.cpu"]
    bottleneck(sets)                      # the disks, or None
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from plimsoll.result import Result

Json = dict[str, Any]

#: Utilisation from which a component is called saturated.
SATURATED = 0.9


@dataclass(frozen=True)
class ComponentSet:
    """``count`` equal components. ``utilisation`` is their mean, ``busiest`` their maximum; ``queue`` how many requests were at all of them
    together in the mean; ``hit_share`` is of caches only, ``write_amplification`` of flash that was written to."""

    name: str
    kind: str
    count: int
    utilisation: float
    busiest: float
    operations_per_s: float
    bytes_per_s: float
    queue: float
    hit_share: float | None = None
    write_amplification: float | None = None


def component_sets(result: Result) -> list[ComponentSet]:
    """The sets that did anything, the busiest first and caches last; none of a real target."""
    members: dict[str, list[Json]] = {}
    for component in (result.engine.get("engine") or {}).get("components") or []:
        members.setdefault(component["set"], []).append(component)
    sets = [_set(name, equal) for name, equal in members.items()]
    return sorted((one for one in sets if one.operations_per_s > 0), key=lambda one: (one.kind == "cache", -one.busiest))


def bottleneck(sets: Sequence[ComponentSet]) -> ComponentSet | None:
    """The set that limits the throughput; None when nothing is saturated."""
    return next((one for one in sets if one.kind != "cache" and one.busiest >= SATURATED), None)


def _set(name: str, members: list[Json]) -> ComponentSet:
    written = sum(member.get("written_bytes", 0) for member in members)
    programmed = sum(member.get("programmed_bytes", 0) for member in members)
    seconds = max(member["elapsed_ns"] for member in members) / 1e9 or 1.0
    return ComponentSet(
        name=name,
        kind=members[0]["kind"],
        count=len(members),
        utilisation=sum(member["utilisation"] for member in members) / len(members),
        busiest=max(member["utilisation"] for member in members),
        operations_per_s=sum(member["operations"] for member in members) / seconds,
        bytes_per_s=sum(member["bytes"] for member in members) / seconds,
        queue=sum(member["mean_queue"] for member in members),
        hit_share=members[0].get("hit_share"),
        write_amplification=programmed / written if written else None,
    )
