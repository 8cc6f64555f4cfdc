"""Facts that the checks look at, collected in about half a second.

examine(engine, "/dev/nvme0n1").activity["devices"]
"""

from __future__ import annotations

import os
import resource
import stat
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import field
from typing import Any, Literal

from plimsoll import calibration
from plimsoll.engine.files import native_files
from plimsoll.engine.paths import left_behind
from plimsoll.engine.protocol import Engine, IoUring
from plimsoll.errors import InputError, PlimsollError, TargetError
from plimsoll.host import facts, host_facts, target_facts
from plimsoll.host.device import free_bytes
from plimsoll.host.stack import Stack, stack_of
from plimsoll.host.target import existing, monitored_devices, target_paths
from plimsoll.monitor.sampler import Sampler, sample
from plimsoll.own_cost import OwnCost
from plimsoll.records import dataclass
from plimsoll.stored import Device, HostFacts, Inspection, Sample, TargetFacts
from plimsoll.target import target_of

Status = Literal["ok", "warn", "fail", "unknown"]

WATCH_S = 0.5


@dataclass(frozen=True)
class Check:
    """One verdict. ``advice`` is empty when all is well."""

    name: str
    status: Status
    finding: str
    advice: str = ""


@dataclass(frozen=True)
class Examination:
    """Facts about the host, and about a target if one was named."""

    host: HostFacts
    io_uring: IoUring = field(default_factory=IoUring)
    locked_memory_bytes: int | None = None
    calibration: OwnCost | None = None
    activity: Sample = field(default_factory=Sample)
    target: TargetFacts = field(default_factory=TargetFacts)
    direct: str | None = None
    access: dict[str, str | None] = field(default_factory=dict)
    free_bytes: int | None = None
    left_behind: tuple[tuple[str, int], ...] = ()
    #: What the target lies on (`plimsoll.host.stack.stack_of`).
    stack: Stack = field(default_factory=Stack)

    def fact(self, section: str, name: str) -> Any:
        """A fact of the host, or None when it is absent."""
        return facts.known(self._section(section), name)

    def why_absent(self, section: str, name: str) -> str:
        """The reason why a fact is absent."""
        return facts.why_absent(self._section(section), name)

    def _section(self, name: str) -> Mapping[str, object]:
        sections: Mapping[str, Any] = self.host
        return sections.get(name) or {}

    @property
    def devices(self) -> list[Device]:
        """The devices of the target."""
        return list(self.target.get("devices", []))

    @property
    def folder_or_file(self) -> str:
        """How messages name the target."""
        return str(self.target.get("spec") or self.target.get("path"))


def examine(engine: Engine, spec: str | None) -> Examination:
    """Everything the checks need. Of a directory, of the current one without ``spec``, it is the file system that a scratch file or a tree
    would be made on.

    Raises `InputError` or `TargetError` when ``spec`` is no target at all.
    """
    here: Inspection = {"kind": "directory", "path": os.getcwd()}
    facts = target_facts(here if spec is None else _named(spec, _inspected(engine, spec)))
    paths = target_paths(facts)
    with Sampler() as sampler:
        before = sampler.snapshot()
        time.sleep(WATCH_S)
        activity = sample(before, sampler.snapshot(), monitored_devices(facts))
    return Examination(
        host=host_facts(),
        io_uring=_io_uring(engine),
        locked_memory_bytes=_locked_memory_bytes(),
        calibration=calibration.load(),
        activity=activity,
        target=facts,
        direct=_direct_problem(paths),
        access={path: _access_problem(path) for path in paths},
        free_bytes=_free_bytes(paths),
        left_behind=_left_behind(paths),
        stack=stack_of(paths),
    )


def _inspected(engine: Engine, spec: str) -> Inspection:
    """What a target is: a file, a device, or directories that are there."""
    try:
        return engine.inspect_target(target_of(spec))
    except (InputError, TargetError):
        with suppress(PlimsollError):
            found = native_files().inspect(spec)
            if found["exists"]:
                return found
        raise


def _named(spec: str, inspection: Inspection) -> Inspection:
    """As it was typed, unless the engine says it otherwise."""
    named: Inspection = {"spec": spec}
    return {**named, **inspection}


def _left_behind(paths: list[str]) -> tuple[tuple[str, int], ...]:
    """Scratch files and trees of killed runs in the directories of the target's files."""
    folders = {path if os.path.isdir(path) else os.path.dirname(os.path.abspath(path)) for path in paths if not _is_device(path)}
    return tuple(found for folder in sorted(folders) for found in left_behind(folder))


def _io_uring(engine: Engine) -> IoUring:
    try:
        return engine.probe_io_uring()
    except PlimsollError as problem:
        return IoUring(reason=str(problem))


def _locked_memory_bytes() -> int | None:
    """The soft limit; None when there is none."""
    soft = resource.getrlimit(resource.RLIMIT_MEMLOCK)[0]
    return None if soft == resource.RLIM_INFINITY else soft


def _free_bytes(paths: list[str]) -> int | None:
    if not paths or _is_device(paths[0]):
        return None
    try:
        return free_bytes(paths[0])
    except OSError:
        return None


def _access_problem(path: str) -> str | None:
    """Why this user cannot read and write ``path`` (or its folder, if it has yet to be made); None when it can."""
    subject = existing(path)
    if not os.access(subject, os.R_OK):
        return f"{subject} cannot be read"
    return None if os.access(subject, os.W_OK) else f"{subject} cannot be written"


def _direct_problem(paths: list[str]) -> str | None:
    """Why O_DIRECT does not work on the paths; None when it does or there is nothing that may be tried."""
    for path in map(existing, paths):
        # In a directory an unnamed file is tried, which leaves nothing behind.
        mode, right = (os.O_TMPFILE | os.O_RDWR, os.W_OK) if os.path.isdir(path) else (os.O_RDONLY, os.R_OK)
        if not os.access(path, right):
            continue
        try:
            file = os.open(path, mode | os.O_DIRECT | os.O_CLOEXEC, 0o600)
        except OSError as problem:
            return f"{path}: opening with O_DIRECT failed ({str(problem.strerror).lower()})"
        os.close(file)
    return None


def _is_device(path: str) -> bool:
    try:
        return stat.S_ISBLK(os.stat(path).st_mode)
    except OSError:
        return False
