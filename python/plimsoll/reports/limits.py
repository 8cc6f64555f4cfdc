"""Limits and incidents of modelled arrays, in words.

Limits: what held modelled arrays back and what failed in them; the terminal and the page say the same.

Model: a point is limited by its saturated set of components, if there is one, named with what it is and with the sets of its kind that are
saturated with it; a configuration by those of its points. What a link limits is link arithmetic: a controller's data path, of which
nobody says what it moves, may be slower, so the figure is an upper bound and is called one.
Limits: nothing is known of real targets, of which nothing is said.

    limit_words(component_sets(result))          # "limited by the disks"; of a link also what it carries at most
    busy_words(component_sets(result))           # "8 × disk 97% busy (at most 99%), raid.cpu 4% busy"
    incident_words(result)                       # "1.000 s: member 0 of group vd0 failed (modelled, …)"
    configuration_words("array:nvme", ["limited by the link pcie", "limited by the link pcie"])
    component_words("cpu", ["raid.cpu"])         # "the processor of controller raid"

Labels: the lines in time charts where something failed and where rebuilds begin and end, with a few words each.

Model: what happened at one instant is one line. Groups are named when something happened to more than one.
Limits: there are none of real targets, of which nothing is known.

    incident_labels(result.engine)     # [{"time_s": 30.0, "label": "member 0 failed, rebuild begins"}]
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from typing import TypedDict

from plimsoll.analysis.point.array import (
    COPIED_BACK,
    COPYING,
    FAILED,
    FITTED,
    IN_VAIN,
    REBUILT,
    RENEWED,
    REPLACED,
    SATURATED,
    SPARE_RENEWED,
    SPARED,
    ComponentSet,
    Incident,
    bottleneck,
    copies_s,
    copying,
    incident_line,
    incidents,
    rebuilding,
    rebuilds_s,
)
from plimsoll.result import Result
from plimsoll.stored import EngineOutcome
from plimsoll.units import megabytes

#: Sets of components that are told of a point, the busiest first.
_COMPONENTS = 8

#: Sets of one kind that are named.
_NAMED = 2

#: Part of what was read ahead that is worth a word when it was given up unread.
_WASTED = 0.05

#: What is known of a limit that only follows from the rates of links.
LINK_ARITHMETIC = "link arithmetic"
_LINK = "link"
_BOUND = re.compile(rf", at most [0-9.,]+ MB/s (?=\({LINK_ARITHMETIC}\))")

#: Of a point at which no set of components was saturated.
NO_BOTTLENECK = "no bottleneck"


def limit_words(sets: Sequence[ComponentSet]) -> str:
    """Which component limited a point; empty without components."""
    if not sets:
        return ""
    limit = bottleneck(sets)
    if limit is None:
        return NO_BOTTLENECK
    alike = sorted(one.name for one in sets if one.kind == limit.kind and one.busiest >= SATURATED)
    bound = ceiling_words(limit.bytes_per_s / limit.busiest) if limit.kind == _LINK and limit.bytes_per_s else ""
    return f"limited by {component_words(limit.kind, alike, several=limit.count > 1)}{bound}"


def ceiling_words(bytes_per_s: float) -> str:
    """What links carry at most, behind what limits."""
    return f", at most {megabytes(bytes_per_s)} MB/s ({LINK_ARITHMETIC})"


def component_words(kind: str, names: Sequence[str], *, several: bool = False, alone: bool = True) -> str:
    """What sets of components of one ``kind`` are that are called ``names``; ``several`` when there is more than one in a set.

    A set that is called like its kind is not named again, if it is ``alone``."""
    if kind == "host":
        return "the processor of the host"
    plural = "s" if several or len(names) > 1 else ""
    listed = _listed([name.removesuffix(".cpu") for name in names])
    if kind == "cpu":
        return f"the processor{plural} of controller{plural} {listed}"
    if kind == "limit":
        return f"the limit{plural} of volume{plural} {_listed([name.removesuffix('.limit') for name in names])}"
    noun = "flash drive" if kind == "flash" else kind
    return f"the {noun}{plural}" if alone and listed == noun else f"the {noun}{plural} {listed}"


def _listed(names: Sequence[str]) -> str:
    if len(names) > _NAMED:
        return f"{', '.join(names[:_NAMED])} and {len(names) - _NAMED} more"
    return " and ".join(names)


def busy_words(sets: Sequence[ComponentSet]) -> str:
    """How busy the components of a point were, the busiest of them."""
    return ", ".join(map(_busy, sets[:_COMPONENTS]))


def incident_words(result: Result) -> str:
    """What failed when, how long rebuilds and copying back took, and how far those came that did not end; empty when nothing failed."""
    told = incident_line(result.engine)
    if not told:
        return ""
    rebuilt_s, copied_s = rebuilds_s(result.engine), copies_s(result.engine)
    said = [f"{told} (modelled, seconds from the beginning of the warm-up)"]
    if rebuilt_s:
        said.append(f"the rebuild{'s' if len(rebuilt_s) > 1 else ''} took {_seconds(rebuilt_s)}")
    if reached := rebuilding(result.engine):
        said.append(f"rebuilt when the run ended: {reached}")
    if copied_s:
        said.append(f"copying back took {_seconds(copied_s)}")
    if reached := copying(result.engine):
        said.append(f"copied back when the run ended: {reached}")
    return "; ".join(said)


def _seconds(spent_s: Sequence[float]) -> str:
    return ", ".join(f"{one:.3f} s" for one in spent_s)


def configuration_words(label: str, limits: Sequence[str]) -> str:
    """One sentence about the points of a configuration, of which ``limits`` are the `limit_words`."""
    # What a link carries at most depends on the size of requests, so points would not be alike.
    limits = [_BOUND.sub(" ", words) for words in limits]
    counted = Counter(words for words in limits if words != NO_BOTTLENECK).most_common()
    free = limits.count(NO_BOTTLENECK)
    if not counted:
        where = f" in any of the {free} measurements" if free > 1 else ""
        return f"{label} (modelled): {NO_BOTTLENECK}{where}."
    (first, often), *others = counted
    if often == len(limits):
        return f"{label} (modelled): {first}{f' in all {often} measurements' if often > 1 else ''}."
    told = ", ".join([f"{first} in {often} of {len(limits)} measurements", *(f"{words} in {times}" for words, times in others)])
    return f"{label} (modelled): {told}{f'; the other {free} had {NO_BOTTLENECK}' if free else ''}."


def _busy(one: ComponentSet) -> str:
    if one.hit_share is not None:
        wasted = one.wasted_share or 0.0
        lost = f", {wasted:.0%} of what was read ahead given up unread" if wasted >= _WASTED else ""
        return f"{one.name} {one.hit_share:.0%} hits{lost}"
    if one.count > 1:
        return f"{one.count} × {one.name} {one.utilisation:.0%} busy (at most {one.busiest:.0%})"
    return f"{one.name} {one.utilisation:.0%} busy"


_WORDS = {
    FAILED: "failed",
    REPLACED: "rebuild begins",
    SPARED: "rebuild into spare space begins",
    RENEWED: "has a new drive, rebuild begins",
    SPARE_RENEWED: "has a new spare",
    REBUILT: "rebuilt",
    IN_VAIN: "cannot be rebuilt",
    FITTED: "has a new drive",
    COPYING: "copying back",
    COPIED_BACK: "copied back",
}


class IncidentLabel(TypedDict):
    """What failed, or became of it, at an instant, in a few words."""

    #: After the warm-up began.
    time_s: float
    label: str


def incident_labels(engine: EngineOutcome) -> list[IncidentLabel]:
    """Instants in seconds after the warm-up began, in their order, each with its label."""
    told = incidents(engine)
    several = len({one.group for one in told}) > 1
    return [
        {"time_s": time_s, "label": _label(list(together), grouped=several)} for time_s, together in groupby(told, lambda one: one.time_s)
    ]


def _label(together: list[Incident], *, grouped: bool) -> str:
    members = groupby(together, lambda one: (one.group, one.member))
    said = [(member, ", ".join(_WORDS[one.what] for one in of)) for member, of in members]
    return "; ".join(f"member {number}{f' of {group}' if grouped else ''} {what}" for (group, number), what in said)
