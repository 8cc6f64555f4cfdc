"""The life of a target: what has to exist is made and filled before measuring, and what was made is removed afterwards.

Model: the engine makes and fills; this remembers which files it made, and says so before the first byte is written, so that a run that is
killed and resumed still removes them. A file that was there before is never removed, and neither is one that the user wants to keep.

    with prepared(engine, Wanted("./plimsoll-scratch.dat"), on_progress, control) as inspection:
        ...
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from plimsoll.engine import Control, Engine, Json
from plimsoll.errors import PlimsollError
from plimsoll.foreground import served
from plimsoll.host.target import target_paths

DEFAULT_TARGET = "./plimsoll-scratch.dat"


@dataclass(frozen=True)
class Wanted:
    """A target as asked for; without ``size_bytes`` the engine chooses. ``made`` are files that the same run made before it was killed."""

    spec: str
    size_bytes: int | None = None
    permission: Json | None = None
    keep: bool = False
    made: frozenset[str] = frozenset()


@contextmanager
def prepared(
    engine: Engine,
    wanted: Wanted,
    on_progress: Callable[[int, int], None],
    control: Control,
    on_making: Callable[[set[str]], None] = lambda _: None,
) -> Iterator[Json]:
    """The inspection of the target, ready to be measured; files made for it are removed on leaving. ``on_making`` gets them before."""
    before = engine.inspect_target(wanted.spec)
    missing = {path for path in target_paths(before) if not os.path.exists(path) or _is_unused_directory(before)}
    ours = wanted.spec in (DEFAULT_TARGET, default_target(engine)) and bool(before.get("made_by_plimsoll"))
    made = missing | {path for path in target_paths(before) if ours or os.path.abspath(path) in wanted.made}
    on_making({os.path.abspath(path) for path in made})
    try:
        yield _prepare(engine, wanted, on_progress, control)
    finally:
        if not wanted.keep:
            for path in made:
                with suppress(PlimsollError):
                    engine.remove_target(path)


def default_target(engine: Engine) -> str:
    """What is measured when no target is named; drivers that take no file have another one."""
    return str(getattr(engine, "default_target", DEFAULT_TARGET))


def _is_unused_directory(inspection: Json) -> bool:
    """A directory that nothing of ours is in yet: what is laid out there is removed again, the directory itself stays."""
    return inspection.get("kind") == "directory" and not inspection.get("made_by_plimsoll")


def _prepare(engine: Engine, wanted: Wanted, on_progress: Callable[[int, int], None], control: Control) -> Json:
    def verb(push: Callable[[str, Json], None]) -> Json:
        return engine.prepare_target(
            wanted.spec,
            wanted.size_bytes,
            wanted.permission,
            lambda done, total: push("progress", {"done": done, "total": total}),
            control,
        )

    def take(_kind: str, event: dict[str, Any]) -> None:
        on_progress(event["done"], event["total"])

    result, failure = served(verb, take, give_up=control.abort)
    if failure is not None:
        raise failure
    return {**engine.inspect_target(wanted.spec), **(result or {})}
