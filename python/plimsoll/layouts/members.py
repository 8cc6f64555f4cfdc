"""The devices that a layout is to be made of: looked at, told apart, and judged whether they may be written to.

Model: each is asked for by its path and known by its identity (serial number, or what there is). Whether it may be written to is the
engine's judgement, with the same words as everywhere: ``--destroy-data``, and a serial number or path for each device that carries data.

    members(["/dev/loop3", "/dev/loop4"])
    check_writable(members, refusal, "WD-1,WD-2")
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Sequence

from plimsoll.displayed import quoted
from plimsoll.errors import InputError, SafetyRefusal, TargetError
from plimsoll.host.device import SYS_BLOCK, device_facts, device_name
from plimsoll.host.facts import Absent, known, text
from plimsoll.host.target import device_identity
from plimsoll.layouts.step import Member
from plimsoll.target import Target

#: Why a target may not be written to with what was typed; None when it may.
Refusal = Callable[[Target, str | None], str | None]

_SETTINGS = ("read_ahead_kb", "nr_requests", "max_sectors_kb")


def check_root() -> None:
    """Raise `InputError` for who may not lay storage out."""
    if os.geteuid():
        raise InputError("only root may lay storage out; run the command with sudo, or 'plimsoll layout plan' to see what it would do.")


def members(paths: Sequence[str]) -> tuple[Member, ...]:
    """The devices at ``paths``. Raises `InputError` for what is no block device, and for one that is named twice."""
    found = tuple(_member(path) for path in paths)
    for number, member in enumerate(found):
        twin = next((other for other in found[:number] if other.name == member.name), None)
        if twin is not None:
            raise InputError(f"--on {member.path} is the same device as {twin.path}; name each once.")
    return found


def check_writable(found: Sequence[Member], refusal: Refusal, typed: str | None) -> None:
    """Raise `SafetyRefusal` for the first member that must not be written to."""
    words = [None] if typed is None else ["", *(word for word in typed.split(",") if word)]
    for member in found:
        reasons = [refusal(Target(member.path), word) for word in words]
        if all(reasons):
            # What was typed for this one says most; without it the bare word does.
            own = [reason for word, reason in zip(words, reasons, strict=True) if word in (member.path, *member.identity)]
            raise SafetyRefusal(str((own or reasons)[0]))


def still_there(member: Member) -> None:
    """Raise `TargetError` when the path leads to another device by now."""
    try:
        now = _member(member.path)
    except InputError:
        raise TargetError(f"{member.path}, which the layout is made of, is not there; attach it first.") from None
    if now.identity != member.identity:
        raise TargetError(f"{member.path} is another device by now ({now.identity[0]}); the layout is made of {member.identity[0]}.")


def _member(path: str) -> Member:
    try:
        status = os.stat(path)
    except OSError as problem:
        raise InputError(f"--on {quoted(path)}: {problem.strerror}; name a block device, for example /dev/sdb.") from None
    if not stat.S_ISBLK(status.st_mode):
        raise InputError(f"--on {quoted(path)} is no block device; of a file, 'losetup --find --show FILE' makes one.")
    name = device_name(path)
    facts = device_facts(name)
    backing = facts.get("backing", {}).get("path")
    settings = {key: value for key in _SETTINGS if (value := _setting(name, key)) is not None}
    if (scheduler := known(facts, "scheduler")) is not None:
        settings["scheduler"] = str(scheduler)
    identity = (f"{name} on {backing}",) if backing else (device_identity(name),)
    return Member(path, name, int(facts["size_bytes"]), identity, settings)


def _setting(name: str, key: str) -> str | None:
    try:
        return text(f"{SYS_BLOCK}/{name}/queue/{key}").strip()
    except Absent:
        return None
