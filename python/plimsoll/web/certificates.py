"""A certificate of this server's own, for whoever gives none: made once, kept beside Plimsoll's other notes, made anew before it ends.

Model: a P-256 key and a certificate that signs itself, for the names and addresses that the server is reached by. Nobody vouches for it, so
the command prints its fingerprint: whoever compares it in the browser knows whom they talk to. The key is readable by its owner alone.

    own_certificate(["lab7", "10.0.0.7"])         # Certificate(cert="…/lab7.pem", key="…/lab7.key", fingerprint="3F:9A:…")
"""

from __future__ import annotations

import hashlib
import os
import ssl
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from plimsoll.certificates import Made
from plimsoll.displayed import quoted
from plimsoll.errors import InputError
from plimsoll.store.durable import replace_file

#: How long a certificate holds, and how long before its end it is made anew.
_HOLDS = timedelta(days=397)
_BEFORE = timedelta(days=30)


@dataclass(frozen=True)
class Certificate:
    """Files in PEM, and the SHA-256 of the certificate as browsers show it."""

    cert: str
    key: str
    fingerprint: str


def given_certificate(cert: str, key: str) -> Certificate:
    """The files of the user; raises `InputError` when they are no certificate with its key."""
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(cert, key, password=lambda: b"")
        with open(cert, encoding="ascii") as file:
            return Certificate(cert, key, _fingerprint(file.read()))
    except (OSError, ValueError) as problem:
        said = problem.strerror if isinstance(problem, OSError) and not isinstance(problem, ssl.SSLError) else "they do not belong together"
        raise InputError(
            f"--cert {cert} --key {key}: {(said or str(problem)).lower()}; give a certificate and its key in PEM, without a password."
        ) from None


def own_certificate(names: Sequence[str]) -> Certificate:
    """A certificate for ``names``; the one that is there, while it holds."""
    folder = os.path.join(_root(), "plimsoll", "certificates")
    stem = os.path.join(folder, hashlib.sha256("\n".join(names).encode()).hexdigest()[:16])
    cert, key = f"{stem}.pem", f"{stem}.key"
    with suppress(OSError, ValueError):
        if _holds(cert):
            return given_certificate(cert, key)
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        _make(names, cert, key)
    except OSError as problem:
        raise InputError(
            f"{quoted(folder)}: {str(problem.strerror).lower()}, so no certificate can be kept; give --cert and --key."
        ) from None
    return given_certificate(cert, key)


def _root() -> str:
    return os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")


def _holds(cert: str) -> bool:
    from cryptography import x509

    with open(cert, "rb") as file:
        return x509.load_pem_x509_certificate(file.read()).not_valid_after_utc - _BEFORE > datetime.now(UTC)


def _make(names: Sequence[str], cert: str, key: str) -> None:
    made = Made.certificate_of(names, (-timedelta(hours=1), _HOLDS))
    with open(os.open(key, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        os.fchmod(file.fileno(), 0o600)
        file.write(made.key_pem)
    replace_file(cert, made.pem)


def _fingerprint(pem: str) -> str:
    end = pem.index("-----END CERTIFICATE-----") + len("-----END CERTIFICATE-----")
    digest = hashlib.sha256(ssl.PEM_cert_to_DER_cert(pem[pem.index("-----BEGIN CERTIFICATE-----") : end])).hexdigest().upper()
    return ":".join(digest[place : place + 2] for place in range(0, len(digest), 2))
