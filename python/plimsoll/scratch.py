"""The life of a target: what has to exist is made and filled before measuring, and what was made is removed afterwards.

Model: the engine makes and fills; this remembers which files it made, and says so before the first byte is written, so that a run that is
killed and resumed still removes them. A file that was there before is never removed, and neither is one that the user wants to keep; one
that a killed run left behind is removed as if it had been made here. What stays is released: its marker says that no run uses it any more.
The same holds for the schema that a driver makes in a server of the user's; its address stands for it among the paths.
What should be removed and cannot be is told with its reason, since it takes up room.

    with prepared(engine, Wanted(Target("./plimsoll-scratch.dat")), Hearer(on_progress), control) as inspection:
        ...
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from plimsoll.engine.protocol import Control, Engine, Permission
from plimsoll.errors import PlimsollError, TargetError
from plimsoll.foreground import served
from plimsoll.host.target import target_paths
from plimsoll.records import dataclass
from plimsoll.stored import Inspection, PartInspection
from plimsoll.target import Target
from plimsoll.units import binary

DEFAULT_TARGET = "./plimsoll-scratch.dat"
#: Size of a scratch file that nobody gave a size, unless a quarter of the free space is less (crates/engine/src/target/scratch.rs).
USUAL_BYTES = 4 << 30
#: Targets that hold trees of files, or a schema, whose making leaves something where it fails.
_LEAVING = ("directory", "directories", "server")


@dataclass(frozen=True)
class Wanted:
    """A target as asked for; without ``size_bytes`` the engine chooses. ``made`` are files that the same run made before it was killed;
    ``on_quiet`` is told for how many seconds nothing went on while it was prepared."""

    target: Target
    size_bytes: int | None = None
    permission: Permission | None = None
    keep: bool = False
    made: frozenset[str] = frozenset()
    on_quiet: Callable[[float], None] = lambda _: None


@dataclass(frozen=True)
class Hearer:
    """Who hears of a target's life: bytes made and to be made, paths before they are made, and why something could not be removed."""

    on_progress: Callable[[int, int], None]
    on_making: Callable[[set[str]], None] = lambda _: None
    on_left: Callable[[str], None] = lambda _: None


@contextmanager
def prepared(engine: Engine, wanted: Wanted, hearer: Hearer, control: Control) -> Iterator[Inspection]:
    """The inspection of the target, ready to be measured; files made for it are removed on leaving."""
    before = engine.inspect_target(wanted.target)
    missing = {path for path in target_paths(before) if not os.path.exists(path)} | _unused_directories(before)
    ours = wanted.target.text in (DEFAULT_TARGET, default_target(engine)) and bool(before.get("made_by_plimsoll"))
    left_behind = _left_behind(before)
    made = missing | {path for path in target_paths(before) if ours or path in left_behind or os.path.abspath(path) in wanted.made}
    made |= _unkept_schema(engine, wanted.target, before)
    hearer.on_making({path if _is_address(path) else os.path.abspath(path) for path in made})
    try:
        inspection = _prepare(engine, wanted, before, hearer.on_progress, control)
    except TargetError:
        # The engine has removed the files that it made in vain; what is there now another run may have made meanwhile.
        if before.get("kind") in _LEAVING:
            _leave(engine, made, hearer, keep=wanted.keep)
        raise
    except PlimsollError:
        _leave(engine, made, hearer, keep=wanted.keep)
        raise
    try:
        yield inspection
    finally:
        _clear(engine, target_paths(before), hearer)
        staying = {path for path in inspection.get("scratch") or [] if path not in made}
        if len(staying | made) > 1 and (wanted.keep or not made):
            # All of them stay, and are released with a few waits for their device and not with some each.
            _release(engine, [wanted.target])
        else:
            _leave(engine, made, hearer, keep=wanted.keep)
            _release(engine, _targets(staying))


def smaller_than_usual(inspection: Inspection) -> str | None:
    """What to say of a scratch file that is yet to be made and gets less than the usual size because little space is free."""
    size_bytes = int(inspection.get("size_bytes") or 0)
    if inspection.get("kind") != "file" or inspection.get("exists") or not 0 < size_bytes < USUAL_BYTES:
        return None
    return (
        f"{inspection.get('spec') or inspection.get('path')}: the scratch file gets {binary(size_bytes)}, a quarter of the free space, not "
        f"the usual {binary(USUAL_BYTES)}: caches can hold more of it. --size sets its size."
    )


