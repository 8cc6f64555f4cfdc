"""A failure, the drive that takes over and the one that is put in for it, in a few words after the ``?`` of a target.

Model: ``fail=3@10s`` lets member 3 of the first group fail after ten seconds of the run, ``fail=vd1.3@10s`` that of a named group; times
are those of ``-d``, several failures stand between commas. ``replace=3@10m`` says when a new drive is put in for it. ``spares=1`` adds so
many drives like the first group's to the array, which take the place of a failed one in any group. Where there is a spare or a new drive,
the member is rebuilt; when and for how long stands in the result.
Limits: whether what is replaced has failed is for `crates/array` to say.

    with_failures(document, "3@10s,vd1.0@2m", target)
    with_replacements(document, "3@10m", target)
    with_spares(document, "1", target)
    scheduled(document, "at")               # [{"group": "vd0", "member": 3, "time_s": 10.0}, …]
"""

from __future__ import annotations

import re
from typing import Any

from plimsoll.catalog.composition.merge import SOURCES, TYPED
from plimsoll.errors import InputError
from plimsoll.stored import Failure, Json
from plimsoll.units import NS_PER_S, time_ns

_MOMENT = re.compile(r"(?:(?P<group>[^@]+)\.)?(?P<member>\d+)@(?P<time>[^@]+)")


def with_failures(document: Json, text: str, target: str) -> None:
    """Adds failures to the schedules of groups, in place; `InputError` names the ``target``."""
    for word in text.split(","):
        _add(document, f"fail={word}", ("at", "failure", "fails"), target)


def with_replacements(document: Json, text: str, target: str) -> None:
    """Adds new drives to the schedules of groups, in place; `InputError` names the ``target``."""
    for word in text.split(","):
        _add(document, f"replace={word}", ("replaced_at", "replacement", "is replaced"), target)


def _add(document: Json, setting: str, words: tuple[str, str, str], target: str) -> None:
    """Adds what a setting says to the list ``words[0]``; the others are what it is called, and what happens to the member."""
    (name, _, word), (key, noun, verb) = setting.partition("="), words
    found = _MOMENT.fullmatch(word)
    time_s = _seconds(found["time"]) if found else None
    if found is None or time_s is None:
        raise InputError(
            f"target `{target}`: `{setting}` is no {noun}; write {name}=MEMBER@TIME or {name}=GROUP.MEMBER@TIME, like 3@10s or 3@1m30s."
        )
    group = _group(document, found["group"], target)
    moments = group.setdefault("failures", {}).setdefault(key, [])
    moment = {"time_s": time_s, "member": int(found["member"])}
    if moment in moments:
        raise InputError(
            f"target `{target}`: `{setting}`: member {found['member']} of group `{group['name']}` {verb} at this time already; "
            f"name each {noun} once."
        )
    moments.append(moment)


def _seconds(time: str) -> float | None:
    try:
        return time_ns(time) / NS_PER_S
    except InputError:
        return None


def scheduled(document: Json, key: str) -> list[Failure]:
    """Every failure (``at``) or new drive (``replaced_at``) with a time of its own: ``{"group": NAME, "member": N, "time_s": T}``, seconds
    after the warm-up begins."""
    return [
        {"group": group["name"], "member": moment["member"], "time_s": float(moment["time_s"])}
        for group in document["group"]
        for moment in group.get("failures", {}).get(key, ())
    ]


def with_spares(document: Json, text: str, target: str) -> None:
    """Adds drives that belong to no group, in place; `InputError` names the ``target``."""
    if not text.isdecimal() or not 1 <= int(text) <= 100:
        raise InputError(f"target `{target}`: `spares={text}` is no number of drives; write 1 to 100.")
    name = str(_group(document, None, target)["members"][0]).partition("[")[0]
    drives = next(entry for entry in document["devices"] if entry["name"] == name)
    before = int(drives.get("count", 1))
    for group in document["group"]:
        group["members"] = [_only(member, name, before) for member in group["members"]]
    drives["count"] = before + int(text)
    drives.setdefault(SOURCES, {})["count"] = TYPED
    document["spares"] = [*document.get("spares", []), f"{name}[{before}-{before + int(text) - 1}]"]


def _only(member: str, name: str, count: int) -> str:
    """What named a whole set names the drives that were there."""
    return f"{name}[0-{count - 1}]" if member == name else member


def _group(document: Json, name: str | None, target: str) -> dict[str, Any]:
    groups: list[dict[str, Any]] = document["group"]
    found = groups[0] if name is None else next((group for group in groups if group["name"] == name), None)
    if found is None:
        raise InputError(f"target `{target}`: there is no group `{name}`; there are {', '.join(group['name'] for group in groups)}.")
    return found
