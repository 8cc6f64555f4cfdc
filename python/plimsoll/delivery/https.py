"""Delivery to ``plimsoll serve --receive``, through HTTPS.

Model: the parcel is the body of ``PUT /api/parcels/NAME``; name and digest of what the server stored come back. Who the server is is known
by its certificate: the system's authorities, a file of the user's (``--ca``), or the fingerprint that the server printed. The token is sent
only afterwards, and in clear text to this machine alone.

    HttpsDestination.of("https://lab7:8642", Credentials(token="…", fingerprint="3F:9A:…")).take(sent)
"""

from __future__ import annotations

import http.client
import json
import ssl
from contextlib import suppress
from dataclasses import dataclass, field
from urllib.parse import quote, urlsplit

from plimsoll.delivery.dispatch import Delivered, NotNow, Sent, reason
from plimsoll.delivery.identity import Trust, is_this_machine, not_trusted
from plimsoll.displayed import displayed_in_line, quoted
from plimsoll.errors import InputError, TargetError

#: Of a server that says nothing for so long nothing is expected any more.
_SILENCE_S = 60.0
_LATER = frozenset((408, 425, 429, 500, 502, 503, 504, 507))


@dataclass(frozen=True)
class Credentials:
    """What the sender knows: the server's token, and how to tell its certificate."""

    token: str
    trust: Trust = field(default_factory=Trust)


@dataclass(frozen=True)
class HttpsDestination:
    """A server at ``host`` and ``port``."""

    host: str
    port: int
    path: str
    context: ssl.SSLContext | None
    credentials: Credentials

    @classmethod
    def of(cls, url: str, credentials: Credentials) -> HttpsDestination:
        """Raises `InputError` for an address or a certificate that cannot be used."""
        try:
            parts = urlsplit(url)
            host, port = parts.hostname or "", parts.port
        except ValueError:
            host, port, parts = "", None, urlsplit("")
        if not host:
            raise InputError(f"{quoted(url)} is no address; write for example https://lab7:8642.")
        if parts.scheme == "http" and not is_this_machine(host):
            raise InputError(f"{quoted(url)}: the token would travel in clear text; use https.")
        context = None if parts.scheme == "http" else credentials.trust.context()
        return cls(host, port or (80 if context is None else 443), parts.path.rstrip("/"), context, credentials)

    @property
    def shown(self) -> str:
        """``https://lab7:8642``"""
        name = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'http' if self.context is None else 'https'}://{name}:{self.port}{self.path}"

    @property
    def remembers(self) -> bool:
        """The server compares digests."""
        return True

    def take(self, sent: Sent) -> Delivered:
        """Deliver it once."""
        connection = self._connection()
        try:
            connection.connect()
            self.credentials.trust.check(connection.sock, self.shown)
            headers = {
                "Authorization": f"Bearer {self.credentials.token}",
                "Content-Length": str(sent.size_bytes),
                "Content-Type": "application/gzip",
                "X-Plimsoll-Digest": sent.digest,
            }
            with suppress(ConnectionError):
                # A server that will not have it answers before it has all, and takes no more: what it says is the reason.
                connection.request("PUT", f"{self.path}/api/parcels/{quote(sent.name, safe='')}", sent.parcel, headers)
            answer = connection.getresponse()
            return self._answered(answer.status, answer.read(65536), sent)
        except ssl.SSLCertVerificationError as problem:
            raise not_trusted(problem, self.shown) from None
        except (OSError, http.client.HTTPException) as problem:
            raise NotNow(reason(problem)) from None
        finally:
            connection.close()

    def _connection(self) -> http.client.HTTPConnection:
        if self.context is None:
            return http.client.HTTPConnection(self.host, self.port, timeout=_SILENCE_S)
        return http.client.HTTPSConnection(self.host, self.port, timeout=_SILENCE_S, context=self.context)

    def _answered(self, status: int, body: bytes, sent: Sent) -> Delivered:
        text = displayed_in_line(body.decode("utf-8", "replace").strip())[:300]
        if status in _LATER:
            raise NotNow(text.rstrip(".") or f"it answers with status {status}")
        if status not in (200, 201):
            raise TargetError(f"{self.shown}: {sent.name} is refused: {text or f'status {status}'}")
        try:
            answer = json.loads(body)
            name, digest, known = str(answer["name"]), answer["digest"], bool(answer["known"])
        except (ValueError, KeyError, TypeError):
            raise TargetError(f"{self.shown}: its answer is not one of 'plimsoll serve --receive'; check the address.") from None
        if digest != sent.digest:
            raise NotNow("what it stored is not what was sent")
        return Delivered(name, known)
