"""From what was typed to a destination: one line per scheme, and the options that each knows.

destination_of("sftp://nas7/inbox", {"identity": "id_ed25519"})
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from urllib.parse import parse_qsl

from plimsoll.delivery.address import address_of
from plimsoll.delivery.credentials import login_of, secret_in
from plimsoll.delivery.dispatch import Destination
from plimsoll.delivery.identity import Trust
from plimsoll.displayed import quoted
from plimsoll.errors import InputError
from plimsoll.near import listed
from plimsoll.passwords import guard, kept, withheld

Options = Mapping[str, str | None]

#: The token, for who does not want it on the command line.
TOKEN_VARIABLE = "PLIMSOLL_TOKEN"  # noqa: S105  # its name
_TLS = ("ca", "fingerprint")
_KEYS = ("identity", "known_hosts")


def destination_of(url: str, options: Options) -> Destination:
    """Where ``url`` leads, with options by their names; raises `InputError` for what cannot be meant."""
    scheme = next((one for one in SCHEMES if url.lower().startswith(one)), None)
    if scheme is None:
        raise InputError(
            f"--to {quoted(withheld(url))}: it begins with none of {listed(list(SCHEMES))}; write for example https://lab7:8642."
        )
    made, known = SCHEMES[scheme]
    for name, value in options.items():
        if value is not None and name not in known:
            takers = [one for one, (_, names) in SCHEMES.items() if name in names]
            raise InputError(f"--{name.replace('_', '-')} is for {listed(takers)}; leave it out for {scheme}.")
    return made(withheld(url), options)


def warning_of(url: str) -> str | None:
    """What is said before anything is sent there."""
    if url.lower().startswith("ftp://"):
        return "ftp:// sends user, password and data in clear text; use ftps:// where the server can."
    return None


def lasting(url: str, options: Options) -> dict[str, str]:
    """The same for another time: without secrets, and with files by their whole names."""
    kept_ones = {name: value for name, value in options.items() if value is not None}
    files = {name: os.path.abspath(value) for name, value in kept_ones.items() if name not in ("fingerprint",)}
    clean = withheld(url)
    if clean.startswith("file:"):
        clean = f"file:{os.path.abspath(clean.removeprefix('file:'))}"
    return {**kept_ones, **files, "to": clean}


def _folder(url: str, _: Options) -> Destination:
    from plimsoll.delivery.folder import FolderDestination

    folder = url[len("file:") :]
    if folder.startswith("//"):
        folder = folder.removeprefix("//")
    if not folder:
        raise InputError("--to file: names no directory; write for example file:/media/stick/results.")
    return FolderDestination(folder)


def _https(url: str, options: Options) -> Destination:
    from plimsoll.delivery.https import Credentials, HttpsDestination

    place = url.partition("?")[0]
    if not place.partition("://")[2].strip("/"):
        raise InputError(f"{quoted(place)} is no address; write for example https://lab7:8642.")
    return HttpsDestination.of(place, Credentials(_token(url, options.get("token_file")), _trust(options)))


def _token(url: str, path: str | None) -> str:
    if path is not None:
        return guard(secret_in(path, "--token-file", "token").strip())
    found = kept(url).get("token") or dict(parse_qsl(url.partition("?")[2])).get("token") or os.environ.get(TOKEN_VARIABLE)
    if not found:
        place = url.partition("?")[0]
        raise InputError(
            f"{place}: the server asks for a token; give --token-file FILE, the address that it printed, or ${TOKEN_VARIABLE}."
        )
    return guard(found)


def _ssh(url: str, options: Options) -> Destination:
    from plimsoll.delivery.ssh import SshKeys, ssh_destination

    return ssh_destination(address_of(url, "sftp://lab@nas7/inbox"), SshKeys(options.get("identity"), options.get("known_hosts")))


def _ftp(url: str, options: Options) -> Destination:
    from plimsoll.delivery.ftp import ftp_destination

    address = address_of(url, "ftps://lab@nas7/inbox")
    return ftp_destination(address, login_of(address, options.get("password_file")), _trust(options))


def _mail(url: str, options: Options) -> Destination:
    from plimsoll.delivery.mail import EXAMPLE, mail_destination

    address = address_of(url, EXAMPLE)
    return mail_destination(address, login_of(address, options.get("password_file")), _trust(options))


def _trust(options: Options) -> Trust:
    return Trust(options.get("ca"), options.get("fingerprint"))


#: What addresses begin with, how each is made, and the options that it knows.
SCHEMES: Mapping[str, tuple[Callable[[str, Options], Destination], tuple[str, ...]]] = {
    "https://": (_https, ("token_file", *_TLS)),
    "http://": (_https, ("token_file", *_TLS)),
    "sftp://": (_ssh, _KEYS),
    "scp://": (_ssh, _KEYS),
    "ftps://": (_ftp, ("password_file", *_TLS)),
    "ftp://": (_ftp, ("password_file",)),
    "smtps://": (_mail, ("password_file", *_TLS)),
    "smtp://": (_mail, ("password_file", *_TLS)),
    "file:": (_folder, ()),
}
