"""Certificates that Plimsoll makes: a P-256 key and what it vouches for, signed by itself or by an authority that was made as well.

Model: names are host names and addresses. Needs the package cryptography, which is imported when something is made.

    authority = Made.authority("a gang", span)
    one = Made.certificate_of(["10.0.0.7", "db1"], span, authority)
    one.pem, one.key_pem
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
    from cryptography.x509 import Certificate, CertificateBuilder, GeneralName, Name

#: From when and until when something holds, from now.
Span = tuple[timedelta, timedelta]


@dataclass(frozen=True)
class Made:
    """A certificate and its key."""

    certificate: Certificate
    key: EllipticCurvePrivateKey

    @property
    def pem(self) -> bytes:
        """The certificate in PEM."""
        from cryptography.hazmat.primitives import serialization

        return self.certificate.public_bytes(serialization.Encoding.PEM)

    @property
    def key_pem(self) -> bytes:
        """The key in PEM, without a password."""
        from cryptography.hazmat.primitives import serialization

        return self.key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())

    @classmethod
    def authority(cls, name: str, holds: Span) -> Self:
        """Who vouches for others."""
        from cryptography import x509

        key, builder = _begun(name, holds)
        builder = builder.issuer_name(_named(name)).add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        return cls(_signed(builder, key), key)

    @classmethod
    def certificate_of(cls, names: Sequence[str], holds: Span, authority: Made | None = None) -> Self:
        """For servers of these names; one that an authority vouches for is for clients, too."""
        from cryptography import x509

        key, builder = _begun(names[0], holds)
        usages = [x509.oid.ExtendedKeyUsageOID.SERVER_AUTH]
        if authority is not None:
            usages.append(x509.oid.ExtendedKeyUsageOID.CLIENT_AUTH)
        issuer = _named(names[0]) if authority is None else authority.certificate.subject
        builder = (
            builder.issuer_name(issuer)
            .add_extension(x509.SubjectAlternativeName([_alternative(one) for one in names]), critical=False)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(x509.ExtendedKeyUsage(usages), critical=False)
        )
        return cls(_signed(builder, key if authority is None else authority.key), key)


def _begun(name: str, holds: Span) -> tuple[EllipticCurvePrivateKey, CertificateBuilder]:
    from cryptography import x509
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    now = datetime.now(UTC)
    builder = x509.CertificateBuilder().subject_name(_named(name)).public_key(key.public_key())
    builder = builder.serial_number(x509.random_serial_number())
    return key, builder.not_valid_before(now + holds[0]).not_valid_after(now + holds[1])


def _signed(builder: CertificateBuilder, key: EllipticCurvePrivateKey) -> Certificate:
    from cryptography.hazmat.primitives import hashes

    return builder.sign(key, hashes.SHA256())


def _named(name: str) -> Name:
    from cryptography import x509
    from cryptography.x509.oid import NameOID

    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name[:64])])


def _alternative(name: str) -> GeneralName:
    from cryptography import x509

    try:
        return x509.IPAddress(ip_address(name))
    except ValueError:
        return x509.DNSName(name)
