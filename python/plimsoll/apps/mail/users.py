"""The users of somebody's mail server who may be worked as: a file of names, passwords and addresses.

Model: CSV with a head: ``name`` and, where they are not the same, ``address``; ``password``, or one for all of them: from the address that
was typed (``imap://:PASSWORD@HOST``), else from the environment variable PLIMSOLL_MAIL_PASSWORD. Only who stands in the file is worked as.
Limits: a password has no line break, because commands of IMAP end with one.

    name,password,address
    clerk1,secret,clerk1@example.org
"""

from __future__ import annotations

import csv
import os
from dataclasses import field

from plimsoll.apps.mail.address import Address
from plimsoll.displayed import quoted
from plimsoll.errors import InputError
from plimsoll.passwords import kept
from plimsoll.records import dataclass

VARIABLE = "PLIMSOLL_MAIL_PASSWORD"
_COLUMNS = ("name", "password", "address")


@dataclass(frozen=True)
class User:
    """A user's account; the password is in no text of it."""

    name: str
    address: str
    password: str = field(repr=False)


def users_of(address: Address) -> list[User]:
    """Every user of the file that an address names. Raises `InputError` with the line that is wrong."""
    assert address.own is not None
    path = address.own.users
    common = kept(address.text).get("password") or os.environ.get(VARIABLE) or ""
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            rows = list(csv.DictReader(file, skipinitialspace=True))
    except OSError as problem:
        raise InputError(f"{path}: the file of users cannot be read ({str(problem.strerror).lower()}).") from None
    except (UnicodeDecodeError, csv.Error):
        raise InputError(f"{path}: the file of users is no CSV text.") from None
    if not rows or "name" not in rows[0]:
        raise InputError(f"{path}: write a head and a line for each user: {','.join(_COLUMNS)}.")
    users = [_user(f"{path}:{line}", row, common) for line, row in enumerate(rows, start=2)]
    names = [user.name for user in users]
    twice = next((name for place, name in enumerate(names) if name in names[:place]), None)
    if twice is not None:
        raise InputError(f"{path}: user {quoted(twice)} stands twice; name each user once.")
    return users


def _user(where: str, row: dict[str, str | None], common: str) -> User:
    name, password, address = ((row.get(column) or "").strip() for column in _COLUMNS)
    password = password or common
    if not name:
        raise InputError(f"{where}: the user has no name.")
    if not password:
        raise InputError(f"{where}: user {quoted(name)} has no password; write it there, or one for all users in {VARIABLE}.")
    if any(ord(sign) < 32 for sign in name + password + address):
        raise InputError(f"{where}: a name, password or address has a sign in it that no mail server takes.")
    address = address or name
    if "@" not in address or any(sign in address for sign in " <>\"'"):
        raise InputError(f"{where}: {quoted(address)} is no mail address; write it in the column address.")
    return User(name, address, password)
