"""What lets a process into a gang: a token that all of it knows, and a certificate for each host that only this gang's authority gives.

Model: made anew for each gang, carried over ssh into files that only their user can read, and gone with the gang. A gang never stores
the authority's key. Certificates hold for long on either side of now, since clocks of hosts may be far apart; nothing else trusts them.

    credentials = Credentials()
    credentials.files(["10.0.0.7", "db1"])        # {"token": …, "ca.pem": …, "cert.pem": …, "key.pem": …}
    settings("/tmp/plimsoll-gang-x1")             # what Ray has in its environment
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from datetime import timedelta
from functools import cached_property
from importlib.util import find_spec

from plimsoll.certificates import Made
from plimsoll.errors import InputError

_HOLDS = (-timedelta(days=366), timedelta(days=366))
TOKEN, AUTHORITY, CERTIFICATE, KEY = "token", "ca.pem", "cert.pem", "key.pem"


def check_installed() -> None:
    """Raise `InputError` where certificates cannot be made."""
    if find_spec("cryptography") is None:
        raise InputError("--hosts: certificates are made with cryptography, which is not installed; pip install 'plimsoll[cluster]'.")


class Credentials:
    """Those of one gang."""

    def __init__(self) -> None:
        self.token = secrets.token_hex(32)

    def files(self, names: Sequence[str]) -> dict[str, str]:
        """What a host of these names and addresses is handed."""
        made = Made.certificate_of([*names, "127.0.0.1", "localhost"], _HOLDS, self._authority)
        pems = {AUTHORITY: self._authority.pem, CERTIFICATE: made.pem, KEY: made.key_pem}
        return {TOKEN: self.token, **{name: pem.decode("ascii") for name, pem in pems.items()}}

    @property
    def authority(self) -> str:
        """The authority's certificate."""
        return self._authority.pem.decode("ascii")

    @property
    def authority_key(self) -> str:
        """Its key, for who has certificates made where it cannot be asked."""
        return self._authority.key_pem.decode("ascii")

    @cached_property
    def _authority(self) -> Made:
        return Made.authority("Plimsoll gang", _HOLDS)


def settings(folder: str) -> dict[str, str]:
    """What makes Ray ask everybody for the token and a certificate, and show its own; ``folder`` has the files."""
    return {
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN_PATH": f"{folder}/{TOKEN}",
        "RAY_USE_TLS": "1",
        "RAY_TLS_CA_CERT": f"{folder}/{AUTHORITY}",
        "RAY_TLS_SERVER_CERT": f"{folder}/{CERTIFICATE}",
        "RAY_TLS_SERVER_KEY": f"{folder}/{KEY}",
    }
