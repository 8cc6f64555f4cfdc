"""Goals for mail users: tasks that one core drives beside those that one core of Dovecot serves, and what the client adds to a round trip.

Model: few users read, list, move and delete messages, once at a stub that gives null answers (`mail_stub.rs`), once on a private Dovecot.
Plimsoll's own threads say what they took of processors, the kernel what Dovecot's processes took, from their start to their end; tasks over
each are compared, because other load on the machine changes neither. Round trips are those of one user who searches, and those of the
barest client there is, which blocks on one socket and does the same, in turn: at Dovecot a thousand times a second, and with pauses of some
ten µs at the stub, where a round trip is little more than two wake-ups. What an event loop for thousands of users takes beside is a wait
before each read. Were the next search due while an answer is awaited, its alarm would be measured as well.
Limits: starting and logging in count for Dovecot, so a round lasts `SECONDS_MIN` at least. Letters are not sent, so Postfix has nothing to
do. Round trips are by the clock: load on the machine changes both.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from plimsoll.apps.mail.programs import programs
from plimsoll.apps.mail.server import PrivateMail
from plimsoll.errors import PlimsollError
from speed import process
from speed.process import BenchError
from speed.row import Row, unmeasured
from speed.setting import Setting

TASKS = "read=60,check-inbox=20,move=10,delete=10"
#: The same twenty times as often, so that users of a stub always have something to do.
BUSY = "read=1200,check-inbox=400,move=200,delete=200"
TASKS_GOAL, ROUND_TRIP_GOAL = 5.0, 1.10
SECONDS_MIN = 5.0
_STUB = Path(__file__).with_name("mail_stub.rs")
_CLIENT = Path(__file__).with_name("mail_client.py")


def rows(setting: Setting) -> list[Row]:
    """All goals of this group; what cannot be measured here is said."""
    if shutil.which("rustc") is None:
        return [unmeasured("mail", "there is no rustc to build the stub of an IMAP server with")]
    with tempfile.TemporaryDirectory(prefix="plimsoll-bench-", dir="/var/tmp") as made:
        stub = Path(made) / "mail_stub"
        process.run(["rustc", "-O", "-o", str(stub), str(_STUB)])
        with _served(stub) as port:
            return [_tasks(setting, port), *_round_trips(setting, stub, port)]


@contextmanager
def _served(stub: Path) -> Iterator[str]:
    """The port at which the stub answers meanwhile."""
    with subprocess.Popen([str(stub), "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as served:
        assert served.stdout is not None and served.stdin is not None
        try:
            yield served.stdout.readline().strip()
        finally:
            served.stdin.close()


def _tasks(setting: Setting, port: str) -> Row:
    what, unit = "mail users: tasks of one core at null answers, over those that one core of Dovecot serves", "×"
    try:
        programs()
    except PlimsollError as missing:
        return Row(what, "at least", TASKS_GOAL, unit, None, str(missing))
    seconds = max(setting.seconds, 2.0)
    found = setting.interleaved(
        "mail users: tasks",
        {"null": lambda _: (_asked(port, seconds, 16, BUSY, "x")[0], 0.0), "dovecot": lambda number: _tasks_per_cpu_s(setting, number)},
    )
    null = median(own for own, _ in found["null"])
    own, served = (median(pair[place] for pair in found["dovecot"]) for place in (0, 1))
    ratio = median(one / other for (one, _), (_, other) in zip(found["null"], found["dovecot"], strict=True))
    detail = f"tasks per CPU-second: {null:,.0f} of Plimsoll at null answers, {own:,.0f} at Dovecot's, {served:,.0f} of Dovecot"
    return Row(what, "at least", TASKS_GOAL, unit, ratio, f"{detail}; {len(found['null'])} rounds")


def _tasks_per_cpu_s(setting: Setting, number: int) -> tuple[float, float]:
    """Of Plimsoll and of the server."""
    target = f"--target=mail:new:/tmp/plimsoll-bench-mail-{number}"  # the server's user has to reach it
    wanted = ["users=16", "speed=20000", f"tasks={TASKS}", "inbox_messages=200", "folders=1", "sizes=4KiB", "warmup=0s"]
    words = ["run", "mail-medium", target, f"--duration={max(setting.seconds, SECONDS_MIN):g}s", *(f"--set={one}" for one in wanted)]
    result = setting.plimsoll.result(process.run([setting.plimsoll.command, *words, f"--out={setting.plimsoll.out}", "--json"]))
    tasks = sum(total["count"] for total in result["totals"].values())
    engine = result["engine"]
    return tasks / max(sum(engine["cpu_ns"].values()) / 1e9, 1e-9), tasks / max(engine["mail"]["servers_cpu_s"], 1e-9)


def _asked(port: str, seconds: float, users: int, tasks: str, password: str) -> tuple[float, float]:
    """Tasks per CPU-second of users at a port, and the median time of one in nanoseconds."""
    words = [port, f"{seconds:g}", str(users), tasks, password]
    count, cpu_s, median_ns = json.loads(process.run([sys.executable, "-P", str(_CLIENT), *words]).stdout)
    if not count:
        raise BenchError("mail users did nothing at a stub that answers everything.")
    return count / cpu_s, median_ns


@dataclass(frozen=True)
class _Peer:
    """A server, how often one user searches there, and the bare loop's pause that makes it as often."""

    name: str
    port: str
    password: str
    tasks: str
    pause_us: int


def _round_trips(setting: Setting, stub: Path, port: str) -> list[Row]:
    """At Dovecot, where there is one, and at the stub."""
    found = [_round_trip(setting, stub, _Peer("a stub that answers at once", port, "x", "search=5000", 45))]
    with suppress(PlimsollError), _dovecot() as (at, password):
        found.insert(0, _round_trip(setting, stub, _Peer("Dovecot", at, password, "search=288", 1000)))
    return found


@contextmanager
def _dovecot() -> Iterator[tuple[str, str]]:
    """Port and password of a private server without mail."""
    with tempfile.TemporaryDirectory(prefix="plimsoll-bench-", dir="/tmp") as made:  # the server's user has to reach it
        os.chmod(made, 0o755)  # noqa: S103
        server = PrivateMail(f"{made}/mail", made)
        server.start()
        try:
            yield server.imap.rpartition(":")[2], server.password
        finally:
            server.stop()


def _round_trip(setting: Setting, stub: Path, peer: _Peer) -> Row:
    seconds, where = max(setting.seconds, 1.0), peer.name
    bare = [str(stub), "ask", peer.port, f"{seconds:g}", peer.password, str(peer.pause_us)]
    found = setting.interleaved(
        f"mail users: round trips at {where}",
        {
            "bare": lambda _: float(process.run(bare).stdout.split()[0]),
            "plimsoll": lambda _: _asked(peer.port, seconds, 1, peer.tasks, peer.password)[1],
        },
        setting.rounds * 2,
    )
    ratio = median(own / other for own, other in zip(found["plimsoll"], found["bare"], strict=True))
    own, other = (median(found[name]) / 1e3 for name in ("plimsoll", "bare"))
    what = f"mail users: median IMAP round trip at {where}, over that of a bare socket loop"
    return Row(what, "at most", ROUND_TRIP_GOAL, "×", ratio, f"{own:.1f} µs against {other:.1f} µs; {len(found['bare'])} rounds")
