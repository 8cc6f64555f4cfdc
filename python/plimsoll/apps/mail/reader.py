"""Reads letters back as users would: by IMAP, folder by folder.

Model: what a server shows is what counts, whatever it has on its disks. Users are read by a few threads; of each folder only messages
that carry the mark of the run, found by the server's own search.
Limits: plain or encrypted as `Door` says; one folder after the other.

    door = Door("127.0.0.1", 10143, "none", None, prefix="")
    list(marks_by_imap(door, [Login("u0", "secret")], "18c9f2"))
"""

from __future__ import annotations

import imaplib
import re
import ssl
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import field

from plimsoll.apps.mail.accounting import OWN, Mark, mark_of
from plimsoll.displayed import displayed
from plimsoll.engine.mail import native_mail
from plimsoll.errors import InputError, TargetError
from plimsoll.records import dataclass

_THREADS = 4
#: Messages fetched at once.
_FETCHED = 20
_FOLDER = re.compile(rb'^\((?P<flags>[^)]*)\) (?:"(?:[^"\\]|\\.)*"|NIL) (?P<name>.*)$')


@dataclass(frozen=True)
class Login:
    """A user's name and password; the password is in no text of it."""

    name: str
    password: str = field(repr=False)


@dataclass(frozen=True)
class Door:
    """An IMAP server: ``security`` is none, starttls or tls, ``ca`` a file of authorities; folders of ours begin with ``prefix``."""

    host: str
    port: int
    security: str
    ca: str | None
    prefix: str = ""
    timeout_s: float = 60.0

    @contextmanager
    def opened(self, login: Login) -> Iterator[imaplib.IMAP4]:
        """A connection on which a user has logged in; raises `TargetError` with one sentence for what goes wrong on it."""
        where = f"{self.host}:{self.port}"
        try:
            connection = self._connected()
        except (OSError, imaplib.IMAP4.error) as problem:
            raise TargetError(f"the IMAP server at {where} cannot be reached: {said(problem)}.") from None
        try:
            connection.login(login.name, login.password)
        except (OSError, imaplib.IMAP4.error) as problem:
            text = said(problem).replace(login.password, "***") if login.password else said(problem)
            with suppress(OSError, imaplib.IMAP4.error):
                connection.shutdown()
            raise TargetError(f"user {login.name} cannot log in to the IMAP server at {where}: {text}.") from None
        try:
            yield connection
        except (OSError, imaplib.IMAP4.error) as problem:
            raise TargetError(f"the mailbox of {login.name} at {where} cannot be read: {said(problem)}.") from None
        finally:
            with suppress(OSError, imaplib.IMAP4.error):
                connection.logout()

    def _connected(self) -> imaplib.IMAP4:
        context = trusting(self.ca) if self.security != "none" else None
        if self.security == "tls":
            return imaplib.IMAP4_SSL(self.host, self.port, ssl_context=context, timeout=self.timeout_s)
        connection = imaplib.IMAP4(self.host, self.port, timeout=self.timeout_s)
        if self.security == "starttls":
            connection.starttls(ssl_context=context)
        return connection


def trusting(ca: str | None) -> ssl.SSLContext:
    """What certificates are held against: this system's authorities, or those of a file."""
    try:
        return ssl.create_default_context(cafile=ca)
    except OSError as problem:
        raise InputError(f"{ca}: the certificates cannot be read ({said(problem)}).") from None


def marks_by_imap(door: Door, logins: Sequence[Login], run: str) -> Iterator[Mark]:
    """The letters of ``run`` in the mailboxes of these users, who are numbered from 0."""
    with ThreadPoolExecutor(_THREADS) as pool:
        for marks in pool.map(lambda each: _of_user(door, each[0], each[1], run), enumerate(logins)):
            yield from marks


def _of_user(door: Door, user: int, login: Login, run: str) -> list[Mark]:
    with door.opened(login) as connection:
        return [mark for folder in folders(connection) if not _is_own(door, folder) for mark in _of_folder(connection, folder, user, run)]


def _is_own(door: Door, folder: str) -> bool:
    return folder.strip('"').removeprefix(door.prefix) in OWN


def folders(connection: imaplib.IMAP4) -> list[str]:
    """Every folder that can be opened, as it has to be written in a command."""
    _, lines = connection.list()
    matches = [_FOLDER.match(line) for line in lines if isinstance(line, bytes)]
    return [found["name"].decode("utf-8", "replace") for found in matches if found and rb"\noselect" not in found["flags"].lower()]


def marked(connection: imaplib.IMAP4, folder: str, run: str, *, readonly: bool = True) -> list[bytes]:
    """The UIDs of messages in a folder that carry the mark of ``run``, or any of ours where that is empty."""
    status, _ = connection.select(folder, readonly=readonly)
    if status != "OK":
        return []
    _, found = connection.uid("SEARCH", "HEADER", native_mail().mark, f'"{run}"')
    return found[0].split() if found and found[0] else []


def _of_folder(connection: imaplib.IMAP4, folder: str, user: int, run: str) -> Iterator[Mark]:
    uids = marked(connection, folder, run)
    for place in range(0, len(uids), _FETCHED):
        _, parts = connection.uid("FETCH", b",".join(uids[place : place + _FETCHED]).decode("ascii"), "BODY.PEEK[]")
        for part in parts:
            if isinstance(part, tuple) and (mark := mark_of(user, part[1], run)) is not None:
                yield mark


def said(problem: BaseException) -> str:
    """What went wrong, as it stands in a sentence."""
    if isinstance(problem, ssl.SSLCertVerificationError):
        return f"its certificate is not believed ({problem.verify_message}); name the authority's file with ca="
    if isinstance(problem, TimeoutError):
        return "it gave no answer in time"
    text = problem.strerror if isinstance(problem, OSError) and problem.strerror else str(problem)
    if text.startswith("b'"):
        text = text[2:].rstrip("'")
    return displayed(text.strip().rstrip(".")) or type(problem).__name__
