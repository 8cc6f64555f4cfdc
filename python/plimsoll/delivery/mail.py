"""Delivery by mail: the numbers as text, the report and the parcel attached.

Model: ``smtps`` begins with TLS, ``smtp`` goes over to it where the server offers that (STARTTLS), and then as strictly as https; a
password goes through TLS alone. Every recipient has to be taken before anything is sent. The same run gives the same Message-ID, so that
a mail that was sent twice because an answer was lost can be told from two. What is too large goes without the report first.
Limits: the server says that it took the mail, not that it arrives; nobody compares anything until `plimsoll receive` does.

    MailDestination(address_of("smtp://relay/lab@example.org", ""), Login("", None), Trust()).take(sent)
"""

from __future__ import annotations

import hashlib
import re
import smtplib
import socket
import ssl
from contextlib import suppress
from dataclasses import dataclass
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import formatdate

from plimsoll.delivery.address import Address
from plimsoll.delivery.credentials import Login
from plimsoll.delivery.dispatch import Delivered, NotNow, Sent, reason, said
from plimsoll.delivery.identity import Trust, is_this_machine, not_trusted
from plimsoll.displayed import displayed, displayed_in_line, encoded, quoted
from plimsoll.errors import InputError, TargetError
from plimsoll.store.parcel import ENDING
from plimsoll.units import binary

_SILENCE_S = 60.0
_PORTS = {"smtp": 25, "smtps": 465}
#: Of servers that say no size: many take no more.
_MOST_BYTES = 20 << 20
#: Answers from here on do not change by themselves.
_FOR_EVER = 500
EXAMPLE = "smtp://relay.example.org/lab@example.org"
_ADDRESS = re.compile(r"[^\s@<>()\[\],;:\\\"]+@[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?")
_TAKEN = "the mail server took it; whether it arrives is not known here"
_CLEAR = "it went in clear text, since the server offers no STARTTLS"


@dataclass(frozen=True)
class MailDestination:
    """Mailboxes behind the server of ``address``."""

    address: Address
    login: Login
    trust: Trust

    @property
    def shown(self) -> str:
        """The server and its recipients."""
        return self.address.shown

    @property
    def remembers(self) -> bool:
        """Mail is not looked up."""
        return False

    def take(self, sent: Sent) -> Delivered:
        """Deliver it once."""
        try:
            server = self._connected()
            try:
                self._log_in(server)
                room = _room(server)
                self._hand_over(server, composed(sent, sender_of(self.address), recipients_of(self.address), room))
                in_clear = not isinstance(server.sock, ssl.SSLSocket) and not is_this_machine(self.address.host)
                with suppress(smtplib.SMTPException, OSError):
                    server.quit()
            finally:
                server.close()
        except ssl.SSLCertVerificationError as problem:
            raise not_trusted(problem, self.shown) from None
        except smtplib.SMTPServerDisconnected:
            raise NotNow("the connection was closed") from None
        except smtplib.SMTPResponseException as problem:
            raise self._refused(problem.smtp_code, problem.smtp_error) from None
        except (smtplib.SMTPException, OSError) as problem:
            raise NotNow(reason(problem)) from None
        return Delivered(sent.name, known=False, doubt=f"{_TAKEN}; {_CLEAR}" if in_clear else _TAKEN)

    def _connected(self) -> smtplib.SMTP:
        """A session that goes through TLS wherever the server can."""
        host, port = self.address.host, self.address.port or _PORTS[self.address.scheme]
        context = self.trust.context()
        if self.address.scheme == "smtps":
            server: smtplib.SMTP = smtplib.SMTP_SSL(host, port, _own_name(), timeout=_SILENCE_S, context=context)
        else:
            server = smtplib.SMTP(host, port, _own_name(), timeout=_SILENCE_S)
        try:
            server.ehlo_or_helo_if_needed()
            if self.address.scheme == "smtp" and server.has_extn("starttls"):
                server.starttls(context=context)
                server.ehlo()
            self.trust.check(server.sock, self.shown)
            if not isinstance(server.sock, ssl.SSLSocket) and self.trust != Trust():
                raise TargetError(f"{self.shown}: it offers no TLS, so it has no certificate to be known by; nothing was sent.")
        except BaseException:
            server.close()
            raise
        return server

    def _log_in(self, server: smtplib.SMTP) -> None:
        if self.login.password is None:
            return
        if not isinstance(server.sock, ssl.SSLSocket) and not is_this_machine(self.address.host):
            raise TargetError(f"{self.shown}: it offers no STARTTLS, so the password would travel in clear text; use smtps://.")
        try:
            server.login(self.login.user, self.login.password)
        except smtplib.SMTPAuthenticationError as problem:
            if problem.smtp_code < _FOR_EVER:
                raise
            raise TargetError(
                f"{self.shown}: it does not let {quoted(self.login.user)} in ({_line(problem.smtp_code, problem.smtp_error)})."
            ) from None
        except smtplib.SMTPNotSupportedError:
            raise TargetError(f"{self.shown}: it lets nobody log in; leave the password out.") from None

    def _hand_over(self, server: smtplib.SMTP, mail: EmailMessage) -> None:
        """The mail to every recipient, or to none."""
        content = mail.as_bytes(policy=SMTP)
        size = [f"size={len(content)}"] if server.has_extn("size") else []
        _agreed(server.mail(sender_of(self.address), size))
        for one in recipients_of(self.address):
            _agreed(server.rcpt(one))
        _agreed(server.data(content))

    def _refused(self, code: int, text: bytes | str) -> NotNow | TargetError:
        line = _line(code, text)
        return TargetError(f"{self.shown}: it refuses: {line}.") if code >= _FOR_EVER else NotNow(line)


