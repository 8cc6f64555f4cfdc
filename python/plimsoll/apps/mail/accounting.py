"""Whether every letter that a server took is where it belongs: once in the mailbox of each recipient, with the bytes that were sent.

Model: the ledger of a run has a line for each letter that was taken (``T``) and for each whose answer never came (``U``). Every letter
carries a mark: the run, its number, its sender, and a hash of its body. The mailboxes of the recipients are read from the disk, folder by
folder, because users move what they get; copies that senders keep, and drafts, are no deliveries.
Limits: for Maildir, after the servers were stopped.

    account = accounted("ledger", "18c9f2", "/mnt/array/mail/mail/mailboxes", since_ns)
    account.lost, account.doubled, account.damaged        # 0, 0, 0
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, field

from plimsoll.engine import Json, native_mail

#: Folders that hold what a user wrote, not what was delivered.
_OWN = ("Sent", "Calendar", "Drafts")
#: How many faults are told one by one.
_EXAMPLES = 5
#: A mark stands among the first bytes of a message.
_HEAD_BYTES = 262_144


@dataclass
class Account:
    """Deliveries: ``taken`` by the server, ``found`` in mailboxes; of those, what is wrong. ``uncertain`` may be there or not."""

    taken: int = 0
    found: int = 0
    uncertain: int = 0
    lost: int = 0
    doubled: int = 0
    misdelivered: int = 0
    damaged: int = 0
    examples: list[str] = field(default_factory=list)

    @property
    def is_right(self) -> bool:
        """Whether every letter is where it belongs."""
        return not (self.lost or self.doubled or self.misdelivered or self.damaged)

    def to_json(self) -> Json:
        """As it is stored."""
        return asdict(self)

    def blame(self, sentence: str) -> None:
        """Keep a fault for telling."""
        if len(self.examples) < _EXAMPLES:
            self.examples.append(sentence)


def accounted(ledger: str, run: str, mailboxes: str, since_ns: int) -> Account:
    """Compare the ledger of ``run`` with the messages in ``mailboxes`` that are no older than ``since_ns`` (nanoseconds since 1970)."""
    taken, uncertain = _entries(ledger)
    account = Account(taken=len(taken), uncertain=len(uncertain))
    found: Counter[tuple[int, int]] = Counter()
    for user, path in _messages(mailboxes, since_ns):
        mark = _mark_of(path, run)
        if mark is None:
            continue
        number, whole = mark
        found[number, user] += 1
        if not whole:
            account.damaged += 1
            account.blame(f"letter {number} in the mailbox of user {user} is not what was sent")
        if (number, user) not in taken and (number, user) not in uncertain:
            account.misdelivered += 1
            account.blame(f"letter {number} is in the mailbox of user {user}, whom it was not sent to")
    account.found = found.total()
    for number, user in sorted(taken):
        times = found[number, user]
        if times == 0:
            account.lost += 1
            account.blame(f"letter {number} to user {user} was accepted and is not in the mailbox")
        elif times > 1:
            account.doubled += 1
            account.blame(f"letter {number} is {times} times in the mailbox of user {user}")
    return account


def _entries(ledger: str) -> tuple[set[tuple[int, int]], set[tuple[int, int]]]:
    """Deliveries that were taken, and those whose fate nobody knows: letter and recipient."""
    taken: set[tuple[int, int]] = set()
    uncertain: set[tuple[int, int]] = set()
    with suppress(FileNotFoundError), open(ledger, encoding="ascii") as file:
        for line in file:
            word, number, _, to = line.split()
            (taken if word == "T" else uncertain).update((int(number), int(user)) for user in to.split(","))
    return taken, uncertain


def _messages(mailboxes: str, since_ns: int) -> Iterator[tuple[int, str]]:
    """Users and files of messages that were delivered to them."""
    with os.scandir(mailboxes) as homes:
        users = [(int(home.name[1:]), home.path) for home in homes if home.name[:1] == "u" and home.name[1:].isdigit()]
    for user, home in users:
        for folder, names, files in os.walk(home):
            names[:] = [name for name in names if name.lstrip(".") not in _OWN]
            for name in files:
                path = os.path.join(folder, name)
                if not name.startswith(("dovecot", "maildirfolder")):
                    with suppress(OSError):
                        if os.stat(path).st_ctime_ns >= since_ns:
                            yield user, path


def _mark_of(path: str, run: str) -> tuple[int, bool] | None:
    """The number of the letter of ``run`` that a file is, and whether its body is whole; None for anything else."""
    try:
        with open(path, "rb") as file:
            head = file.read(_HEAD_BYTES)
            at = head.find(native_mail().mark.encode() + b": ")
            if at < 0:
                return None
            name, number, _, wanted = head[at:].split(b"\n", 1)[0].split(b" ")[1:5]
            if name.decode("ascii", "replace") != run:
                return None
            text = head + file.read()
    except (OSError, ValueError):
        return None
    _, _, body = text[at:].replace(b"\r\n", b"\n").partition(b"\n\n")
    return int(number), native_mail().hash(body) == wanted.decode("ascii", "replace").strip()
