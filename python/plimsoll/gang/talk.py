"""The talk with a host's first Plimsoll (`plimsoll.gang.arrival`): who it is, what it lacks, what it becomes.

Model: one process of ssh, or of what takes its place, for as long as what it became runs: its standard input is the pipe whose end tells
that the command is gone. What ssh itself says is kept for the sentence. Every wait has an end.

    talk = Talk(seat, environment)
    talk.introduction["python"]
    talk.become({"be": "keeper", …})          # {"nest": …, "store": …}
    talk.close()
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from importlib.resources import files

from plimsoll.displayed import displayed
from plimsoll.errors import EngineError, InputError
from plimsoll.gang.arrival import MARK
from plimsoll.gang.environment import Environment
from plimsoll.gang.ssh import Seat, check_key, command_to, failure
from plimsoll.stored import Json

#: How long a host may take to answer a line, on whatever network.
_ANSWERS_S = 30.0
#: While files are carried, nothing moves for that long at most.
_STUCK_S = 60.0
_PIECE = 1 << 18


class Talk:
    """See the module. Raises `InputError` for a host that cannot be, `EngineError` for one that stops talking."""

    def __init__(
        self, seat: Seat, environment: Environment, command: Callable[[Seat, int], list[str]] = command_to, launcher: str = "ssh"
    ) -> None:
        check_key(seat)
        self.seat = seat
        self._launcher = launcher
        self._environment = environment
        text = files("plimsoll.gang").joinpath("arrival.py").read_bytes()
        self._said = tempfile.TemporaryFile()  # noqa: SIM115 — as long as the talk
        try:
            self._process = subprocess.Popen(
                command(seat, len(text)), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._said, start_new_session=True
            )
        except OSError:
            self._said.close()
            raise InputError(f"--hosts: {command(seat, 0)[0]} is not installed here, by which {seat.name} is to be reached.") from None
        assert self._process.stdin is not None and self._process.stdout is not None
        self.input, self.output = self._process.stdin.fileno(), self._process.stdout.fileno()
        os.set_blocking(self.input, False)
        self._read = bytearray()
        self._heard_last = ""
        self.carried_bytes = 0
        self._write(text)
        self.introduction: Json = self._heard()
        self._check()

    def _check(self) -> None:
        """Compiled parts have to fit."""
        said, name = self.introduction, self.seat.name
        ours = ".".join(str(part) for part in sys.version_info[:2])
        theirs = ".".join(str(said["python"]).split(".")[:2])
        for what, there, here in (
            ("system", said["system"], os.uname().sysname),
            ("architecture", said["architecture"], os.uname().machine),
            ("Python", theirs, ours),
        ):
            if there != here:
                self.close()
                hint = f"; name a Python {ours} with 'python' in a lab's file" if what == "Python" else ""
                raise InputError(
                    f"{name}: {what} {displayed(str(there))} is there and {here} here, so what runs here cannot run there{hint}."
                )

    def carry(self) -> None:
        """The environment, unless its cache has it."""
        self._say({"environment": self._environment.name})
        if self._heard()["there"]:
            return
        for file in self._environment.files:
            with open(file.source, "rb") as opened:
                size = os.fstat(opened.fileno()).st_size
                executable = bool(os.fstat(opened.fileno()).st_mode & 0o100)
                self._say({"path": file.path, "size": size, "executable": executable})
                while piece := opened.read(min(_PIECE, size)):
                    self._write(piece)
                    self.carried_bytes += len(piece)
        self._say(None)
        self._heard()

    def become(self, wanted: Json) -> Json:
        """What it is from now on; its answer."""
        self._say(wanted)
        return self._heard()

    @property
    def ended(self) -> bool:
        """Whether ssh has ended."""
        return self._process.poll() is not None

    @property
    def last_words(self) -> str:
        """What was said beside the talk last, by ssh or by what it became."""
        lines = [line.strip() for line in self._words().splitlines() if line.strip()]
        return displayed(lines[-1].rstrip(".")) if lines else "the connection ended"

    def tell(self, word: bytes) -> None:
        """A word to what it became, if it still listens."""
        with suppress(OSError):
            os.write(self.input, word)

    def write(self, data: bytes) -> None:
        """Some words to what it became. Raises `OSError` when it takes none any more."""
        left = memoryview(data)
        while left:
            if not select.select([], [self.input], [], _ANSWERS_S)[1]:
                raise TimeoutError(f"nothing has moved for {_ANSWERS_S:.0f} s")
            left = left[os.write(self.input, left) :]

    def line(self) -> bytes | None:
        """The next line of what it became, whatever it says; None at the end."""
        while b"\n" not in self._read:
            try:
                piece = os.read(self.output, 1 << 16)
            except OSError:
                return None
            if not piece:
                return None
            self._read += piece
        line, _, self._read = self._read.partition(b"\n")
        return bytes(line)

    def close(self, within_s: float = 5.0) -> bool:
        """Let go, and wait until what it became has ended; whether it has."""
        with suppress(OSError):
            if self._process.stdin is not None:
                self._process.stdin.close()
        try:
            self._process.wait(within_s)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
            return False
        finally:
            if self._process.stdout is not None:
                self._process.stdout.close()
            self._heard_last = self._words()
            self._said.close()
        return True

    def _words(self) -> str:
        """All that was said beside the talk."""
        if self._said.closed:
            return self._heard_last
        self._said.seek(0)
        return self._said.read().decode(errors="replace")

    def _say(self, message: Json | None) -> None:
        self._write(json.dumps(message).encode() + b"\n")

    def _write(self, data: bytes) -> None:
        left = memoryview(data)
        while left:
            if not select.select([], [self.input], [], _STUCK_S)[1]:
                raise self._failed(f"nothing has moved for {_STUCK_S:.0f} s")
            try:
                left = left[os.write(self.input, left) :]
            except BlockingIOError:
                continue
            except OSError:
                # What it said before it went is the reason.
                self._heard()
                raise self._failed("the connection ended") from None

    def _heard(self) -> Json:
        """The next line that is the host's."""
        until_s = time.monotonic() + _ANSWERS_S
        while True:
            line, found, rest = self._read.partition(b"\n")
            if found:
                self._read = rest
                if line.startswith(MARK.encode()):
                    said: Json = json.loads(line[len(MARK) :])
                    if "refused" in said:
                        self.close()
                        raise InputError(f"{self.seat.name}: {displayed(str(said['refused']))}")
                    return said
                continue
            if not select.select([self.output], [], [], max(0.0, until_s - time.monotonic()))[0]:
                raise self._failed(f"it has not answered for {_ANSWERS_S:.0f} s")
            piece = os.read(self.output, 1 << 16)
            if not piece:
                raise self._failed("the connection ended")
            self._read += piece

    def _failed(self, why: str) -> Exception:
        """Why there is no talk any more, in ssh's words where it has some."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(2.0)
        code = self._process.poll()
        said = self._words()
        self.close(within_s=0.0)
        if code:
            return failure(self.seat, code, said, self._launcher)
        return EngineError(f"{self.seat.name}: {why}.")
