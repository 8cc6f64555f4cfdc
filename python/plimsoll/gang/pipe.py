"""What stands in ssh's place where hosts are nodes of a Ray cluster: its input goes to a Python there, and what that says comes out here.

Model: a process beside the command, for each host, which asks the guest (`plimsoll.gang.guest`); the guest asks the porter on the node. It
ends as what it carries ends, with its input, or when nothing is heard of the node any more.

    python -m plimsoll.gang.pipe /tmp/plimsoll-gang-x1 db1 7000 < arrival.py
"""

from __future__ import annotations

import base64
import os
import sys
import threading
from typing import Any

from plimsoll.gang.line import LineLost
from plimsoll.gang.switchboard import line_in

_NO_PYTHON, _LOST = 127, 1
_PIECE = 1 << 18
_PATIENCE_S = 1.0
#: A node on which nothing moves for that long is lost.
_MOVES_S = 60.0
#: How long an answer may take.
_ANSWERS_S = 10.0


def main(nest: str, host: str, length: str, python: str = "") -> int:
    """Pass on until what runs there has ended."""
    line = line_in(nest, host)
    text = f"import sys; exec(compile(sys.stdin.buffer.read({int(length)}), 'arrival', 'exec'), {{'__name__': 'arrival'}})"
    try:
        if not line.call("begin", python or None, text, within_s=_MOVES_S):
            return _NO_PYTHON
        threading.Thread(target=_pour, args=(line,), daemon=True).start()
        while True:
            found = line.call("drawn", _PATIENCE_S, within_s=_ANSWERS_S)
            for name, stream in (("out", 1), ("said", 2)):
                left = memoryview(base64.b64decode(found.get(name, "")))
                while left:
                    left = left[os.write(stream, left) :]
            if found["ended"]:
                return 0
    except LineLost as lost:
        sys.stderr.write(f"{lost}\n")
        return _LOST
    except OSError as problem:
        sys.stderr.write(f"{problem}\n")
        return _LOST


def _pour(line: Any) -> None:
    """Standard input, to its end."""
    try:
        while piece := os.read(0, _PIECE):
            line.call("pour", base64.b64encode(piece).decode("ascii"), within_s=_MOVES_S)
        line.call("shut", within_s=_ANSWERS_S)
    except (LineLost, OSError):
        # The other thread hears of it as well, and says so.
        return


if __name__ == "__main__":
    code = main(*sys.argv[1:])
    sys.stderr.flush()
    # The thread that waits for input ends with the process.
    os._exit(code)
