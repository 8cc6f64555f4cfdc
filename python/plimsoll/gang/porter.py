"""On a node of a cluster that runs already: brings a host up and carries its calls; handed over whole, since the node has no Plimsoll.

Model: an actor of Ray's, pinned to the node, that goes with whoever made it. It starts a process that is a child of nobody there (Ray kills
the children of an actor that ends) and passes on what that says, as ssh does: so `plimsoll.gang.arrival` brings Plimsoll, and a keeper and
a worker hang on a pipe that closes with the actor. From then on it answers for the worker's relay. It also looks at where Ray listens on
its node. Ray runs actors with a low priority, which the process gives up where it may.
Limits: the standard library alone, and what is handed over with it; `plimsoll.gang.guest` says what that is.

    porter = ray.remote(Porter).options(scheduling_strategy=...).remote()
    porter.begin.remote(None, "print('here')")
"""

from __future__ import annotations

import base64
import os
import select
import shutil
import subprocess
import sys
import tempfile
from contextlib import suppress
from typing import Any

from plimsoll.gang.exposure import open_to_runners

_PIECE = 1 << 18
_LEASE = "lease"
#: Becomes what its words say, a child of nobody here, as if Ray had not started it.
_FREE = """import os, sys
if os.fork():
    os._exit(0)
os.setsid()
for path, text in (("/proc/self/oom_score_adj", "0"),):
    try:
        open(path, "w").write(text)
    except OSError:
        pass
try:
    os.setpriority(os.PRIO_PROCESS, 0, 0)
except OSError:
    pass
os.execvp(sys.argv[1], sys.argv[1:])
"""


class Porter:
    """See the module."""

    def __init__(self) -> None:
        self._input = self._output = self._said = -1
        self._relay: Any = None
        self._held: Any = None

    def introduce(self) -> dict[str, Any]:
        """Who is asked."""
        return {"pid": os.getpid(), "python": sys.executable}

    def exposed(self, session: str) -> list[str]:
        """Where Ray would let somebody run something here who has neither certificate nor token; ``session`` is its directory."""
        name = os.uname().nodename
        return [f"{address} of {name}" for address in open_to_runners(session)]

    def begin(self, python: str | None, text: str) -> bool:
        """Have a Python of this node run a text, whose input and output are passed on; whether there is one."""
        python = python or sys.executable
        if shutil.which(python) is None:
            return False
        theirs_in, self._input = os.pipe()
        self._output, theirs_out = os.pipe()
        self._said, theirs_said = os.pipe()
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("RAY_", "PYTHON")) and name != "OMP_NUM_THREADS"}
        starting = subprocess.Popen(
            [sys.executable, "-I", "-c", _FREE, python, "-c", text],
            stdin=theirs_in, stdout=theirs_out, stderr=theirs_said, env=kept, cwd=tempfile.gettempdir(),
        )  # fmt: skip
        for end in (theirs_in, theirs_out, theirs_said):
            os.close(end)
        starting.wait()
        return True

    def pour(self, piece: str) -> None:
        """Into its input, in base64; what nobody reads any more is lost, which `drawn` tells."""
        left = memoryview(base64.b64decode(piece))
        with suppress(OSError):
            while left:
                left = left[os.write(self._input, left) :]

    def shut(self) -> None:
        """Its input ends."""
        if self._input >= 0:
            os.close(self._input)
            self._input = -1

    def drawn(self, patience_s: float) -> dict[str, Any]:
        """What it has said, in base64, and whether that was all; waits so long for some."""
        found = {}
        ends = {"out": self._output, "said": self._said}
        ready = select.select([end for end in ends.values() if end >= 0], [], [], patience_s)[0]
        for name, end in ends.items():
            if end in ready:
                piece = os.read(end, _PIECE)
                found[name] = base64.b64encode(piece).decode("ascii")
                if not piece:
                    os.close(end)
                    self._output, self._said = (-1, self._said) if name == "out" else (self._output, -1)
        return {**found, "ended": self._output < 0 and self._said < 0}

    def attend(self, environment: str, folder: str) -> None:
        """From now on answer for the relay of the worker in ``folder``, with the Plimsoll that was carried here."""
        sys.path.insert(0, environment)
        from plimsoll.gang.relay import Relay

        self._relay = Relay(folder)
        # By what it holds open the gang knows it as one of its processes: its cost is counted, and it goes with the gang.
        self._held = open(os.path.join(folder, _LEASE), "rb")  # noqa: SIM115

    def send(self, request: Any) -> None:
        """As a relay does; so all that follow."""
        self._relay.send(request)

    def events(self, after: int, patience_s: float) -> Any:
        return self._relay.events(after, patience_s)

    def clock(self) -> Any:
        return self._relay.clock()

    def files(self, path: str) -> Any:
        return self._relay.files(path)

    def piece(self, path: str, offset: int) -> Any:
        return self._relay.piece(path, offset)
