"""A Ray cluster that runs already, and somebody else's: what lets this machine in there, and whether the cluster keeps others out.

Model: token and certificate are the user's, named in a lab's file or by Ray's usual environment; nothing of them is made or kept here.
Before Ray is started for it, the cluster's directory is called by hand: with what there is, in the clear, and without the token. So each of
the many ways not to get in is one sentence, at once, where Ray itself waits for half a minute. Beyond loopback a cluster that answers
without either is refused: whoever reaches it runs what he likes there, what is measured among it.
Limits: TLS as Ray has it (`RAY_USE_TLS`): one authority, whose certificates both sides show. Tokens of Kubernetes' own are not known.

    cluster = Cluster("10.0.0.1:6379", Papers(token="~/token", authority="ca.pem", certificate="cert.pem", key="key.pem"))
    check_admission(cluster)
    cluster.settings()                   # what Ray has in its environment
"""

from __future__ import annotations

import ipaddress
import os
import socket
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace

from plimsoll.displayed import displayed
from plimsoll.errors import EngineError, InputError
from plimsoll.gang.admission import Admission, admission_of
from plimsoll.gang.exposure import answers_strangers

_PATIENCE_S = 5.0
#: Where Ray looks for a token that nothing else names.
_USUAL = "~/.ray/auth_token"
_BOTH = (
    "beyond loopback Plimsoll joins a cluster only where Ray asks everybody for both (RAY_USE_TLS=1 and RAY_AUTH_MODE=token on every node)"
)


@dataclass(frozen=True)
class Papers:
    """The files that let this machine in; None where neither the lab nor the environment names one."""

    token: str | None = None
    authority: str | None = None
    certificate: str | None = None
    key: str | None = None

    def or_of(self, environment: Mapping[str, str]) -> Papers:
        """What is missing as Ray's own environment names it."""
        named = {
            "token": environment.get("RAY_AUTH_TOKEN_PATH") or (_USUAL if environment.get("RAY_AUTH_MODE") == "token" else None),
            "authority": environment.get("RAY_TLS_CA_CERT"),
            "certificate": environment.get("RAY_TLS_SERVER_CERT"),
            "key": environment.get("RAY_TLS_SERVER_KEY"),
        }
        if environment.get("RAY_USE_TLS", "0").lower() not in ("1", "true"):
            named = {"token": named["token"]}
        return replace(self, **{name: value or None for name, value in named.items() if getattr(self, name) is None})

    @property
    def for_tls(self) -> tuple[str, str, str] | None:
        """Authority, certificate and key, where all are there."""
        found = (self.authority, self.certificate, self.key)
        return (found[0], found[1], found[2]) if found[0] and found[1] and found[2] else None


@dataclass(frozen=True)
class Cluster:
    """Where the cluster's head is (`HOST:PORT`), and what lets in."""

    address: str
    papers: Papers = Papers()
    #: A token that the environment holds itself, in place of a file.
    token: str | None = None

    @property
    def place(self) -> tuple[str, int]:
        """Host and port."""
        host, _, port = self.address.rpartition(":")
        return host.strip("[]"), int(port)

    def resolved(self, environment: Mapping[str, str]) -> Cluster:
        """With what the environment names besides. Raises `InputError` for a file that cannot be read, and for certificates in part."""
        papers = self.papers.or_of(environment)
        papers = Papers(**{one.name: _readable(getattr(papers, one.name), one.name) for one in fields(papers)})
        if any((papers.authority, papers.certificate, papers.key)) and papers.for_tls is None:
            raise InputError(
                f"{self.address}: the cluster's authority, certificate and key belong together; name all three in the lab's file."
            )
        token = None if self.papers.token else environment.get("RAY_AUTH_TOKEN") or None
        return replace(self, papers=papers, token=token)

    def secret(self) -> str | None:
        """The token, wherever it is."""
        if self.token or not self.papers.token:
            return self.token
        with open(self.papers.token, encoding="ascii", errors="replace") as file:
            return file.read().strip()

    def settings(self) -> dict[str, str]:
        """What makes Ray show all of it, and ask for it where it listens here."""
        has_token = bool(self.token or self.papers.token)
        tls = self.papers.for_tls
        return {
            "RAY_AUTH_MODE": "token" if has_token else "disabled",
            "RAY_AUTH_TOKEN": self.token or "",
            **({"RAY_AUTH_TOKEN_PATH": self.papers.token} if self.papers.token else {}),
            "RAY_USE_TLS": "1" if tls else "0",
            **(dict(zip(("RAY_TLS_CA_CERT", "RAY_TLS_SERVER_CERT", "RAY_TLS_SERVER_KEY"), tls, strict=True)) if tls else {}),
            "RAY_ADDRESS": "",
            # Else Ray puts the machine's own address in loopback's place.
            "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "1" if self.is_beyond_loopback() else "0",
        }

    def is_beyond_loopback(self) -> bool:
        """Whether others than this machine reach it. Raises `InputError` for a name that is not known."""
        return not all(map(is_loopback, self.addresses()))

    def addresses(self) -> list[str]:
        """The numbers that its name stands for. Raises `InputError` for one that is not known."""
        host, port = self.place
        try:
            return sorted({str(found[4][0]) for found in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)})
        except OSError:
            raise InputError(f"{self.address}: the name {host} is not known; give the address of the cluster's head, HOST:6379.") from None


