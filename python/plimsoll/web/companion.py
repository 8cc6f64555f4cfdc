"""The companion of one run: a process beside it that shows it in a browser, or sends its metrics, or both, and ends with it.

Model: it reads the store like everybody, so that nothing it does or cannot do disturbs the run; the run's process only starts it. What it
is to do comes as a document over stdin; the address of the page goes to stdout as soon as it can be opened. After the run's last state was
sent to every browser, the page is told that nothing more comes, and the process ends. A collector is waited for as long as for one answer.
Limits: a browser that comes when the run has ended finds nobody; the report is there.

    echo '{"path": "results/2026-11-23T08-00-58_ramp", "live": true, "otlp": null}' | python -m plimsoll.web.companion
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, TypedDict

from plimsoll.errors import PlimsollError
from plimsoll.metrics.collector import ANSWER_S, Sender, collector
from plimsoll.metrics.progress import Measured
from plimsoll.store.reader import open_run

if TYPE_CHECKING:
    from plimsoll.web.app import Ending

#: How often it looks whether the run has ended.
LOOK_S = 0.3
#: A browser that was opened comes within so many seconds, and fetches within so many what it was told of last.
COMES_S = 10.0
FETCHES_S = 1.5


class Assignment(TypedDict):
    """What it is to do for the run at ``path``; ``otlp`` is the address of a collector."""

    path: str
    live: bool
    otlp: str | None


def main() -> int:
    """Until the run has ended."""
    asked: Assignment = json.load(sys.stdin)
    ended = threading.Event()
    threading.Thread(target=_watched, args=(asked["path"], ended), daemon=True).start()
    sending = None
    if asked["otlp"] is not None:
        measured = Measured()
        sender = Sender(collector(asked["otlp"]), lambda: measured.families([asked["path"]], also_ended=True), _say)
        sending = threading.Thread(target=sender.run, args=(ended,), daemon=True)
        sending.start()
    if asked["live"]:
        _shown(asked["path"], ended)
    else:
        _tell("")
        ended.wait()
    if sending is not None:
        sending.join(ANSWER_S)
    return 0


def _watched(path: str, ended: threading.Event) -> None:
    while True:
        try:
            if open_run(path).status != "running":
                break
        except PlimsollError:
            # It is gone, or it cannot be read: nothing more is to be seen of it.
            break
        time.sleep(LOOK_S)
    ended.set()


def _shown(path: str, ended: threading.Event) -> None:
    from plimsoll.web.app import Ending
    from plimsoll.web.server import Server, Settings

    ending = Ending(ended)
    folder, name = os.path.split(os.path.abspath(path))
    server = Server.prepared(Settings(folder, port=0, only=name, ending=ending))
    address = f"{server.addresses[0]}#{name}"
    opened = _opened(address)
    server.serve(lambda: _tell(address), lambda stop: _left(ending, stop, comes_s=COMES_S if opened else 0.0))


def _left(ending: Ending, stop: Callable[[], None], *, comes_s: float) -> None:
    """Stop once the run has ended and whoever follows it knows."""
    ending.ended.wait()
    until_s = time.monotonic() + comes_s
    while not ending.seen and time.monotonic() < until_s:
        time.sleep(LOOK_S)
    if ending.seen:
        until_s = time.monotonic() + COMES_S
        while ending.following and time.monotonic() < until_s:
            time.sleep(LOOK_S / 3)
        time.sleep(FETCHES_S)
    stop()


def _opened(address: str) -> bool:
    """Whether a browser was opened: only where there is a display."""
    if not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        return False
    import webbrowser

    return webbrowser.open(address)


def _tell(address: str) -> None:
    """To the process that started this one: everything is ready."""
    sys.stdout.write(f"{address}\n")
    sys.stdout.flush()


def _say(sentence: str) -> None:
    sys.stderr.write(f"plimsoll: {sentence}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main())
