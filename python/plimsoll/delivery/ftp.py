"""Delivery by FTP, with TLS (``ftps://``) or in clear text (``ftp://``).

Model: ``ftps`` asks for TLS before anybody logs in (AUTH TLS), on port 990 it begins with it; the data goes through TLS as well, in the
same session, as many servers demand. Who the server is, is known as for https. What it holds is read back.
Limits: passive mode alone. In clear text everybody on the way reads user, password and data; the command says so.

    ftp_destination(address_of("ftps://lab@nas7/inbox", ""), Login("lab", "…"), Trust(ca="nas.pem"))
"""

from __future__ import annotations

import ftplib
import hashlib
import select
import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import IO, TypeVar

from plimsoll.delivery.address import Address
from plimsoll.delivery.credentials import Login
from plimsoll.delivery.dispatch import NotNow, reason, said
from plimsoll.delivery.identity import Trust, not_trusted
from plimsoll.delivery.inbox import Box, InboxDestination
from plimsoll.displayed import displayed, quoted
from plimsoll.errors import TargetError

_SILENCE_S = 60.0
_PLAIN_PORT, _TLS_PORT = 21, 990
#: No room, for now or for good: it may be made.
_NO_ROOM = ("452", "552")
#: A transfer that the server has ended, for whatever reason of its own.
_BROKEN_OFF = ("426", "451")
#: How long a server may take to say that it has closed the data, and, where it has broken them off, to say why: some never do.
_CLOSES_S = 5.0
_EXPLAINS_S = 10.0
_PIECE = 1 << 20

_Answer = TypeVar("_Answer")


class _Tls(ftplib.FTP_TLS):
    """FTP through TLS whose data connections show the same certificate and go on with the session of the first."""

    def __init__(self, trust: Trust, shown: str, *, at_once: bool) -> None:
        super().__init__(timeout=_SILENCE_S, context=trust.context())
        self._trust, self._shown, self._at_once = trust, shown, at_once

    def connect(self, host: str = "", port: int = 0, timeout: float = -999, source_address: tuple[str, int] | None = None) -> str:
        """TLS from the first byte, where that is the way of the port."""
        if not self._at_once:
            welcome = super().connect(host, port)
            # Before a user is named: who asks later sends it in clear text.
            self.auth()
        else:
            self.host, self.port = host, port
            plain = socket.create_connection((host, port), _SILENCE_S)
            self.sock = self.context.wrap_socket(plain, server_hostname=host)
            self.af = self.sock.family
            self.file = self.sock.makefile("r", encoding=self.encoding)
            self.welcome = welcome = self.getresp()
        self._trust.check(self.sock, self._shown)
        return welcome

    def ntransfercmd(self, cmd: str, rest: int | str | None = None) -> tuple[socket.socket, int | None]:
        """The data connection."""
        plain, size = ftplib.FTP.ntransfercmd(self, cmd, rest)  # noqa: S321  # TLS begins below
        try:
            session = self.sock.session if isinstance(self.sock, ssl.SSLSocket) else None
            wrapped = self.context.wrap_socket(plain, server_hostname=self.host, session=session)
        except BaseException:
            plain.close()
            raise
        try:
            self._trust.check(wrapped, self._shown)
        except TargetError:
            wrapped.close()
            raise
        return wrapped, size


