"""On a host, at the other end of an ssh connection: answers for its relay, or for what a gang has stored there, in lines of JSON.

Model: every request has a number, and is answered by a thread of its own, so that one that waits for news holds up none. `relay NEST/HOST`
answers what a relay does; `store GANG/HOST` what was stored by a gang that is gone. It ends with its standard input,
or when nobody has asked for 20 s.

    python -m plimsoll.gang.attendant relay /tmp/plimsoll-gang-x1/db1
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from typing import Any

from plimsoll.gang.local_remains import LocalRemains
from plimsoll.gang.nest import LEASE
from plimsoll.gang.relay import Relay
from plimsoll.orphans import gangs_folder
from plimsoll.stored import Json

#: Nobody has asked for so long: the cable may have been cut, which nobody says. A relay is asked all the time; what is stored is read from
#: one host after the other, on machines that may be busy.
_PATIENCE_S = {"relay": 20.0, "store": 300.0}


class _Desk:
    """Takes requests from standard input and has them answered."""

    def __init__(self, answering: Any, patience_s: float) -> None:
        self._answering = answering
        self._patience_s = patience_s
        self._saying = threading.Lock()
        self._asked_s = time.monotonic()

    def serve(self) -> None:
        threading.Thread(target=self._leave_unasked, daemon=True).start()
        for line in sys.stdin.buffer:
            self._asked_s = time.monotonic()
            request = json.loads(line)
            if request["verb"] == "clock":
                self._answer(request)
            else:
                threading.Thread(target=self._answer, args=(request,), daemon=True).start()

    def _leave_unasked(self) -> None:
        while time.monotonic() - self._asked_s < self._patience_s:
            time.sleep(1.0)
        os._exit(1)

    def _answer(self, request: Json) -> None:
        try:
            answer: Json = {"value": getattr(self._answering, request["verb"])(*request["arguments"])}
        except (OSError, ValueError, AttributeError) as problem:
            answer = {"failed": str(problem)}
        text = json.dumps({**answer, "id": request["id"]}, separators=(",", ":"))
        with self._saying:
            sys.stdout.write(text + "\n")
            sys.stdout.flush()


def _relay(folder: str) -> Relay:
    """The relay, once its worker is there."""
    until_s = time.monotonic() + 30.0
    while not os.path.exists(os.path.join(folder, LEASE)) and time.monotonic() < until_s:
        time.sleep(0.02)
    return Relay(folder)


def main(kind: str, place: str) -> int:
    """Answer until nobody asks any more."""
    answering = _relay(place) if kind == "relay" else LocalRemains(os.path.join(gangs_folder(), place))
    _Desk(answering, _PATIENCE_S[kind]).serve()
    # Threads that wait for news end with the process.
    os._exit(0)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
