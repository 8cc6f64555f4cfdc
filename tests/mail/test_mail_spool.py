"""The mail spool without a server does to storage what Dovecot does, in its order: both are watched by strace."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from plimsoll.apps.mail.server import Choices, PrivateMail
from plimsoll.apps.user import User
from support.patience import HANGS_S

#: Calls that change what is on storage, or make it durable.
CALLS = "openat,openat2,write,pwrite64,fsync,fdatasync,close,rename,renameat,renameat2,unlink,unlinkat"
#: Each thread writes into a file of its own, so that no line is cut by another's.
TRACED = [
    "strace",
    "--interruptible=anywhere",
    "--follow-forks",
    "--output-separately",
    "--quiet=all",
    "--decode-fds=path",
    "--string-limit=8",
    f"--trace={CALLS}",
]
LMTP = next((path for path in ("/usr/lib/dovecot/lmtp", "/usr/libexec/dovecot/lmtp") if os.access(path, os.X_OK)), "")
_CALL = re.compile(r"^(\w+)\((.*)\)\s+= (-?\d+)")
_DELIVERED = b"Subject: x\r\n\r\n" + (b"y" * 70 + b"\r\n") * 30


def done_to(trace: Path, roles: dict[str, str]) -> dict[str, list[str]]:
    """By thread, the calls on files that have a role: a regular expression of the path, and its name. Writing in several calls is one."""
    return {path.suffix: _done(path.read_text(errors="replace"), roles) for path in trace.parent.glob(f"{trace.name}.*")}


def _done(text: str, roles: dict[str, str]) -> list[str]:
    found: list[str] = []
    for call in filter(None, map(_CALL.match, text.splitlines())):
        name, words = call[1], call[2]
        if int(call[3]) < 0:
            continue
        if name.startswith("open") and "O_CREAT" not in words:
            continue
        role = next((role for pattern, role in roles.items() if re.search(pattern, _subject(name, words))), None)
        verb = {"openat": "create", "openat2": "create", "pwrite64": "write"}.get(name, re.sub("at2?$", "", name))
        done = f"{verb} {role}"
        # Whether it is kept open from one message to the next is no matter of storage.
        if role is not None and done not in ("close list", "close directory") and found[-1:] != [done]:
            found.append(done)
    return found


def _subject(name: str, words: str) -> str:
    """The path that a call is about: that of a descriptor, or a name below one."""
    below = re.match(r'(?:AT_FDCWD|\d+)(?:<([^>]*)>)?, "([^"]*)"', words)
    if below is None or name in ("write", "pwrite64"):
        named = re.match(r'\d+<([^>]*)>|"([^"]*)"', words)
        return "" if named is None else named[1] or named[2]
    return below[2] if below[2].startswith("/") else f"{below[1] or ''}/{below[2]}"


def deliveries(done: list[str]) -> list[list[str]]:
    """Cut where a message is made."""
    starts = [at for at, what in enumerate(done) if what == "create message"]
    return [done[start:end] for start, end in zip(starts, [*starts[1:], len(done)], strict=True)]


class TracedMail(PrivateMail):
    """Dovecot whose part that delivers is watched."""

    trace: Path

    def _written(self, name: str, text: str, user: User) -> str:
        watched = " ".join([shutil.which("strace") or "", *TRACED[1:], f"--output={self.trace}", LMTP])
        return super()._written(name, text.replace("service lmtp {", f"service lmtp {{\n  executable = {watched}"), user)


@contextmanager
def dovecot(place: Path) -> Iterator[TracedMail]:
    server = TracedMail(str(place / "mail"), str(place), Choices(fsync="optimized"))
    (place / "traces").mkdir()
    (place / "traces").chmod(0o777)
    server.trace = place / "traces" / "dovecot"
    server.start()
    try:
        yield server
    finally:
        server.stop()


def by_dovecot(place: Path) -> list[str]:
    """What Dovecot does for a message when the mailbox is there."""
    import smtplib

    with dovecot(place) as server:
        lmtp = smtplib.LMTP(f"{server._gate}/lmtp")
        for _ in range(3):
            lmtp.sendmail("a@plimsoll.invalid", ["u1@plimsoll.invalid"], _DELIVERED)
        lmtp.quit()
    roles = {
        r"/u1/(tmp/|new/[^/]+$)": "message",
        r"/u1/new$": "directory",
        r"/u1/dovecot-uidlist$": "list",
        r"/u1/dovecot-uidlist\.lock$": "lock",
    }
    (done,) = (calls for calls in done_to(server.trace, roles).values() if "create message" in calls)
    *_, last = deliveries(done)
    return last


def by_plimsoll(place: Path) -> list[list[str]]:
    """What Plimsoll does for each message."""
    trace, spool = place / "plimsoll.trace", place / "spool"
    small = ["mailboxes.depth=1", "mailboxes.width=3", "tmp.depth=1", "tmp.width=3", "lists.depth=1", "lists.width=3", "sizes=2KiB"]
    job = ["delivery.threads=1", "delivery.requests=20", "readers.threads=1", "readers.requests=1", "warmup=0", "duration=10m"]
    command = [sys.executable, "-m", "plimsoll", "run", "mail-spool", "-t", str(spool), "--out", str(place / "results"), "--quiet"]
    for one in (*small, *job):
        command += ["--set", one]
    ran = subprocess.run([*TRACED, f"--output={trace}", *command], capture_output=True, text=True, check=False, timeout=HANGS_S)
    assert ran.returncode == 0, ran.stderr
    roles = {
        rf"{spool}/tmp/": "message",
        rf"{spool}/mailboxes/d\d+$": "directory",
        rf"{spool}/lists/.*f\d+$": "list",
        rf"{spool}/lists/.*f\d+\.r$": "lock",
    }
    found = done_to(trace, roles)
    # Laying out makes files as well, but renames none.
    (done,) = (calls for calls in found.values() if "rename message" in calls)
    return deliveries(done)


@pytest.mark.usefixtures("mail_server")
def test_a_delivery_makes_flushes_and_renames_in_the_order_that_dovecot_does(place: Path) -> None:
    if shutil.which("strace") is None:
        pytest.skip("there is no strace to watch Dovecot with; apt-get install strace")
    seen = by_dovecot(place)
    assert seen[:4] == ["create message", "write message", "fsync message", "close message"], seen
    assert seen.index("rename message") < seen.index("fdatasync directory") < seen.index("fdatasync list"), seen
    ours = by_plimsoll(place)
    assert len(ours) >= 3
    for one in ours:
        assert one == seen