@dataclass(frozen=True)
class _FtpBox:
    """The directory that the connection is in."""

    connection: ftplib.FTP
    shown: str

    def sha256(self, name: str) -> str | None:
        total = hashlib.sha256()
        try:
            self.connection.retrbinary(f"RETR {name}", total.update, _PIECE)
        except ftplib.error_perm:
            return None
        return total.hexdigest()

    def size(self, name: str) -> int | None:
        try:
            return self.connection.size(name)
        except ftplib.error_perm:
            return None

    def put(self, name: str, parcel: IO[bytes]) -> None:
        self._allowed(lambda: self._stored(name, parcel), "does not let files be written there")

    def _stored(self, name: str, parcel: IO[bytes]) -> None:
        self.connection.voidcmd("TYPE I")
        with self.connection.transfercmd(f"STOR {name}") as data:
            is_broken_off = self._is_broken_off(data, parcel)
        control = self.connection.sock
        if is_broken_off and control is not None:
            control.settimeout(_EXPLAINS_S)
        try:
            self.connection.voidresp()
        except TimeoutError:
            if is_broken_off:
                raise NotNow("it closed the connection of the upload and does not say why; its disk may be full") from None
            raise
        except ftplib.error_temp as problem:
            if str(problem).startswith(_BROKEN_OFF):
                raise NotNow(f"it ended the upload in the middle ({said(str(problem))}); its disk may be full") from None
            raise
        if control is not None:
            control.settimeout(_SILENCE_S)

    def _is_broken_off(self, data: socket.socket, parcel: IO[bytes]) -> bool:
        """Send the parcel; whether the server let go of the connection other than it should. What it says of that counts, or will."""
        try:
            while not self._is_told() and (piece := parcel.read(_PIECE)):
                data.sendall(piece)
            data.settimeout(_CLOSES_S)
            if isinstance(data, ssl.SSLSocket) and not self._is_told():
                data.unwrap()
        except TimeoutError:
            return False
        except (OSError, ValueError):
            return True
        return False

    def _is_told(self) -> bool:
        """Whether the server has said how the upload ended."""
        control = self.connection.sock
        return control is None or bool(select.select([control], [], [], 0)[0])

    def rename(self, name: str, to: str) -> None:
        if self.size(to) is not None:
            # Some servers rename over nothing; what is there is not whole.
            with suppress(ftplib.error_perm):
                self.connection.delete(to)
        self._allowed(lambda: self.connection.rename(name, to), "does not let files be renamed there")

    def remove(self, name: str) -> None:
        with suppress(*_TROUBLES):
            self.connection.delete(name)

    def _allowed(self, step: Callable[[], _Answer], what: str) -> _Answer:
        try:
            return step()
        except ftplib.error_perm as problem:
            if str(problem).startswith(_NO_ROOM):
                raise
            raise TargetError(f"{self.shown}: it {what} ({said(str(problem))}).") from None


#: What goes wrong with a connection, or with whoever is at its other end.
_TROUBLES = (OSError, EOFError, ftplib.Error)


def ftp_destination(address: Address, login: Login, trust: Trust) -> InboxDestination:
    """The directory of ``address``. Raises `InputError` for certificates that cannot be used."""
    if address.scheme == "ftps":
        trust.context()
    return InboxDestination(address.shown, partial(_opened, address, login, trust))


@contextmanager
def _opened(address: Address, login: Login, trust: Trust) -> Iterator[Box]:
    port = address.port or _PLAIN_PORT
    made: ftplib.FTP = ftplib.FTP(timeout=_SILENCE_S)  # noqa: S321  # as asked for, with a warning
    if address.scheme == "ftps":
        made = _Tls(trust, address.shown, at_once=port == _TLS_PORT)
    try:
        try:
            made.connect(address.host, port)
            _come_in(made, address, login)
            yield _FtpBox(made, address.shown)
            with suppress(*_TROUBLES):
                made.quit()
        finally:
            made.close()
    except ssl.SSLCertVerificationError as problem:
        raise not_trusted(problem, address.shown) from None
    except ftplib.error_perm as problem:
        if str(problem).startswith(_NO_ROOM):
            raise _no_room(problem) from None
        raise TargetError(f"{address.shown}: it refuses: {said(str(problem))}.") from None
    except (EOFError, ftplib.Error, OSError) as problem:
        if str(problem).startswith(_NO_ROOM):
            raise _no_room(problem) from None
        raise NotNow(said(str(problem)) if isinstance(problem, ftplib.Error) else _reason(problem)) from None


def _come_in(made: ftplib.FTP, address: Address, login: Login) -> None:
    """Log in and go to the directory."""
    try:
        made.login(login.user, login.password or "")
    except ftplib.error_perm as problem:
        missing = "" if login.password is not None or not login.user else "; no password was given, see --password-file"
        raise TargetError(f"{address.shown}: it does not let {_who(login)} in ({said(str(problem))}){missing}.") from None
    if isinstance(made, ftplib.FTP_TLS):
        made.prot_p()
    if address.path:
        try:
            made.cwd(address.path)
        except ftplib.error_perm:
            raise TargetError(f"{address.shown}: there is no directory {quoted(displayed(address.path))}.") from None


def _no_room(problem: Exception) -> NotNow:
    return NotNow(f"it has no room left ({said(str(problem))})")


def _who(login: Login) -> str:
    return quoted(login.user) if login.user else "anybody without a name"


def _reason(problem: Exception) -> str:
    return "the connection was closed" if isinstance(problem, EOFError) else reason(problem)
