"""A directory mounted through `crates/faultfs`, whose faults a test commands; its header says what there is.

with FaultMount(tmp_path) as mount:
    mount.arm("lost", path="*.dat", every=50, times=6)
    run("oltp-db", "-t", str(mount.at / "a.dat"))
    seen = [injection for injection in mount.log() if injection.seen]
"""

from __future__ import annotations

import ctypes
import json
import os
import socket
import subprocess
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

BINARY = Path(__file__).resolve().parents[2] / "target" / "debug" / "faultfs"

#: The sixteen kinds, as `crates/faultfs/src/fault.rs` names them.
KINDS = (
    "eio", "enospc", "short", "lost", "torn", "misdirected", "stale", "flipped", "zeros", "stall", "hang", "truncated", "removed", "read_only",
    "slow_metadata", "reordered",
)  # fmt: skip

_MNT_DETACH = 2


def unavailable() -> str | None:
    """Why nothing can be mounted here, in a sentence."""
    if not BINARY.exists():
        return f"{BINARY} is not built: run make test-long"
    if not os.access("/dev/fuse", os.R_OK | os.W_OK):
        return "/dev/fuse cannot be opened: be root on a machine with FUSE"
    return None


@dataclass(frozen=True)
class Injection:
    """One strike of a rule."""

    number: int
    at_ms: int
    rule: int
    fault: str
    op: str
    path: str
    offset: int
    len: int
    #: First bytes and ends of what is wrong since.
    wrong: tuple[tuple[int, int], ...]
    #: Whether a read has returned any of it.
    seen: bool


@dataclass(frozen=True)
class Loss:
    """What a power cut did to one change."""

    path: str
    range: tuple[int, int]
    kept: tuple[tuple[int, int], ...]
    torn: bool


class FaultMount:
    """See the module; ``at`` is the mount, ``backing`` what lies below it."""

    def __init__(self, folder: Path) -> None:
        self.at, self.backing = folder / "mount", folder / "backing"
        self._socket = folder / "control"
        for place in (self.at, self.backing):
            place.mkdir()

    def __enter__(self) -> FaultMount:
        words = [str(BINARY), str(self.backing), str(self.at), str(self._socket)]
        # A session of its own, so that Ctrl-C at the terminal ends the test and the test ends this.
        self._process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True)
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == "mounted\n"
        self._stream = socket.socket(socket.AF_UNIX)
        self._stream.connect(str(self._socket))
        self._answers = self._stream.makefile()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._answers.close()
        self._stream.close()
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        try:
            self._process.wait(timeout=60)
        finally:
            self._process.kill()
            self._process.wait()
            self._process.stdout.close()
            ctypes.CDLL(None, use_errno=True).umount2(str(self.at).encode(), _MNT_DETACH)

    def _ask(self, do: str, **keys: object) -> dict[str, Any]:
        self._stream.sendall(json.dumps({"do": do, **keys}).encode() + b"\n")
        answer: dict[str, Any] = json.loads(self._answers.readline())
        assert "error" not in answer, answer["error"]
        return answer

    def arm(self, fault: str, **keys: object) -> int:
        """Put a rule in force; its keys are in `crates/faultfs/src/rule.rs`."""
        return self._ask("arm", rule={"fault": fault, **keys})["rule"]

    def disarm(self, rule: int | None = None) -> None:
        """Take a rule out of force, or all of them."""
        self._ask("disarm", rule=rule)

    def release(self) -> int:
        """Carry out what hangs; how many requests those were."""
        return self._ask("release")["released"]

    def log(self, after: int = 0) -> list[Injection]:
        """What was injected."""
        entries = self._ask("log", after=after)["entries"]
        return [Injection(**entry | {"wrong": tuple((found["start"], found["end"]) for found in entry["wrong"])}) for entry in entries]

    def hung(self) -> int:
        """How many requests hang."""
        return self._ask("status")["hung"]

    def pending_bytes(self) -> int:
        """Bytes that are not durable."""
        return self._ask("status")["pending_bytes"]

    def volatile(self, room_bytes: int = 64 << 20) -> None:
        """Keep what is written in memory until it is flushed; with 0 everything becomes durable and stays so."""
        self._ask("volatile", room_bytes=room_bytes)

    def cut(self, *, dark: bool = False, **cut: object) -> list[Loss]:
        """Cut the power; the keys of ``cut`` are in `crates/faultfs/src/volatile.rs`."""

        def ends(found: dict[str, int]) -> tuple[int, int]:
            return found["start"], found["end"]

        losses = self._ask("cut", cut=cut, dark=dark)["losses"]
        return [Loss(loss["path"], ends(loss["range"]), tuple(map(ends, loss["kept"])), loss["torn"]) for loss in losses]

    def light(self) -> None:
        """Power is back."""
        self._ask("light")
