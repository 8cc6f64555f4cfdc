"""Addresses that runs are sent to, as they were typed: taken apart, checked, and shown again without secrets.

address_of("ftps://lab@nas7/inbox")       # user "lab", host "nas7", path "inbox", below where the user comes in
address_of("sftp://nas7//srv/inbox").path # "/srv/inbox"
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NoReturn
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from plimsoll.displayed import quoted
from plimsoll.errors import InputError
from plimsoll.passwords import withheld

#: No name begins with a dash: a program would take it for an option.
_HOST = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*|[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*(%[A-Za-z0-9._-]+)?")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


@dataclass(frozen=True)
class Address:
    """What stands in a URL; ``url`` has no password."""

    url: str
    scheme: str
    host: str
    port: int | None
    user: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)

    @property
    def shown(self) -> str:
        """``sftp://lab@nas7:2222/inbox``"""
        user = f"{quote(self.user, safe='')}@" if self.user else ""
        host = f"[{self.host}]" if ":" in self.host else self.host
        path = "" if self.path in ("", ".") else f"/{quote(self.path, safe='/@,~+')}"
        return f"{self.scheme}://{user}{host}{'' if self.port is None else f':{self.port}'}{path}"


def address_of(typed: str, example: str) -> Address:
    """``typed`` taken apart; raises `InputError` for what is no address, with ``example``."""
    url = withheld(typed)

    def refuse(why: str) -> NoReturn:
        raise InputError(f"--to {quoted(url)}: {why}; write for example {example}.")

    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        refuse("it is no address")
    user, _, place = parts.netloc.rpartition("@")
    # As it was typed: ssh tells names in its configuration by upper and lower case.
    host = place[1:].partition("]")[0] if place.startswith("[") else place.partition(":")[0]
    user, path = unquote(user), unquote(parts.path[1:])
    query = dict(parse_qsl(parts.query, keep_blank_values=True))
    if _CONTROL.search(unquote(url)):
        refuse("it has a control character")
    if not _HOST.fullmatch(host):
        refuse("it names no host")
    if user.startswith("-") or ":" in user:
        refuse("its user is no name")
    if parts.fragment:
        refuse("it has a '#'; write %23")
    return Address(url, parts.scheme, host, port, user, path.removeprefix("~/") if path != "~" else "", query)
