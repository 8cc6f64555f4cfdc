"""Components and incidents of a modelled array, as the engine reports them.

Components: equal ones put together, the busiest first.

Model: components of a set (the disks of a shelf) share the load, so their mean says how busy the set is and their maximum whether the load
is spread evenly. The set with the busiest component limits the throughput, if anything does: at less than nine tenths nothing is saturated.
Caches are never busy; of them the share of reads that they answered is told. Of flash drives that were written to, write amplification is:
what their cells were programmed with over what was written to them, collection and padding included.
Limits: nothing is known of real targets.

    sets = component_sets(result)
    [one.name for one in sets]            # ["disk", "pci-x", "p600.cpu"]
    bottleneck(sets)                      # the disks, or None

Incidents: what failed during a run, and what became of it.

Model: the engine's facts tell it in one line (``incidents``), with times from the beginning of the warm-up: a member fails, is replaced by
a spare or a new drive, and is rebuilt or cannot be, or a new drive comes when a spare has its place, and is the next spare or gets back
what that one holds; how long each rebuild took that ended (``rebuild_s``), and how far the others had come (``rebuilding``), and the same
of copying back (``copy_back_s``, ``copying_back``). ``engine`` is `Result.engine` everywhere; what is no modelled array has none of it.
Limits: members are known by number only, groups by name; runs of old have the number of a group for its name. Of several groups that miss
members it is not told which of them lost data.

    incident_line(result.engine)     # "1.000 s: member 0 of group vd0 failed; 1.000 s: member 0 of group vd0 replaced by a spare"
    incidents(result.engine)         # [Incident(1.0, "vd0", 0, "failed")]
    rebuilds_s(result.engine)        # [412.731]
    rebuilding(result.engine)        # "23.4 % of member 0 of group vd0"
    copies_s(result.engine), copying(result.engine)     # the same of copying back
    lost(result.engine)              # "the modelled group vd0 lost data: its member 0 failed at 1 s"
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from plimsoll.records import dataclass
from plimsoll.result import Result
from plimsoll.stored import Component, EngineOutcome

#: Utilisation from which a component is called saturated.
SATURATED = 0.9


@dataclass(frozen=True)
class ComponentSet:
    """``count`` equal components. ``utilisation`` is their mean, ``busiest`` their maximum; ``queue`` how many requests were at all of them
    together in the mean; ``hit_share`` is of caches only, ``wasted_share`` of those into which was read ahead: the part
    that gave way before anybody asked for it; ``write_amplification`` is of flash that was written to."""

    name: str
    kind: str
    count: int
    utilisation: float
    busiest: float
    operations_per_s: float
    bytes_per_s: float
    queue: float
    hit_share: float | None = None
    wasted_share: float | None = None
    write_amplification: float | None = None


def component_sets(result: Result) -> list[ComponentSet]:
    """The sets that did anything, the busiest first and caches last; none of a real target."""
    members: dict[str, list[Component]] = {}
    for component in (result.engine.get("engine") or {}).get("components") or []:
        members.setdefault(component["set"], []).append(component)
    sets = [_set(name, equal) for name, equal in members.items()]
    return sorted((one for one in sets if one.operations_per_s > 0), key=lambda one: (one.kind == "cache", -one.busiest))


def bottleneck(sets: Sequence[ComponentSet]) -> ComponentSet | None:
    """The set that limits the throughput; None when nothing is saturated."""
    return next((one for one in sets if one.kind != "cache" and one.busiest >= SATURATED), None)


def _set(name: str, members: list[Component]) -> ComponentSet:
    written = sum(member.get("written_bytes", 0) for member in members)
    programmed = sum(member.get("programmed_bytes", 0) for member in members)
    ahead = sum(member.get("read_ahead_bytes", 0) for member in members)
    wasted = sum(member.get("read_ahead_wasted_bytes", 0) for member in members)
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
        wasted_share=wasted / ahead if ahead else None,
        write_amplification=programmed / written if written else None,
    )


FAILED, REPLACED, REBUILT, IN_VAIN = "failed", "replaced by a spare", "rebuilt", "cannot be rebuilt"
RENEWED, SPARE_RENEWED, FITTED = "replaced by a new drive", "given a new spare", "given a new drive"
SPARED = "replaced by a distributed spare"
COPYING, COPIED_BACK = "copying back to a new drive", "copied back"
_WHAT = (FAILED, REPLACED, SPARED, RENEWED, SPARE_RENEWED, FITTED, REBUILT, IN_VAIN, COPYING, COPIED_BACK)
#: Names of groups are whatever the array's file has, so what happened is known by its words.
_TOLD = re.compile(
    r"(?:^|; )(?P<time>\d+\.\d+) s: member (?P<member>\d+) of group (?P<group>.+?) "
    rf"(?P<what>{'|'.join(_WHAT)})(?=; \d|$)"
)

_REACHED = re.compile(r"(?:^|; )(\d+(?:\.\d+)?) % of member ")


@dataclass(frozen=True)
class Incident:
    """Something that happened to a member of a group, seconds after the warm-up began."""

    time_s: float
    group: str
    member: int
    what: str


@dataclass(frozen=True)
class Rebuild:
    """What a spare or a new drive was given in place of a member until ``end_s``, successful or in vain; None when the run ended before.
    ``copied`` is what a new drive got back of a spare."""

    group: str
    member: int
    begin_s: float
    end_s: float | None
    copied: bool = False


def incident_line(engine: EngineOutcome) -> str:
    """Every incident in the engine's words, joined by semicolons; empty when nothing happened."""
    return str(_facts(engine).get("incidents") or "")


