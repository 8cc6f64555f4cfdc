"""The password of whoever sends: from the address, a file, the environment, or ~/.netrc.

password_of(address_of("ftps://lab@nas7/inbox", ""), file=None)       # from $PLIMSOLL_PASSWORD, say
"""

from __future__ import annotations

import netrc
import os
from dataclasses import dataclass

from plimsoll.delivery.address import Address
from plimsoll.errors import InputError
from plimsoll.passwords import guard, kept

#: The password, for who wants it neither in the address nor in a file.
VARIABLE = "PLIMSOLL_PASSWORD"
_LONGEST = 4096


@dataclass(frozen=True)
class Login:
    """Who logs in; without a password where none was found."""

    user: str
    password: str | None


def login_of(address: Address, file: str | None) -> Login:
    """Who ``address`` is for: the first password of address, ``file``, environment and netrc. Raises `InputError`."""
    password = kept(address.url).get("password")
    if password is None and file is not None:
        password = secret_in(file, "--password-file", "password")
    if password is None and address.user:
        password = os.environ.get(VARIABLE)
    if password is not None:
        return Login(address.user, _one_line(password))
    user, password = _from_netrc(address)
    return Login(user or address.user, None if password is None else _one_line(password))


def secret_in(path: str, option: str, what: str) -> str:
    """The text in a file, without the line feed at its end; raises `InputError`."""
    try:
        with open(path, encoding="utf-8") as file:
            found = file.read(_LONGEST).rstrip("\r\n")
    except (OSError, UnicodeDecodeError) as problem:
        said = str(problem.strerror).lower() if isinstance(problem, OSError) else "it is not plain text"
        raise InputError(f"{option} {path}: {said}; name a file that holds the {what}.") from None
    if not found:
        raise InputError(f"{option} {path}: it is empty; name a file that holds the {what}.")
    return found


def _one_line(password: str) -> str:
    guard(password)
    if any(ord(one) < 32 or ord(one) == 127 for one in password):
        raise InputError("the password has a control character, such as a line feed; a password is one line.")
    return password


def _from_netrc(address: Address) -> tuple[str, str | None]:
    path = os.environ.get("NETRC")
    if path is None and not os.path.exists(os.path.expanduser("~/.netrc")):
        return "", None
    try:
        found = netrc.netrc(path).authenticators(address.host)
    except (OSError, UnicodeDecodeError, netrc.NetrcParseError) as problem:
        why = problem.msg if isinstance(problem, netrc.NetrcParseError) else getattr(problem, "strerror", None) or "it is not plain text"
        raise InputError(f"{path or '~/.netrc'}: {str(why).lower()}; mend it, or give the password in --password-file.") from None
    if found is None or (address.user and found[0] != address.user):
        return "", None
    return found[0], found[2]
