"""A mail server of the user's own: mailboxes of the users whom a file names, prepared, worked with, read back and left as they were.

Model: everything is done by IMAP and SMTP, as the users themselves could. Folders of ours have names of their own (`PREFIX`); in the inbox
only messages with our mark are touched that come after everybody else's. Letters are looked for until all are there, since nobody tells how
long such a server's queue is. At the end marked messages are taken out and our folders removed.
Limits: mail that others send to these users while they are worked as may be moved or marked as read; so such accounts are for tests.
Without UIDPLUS (RFC 4315), what was taken out stays marked as deleted until somebody expunges it.

    own = OwnMail(address.own, users_of(address), definition)
    own.check(); own.prepare(on_progress, control)
    Day(own, native_mail()).pass_(job, on_event, control)
    own.clear()
"""

from __future__ import annotations

import imaplib
import os
import shutil
import smtplib
import socket
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

from plimsoll.apps.mail.accounting import Mark, accounted
from plimsoll.apps.mail.address import OwnServer, Service, parse
from plimsoll.apps.mail.reader import Door, Login, folders, marked, marks_by_imap, said, trusting
from plimsoll.apps.mail.users import User, users_of
from plimsoll.engine.mail import native_mail
from plimsoll.engine.protocol import Control, OnProgress
from plimsoll.errors import InputError, Interrupted, TargetError
from plimsoll.monitor.listeners import listeners
from plimsoll.stored import Inspection, Json
from plimsoll.target import Target

PREFIX = "plimsoll-"
#: What letters that a mailbox begins with name as their run.
_LAID_OUT = "laid-out"
_AT_ONCE = 4
#: How long a server may take to answer before a task has failed.
_TIMEOUT_S = 60.0
#: How long letters may be on their way.
_DELIVERY_S = 120.0