def mail_destination(address: Address, login: Login, trust: Trust) -> MailDestination:
    """Raises `InputError` for what is no mail address, and for certificates that cannot be used."""
    recipients_of(address)
    sender_of(address)
    trust.context()
    if unknown := sorted(set(address.query) - {"from"}):
        raise InputError(f"{address.shown}: {quoted(unknown[0])} is unknown; only '?from=' can follow the mail address.")
    return MailDestination(address, login, trust)


def recipients_of(address: Address) -> list[str]:
    """The mail addresses of the path, separated by commas; raises `InputError`."""
    found = [one.strip() for one in address.path.split(",")]
    if not all(map(_ADDRESS.fullmatch, found)):
        raise InputError(f"{address.scheme}://{address.host} is followed by no mail address; write for example {EXAMPLE}.")
    return found


def sender_of(address: Address) -> str:
    """Whom the mail is from: as asked, the user where that is a mail address, or this machine."""
    asked = address.query.get("from")
    if asked is not None and not _ADDRESS.fullmatch(asked):
        raise InputError(f"{address.shown}: {quoted(asked)} is no mail address; write for example ?from=rack12@example.org.")
    return asked or (address.user if _ADDRESS.fullmatch(address.user) else f"plimsoll@{_own_name()}")


def composed(sent: Sent, sender: str, recipients: list[str], room_bytes: int) -> EmailMessage:
    """The mail; without the report where it would be too large with it. Raises `TargetError` where the run alone is too large."""
    mail = _mail(sent, sender, recipients, _page(sent))
    if len(mail.as_bytes(policy=SMTP)) > room_bytes:
        mail = _mail(sent, sender, recipients, None)
    size_bytes = len(mail.as_bytes(policy=SMTP))
    if size_bytes > room_bytes:
        raise TargetError(
            f"{sent.name}: as a mail it has {binary(size_bytes)}, and the server takes {binary(room_bytes)}; send it to https:// or sftp://."
        )
    return mail


def _mail(sent: Sent, sender: str, recipients: list[str], page: bytes | None) -> EmailMessage:
    mail = EmailMessage(policy=SMTP)
    mail["From"], mail["To"] = sender, ", ".join(recipients)
    # A label can be anything; a subject is one line.
    mail["Subject"] = displayed_in_line(f"Plimsoll: {sent.run.label} ({sent.run.status})")[:200]
    mail["Date"] = formatdate(usegmt=True)
    to = hashlib.sha256(",".join(recipients).encode()).hexdigest()[:12]
    mail["Message-ID"] = f"<{sent.digest[:32]}.{to}@plimsoll.invalid>"
    name = f"{sent.name}-{sent.digest[:12]}{ENDING}"
    report = "The report is attached." if page is not None else "The report was too large to attach; 'plimsoll report' draws it."
    stored = f"'plimsoll receive' stores {name}, or this whole mail, as the run."
    mail.set_content(f"{_numbers(sent)}\n\n{report} {stored}\n")
    if page is not None:
        mail.add_attachment(page, maintype="text", subtype="html", filename=f"{sent.name}.html", cte="base64", params={"charset": "utf-8"})
    sent.parcel.seek(0)
    mail.add_attachment(sent.parcel.read(), maintype="application", subtype="gzip", filename=name)
    return mail


def _numbers(sent: Sent) -> str:
    from plimsoll.reports.markdown import BEGINNING, run_markdown

    return displayed(run_markdown([sent.run]).removeprefix(BEGINNING.removesuffix("# "))).strip()


def _page(sent: Sent) -> bytes:
    from plimsoll.reports.html import model, page

    return encoded(page(model([sent.run])))


def _room(server: smtplib.SMTP) -> int:
    """How much the server takes, as it says."""
    told = server.esmtp_features.get("size", "").strip()
    return int(told) if told.isdigit() and int(told) > 0 else _MOST_BYTES


def _own_name() -> str:
    """This machine, as a name that every server takes; asked of no name server."""
    name = re.sub(r"[^A-Za-z0-9.-]", "-", socket.gethostname()).strip("-.")
    return name or "localhost"


def _agreed(answer: tuple[int, bytes]) -> None:
    if answer[0] not in (250, 251):
        raise smtplib.SMTPResponseException(*answer)


def _line(code: int, text: bytes | str) -> str:
    return said(f"{code} {text.decode('utf-8', 'replace') if isinstance(text, bytes) else text}")
