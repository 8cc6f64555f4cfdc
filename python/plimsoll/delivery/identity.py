"""Who a server is, by its certificate: known to authorities, to a file of the user's (``--ca``), or by its fingerprint.

context = Trust(fingerprint="3F:9A:…").context()
trust.check(socket, "https://lab7:8642")          # before anything is sent
"""

from __future__ import annotations

import hashlib
import re
import ssl
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any

from plimsoll.displayed import displayed_in_line
from plimsoll.errors import InputError, TargetError

_FINGERPRINT = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class Trust:
    """Certificates in the file ``ca``, the one with ``fingerprint``, or those of the system's authorities."""

    ca: str | None = None
    fingerprint: str | None = None

    def context(self) -> ssl.SSLContext:
        """Raises `InputError` for a file or a fingerprint that is none."""
        if self.fingerprint is not None:
            if not _FINGERPRINT.fullmatch(_plain(self.fingerprint)):
                raise InputError("--fingerprint: it has 64 hexadecimal digits; copy the SHA-256 that 'plimsoll serve' printed.")
            # The fingerprint says who it is; names and authorities do not matter beside it.
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
            return context
        try:
            return ssl.create_default_context(cafile=self.ca)
        except (OSError, ssl.SSLError) as problem:
            said = str(problem.strerror or problem).lower() if isinstance(problem, OSError) else str(problem)
            raise InputError(f"--ca {self.ca}: {said}; name certificates in PEM.") from None

    def check(self, connected: Any, shown: str) -> None:
        """Compare the fingerprint of the certificate at the other end; raises `TargetError` when it is another."""
        if self.fingerprint is None or not isinstance(connected, ssl.SSLSocket):
            return
        seen = hashlib.sha256(connected.getpeercert(binary_form=True) or b"").hexdigest()
        if seen != _plain(self.fingerprint):
            raise TargetError(f"{shown}: its certificate has another fingerprint ({seen[:16]}…); nothing was sent.")


def not_trusted(problem: ssl.SSLCertVerificationError, shown: str) -> TargetError:
    """What is said of a certificate that nobody vouches for."""
    said = displayed_in_line(problem.verify_message).rstrip(".")
    return TargetError(f"{shown}: its certificate is not trusted ({said}); give --ca FILE, or its SHA-256 as --fingerprint.")


def is_this_machine(host: str) -> bool:
    """Whether ``host`` can be reached by nobody else."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _plain(fingerprint: str) -> str:
    return fingerprint.replace(":", "").strip().lower()
