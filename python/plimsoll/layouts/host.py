"""This host as a layout sees it: programs, sysfs, signatures, mounts.

Model: programs are found in PATH and in ``/sbin`` and ``/usr/sbin``, which an ordinary PATH lacks; they are called with the C locale and
end with us. blkid(8) is told to look at the device itself, not into its cache.

    ThisHost("/var/lib/plimsoll/layouts/mine/key").act(Command(("mkfs.xfs", "/dev/loop3")))
"""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Mapping
from glob import glob

from plimsoll.displayed import displayed
from plimsoll.engine.paths import signatures
from plimsoll.errors import InputError, TargetError
from plimsoll.host.device import parse
from plimsoll.layouts.kinds.encryption import KEY_FILE
from plimsoll.layouts.step import Action, Await, Command, Write

_PATH = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/sbin", "/usr/local/sbin"])
#: udev makes the names of devices when it comes to it: on a busy host after a minute.
_APPEARS_WITHIN_S = 180.0
_AGAIN_S = 0.2
_SECTOR = 512
#: As much of what a program said is told.
_TOLD = 300


def missing(programs: Mapping[str, str]) -> InputError | None:
    """The sentence that names the programs that are not here, with their packages."""
    absent = [name for name in programs if shutil.which(name, path=_PATH) is None]
    if not absent:
        return None
    packages = " ".join(dict.fromkeys(programs[name] for name in absent))
    verb, them = ("is", "it") if len(absent) == 1 else ("are", "them")
    return InputError(f"{', '.join(absent)} {verb} not installed, and the layout needs {them}; apt-get install {packages}.")


class ThisHost:
    """`plimsoll.layouts.kinds.kind.Host`, for real."""

    def __init__(self, key_path: str) -> None:
        self._key_path = key_path

    def act(self, action: Action) -> str:
        if isinstance(action, Write):
            _write(action)
            return ""
        if isinstance(action, Await):
            _await(action.path)
            return ""
        until = time.monotonic() + action.patience_s
        while (done := self._called(action)).returncode and _in_use(done.stderr) and time.monotonic() < until:
            time.sleep(_AGAIN_S)
        if done.returncode and not action.tolerated:
            raise TargetError(f"{action.words[0]} failed{_said(done)}")
        return done.stdout

    def ask(self, *words: str) -> str | None:
        try:
            done = self._called(Command(words))
        except TargetError:
            return None
        return None if done.returncode else done.stdout

    def texts(self, pattern: str) -> Mapping[str, str]:
        found = {}
        for path in sorted(glob(pattern)):
            try:
                with open(path, encoding="ascii", errors="replace") as file:
                    said = file.read().strip()
            except OSError:
                continue
            found[path] = said.partition("[")[2].partition("]")[0] or said
        return found

    def exists(self, path: str) -> bool:
        return os.path.exists(path)

    def probe(self, device: str) -> Mapping[str, str]:
        found = self.ask("blkid", "--probe", "--output", "export", device)
        return dict(line.split("=", 1) for line in (found or "").splitlines() if "=" in line)

    def signatures(self, device: str) -> list[tuple[str, int]]:
        return signatures(device)

    def read(self, device: str, offset: int, length: int) -> bytes:
        try:
            with open(device, "rb", buffering=0) as file:
                return os.pread(file.fileno(), length, offset)
        except OSError as problem:
            raise TargetError(f"{device} cannot be read: {problem.strerror}.") from None

    def erase(self, device: str, offset: int) -> None:
        start = offset // _SECTOR * _SECTOR
        try:
            file = os.open(device, os.O_WRONLY | os.O_EXCL | os.O_CLOEXEC)
            try:
                os.pwrite(file, bytes(_SECTOR), start)
                os.fsync(file)
            finally:
                os.close(file)
        except OSError as problem:
            raise TargetError(f"{device} cannot be written to: {problem.strerror}.") from None

    def mounted_at(self, point: str) -> str | None:
        with open("/proc/self/mounts", encoding="utf-8", errors="surrogateescape") as table:
            mounts = [mount.source for mount in parse(table.read()) if mount.point == os.path.realpath(point)]
        return mounts[-1] if mounts else None

    def same_device(self, one: str, other: str) -> bool:
        try:
            return os.stat(one).st_rdev == os.stat(other).st_rdev != 0
        except OSError:
            return False

    def remove_directory(self, path: str) -> None:
        try:
            os.rmdir(path)
        except OSError:
            return

    def _called(self, command: Command) -> subprocess.CompletedProcess[str]:
        arguments = [word.replace(KEY_FILE, self._key_path) for word in command.words[1:]]
        # What we call ends with us, so that whoever takes the layout away next is alone.
        return subprocess.run(
            [_found("setpriv"), "--pdeathsig", "KILL", _found(command.words[0]), *arguments],
            input=command.text,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            # A word that is a path after all is none of a device here.
            cwd="/",
            env={**os.environ, "PATH": _PATH, "LC_ALL": "C"},
        )


def _found(program: str) -> str:
    path = shutil.which(program, path=_PATH)
    if path is None:
        raise TargetError(f"{program} is not installed; what it is for cannot be done.")
    return path


def _write(action: Write) -> None:
    # A path with wildcards is a setting that each processor has.
    for path in sorted(glob(action.path)) or [action.path]:
        try:
            with open(path, "w", encoding="ascii") as file:
                file.write(action.text)
        except OSError as problem:
            raise TargetError(f"{path} does not take {action.text}: {problem.strerror}.") from None


def _await(path: str) -> None:
    until = time.monotonic() + _APPEARS_WITHIN_S
    while not os.path.exists(path):
        if time.monotonic() > until:
            raise TargetError(f"{path} did not appear within {_APPEARS_WITHIN_S:.0f} s.")
        time.sleep(0.02)


def _in_use(said: str) -> bool:
    """Whether a program says that somebody uses what it was to take away."""
    return any(word in said for word in ("busy", "in use", "Cannot get exclusive access"))


def _said(done: subprocess.CompletedProcess[str]) -> str:
    """The first line of what a program said that is no warning: usage and consequences follow behind it."""
    lines = [line.strip() for line in (done.stderr or done.stdout).splitlines() if line.strip()]
    told = next((line for line in lines if not line.upper().startswith("WARNING")), "")
    return f": {displayed(told[:_TOLD]).rstrip('.')}." if told else f" with exit code {done.returncode}."
