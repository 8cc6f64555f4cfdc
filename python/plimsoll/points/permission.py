"""What ``--destroy-data`` allows, as the engine takes it, and what is refused in spite of it before a run is made.

Model: the engine looks at every target that would be written to and weighs what was typed; a refusal is raised while nothing is stored yet.
It judges once more when it opens the target, since by then somebody may have mounted it.

    permission("WD-123")        # Permission(typed="WD-123")
    check_permitted([(workload, Target("/dev/sdb"))], engine, None)
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable

from plimsoll.analysis.point.definition import overwrites, streams
from plimsoll.engine.protocol import Engine, Permission
from plimsoll.errors import InputError, SafetyRefusal
from plimsoll.host.target import target_paths
from plimsoll.points.drivers import driver_name, driver_of
from plimsoll.points.looks import Looks
from plimsoll.stored import Definition
from plimsoll.target import Target


def permission(typed: str | None) -> Permission | None:
    """None when nothing was typed; an empty text is the bare option."""
    return None if typed is None else Permission(typed or None)


def check_permitted(pairs: Iterable[tuple[Definition, Target]], engine: Engine, typed: str | None, looks: Looks) -> None:
    """Raise `SafetyRefusal` for the first workload that would write to a target, the other of its pair, that must not be written to.

    Drivers of their own write elsewhere than to their target, and look after that themselves, unless they say that they fill it.
    """
    asked: dict[Target, Engine] = {}
    pairs = list(pairs)
    _check_kinds(pairs, looks)
    for workload, target in pairs:
        driver = driver_of(workload, engine)
        if _overwrites(workload) if driver_name(workload) is None else getattr(driver, "fills_target", False):
            asked[target] = driver
    for target, driver in asked.items():
        reason = driver.write_refusal(target, permission(typed))
        if reason:
            raise SafetyRefusal(reason)


def check_distinct(pairs: Iterable[tuple[Definition, Target]], looks: Looks) -> None:
    """Raise `InputError` for two targets that are one file or device under two names: what is compared would be the same twice."""
    known: dict[tuple[str, ...], str] = {}
    for workload, target in pairs:
        if target.document is not None:
            continue
        places = tuple(map(_place, target_paths(looks.at(workload, target))))
        other = known.setdefault(places, target.text) if places else target.text
        if other != target.text:
            raise InputError(f"--target {target.text} is the same as --target {other}; name each target once.")


def _place(path: str) -> str:
    """What is the same for every name of a file or device."""
    try:
        found = os.stat(path)
    except OSError:
        return os.path.realpath(path)
    return f"device {found.st_rdev}" if stat.S_ISBLK(found.st_mode) else f"inode {found.st_dev} {found.st_ino}"


def _check_kinds(pairs: Iterable[tuple[Definition, Target]], looks: Looks) -> None:
    """Raise `InputError` for a path that would have to be a directory and a file: what one workload makes there stops the other."""
    directories: dict[str, str] = {}
    others: dict[str, str] = {}
    uses = {target: workload for workload, target in pairs}
    if not any(target.driver == "files" for target in uses):
        return
    for target, workload in uses.items():
        found = directories if target.driver == "files" else others
        for path in target_paths(looks.at(workload, target)):
            found.setdefault(os.path.abspath(path), str(workload["name"]))
    for path in directories.keys() & others.keys():
        raise InputError(
            f"{path}: {directories[path]} takes it for a directory and {others[path]} for a file; give each a target of its own."
        )


def _overwrites(workload: Definition) -> bool:
    """What a stream with a trace does is said by the trace; the others say it themselves."""
    replayed = [stream for stream in streams(workload) if stream.get("trace") and stream.get("verify") != "journal-check"]
    if not replayed:
        return overwrites(workload)
    from plimsoll.points.traces import trace_ops

    drawn = [stream for stream in streams(workload) if not stream.get("trace")]
    return overwrites({**workload, "stream": drawn}) or any(
        trace_ops(stream["trace"]) & {"write", "trim"} - set(stream.get("trace_skip") or ()) for stream in replayed
    )