def rebuilds_s(engine: EngineOutcome) -> list[float]:
    """How long each rebuild took that ended during the point, in seconds."""
    return _seconds(engine, "rebuild_s")


def copies_s(engine: EngineOutcome) -> list[float]:
    """How long copying back took wherever it ended during the point, in seconds."""
    return _seconds(engine, "copy_back_s")


def rebuilding(engine: EngineOutcome) -> str:
    """How far each rebuild had come that did not end during the point, joined by semicolons; empty when all ended."""
    return str(_facts(engine).get("rebuilding") or "")


def rebuilt_share(engine: EngineOutcome) -> float | None:
    """How far the rebuild had come that had come least, from 0 to 1; None where none was going on."""
    shares = [float(found[1]) / 100 for found in _REACHED.finditer(rebuilding(engine))]
    return min(shares, default=None)


def copying(engine: EngineOutcome) -> str:
    """How far copying back had come wherever it did not end during the point, joined by semicolons; empty when all ended."""
    return str(_facts(engine).get("copying_back") or "")


def incidents(engine: EngineOutcome) -> list[Incident]:
    """In their order."""
    found = _TOLD.finditer(incident_line(engine))
    return [Incident(float(one["time"]), one["group"], int(one["member"]), one["what"]) for one in found]


def rebuilds(engine: EngineOutcome) -> list[Rebuild]:
    """Every rebuild that began, and every copying back."""
    told = incidents(engine)
    begun = [(at, one) for at, one in enumerate(told) if one.what in (REPLACED, SPARED, RENEWED, COPYING)]
    return [Rebuild(one.group, one.member, one.time_s, _ended_s(one, told[at + 1 :]), one.what == COPYING) for at, one in begun]


def lost(engine: EngineOutcome) -> str | None:
    """Where data was lost, if requests failed: the groups whose members failed and were not rebuilt; None when none did."""
    missing: dict[str, dict[int, float]] = {}
    for one in incidents(engine):
        members = missing.setdefault(one.group, {})
        if one.what == FAILED:
            members[one.member] = one.time_s
        elif one.what == REBUILT:
            members.pop(one.member, None)
    told = {group: _failed(members) for group, members in missing.items() if members}
    if not told:
        return None
    if len(told) == 1:
        ((group, failed),) = told.items()
        return f"the modelled group {group} lost data: its {failed}"
    return f"of the modelled groups that miss members at least one lost data: {'; '.join(f'group {g}: {f}' for g, f in told.items())}"


def _failed(members: dict[int, float]) -> str:
    return " and ".join(f"member {member} failed at {time_s:.3f} s" for member, time_s in members.items())


def _ended_s(begun: Incident, later: list[Incident]) -> float | None:
    """Whatever happens next to a member that is being rebuilt ends it, but for a drive that comes."""
    of_it = (one for one in later if (one.group, one.member) == (begun.group, begun.member))
    return next((one.time_s for one in of_it if one.what not in (SPARE_RENEWED, FITTED)), None)


def _seconds(engine: EngineOutcome, key: str) -> list[float]:
    return [float(seconds) for seconds in _facts(engine).get(key, "").split(", ") if seconds]


def _facts(engine: EngineOutcome) -> dict[str, str]:
    return (engine.get("engine") or {}).get("facts") or {}
