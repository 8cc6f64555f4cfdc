"""Who may use the live page: whoever has its token, asks for it by its own name, and comes from its own pages.

Model: a browser brings the token once, in the address that the command printed, and gets a cookie for it that no script can read and no
other site can send (HttpOnly, SameSite=Strict). Programs send ``Authorization: Bearer TOKEN``. Requests that change something need an
Origin that is this server, or none at all and the token itself. The name in ``Host`` has to be one that the server is reached by, so that
no foreign name that leads here (DNS rebinding) is answered. Every answer forbids foreign scripts, frames and connections.
Limits: on an address without TLS the token travels in clear text, so such an address has to be of this machine (`plimsoll.web.server`).

    app = Guard(app, Access(token, names={"127.0.0.1:8642", "localhost:8642"}, cookie="plimsoll-8642", secure=False))
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Awaitable, Callable, Collection, Iterable, MutableMapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, urlencode

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

#: Methods that change nothing.
_SAFE = ("GET", "HEAD")
#: Of every answer; a report brings the policy of its own script in its markup, which holds beside this one.
_HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-frame-options", b"DENY"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
)
#: Of the page itself and of all that brings no policy of its own.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)


@dataclass(frozen=True)
class Access:
    """What a request has to bring. ``names`` are values of ``Host``; ``secure`` is whether TLS is spoken."""

    token: str
    names: Collection[str]
    cookie: str
    secure: bool

    @property
    def session(self) -> str:
        """What the cookie holds: made from the token, which cannot be made from it."""
        return hashlib.sha256(b"plimsoll session " + self.token.encode()).hexdigest()


class Guard:
    """Lets a request pass to ``app``, or answers it."""

    def __init__(self, app: App, access: Access) -> None:
        self._app = app
        self._access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            await self._http(scope, receive, _hardened(send))
        # Nothing here speaks WebSocket: the connection is given up.

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        if headers.get("host", "").lower() not in self._access.names:
            await _answer(send, 421, f"This server is not called that; ask for {' or '.join(sorted(self._access.names))}.")
            return
        brought = _token_in_address(scope)
        if brought is not None and scope["method"] in _SAFE:
            await self._welcome(scope, send, brought)
        elif (refusal := self._refusal(scope["method"], headers)) is not None:
            await _answer(send, *refusal)
        else:
            await self._app(scope, receive, send)

    def _refusal(self, method: str, headers: dict[str, str]) -> tuple[int, str] | None:
        """The answer to a request that may not pass; None when it may."""
        kind, _, bearer = headers.get("authorization", "").partition(" ")
        by_token = kind.lower() == "bearer" and _same(bearer.strip(), self._access.token)
        if not by_token and not _same(_cookie(headers.get("cookie", ""), self._access.cookie), self._access.session):
            return 401, "This page needs its token; open the address that 'plimsoll serve' printed."
        scheme = "https" if self._access.secure else "http"
        origin = headers.get("origin")
        if method not in _SAFE and not (by_token and origin is None) and origin != f"{scheme}://{headers['host']}":
            return 403, "This request comes from another page; nothing is done."
        return None

    async def _welcome(self, scope: Scope, send: Send, brought: str) -> None:
        """A cookie for whoever brings the token, and the address without it."""
        if not _same(brought, self._access.token):
            await _answer(send, 401, "This token is not the one of this server; open the address that 'plimsoll serve' printed.")
            return
        rest = urlencode([pair for pair in _query(scope) if pair[0] != "token"])
        # A path that begins with two slashes would be another host.
        path = "/" + scope.get("raw_path", b"/").decode("latin-1").partition("?")[0].lstrip("/")
        place = path + (f"?{rest}" if rest else "")
        cookie = f"{self._access.cookie}={self._access.session}; Path=/; HttpOnly; SameSite=Strict"
        cookie += "; Secure" if self._access.secure else ""
        await _answer(send, 303, "", [(b"location", place.encode("latin-1")), (b"set-cookie", cookie.encode())])


def _same(one: str | None, other: str) -> bool:
    return one is not None and hmac.compare_digest(one.encode(), other.encode())


def _query(scope: Scope) -> list[tuple[str, str]]:
    return parse_qsl(scope.get("query_string", b"").decode("latin-1"), keep_blank_values=True)


def _token_in_address(scope: Scope) -> str | None:
    return next((value for name, value in _query(scope) if name == "token"), None)


def _cookie(header: str, name: str) -> str | None:
    for pair in header.split(";"):
        key, _, value = pair.strip().partition("=")
        if key == name:
            return value
    return None


def _hardened(send: Send) -> Send:
    """`send` with the headers that every answer has."""

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            given = list(message.get("headers", ()))
            names = {name.lower() for name, _ in given}
            added = [header for header in _HEADERS if header[0] not in names]
            if b"content-security-policy" not in names:
                added.append((b"content-security-policy", POLICY.encode()))
            message = {**message, "headers": [*given, *added]}
        await send(message)

    return sending


async def _answer(send: Send, status: int, sentence: str, headers: Iterable[tuple[bytes, bytes]] = ()) -> None:
    body = f"{sentence}\n".encode() if sentence else b""
    plain = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": [*plain, *headers]})
    await send({"type": "http.response.body", "body": body})
