"""Where a mail server is: an address as it is typed after ``--target``.

Model: ``mail:new:DIR`` is private: Plimsoll makes mailboxes in that directory, starts servers on the loopback for as long as a point lasts,
and removes everything at the end. ``imap://HOST?users=FILE`` (TLS is begun with STARTTLS, port 143) and ``imaps://HOST?users=FILE``
(TLS from the start, port 993; RFC 8314) are a server of the user's own; ``submission`` says where letters are handed in, ``smtp://`` at
port 587 or ``smtps://`` at port 465. ``security=none`` does without TLS, ``ca=FILE`` names the authority that signed the certificates.
Limits: nothing here looks at a disk or a network. A password that was typed is not in the text any more (`plimsoll.passwords`).

    parse("mail:new:/mnt/array/mail").directory                                     # "/mnt/array/mail"
    parse("imap://mail.example.org?users=users.csv").own.submission.port            # 587
"""

from __future__ import annotations

from urllib.parse import parse_qsl, unquote, urlsplit

from plimsoll.displayed import quoted
from plimsoll.errors import InputError
from plimsoll.near import listed, meant
from plimsoll.records import dataclass

_EXAMPLE = "mail:new:/mnt/array/mail"
_OWN_EXAMPLE = "imap://mail.example.org?submission=smtp://mail.example.org&users=users.csv"
_KEYS = ("submission", "users", "security", "ca")
_PORTS = {"imap": 143, "imaps": 993, "smtp": 587, "smtps": 465}


@dataclass(frozen=True)
class Service:
    """One server: ``security`` is none, starttls or tls."""

    host: str
    port: int
    security: str

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"


@dataclass(frozen=True)
class OwnServer:
    """Servers of the user's: where mailboxes are read and letters are handed in, the file of users, and that of an authority."""

    imap: Service
    submission: Service
    users: str
    ca: str | None


@dataclass(frozen=True)
class Address:
    """``text`` is what was typed; private servers have their files in ``directory``, and the user's are ``own``."""

    text: str
    directory: str = ""
    own: OwnServer | None = None

    def __str__(self) -> str:
        return self.text


def is_address(text: str) -> bool:
    """Whether a text begins like the address of a mail server, whatever follows."""
    return text.strip().lower().startswith(("mail:", "imap:", "imaps:"))


def parse(text: str) -> Address:
    """The address that ``text`` is; raises `InputError` with what would be right."""
    text = text.strip()
    if text.lower().startswith(("imap:", "imaps:")):
        return Address(text, own=_own(text))
    word, _, rest = text.partition(":")
    kind, colon, directory = rest.partition(":")
    if word.lower() != "mail":
        hint = f"did you mean 'mail:new:{text}'?" if text.startswith((".", "/")) else f"write {_EXAMPLE}."
        raise InputError(f"target {quoted(text)}: mail users need a mail server; {hint}")
    if kind != "new" or not colon:
        wanted = directory if colon else rest
        raise InputError(f"target {quoted(text)}: did you mean 'mail:new:{wanted or '/mnt/array/mail'}'?")
    if not directory.strip() or "\0" in directory:
        raise InputError(f"target {quoted(text)}: name the directory, for example {_EXAMPLE}.")
    if directory.startswith("~"):
        raise InputError(f"target {quoted(text)}: the shell leaves '~' after a colon as it is; write mail:new:$HOME{directory[1:]}.")
    return Address(text, directory)


def _own(text: str) -> OwnServer:
    found = urlsplit(text)
    values: dict[str, str] = {}
    for key, value in parse_qsl(found.query, keep_blank_values=True):
        if key not in _KEYS:
            raise InputError(f"target {quoted(text)}: {quoted(key)} is unknown; {meant(key, _KEYS, f'write one of {listed(_KEYS)}.')}")
        values[key] = value
    security = values.get("security", "starttls")
    if security not in ("starttls", "none"):
        raise InputError(
            f"target {quoted(text)}: security is {quoted(security)}; write starttls or none, or imaps:// for TLS from the start."
        )
    if not values.get("users"):
        raise InputError(f"target {quoted(text)}: name the file of users, for example {_OWN_EXAMPLE}.")
    imap = _service(text, text.partition("?")[0], security)
    written = values.get("submission") or f"smtp://{imap.host if ':' not in imap.host else f'[{imap.host}]'}"
    submission = _service(text, written if "://" in written else f"smtp://{written}", security)
    return OwnServer(imap, submission, values["users"], values.get("ca"))


def _service(text: str, url: str, security: str) -> Service:
    found = urlsplit(url)
    scheme = found.scheme.lower()
    try:
        port = found.port
    except ValueError:
        raise InputError(f"target {quoted(text)}: the port of {quoted(url)} is no number from 1 to 65535.") from None
    if scheme not in _PORTS:
        raise InputError(f"target {quoted(text)}: {quoted(url)} is no address for letters; write smtp://HOST or smtps://HOST.")
    if not found.hostname or found.path not in ("", "/"):
        raise InputError(f"target {quoted(text)}: {quoted(url)} names no host; write for example {_OWN_EXAMPLE}.")
    return Service(unquote(found.hostname), port or _PORTS[scheme], "tls" if scheme.endswith("s") else security)
