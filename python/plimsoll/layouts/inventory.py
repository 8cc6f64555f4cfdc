"""Which layout a target lies on: what results say of how their storage was put together.

Model: a target lies on a layout when it is one of its members, volumes or devices, or a file on one of its file systems. Nothing but the
names of the layouts is looked at where there are none. Names are those that the layout has now; what is recorded is what was made.

    layout_of(["/mnt/plimsoll/lvm-xfs/sasdata/plimsoll-scratch.dat"])
    # {"name": "lvm-xfs", "members": ["/dev/sdb (serial WD-1)", …], "volumes": [{"path": …, "stripe": {"unit_bytes": 65536, "width": 8}}],
    #  "options": {"layer": [{"kind": "lvm", …}], …}, "steps": ["make /dev/sdb a physical volume", …], "remarks": []}
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence

from plimsoll.host.device import mount_of
from plimsoll.host.facts import Absent
from plimsoll.stored import Json

SCHEMA = "plimsoll.layout/1"
PLAN = "plan.json"
_SYSTEM = "/var/lib"
#: Keys of a file that say what it is for, and not what is made.
_ABOUT = ("title", "purpose", "source")


def folder() -> str:
    """Where layouts are remembered."""
    return os.path.join(os.environ.get("XDG_STATE_HOME") or _SYSTEM, "plimsoll", "layouts")


def names() -> Sequence[str]:
    """The layouts that there are, in order."""
    try:
        return sorted(os.listdir(folder()))
    except OSError:
        return []


def layout_of(paths: Iterable[str]) -> Json | None:
    """What is recorded of the layout that one of ``paths`` lies on; None of none."""
    known = names()
    if not known:
        return None
    places = set(_places(paths))
    for plan in _plans(known):
        parts = [str(part["path"]) for part in (*plan["members"], *plan["devices"], *plan["volumes"])]
        if places & {*parts, *map(os.path.realpath, parts)}:
            return {
                "name": plan["name"],
                "title": plan["document"].get("title", ""),
                "members": [f"{member['path']} ({', '.join(member['identity'])})" for member in plan["members"]],
                "volumes": [{"path": volume["path"], "stripe": volume["stripe"]} for volume in plan["volumes"]],
                "options": {key: value for key, value in plan["document"].items() if key not in _ABOUT},
                "steps": [step["what"] for step in plan["steps"] if step["made"] != "cleared device"],
                "remarks": plan["remarks"],
            }
    return None


def _places(paths: Iterable[str]) -> Iterator[str]:
    for path in paths:
        # Names of arrays and volumes are links to the kernel's.
        yield os.path.realpath(path)
        try:
            yield mount_of(path).point
        except (Absent, OSError):
            continue


def _plans(known: Iterable[str]) -> Iterator[Json]:
    for name in known:
        try:
            with open(os.path.join(folder(), name, PLAN), "rb") as file:
                plan = json.load(file)
        except (OSError, ValueError):
            continue
        if plan.get("schema") == SCHEMA:
            yield plan
