"""The programs of mail servers on this machine: Dovecot's, which keeps mailboxes, and Postfix's, which takes letters in a queue.

Model: Dovecot is needed; Postfix is used where it is installed and we are root, because its master process has to be. Without it, letters
go to Dovecot by LMTP, which answers when they are in the mailbox.
Limits: PATH, and the folders of Debian and of Red Hat.

    found = programs()
    found.dovecot, found.postfix          # "/usr/sbin/dovecot", "/usr/lib/postfix/sbin/master" or None
"""

from __future__ import annotations

import os
import shutil

from plimsoll.errors import InputError
from plimsoll.records import dataclass

_PATH = os.pathsep.join((os.environ.get("PATH", os.defpath), "/usr/sbin", "/usr/local/sbin"))
_MASTERS = ("/usr/lib/postfix/sbin/master", "/usr/libexec/postfix/master")
_LMTP = ("/usr/lib/dovecot/lmtp", "/usr/libexec/dovecot/lmtp")
_IMAP = ("/usr/lib/dovecot/imap", "/usr/libexec/dovecot/imap")


@dataclass(frozen=True)
class Programs:
    """Paths of programs; ``postfix`` is its master process, None where letters go to Dovecot itself."""

    dovecot: str
    postfix: str | None


def programs() -> Programs:
    """What is installed. Raises `InputError` with the packages that are missing."""
    dovecot = shutil.which("dovecot", path=_PATH)
    missing = [
        package
        for package, found in (
            ("dovecot-core", dovecot),
            ("dovecot-imapd", _first(_IMAP)),
            ("dovecot-lmtpd", _first(_LMTP)),
        )
        if not found
    ]
    if dovecot is None or missing:
        raise InputError(
            f"a private mail server needs Dovecot, of which {', '.join(missing)} is missing here; install it (Debian, Ubuntu: apt-get "
            "install dovecot-imapd dovecot-lmtpd; Fedora: dnf install dovecot)."
        )
    usable = os.geteuid() == 0 and shutil.which("postfix", path=_PATH) is not None
    return Programs(dovecot, _first(_MASTERS) if usable else None)


def _first(paths: tuple[str, ...]) -> str | None:
    return next((path for path in paths if os.access(path, os.X_OK)), None)