def remove_leftovers(driver_at: Callable[[str], Engine], paths: Iterable[str], on_left: Callable[[str], None], *, keep: bool) -> None:
    """Remove what a run made at ``paths`` before it was killed, where that is left behind still."""
    hearer = Hearer(lambda _done, _total: None, on_left=on_left)
    for path in paths:
        if not os.path.lexists(path) and not _is_address(path):
            continue
        engine = driver_at(path)
        try:
            left = _left_behind(engine.inspect_target(Target(path)))
        except PlimsollError as error:
            on_left(f"{path} was made for this run and may be left behind: {error}")
            continue
        _leave(engine, left, hearer, keep=keep)


def _leave(engine: Engine, made: set[str], hearer: Hearer, *, keep: bool) -> None:
    """Remove what was made, unless it is to be kept."""
    if keep:
        _release(engine, _targets(made))
        return
    for path in sorted(made):
        left = _remove(engine, path)
        if left is not None:
            hearer.on_left(left)


def _clear(engine: Engine, paths: Iterable[str], hearer: Hearer) -> None:
    """Remove what a driver makes beside its target for as long as a point lasts, whosoever the target is; says what cannot be removed."""
    clear = getattr(engine, "clear_target", None)
    if clear is None:
        return
    for path in paths:
        try:
            clear(path)
        except PlimsollError as error:
            hearer.on_left(str(error))


def _release(engine: Engine, targets: Iterable[Target]) -> None:
    """Note that files stay and that no run uses them any more; without the note they count as left behind at worst."""
    for target in targets:
        with suppress(PlimsollError):
            engine.release_target(target)


def _targets(paths: Iterable[str]) -> list[Target]:
    """Each of these files by itself."""
    return [Target(path) for path in sorted(paths)]


def _remove(engine: Engine, path: str) -> str | None:
    """Remove what was made at a path; a sentence if it is still there."""
    try:
        engine.remove_target(Target(path))
    except PlimsollError as error:
        return f"{path} was made for this run and is left behind: {error}"
    # A directory that was there before stays, but nothing in it.
    if os.path.isfile(path) or (os.path.isdir(path) and os.listdir(path)):
        return f"{path} was made for this run and is left behind, since something else has changed or replaced it; delete it yourself."
    return None


def _left_behind(inspection: Inspection) -> set[str]:
    """The paths of a target that a killed run made."""
    parts: Sequence[PartInspection | Inspection] = inspection.get("parts") or [inspection]
    return {str(part["path"]) for part in parts if part.get("left_behind") and part.get("path")}


def _unkept_schema(engine: Engine, target: Target, inspection: Inspection) -> set[str]:
    """The address of a server of the user's where our schema is yet to be made, or where a killed run left one."""
    state_of = getattr(engine, "schema_state", None)
    if inspection.get("kind") != "server" or state_of is None or state_of(target) == "kept":
        return set()
    return {target.text}


def _is_address(path: str) -> bool:
    return "://" in path


def default_target(engine: Engine) -> str:
    """What is measured when no target is named; drivers that take no file have another one."""
    return str(getattr(engine, "default_target", DEFAULT_TARGET))


def _unused_directories(inspection: Inspection) -> set[str]:
    """Directories that nothing of ours is in yet: what is laid out there is removed again, the directories themselves stay."""
    parts: Sequence[PartInspection | Inspection] = inspection.get("parts") or [inspection]
    # Directories of several hosts together have no path, and are each host's own to remove.
    directories = [part for part in parts if part.get("kind") == "directory" and part.get("path")]
    return {str(part["path"]) for part in directories if not part.get("made_by_plimsoll")}


def _prepare(engine: Engine, wanted: Wanted, before: Inspection, on_progress: Callable[[int, int], None], control: Control) -> Inspection:
    def verb(push: Callable[[str, Any], None]) -> Inspection:
        return engine.prepare_target(
            wanted.target,
            wanted.size_bytes,
            wanted.permission,
            lambda done, total: push("progress", {"done": done, "total": total}),
            control,
        )

    def take(_kind: str, event: dict[str, Any]) -> None:
        on_progress(event["done"], event["total"])

    result, failure = served(verb, take, give_up=control.abort, quiet=wanted.on_quiet)
    if failure is not None:
        raise failure
    result = result or {}
    # Files that stayed as they were are not looked at twice, which matters where there are hundreds.
    same = result.get("changed") is False and not _left_behind(before)
    return {**(before if same else engine.inspect_target(wanted.target)), **result}
