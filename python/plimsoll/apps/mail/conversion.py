"""Turns mailboxes that were laid out as Maildir into another format of Dovecot's, by Dovecot itself.

Model: a user's directory holds what was laid out; ``doveadm import`` reads it into the directory of the other format below, folders
without messages are made, then the Maildir is removed. A user whose Maildir is still there was not finished, and is begun again.
Limits: the server runs meanwhile.

    convert(server, on_progress, control)             # /mnt/array/mail/mail/mailboxes/u0/sdbox has everything that was in u0
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from plimsoll.apps.mail.server import PrivateMail
from plimsoll.engine.protocol import Control
from plimsoll.errors import Interrupted, TargetError

_AT_ONCE = 4
_DOVEADM = "/usr/bin/doveadm"


def convert(server: PrivateMail, on_progress: Callable[[int], None], control: Control) -> None:
    """Convert every user who is not, and tell what percentage of them is; raises `TargetError` with Dovecot's words where that fails."""
    with os.scandir(server.mailboxes) as homes:
        waiting = sorted(home.path for home in homes if os.path.isdir(os.path.join(home.path, "cur")))
    if not waiting:
        return
    server.start(lambda: control.stopped)
    try:
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            for done, _ in enumerate(pool.map(lambda home: _user(server, home, control), waiting), start=1):
                on_progress(done * 100 // len(waiting))
    finally:
        server.stop()


def _user(server: PrivateMail, home: str, control: Control) -> None:
    if control.stopped:
        raise Interrupted(f"{server.directory}: stopped while mailboxes were converted")
    new = os.path.join(home, server.choices.format)
    shutil.rmtree(new, ignore_errors=True)
    _doveadm(server, home, "import", "-u", os.path.basename(home), f"maildir:{home}", "", "all")
    empty = [name[1:] for name in os.listdir(home) if name.startswith(".") and not os.listdir(os.path.join(home, name, "cur"))]
    if empty:
        _doveadm(server, home, "mailbox", "create", "-u", os.path.basename(home), *empty)
    for name in os.listdir(home):
        path = os.path.join(home, name)
        if path != new and name != "cur":
            shutil.rmtree(path) if os.path.isdir(path) else os.unlink(path)
    # What says that the user is not finished goes last.
    shutil.rmtree(os.path.join(home, "cur"))


def _doveadm(server: PrivateMail, home: str, *words: str) -> None:
    command = [shutil.which("doveadm") or _DOVEADM, "-c", server.configured, *words]
    told = subprocess.run(command, capture_output=True, text=True, check=False, **server.user.options)
    if told.returncode:
        said = (told.stderr.strip().splitlines() or ["it said nothing"])[-1].rstrip(".")
        raise TargetError(f"{home}: Dovecot cannot turn the mailbox into {server.choices.format}: {said}.")
