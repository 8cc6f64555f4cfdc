"""A shell at a terminal of its own, into which a line is typed as a user types it, Tab included.

Model: the shell binds Ctrl-X to showing what its line holds by now, so a test types a line, Tab and Ctrl-X, and reads the answer. Nothing is
carried out. A shell that does not answer within the patience of the tests fails.

    with bash(script, folder, path) as shell:
        shell.completed("plimsoll run olt")        # "plimsoll run oltp-db "
"""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
import time
from pathlib import Path
from types import TracebackType

from support.patience import HANGS_S

TAB, SHOW, CLEAR = "\t", "\x18", "\x15"


class Typing:
    """A shell that waits for what is typed."""

    def __init__(self, command: list[str], setup: str, folder: Path, path: str) -> None:
        self._master, slave = pty.openpty()
        home = {"HOME": str(folder), "PATH": path, "TERM": "dumb", "LC_ALL": "C.UTF-8", "INPUTRC": "/dev/null", "COLUMNS": "200"}
        self._process = subprocess.Popen(
            command, stdin=slave, stdout=slave, stderr=slave, cwd=folder, env=home, close_fds=True, start_new_session=True
        )
        os.close(slave)
        self._type(f"{setup}\n")
        self._type("echo rea''dy\n")
        self._until(r"(?m)^ready")

    def completed(self, line: str) -> str:
        """What the line holds after Tab."""
        self._type(CLEAR + line + TAB + SHOW)
        return self._until(r"<<([^\r\n]*)>>")

    def _type(self, text: str) -> None:
        os.write(self._master, text.encode())

    def _until(self, pattern: str) -> str:
        seen, ends = "", time.monotonic() + HANGS_S
        while time.monotonic() < ends:
            if select.select([self._master], [], [], 0.1)[0]:
                seen += os.read(self._master, 65536).decode(errors="replace")
                if found := re.search(pattern, seen):
                    return found[1] if found.groups() else found[0]
        raise AssertionError(f"the shell did not answer; it said {seen!r}")

    def __enter__(self) -> Typing:
        return self

    def __exit__(self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._master)


def bash(script: Path, folder: Path, path: str) -> Typing:
    """A bash that has read the script."""
    show = 'bind -x \'"\\C-x": printf "<<%s>>\\n" "$READLINE_LINE"\''
    return Typing(["bash", "--norc", "--noprofile", "-i"], f"PS1=; bind 'set bell-style none'; source {script}; {show}", folder, path)


def zsh(script: Path, folder: Path, path: str) -> Typing:
    """A zsh that has read the script."""
    show = "show() { print -r -- \"<<$BUFFER>>\" }; zle -N show; bindkey -e; bindkey '^X' show; bindkey '^U' kill-whole-line"
    setup = f"PS1=; unsetopt beep; autoload -Uz compinit; compinit -u -D; source {script}; {show}"
    return Typing(["zsh", "-f", "-i"], setup, folder, path)
