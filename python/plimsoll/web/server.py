"""The live page on a socket: addresses, token, TLS, and an orderly end.

Model: without more words the server is reached from this machine alone. Another address needs TLS, with the user's certificate or one that
is made here. The token is new with each start, unless a file holds one.
Limits: one process; the store is read in its threads.

    server = Server.prepared(Settings("results"))
    server.addresses                       # ["http://127.0.0.1:8642/?token=…"]
    server.serve()
"""

from __future__ import annotations

import logging
import os
import re
import secrets
import socket
import stat
import threading
from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import ip_address
from typing import TYPE_CHECKING

from plimsoll.displayed import quoted
from plimsoll.errors import InputError
from plimsoll.points.signals import handled
from plimsoll.web.certificates import Certificate, given_certificate, own_certificate

if TYPE_CHECKING:
    import uvicorn

    from plimsoll.web.app import Ending
    from plimsoll.web.control import Control

#: A token shorter than this could be guessed.
TOKEN_MIN = 16
#: A name or an IPv4 address; or an IPv6 address, without brackets.
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*|[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*")
#: Browsers that follow a run keep their connection; they are left behind so many seconds after the server was stopped.
_ENDING_S = 1


@dataclass(frozen=True)
class Settings:
    """What is served, and where. ``names`` are further names that the machine is reached by; with ``receives_bytes`` runs of other
    machines are stored, each of so many bytes at most; with ``control`` the page starts and stops. ``only`` is the one run that is shown
    until its ``ending``."""

    out: str
    address: str = "127.0.0.1"
    port: int = 8642
    names: tuple[str, ...] = ()
    token_file: str | None = None
    cert: str | None = None
    key: str | None = None
    receives_bytes: int | None = None
    control: Control | None = None
    only: str | None = None
    ending: Ending | None = None


@dataclass(frozen=True)
class Server:
    """A server whose socket is open already, so that its port is known."""

    settings: Settings
    listener: socket.socket
    token: str
    certificate: Certificate | None

    @classmethod
    def prepared(cls, settings: Settings) -> Server:
        """Raises `InputError` for an address, a port, a token or a certificate that cannot be used."""
        loopback = _is_loopback(settings.address)
        for name in settings.names:
            if not _NAME.fullmatch(name):
                raise InputError(f"--name {quoted(name)} is no name or address of a machine; write for example --name lab7.example.org.")
        if (settings.cert is None) != (settings.key is None):
            raise InputError("--cert and --key belong together; give both, or neither.")
        token = _token(settings.token_file)
        certificate = None
        if settings.cert is not None and settings.key is not None:
            certificate = given_certificate(settings.cert, settings.key)
        elif not loopback:
            certificate = own_certificate(_names(settings))
        return cls(settings, _listener(settings), token, certificate)

    @property
    def port(self) -> int:
        """The port that is listened on."""
        return int(self.listener.getsockname()[1])

    @property
    def addresses(self) -> list[str]:
        """What a browser is given, with the token."""
        scheme = "http" if self.certificate is None else "https"
        first = self.settings.names[:1] or tuple(_names(self.settings)[:1])
        return [f"{scheme}://{_bracketed(name)}:{self.port}/?token={self.token}" for name in first]

    def serve(self, announce: Callable[[], None], watch: Callable[[Callable[[], None]], None] | None = None) -> None:
        """Serve until Ctrl-C or SIGTERM; ``announce`` is called once these end the server as they should. ``watch`` is called in a thread
        and may stop it, too."""
        stopped: list[bool] = []
        server: list[uvicorn.Server] = []

        def stop() -> None:
            stopped.append(True)
            for one in server:
                one.should_exit = True

        # uvicorn handles the signals itself while it runs, and raises them again once it has ended.
        with handled(stop):
            announce()
            if watch is not None:
                threading.Thread(target=watch, args=(stop,), daemon=True).start()
            import uvicorn

            server.append(uvicorn.Server(self._configuration()))
            server[0].should_exit = bool(stopped)
            # That the end cuts off what goes on, such as the events that a browser listens to, is no fault to be told.
            logging.getLogger("uvicorn.error").addFilter(lambda _: not server[0].should_exit)
            server[0].run(sockets=[self.listener])

    def _configuration(self) -> uvicorn.Config:
        import uvicorn

        from plimsoll.web.app import Offer, application
        from plimsoll.web.guard import Access, Guard

        names = {f"{_bracketed(name)}:{self.port}".lower() for name in _names(self.settings)}
        # A browser leaves the usual port out.
        names |= {name.rpartition(":")[0] for name in names if self.port == (80 if self.certificate is None else 443)}
        asked = self.settings
        offer = Offer(asked.out, asked.receives_bytes, asked.control, asked.only, asked.ending)
        access = Access(self.token, frozenset(names), f"plimsoll-{self.port}", secure=self.certificate is not None)
        return uvicorn.Config(
            Guard(application(offer), access),
            log_level="error",
            access_log=False,
            server_header=False,
            lifespan="off",
            ws="none",
            timeout_graceful_shutdown=_ENDING_S,
            ssl_certfile=None if self.certificate is None else self.certificate.cert,
            ssl_keyfile=None if self.certificate is None else self.certificate.key,
        )


def _is_loopback(address: str) -> bool:
    try:
        return ip_address(address).is_loopback
    except ValueError:
        raise InputError(f"--address {quoted(address)} is no IP address; write 127.0.0.1, or 0.0.0.0 for all of this machine.") from None


def _names(settings: Settings) -> list[str]:
    """What this server is called: by itself, by its machine, and by the names that were given."""
    own = ip_address(settings.address)
    if own.is_loopback:
        found = [settings.address, "localhost"]
    elif own.is_unspecified:
        found = [socket.gethostname(), socket.getfqdn(), *_addresses(), "localhost", "127.0.0.1"]
    else:
        found = [settings.address, socket.gethostname()]
    return list(dict.fromkeys([*settings.names, *found]))


def _addresses() -> list[str]:
    """Addresses that this machine's name leads to."""
    try:
        return sorted({str(one[4][0]) for one in socket.getaddrinfo(socket.gethostname(), None)})
    except OSError:
        return []


def _bracketed(name: str) -> str:
    return f"[{name}]" if ":" in name else name


def _listener(settings: Settings) -> socket.socket:
    family = socket.AF_INET6 if ":" in settings.address else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((settings.address, settings.port))
        listener.listen(128)
    except OSError as problem:
        listener.close()
        said = str(problem.strerror).lower()
        raise InputError(
            f"--address {settings.address} --port {settings.port}: {said}; give another --port, or 0 for a free one."
        ) from None
    return listener


def _token(path: str | None) -> str:
    if path is None:
        return secrets.token_urlsafe(24)
    try:
        if stat.S_IMODE(os.stat(path).st_mode) & 0o077:
            raise InputError(f"--token-file {path}: others can read it; take their right away with 'chmod 600'.")
        with open(path, encoding="ascii") as file:
            token = file.read().strip()
    except (OSError, UnicodeDecodeError) as problem:
        said = str(problem.strerror).lower() if isinstance(problem, OSError) else "it is not plain text"
        raise InputError(f"--token-file {path}: {said}; name a file that holds the token.") from None
    if len(token) < TOKEN_MIN or not token.isprintable() or " " in token:
        raise InputError(
            f"--token-file {path}: a token has at least {TOKEN_MIN} characters and no spaces; make one with 'openssl rand -hex 24'."
        )
    return token