def is_loopback(address: str) -> bool:
    """Whether nobody but this machine reaches it."""
    return ipaddress.ip_address(address.partition("%")[0]).is_loopback


def check_admission(cluster: Cluster) -> None:
    """Raises `InputError` for what the user should correct, `EngineError` for a cluster that lets others in."""
    host, port = cluster.place
    beyond = cluster.is_beyond_loopback()
    try:
        socket.create_connection((host, port), timeout=_PATIENCE_S).close()
    except OSError as problem:
        why = "it does not answer" if isinstance(problem, TimeoutError) else (problem.strerror or str(problem)).lower()
        raise InputError(
            f"{cluster.address}: no Ray is reached there ({why}); give the address of the cluster's head, whose port is 6379 as a rule."
        ) from None
    if beyond:
        if answers_strangers(host, port):
            raise EngineError(f"refused: who comes without a certificate is answered on {cluster.address}; {_BOTH}.")
        if cluster.papers.for_tls is None or cluster.secret() is None:
            raise InputError(
                f"{cluster.address}: a cluster beyond loopback is joined with certificate and token; name 'authority', 'certificate', "
                "'certificate_key' and 'token' in the lab's file, or set RAY_USE_TLS, RAY_TLS_… and RAY_AUTH_TOKEN_PATH as for Ray itself."
            )
    found = admission_of(host, port, cluster.papers.for_tls, cluster.secret())
    if found is not Admission.GIVEN:
        raise InputError(f"{cluster.address}: {_why(cluster, found)}")
    if beyond and admission_of(host, port, cluster.papers.for_tls, None) is Admission.GIVEN:
        raise EngineError(f"refused: who comes without the token is answered on {cluster.address}; {_BOTH}.")


def _why(cluster: Cluster, found: Admission) -> str:
    """What keeps this machine out, and what would be right."""
    papers = cluster.papers
    if found is Admission.UNKNOWN:
        if cluster.secret() is None:
            return "the cluster asks for a token; name its file with 'token' in the lab's file, or set RAY_AUTH_MODE=token."
        return (
            f"the cluster refuses the token of {displayed(papers.token or 'RAY_AUTH_TOKEN')}; use the one that its nodes were started with."
        )
    if found is Admission.FOREIGN:
        return (
            f"its certificate is not for this address, or not of the authority in {displayed(str(papers.authority))}; "
            "name the authority that the cluster was started with."
        )
    if found is Admission.NO_CERTIFICATE:
        return (
            f"it does not accept the certificate in {displayed(str(papers.certificate))}; name one of its authority's, "
            "made for this machine's address."
        )
    if papers.for_tls is None:
        return (
            "what listens there speaks no gRPC in the clear; where it is Ray with TLS, name 'authority', 'certificate' and "
            "'certificate_key' in the lab's file."
        )
    return "what listens there is no Ray that speaks TLS; give the address of the cluster's head, HOST:6379."


def _readable(path: str | None, what: str) -> str | None:
    if path is None:
        return None
    whole = os.path.abspath(os.path.expanduser(path))
    try:
        with open(whole, "rb") as file:
            text = file.read()
    except OSError as problem:
        raise InputError(f"the {what} of the cluster: {displayed(whole)}: {(problem.strerror or str(problem)).lower()}.") from None
    if what == "token" and not text.strip():
        raise InputError(f"the token of the cluster: {displayed(whole)} is empty.")
    if what in ("authority", "certificate") and b"-----BEGIN CERTIFICATE-----" not in text:
        raise InputError(f"the {what} of the cluster: {displayed(whole)} holds no certificate (PEM).")
    if what == "key" and b"PRIVATE KEY-----" not in text:
        raise InputError(f"the key of the cluster: {displayed(whole)} holds no private key (PEM).")
    return whole
