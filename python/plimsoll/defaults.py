"""``plimsoll.toml``: what holds for a project unless something else is said: the store, the label of runs, targets by name.

Model: the file is looked for in the working directory and upwards; the nearest counts, alone. ``store`` and targets that begin with ``./``
or ``../`` are relative to the file. What is typed, or given to a function, wins. A target is called by its name wherever a target can be
named, and its side in tables is called so; a file of the same name is ``./NAME``.

    # plimsoll.toml
    store = "results"
    label = "rack 7"

    [targets]
    fast = "/dev/disk/by-id/nvme-…"

    defaults().named("fast")            # "fast=/dev/disk/by-id/nvme-…"
"""

from __future__ import annotations

import os
import re
from dataclasses import field
from typing import Any

from plimsoll.displayed import quoted
from plimsoll.errors import InputError
from plimsoll.near import meant
from plimsoll.passwords import withheld_from
from plimsoll.records import dataclass

FILE = "plimsoll.toml"
STORE = "results"
KEYS = ("store", "label", "targets")
#: What a target can be called: what `plimsoll.experiments.named_target` takes for a name.
_NAME = re.compile(r"[^\W]([\w .-]*[\w.-])?")


@dataclass(frozen=True)
class Defaults:
    """``path`` is None where there is no such file."""

    path: str | None = None
    store: str = STORE
    label: str | None = None
    targets: dict[str, str] = field(default_factory=dict)

    def named(self, target: str) -> str:
        """The target that a name stands for, with its name; any other text as it is. ``x=fast`` is what ``fast`` stands for, called x."""
        if target in self.targets:
            return f"{target}={self.targets[target]}"
        name, equals, rest = target.partition("=")
        return f"{name}={self.targets[rest]}" if equals and rest in self.targets and _NAME.fullmatch(name) else target

    def meant(self, target: str) -> str:
        """The target that a name stands for, without its name."""
        return self.targets.get(target, target)


def defaults(folder: str | None = None) -> Defaults:
    """Those of the file nearest to ``folder``, the working directory; raises `InputError` for what is wrong in it."""
    path = _found(os.getcwd() if folder is None else folder)
    return Defaults() if path is None else read(path)


def read(path: str) -> Defaults:
    """Those of one file."""
    import tomllib

    try:
        with open(path, "rb") as file:
            document = withheld_from(tomllib.load(file))
    except OSError as problem:
        raise InputError(f"{path}: cannot be read ({(problem.strerror or str(problem)).lower()}).") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise InputError(f"{path}: not TOML ({str(problem)[:1].lower()}{str(problem)[1:]}).") from None
    for key in document:
        if key not in KEYS:
            raise InputError(f"{path}: key {quoted(key)} is not known; {meant(key, KEYS)}")
    folder = os.path.dirname(path)
    targets = _targets(document.get("targets", {}), path)
    return Defaults(
        path,
        _beside(_text(document.get("store", STORE), "store", path), folder),
        _text(document["label"], "label", path) if "label" in document else None,
        {name: _beside(target, folder) if target.startswith(("./", "../")) else target for name, target in targets.items()},
    )


def _found(folder: str) -> str | None:
    here = os.path.abspath(folder)
    while True:
        path = os.path.join(here, FILE)
        if os.path.lexists(path):
            return path
        above = os.path.dirname(here)
        if above == here:
            return None
        here = above


def _targets(table: Any, path: str) -> dict[str, str]:
    if not isinstance(table, dict):
        raise InputError(f"{path}: 'targets' is a table of names; write for example [targets] and below it fast = \"/dev/sdb\".")
    for name, target in table.items():
        if not _NAME.fullmatch(name):
            raise InputError(f"{path}: {quoted(name)} is no name for a target; use letters, digits, spaces, '-', '_' and '.'.")
        _text(target, f"targets.{name}", path)
    return dict(table)


def _text(value: Any, key: str, path: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise InputError(f"{path}: {key} is {quoted(value)}; write a text.")
    return value


def _beside(name: str, folder: str) -> str:
    """A path of the file as it is reached from the working directory."""
    joined = os.path.join(folder, name)
    try:
        short = os.path.relpath(joined)
    except (OSError, ValueError):
        return joined
    return joined if short.startswith(os.path.join("..", "..")) else short
