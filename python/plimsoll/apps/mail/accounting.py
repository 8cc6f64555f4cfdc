"""Whether every letter that a server took is where it belongs: once in the mailbox of each recipient, with the bytes that were sent.

Model: the ledger of a run has a line for each letter that was taken (``T``), for each whose answer never came (``U``), and for each move
of a message between folders that had none (``M``). Every letter carries a mark: the run, its number, its sender, and a hash of its body.
All folders of the recipients are looked through, because users move what they get; copies that senders keep, and drafts, are no
deliveries. A server that is killed may have to repeat what nobody told it was done (RFC 5321, 4.5.4.1; RFC 1047): a letter that lay in the
queue at a kill may be there once more for each kill, and a message whose move was cut off in two folders. Nothing may be missing.
Limits: for Maildir, after the servers were stopped; other formats are read by IMAP (`plimsoll.apps.mail.reader`).

    account = accounted("ledger", marks_on_disk("/mnt/array/mail/mail/mailboxes", "18c9f2", since_ns))
    account.lost, account.doubled, account.damaged        # 0, 0, 0
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, field

from plimsoll.engine.mail import native_mail
from plimsoll.records import dataclass
from plimsoll.stored import Json

#: Folders that hold what a user wrote, not what was delivered.
OWN = ("Sent", "Calendar", "Drafts")
#: How many faults are told one by one.
_EXAMPLES = 5
#: The number of a letter, in its thread, has so many bits.
_THREAD_BITS = 40
#: A mark stands among the first bytes of a message.
_HEAD_BYTES = 262_144


@dataclass(frozen=True)
class Mark:
    """A letter that was found in a mailbox: whose that is, the letter's number, and whether its body is the one that was sent."""

    user: int
    number: int
    whole: bool

    def host(self, count: int) -> int:
        """Which of ``count`` hosts sent it: threads of all hosts are numbered in turn, and each begins the numbers of its letters so."""
        return (self.number >> _THREAD_BITS) % count


@dataclass
class Account:
    """Deliveries: ``taken`` by the server, ``found`` in mailboxes; of those, what is wrong. ``uncertain`` may be there or not.

    ``repeated`` were delivered again because a server was killed in the middle, ``copied`` are in two folders because a move was cut off.
    """

    taken: int = 0
    found: int = 0
    uncertain: int = 0
    lost: int = 0
    doubled: int = 0
    misdelivered: int = 0
    damaged: int = 0
    repeated: int = 0
    copied: int = 0
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


@dataclass
class _Ledger:
    """Deliveries that were taken, and those whose fate nobody knows (letter and recipient); moves by user that had no answer."""

    taken: set[tuple[int, int]] = field(default_factory=set)
    uncertain: set[tuple[int, int]] = field(default_factory=set)
    moving: Counter[int] = field(default_factory=Counter)


def accounted(
    path: str, marks: Iterable[Mark], again: Mapping[int, int] | None = None, unsure: Callable[[Mark], bool] = lambda _: False
) -> Account:
    """Compare the ledger at ``path`` with what was found; ``again`` says how often a letter may have been delivered once more.

    Where ``unsure`` says so, a letter that the ledger lacks may have been sent all the same.
    """
    ledger = _read(path)
    account = Account(taken=len(ledger.taken), uncertain=len(ledger.uncertain))
    found: Counter[tuple[int, int]] = Counter()
    for mark in marks:
        delivery = mark.number, mark.user
        if not mark.whole:
            account.damaged += 1
            account.blame(f"letter {mark.number} in the mailbox of user {mark.user} is not what was sent")
        listed = delivery in ledger.taken or delivery in ledger.uncertain
        if not listed and unsure(mark):
            continue
        found[delivery] += 1
        if not listed:
            account.misdelivered += 1
            account.blame(f"letter {mark.number} is in the mailbox of user {mark.user}, whom it was not sent to")
    account.found = found.total()
    for number, user in sorted(ledger.taken | ledger.uncertain):
        times = found[number, user]
        if times == 0 and (number, user) in ledger.taken:
            account.lost += 1
            account.blame(f"letter {number} to user {user} was accepted and is not in the mailbox")
        if times > 1:
            _excuse(account, ledger, (number, user), times - 1, (again or {}).get(number, 0))
    return account


def _excuse(account: Account, ledger: _Ledger, delivery: tuple[int, int], more: int, again: int) -> None:
    """What of so many copies too many a kill explains; the others are a fault."""
    number, user = delivery
    repeated = min(more, again)
    copied = min(more - repeated, ledger.moving[user])
    ledger.moving[user] -= copied
    account.repeated += repeated
    account.copied += copied
    if more > repeated + copied:
        account.doubled += 1
        account.blame(f"letter {number} is {more + 1} times in the mailbox of user {user}")


def _read(path: str) -> _Ledger:
    ledger = _Ledger()
    with suppress(FileNotFoundError), open(path, encoding="ascii") as file:
        for line in file:
            word, *words = line.split()
            if word == "M":
                ledger.moving[int(words[0])] += 1
                continue
            number, _, to = words
            (ledger.taken if word == "T" else ledger.uncertain).update((int(number), int(user)) for user in to.split(","))
    return ledger


def marks_on_disk(mailboxes: str, run: str, since_ns: int) -> Iterator[Mark]:
    """The letters of ``run`` in Maildirs, in files no older than ``since_ns`` (nanoseconds since 1970)."""
    for user, path in _messages(mailboxes, since_ns):
        with suppress(OSError), open(path, "rb") as file:
            head = file.read(_HEAD_BYTES)
            if head.find(native_mail().mark.encode() + b": ") >= 0 and (mark := mark_of(user, head + file.read(), run)) is not None:
                yield mark


def mark_of(user: int, text: bytes, run: str) -> Mark | None:
    """The letter of ``run`` that a message of a user is; None for anything else."""
    at = text.find(native_mail().mark.encode() + b": ", 0, _HEAD_BYTES)
    if at < 0:
        return None
    try:
        name, number, _, wanted = text[at:].split(b"\n", 1)[0].split(b" ")[1:5]
    except ValueError:
        return None
    if name.decode("ascii", "replace") != run or not number.isdigit():
        return None
    _, _, body = text[at:].replace(b"\r\n", b"\n").partition(b"\n\n")
    return Mark(user, int(number), native_mail().hash(body) == wanted.decode("ascii", "replace").strip())


def _messages(mailboxes: str, since_ns: int) -> Iterator[tuple[int, str]]:
    """Users and files of messages that were delivered to them."""
    with os.scandir(mailboxes) as homes:
        users = [(int(home.name[1:]), home.path) for home in homes if home.name[:1] == "u" and home.name[1:].isdigit()]
    for user, home in users:
        for folder, names, files in os.walk(home):
            names[:] = [name for name in names if name.lstrip(".") not in OWN]
            for name in files:
                path = os.path.join(folder, name)
                if not name.startswith(("dovecot", "maildirfolder")):
                    with suppress(OSError):
                        if os.stat(path).st_ctime_ns >= since_ns:
                            yield user, path
