"""Passwords in addresses: taken out where the address is typed, kept for this process alone, and handed to whoever connects.

Model: `withheld` gives a text back without the passwords of the URLs in it and remembers each under its URL. Every way in goes through it
(the command line, plimsoll.toml, files of workloads and experiments, Python's options), so nothing behind them (results, run.json,
sentences, the command lines of programs that are started) has a password to show. A password stands after the user, ``user:password@``, or
is a value of the query, ``?password=…``. One that came otherwise (a file, the environment) is named with `guard`; `masked` knows both.
Limits: other users of the machine can read what was typed on the command line for as long as the command runs (ps); PGPASSFILE keeps it
from them. Passwords in files and in the environment of the libraries' own (PGPASSFILE, PGPASSWORD) never come here.

    withheld("fast=postgresql://me:secret@db1/test")       # "fast=postgresql://me@db1/test"
    kept("postgresql://me@db1/test")                       # {"password": "secret"}
"""

from __future__ import annotations

import re
from typing import Any

from plimsoll.errors import InputError

#: Values of a query that are secret.
SECRET_KEYS = ("password", "sslpassword", "token")
#: A password that was typed may have a blank, so what is certainly an address of a database goes on to the end of the line.
_URL = re.compile(r"(?i:postgres(?:ql)?)://[^\n]*|[A-Za-z][A-Za-z0-9+.-]*://\S*")
#: What ends a user, a password or a host in a URL.
_ENDS = "/?#@"

#: Addresses of mail behind a server, ``smtp://relay/lab@example.org``: an '@' of the path is part of no password.
_MAIL = ("smtp", "smtps")

#: Shorter ones are part of every sentence.
_LEAST_MASKED = 3

#: Passwords by what follows the scheme of their URL.
_kept: dict[str, dict[str, str]] = {}
#: Passwords that stood in no URL.
_guarded: set[str] = set()


def withheld(text: str) -> str:
    """``text`` without the passwords of its URLs; raises `InputError` for one that cannot be told from what follows it."""
    return _URL.sub(lambda found: _without(found[0]), text) if "://" in text else text


def withheld_from(document: Any) -> Any:
    """The same for every text in a document."""
    if isinstance(document, str):
        return withheld(document)
    if isinstance(document, dict):
        return {key: withheld_from(value) for key, value in document.items()}
    return [withheld_from(value) for value in document] if isinstance(document, list) else document


def kept(url: str) -> dict[str, str]:
    """What was taken out of ``url``, by the names of the query; empty where it had no password."""
    return dict(_kept.get(url.partition("://")[2], {}))


def keep(url: str, secrets: dict[str, str]) -> None:
    """What another process of the same run has taken out of ``url``."""
    _kept[url.partition("://")[2]] = dict(secrets)


def masked(text: str) -> str:
    """A sentence of somebody else's without any password that was taken out, or that `guard` was told."""
    known = {secret for secrets in _kept.values() for secret in secrets.values()} | _guarded
    # One can be part of another.
    for secret in sorted(known, key=len, reverse=True):
        if len(secret) >= _LEAST_MASKED:
            text = text.replace(secret, "***")
    return text


def guard(secret: str) -> str:
    """``secret``, of which `masked` knows from now on."""
    _guarded.add(secret)
    return secret


def _without(url: str) -> str:
    # Imported where it is needed: few commands name a server.
    from urllib.parse import unquote

    scheme, rest = url.split("://", 1)
    secrets: dict[str, str] = {}
    front, behind = _parted(scheme, rest)
    user, colon, after = front.partition(":")
    if colon and not set(user) & set(_ENDS) and "@" in after:
        password, _, host = after.rpartition("@")
        if set(password) & set(_ENDS):
            file = "the file that PGPASSFILE names" if scheme.lower().startswith("postgres") else "a file"
            raise InputError(
                f"{scheme}://{user}@{host}: the part before the last '@' has a '/', '?', '#' or '@' of its own, so where the password ends"
                f" is unclear; write them as %2F, %3F, %23 and %40, or keep the password in {file}."
            )
        secrets["password"] = unquote(password)
        rest = f"{user}@{host}{behind}"
    place, mark, query = rest.partition("?")
    pairs = [pair for pair in query.split("&") if pair]
    for pair in pairs:
        key, _, value = pair.partition("=")
        if unquote(key) in SECRET_KEYS:
            secrets[unquote(key)] = unquote(value)
    shown = [pair for pair in pairs if unquote(pair.partition("=")[0]) not in SECRET_KEYS]
    clean = place + (f"?{'&'.join(shown)}" if shown else mark if not pairs else "")
    if secrets:
        _kept[clean] = secrets
    return f"{scheme}://{clean}"


def _parted(scheme: str, rest: str) -> tuple[str, str]:
    """Where a password can stand, and what comes behind it in any case."""
    place = re.match(r"[^/?#]*", rest)
    assert place is not None
    front, behind = place[0], rest[place.end() :]
    colon, _, port = front.rpartition(":")
    # Without an '@' before its path, the path has a password's end only if what follows the colon is no port.
    if scheme.lower() in _MAIL and ("@" in front or not colon or port.isdigit()):
        return front, behind
    return rest, ""
