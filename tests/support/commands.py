"""The ``plimsoll`` command for tests that run it by the hundred: each run is a process of its own that begins with everything imported.

Model: one process imports the package, as it is installed, and forks for each command; the child gets arguments, working directory,
environment and streams of its own and enters where the installed command does. What a start costs, two thirds of a short run, is paid once.
Nor does a child take apart what all of them share, which would be most of the rest: it waits for its threads, calls what asked to be called at
the end, flushes its streams and is gone.
Limits: what is about the start itself (imports, a signal in the middle of them, what an interpreter makes of its environment) needs the
installed command, which is `system.conftest.COMMAND`.

    with Commands(folder) as commands:
        commands.run(["list", "--json"]).stdout
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import pkgutil
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import NoReturn, Self

from support.patience import HANGS_S

_SERVER = "from support.commands import serve; serve()"
_TESTS = Path(__file__).resolve().parents[1]


class Commands:
    """Runs commands one after the other; their streams go through files in ``folder``."""

    def __init__(self, folder: Path) -> None:
        self._out, self._err = folder / "stdout", folder / "stderr"
        self._free = threading.Lock()
        environment = {**os.environ, "PYTHONPATH": str(_TESTS)}
        self._server = subprocess.Popen(
            [sys.executable, "-c", _SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )

    def run(self, arguments: Sequence[str]) -> subprocess.CompletedProcess[str]:
        """Run ``plimsoll ARGUMENTS`` here and now, and wait for it; raises `subprocess.TimeoutExpired` for what hangs."""
        assert self._free.acquire(blocking=False), "commands run one after the other; what runs beside another is for COMMAND"
        try:
            return self._run(arguments)
        finally:
            self._free.release()

    def _run(self, arguments: Sequence[str]) -> subprocess.CompletedProcess[str]:
        to, from_ = self._server.stdin, self._server.stdout
        assert to is not None and from_ is not None
        asked = {"arguments": arguments, "folder": os.getcwd(), "environment": dict(os.environ)}
        to.write(json.dumps({**asked, "stdout": str(self._out), "stderr": str(self._err)}) + "\n")
        to.flush()
        pid = int(from_.readline())
        hangs = threading.Timer(HANGS_S, os.kill, (pid, 9))
        hangs.start()
        code = int(from_.readline())
        if hangs.finished.is_set():
            raise subprocess.TimeoutExpired(["plimsoll", *arguments], HANGS_S)
        hangs.cancel()
        return subprocess.CompletedProcess(["plimsoll", *arguments], code, self._out.read_text(), self._err.read_text())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None) -> None:
        assert self._server.stdin is not None and self._server.stdout is not None
        self._server.stdin.close()
        self._server.stdout.close()
        self._server.wait()


def serve() -> None:
    """Fork for each line of stdin, and say pid and exit code; ends with stdin."""
    import plimsoll

    for module in pkgutil.walk_packages(plimsoll.__path__, "plimsoll."):
        importlib.import_module(module.name)
    # What is there already is no garbage of any child, and stays in pages that all of them share.
    gc.collect()
    gc.freeze()
    for line in sys.stdin:
        asked = json.loads(line)
        pid = os.fork()
        if pid == 0:
            _end(_command(asked))
        print(pid, flush=True)
        _, status = os.waitpid(pid, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)
    _end(0)


def _end(code: int) -> NoReturn:
    """As an interpreter ends whose program returned, without the modules taken apart."""
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _command(asked: dict[str, object]) -> int:
    from plimsoll.__main__ import main

    for number, name in enumerate((os.devnull, asked["stdout"], asked["stderr"])):
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC if number else os.O_RDONLY
        file = os.open(str(name), flags, 0o600)
        os.dup2(file, number)
        os.close(file)
    os.chdir(str(asked["folder"]))
    environment, arguments = asked["environment"], asked["arguments"]
    assert isinstance(environment, dict) and isinstance(arguments, list)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = ["plimsoll", *arguments]
    return main()