class OwnMail:
    """See the module. ``definition`` is the canonical workload; of the users as many are taken as it has."""

    read_when_stopped = False
    queue = ""
    delivery_log = None
    #: Its disks are not seen from here.
    room = None
    #: What the user's server takes of processors is not known.
    cpu_s = 0.0

    def __init__(self, server: OwnServer, users: Sequence[User], definition: Mapping[str, Any]) -> None:
        self._server, self._definition = server, definition
        wanted = sum(stream["users"] for stream in definition["stream"])
        if wanted > len(users):
            raise InputError(f"{server.users}: {wanted:,} users are to work, and the file names {len(users):,}; name more, or lower users.")
        if definition["kill"] != "none":
            raise InputError("kill is for private servers (mail:new:DIR); Plimsoll does not kill a server of yours.")
        self._users = list(users[:wanted])
        self.home = ""
        self.names: list[str] = []
        self._door = _door(server)

    def check(self) -> None:
        """Raise the sentence of what keeps the first user from logging in, at either server."""
        first = self._users[0]
        with self._door.opened(_login(first)):
            pass
        where = self._server.submission
        try:
            with self._smtp(where) as smtp:
                smtp.login(first.name, first.password)
        except (OSError, smtplib.SMTPException) as problem:
            told = _of_smtp(problem).replace(first.password, "***")
            raise TargetError(f"user {first.name} cannot send at the SMTP server at {where}: {told}.") from None

    def prepare(self, on_progress: OnProgress, control: Control) -> None:
        """Make the folders that are lacking, and fill them and the inbox with what is lacking."""
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            done = 0
            for written in pool.map(lambda each: self._lay_out(each[0], each[1], control), enumerate(self._users)):
                done += written
                on_progress(done, done)

    def clear(self) -> list[str]:
        """Take out what carries our mark, and our folders; what was removed, in words."""
        return _cleared(self._door, self._users)

    def start(self, stopped: Callable[[], bool]) -> None:
        """Nothing is started: the server runs. The ledger gets a place."""
        self.home = tempfile.mkdtemp(prefix="plimsoll-mail-")

    def stop(self) -> None:
        """Nothing is stopped."""

    def close(self) -> None:
        """The ledger is not needed any more."""
        if self.home:
            shutil.rmtree(self.home, ignore_errors=True)
            self.home = ""

    def processes(self) -> list[int]:
        """The servers' processes, where they run on this host and we may see them."""
        return [pid for service in (self._server.imap, self._server.submission) for pid in listeners(service.host, service.port)]

    def died(self) -> str | None:
        """What becomes of the server is not ours to watch."""
        return None

    def kill(self, name: str) -> None:
        """Never called: there is nothing that may be killed."""

    def revive(self, name: str) -> None:
        """Never called."""

    def queued(self) -> int:
        """Nobody tells."""
        return 0

    def stuck(self, seconds: float) -> str:
        """The sentence for a queue that does not become empty."""
        return f"letters are queued {seconds:g} s after the last task."

    def facts(self) -> dict[str, str]:
        """Where the servers are, and how they are spoken to; never a password."""
        imap, smtp = self._server.imap, self._server.submission
        return {
            "IMAP server": f"{imap} ({_words(imap)})",
            "letters go by": f"SMTP to {smtp} ({_words(smtp)})",
            "mailbox format": "not known",
            "mail_fsync": "not known",
        }

    def seen_by_users(self, users: int) -> Json:
        """The servers and accounts as the users' programs know them."""
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            firsts = list(pool.map(self._first_uid, self._users[:users]))
        return {
            "imap": _seen(self._server.imap),
            "submission": _seen(self._server.submission),
            "lmtp": False,
            "login": True,
            "ca": None if self._server.ca is None else os.path.abspath(self._server.ca),
            "prefix": PREFIX,
            "timeout_s": _TIMEOUT_S,
            "accounts": [
                {"name": user.name, "password": user.password, "address": user.address, "first_uid": first}
                for user, first in zip(self._users, firsts, strict=False)
            ],
        }

    def marks(self, run: str, since_ns: int, users: int) -> Iterable[Mark]:
        """The letters of a run that are in the mailboxes, once all are there or have had their time."""
        until = time.monotonic() + _DELIVERY_S
        while True:
            found = list(marks_by_imap(self._door, [_login(user) for user in self._users], run))
            if not accounted(os.path.join(self.home, "ledger"), found).lost or time.monotonic() > until:
                return found
            time.sleep(1.0)

    def _stream(self, number: int) -> Mapping[str, Any]:
        for stream in self._definition["stream"]:
            if number < stream["users"]:
                found: Mapping[str, Any] = stream
                return found
            number -= stream["users"]
        raise AssertionError("a user beyond all groups")

    def _lay_out(self, number: int, user: User, control: Control) -> int:
        """The bytes that were written for one user."""
        stream = self._stream(number)
        wanted = {"INBOX": stream["inbox_messages"], f"{PREFIX}Sent": 0, f"{PREFIX}Trash": 0, f"{PREFIX}Calendar": stream["appointments"]}
        wanted |= {f"{PREFIX}Folder{folder}": stream["folder_messages"] for folder in range(stream["folders"])}
        place = written = 0
        with self._door.opened(_login(user)) as connection:
            there = {name.strip('"') for name in folders(connection)}
            for folder, count in wanted.items():
                if folder != "INBOX" and folder not in there:
                    _done(connection.create(folder), user, f"make the folder {folder}")
                lacking = count - len(marked(connection, folder, _LAID_OUT)) if count else 0
                for _ in range(lacking):
                    if control.stopped:
                        raise Interrupted("stopped while mailboxes were filled")
                    letter = native_mail().letter(self._definition, number, place)
                    _done(connection.append(folder, "(\\Seen)", "", letter), user, f"put a message into {folder}")
                    place, written = place + 1, written + len(letter)
        return written

    def _first_uid(self, user: User) -> int:
        """The first message from which on all in the inbox are ours."""
        with self._door.opened(_login(user)) as connection:
            ours = {int(uid) for uid in marked(connection, "INBOX", "")}
            _, found = connection.uid("SEARCH", "ALL")
            first = int(_number(connection.status("INBOX", "(UIDNEXT)")) or 1)
            for uid in sorted((int(uid) for uid in (found[0] or b"").split()), reverse=True):
                if uid not in ours:
                    break
                first = uid
        return first

    def _smtp(self, where: Service) -> smtplib.SMTP:
        if where.security == "tls":
            return smtplib.SMTP_SSL(where.host, where.port, timeout=_TIMEOUT_S, context=trusting(self._server.ca))
        smtp = smtplib.SMTP(where.host, where.port, timeout=_TIMEOUT_S)
        if where.security == "starttls":
            smtp.starttls(context=trusting(self._server.ca))
        return smtp


