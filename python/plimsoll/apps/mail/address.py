"""Where a mail server is: an address as it is typed after ``--target``.

Model: ``mail:new:DIR`` is private: Plimsoll makes mailboxes in that directory, starts servers on the loopback for as long as a point lasts,
and removes everything at the end.
Limits: a server of the user's own is refused in one sentence; nothing here looks at a disk or a network.

    parse("mail:new:/mnt/array/mail").directory          # "/mnt/array/mail"
"""

from __future__ import annotations

from dataclasses import dataclass

from plimsoll.displayed import quoted
from plimsoll.errors import InputError

_EXAMPLE = "mail:new:/mnt/array/mail"


@dataclass(frozen=True)
class Address:
    """``text`` is what was typed; private servers have their files in ``directory``."""

    text: str
    directory: str

    def __str__(self) -> str:
        return self.text


def is_address(text: str) -> bool:
    """Whether a text begins like the address of a mail server, whatever follows."""
    return text.strip().lower().startswith(("mail:", "imap:"))


def parse(text: str) -> Address:
    """The address that ``text`` is; raises `InputError` with what would be right."""
    text = text.strip()
    if text.lower().startswith("imap:"):
        raise InputError(f"target {quoted(text)}: mail servers of your own are not supported yet; write {_EXAMPLE} for private ones.")
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
