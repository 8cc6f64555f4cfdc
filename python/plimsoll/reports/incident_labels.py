"""The lines in time charts where something failed in a modelled array and where rebuilds begin and end, with a few words each.

Model: what happened at one instant is one line. Groups are named when something happened to more than one.
Limits: there are none of real targets, of which nothing is known.

    incident_labels(result.engine)     # [{"time_s": 30.0, "label": "member 0 failed, rebuild begins"}]
"""

from __future__ import annotations

from itertools import groupby
from typing import Any

from plimsoll.analysis.point.array import (
    COPIED_BACK,
    COPYING,
    FAILED,
    FITTED,
    IN_VAIN,
    REBUILT,
    RENEWED,
    REPLACED,
    SPARE_RENEWED,
    Incident,
    incidents,
)

Json = dict[str, Any]

_WORDS = {
    FAILED: "failed",
    REPLACED: "rebuild begins",
    RENEWED: "has a new drive, rebuild begins",
    SPARE_RENEWED: "has a new spare",
    REBUILT: "rebuilt",
    IN_VAIN: "cannot be rebuilt",
    FITTED: "has a new drive",
    COPYING: "copying back",
    COPIED_BACK: "copied back",
}


def incident_labels(engine: Json) -> list[Json]:
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