class LeftMail:
    """What a killed run has left in the mailboxes of an address, behind the verbs that clear targets."""

    def inspect_target(self, target: Target) -> Inspection:
        """Whether there are folders of ours."""
        address = parse(target.text)
        assert address.own is not None
        with _door(address.own).opened(_login(users_of(address)[0])) as connection:
            left = any(name.strip('"').startswith(PREFIX) for name in folders(connection))
        return {"kind": "server", "path": target.text, "left_behind": left}

    def remove_target(self, target: Target) -> list[str]:
        """Take out what carries our mark, for every user of the file."""
        address = parse(target.text)
        assert address.own is not None
        return _cleared(_door(address.own), users_of(address))

    def release_target(self, target: Target) -> None:
        """Nothing is noted in mailboxes."""


def _door(server: OwnServer) -> Door:
    return Door(server.imap.host, server.imap.port, server.imap.security, server.ca, PREFIX, _TIMEOUT_S)


def _cleared(door: Door, users: Sequence[User]) -> list[str]:
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        list(pool.map(lambda user: _clear(door, user), users))
    return [f"{PREFIX}* of {len(users):,} users at {door.host}:{door.port}"]


def _clear(door: Door, user: User) -> None:
    with door.opened(_login(user)) as connection:
        uids = marked(connection, "INBOX", "", readonly=False)
        if uids:
            listed = b",".join(uids).decode("ascii")
            connection.uid("STORE", listed, "+FLAGS.SILENT", "(\\Deleted)")
            # What a server can do it says after the login; before, some hide most of it.
            if b"UIDPLUS" in connection.capability()[1][0].upper().split():
                connection.uid("EXPUNGE", listed)
        with suppress(imaplib.IMAP4.error):
            connection.unselect()
        for folder in folders(connection):
            if folder.strip('"').startswith(PREFIX):
                connection.delete(folder)


def _login(user: User) -> Login:
    return Login(user.name, user.password)


def _words(service: Service) -> str:
    return {"none": "without TLS", "starttls": "STARTTLS", "tls": "TLS"}[service.security]


def _seen(service: Service) -> Json:
    """As the engine takes it: with the address that the name stands for."""
    try:
        host = str(socket.getaddrinfo(service.host, service.port, type=socket.SOCK_STREAM)[0][4][0])
    except OSError as problem:
        raise TargetError(f"{service.host}: the name of the mail server is not known ({said(problem)}).") from None
    place = f"[{host}]:{service.port}" if ":" in host else f"{host}:{service.port}"
    return {"place": place, "security": service.security, "host": service.host}


def _done(answer: tuple[str, Sequence[Any]], user: User, what: str) -> None:
    status, words = answer
    if status != "OK":
        told = words[0].decode("utf-8", "replace") if words and isinstance(words[0], bytes) else status
        raise TargetError(f"the IMAP server does not let user {user.name} {what}: {told.rstrip('.')}.")


def _number(answer: tuple[str, Sequence[Any]]) -> str:
    _, words = answer
    text = words[0].decode("ascii", "replace") if words and isinstance(words[0], bytes) else ""
    return "".join(sign for sign in text.rpartition("UIDNEXT")[2] if sign.isdigit())


def _of_smtp(problem: BaseException) -> str:
    if isinstance(problem, smtplib.SMTPResponseException):
        words = problem.smtp_error
        text = words.decode("utf-8", "replace") if isinstance(words, bytes) else str(words)
        return f"{problem.smtp_code} {' '.join(text.split())}".rstrip(".")
    return said(problem)
