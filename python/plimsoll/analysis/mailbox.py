"""Mailboxes as a demand: IOPS per mailbox by version and kind of user, as the sizing tables of their time had them.

Model: IOPS = mailboxes · IOPS per mailbox of the database volume; log writes are told apart: they go sequentially to a volume of their own.
A profile is ``VERSION:KIND``; for 2010 and 2013 the kind is the number of messages sent and received per day.
Sources: 2003 learn.microsoft.com/previous-versions/tn-archive/bb125019; 2007 slipstick.com/exs/ex07/080918ms_iops.asp; 2010 and 2013 from
memory. What is from memory says so in `MailboxProfile.notes`, which every output repeats.
Limits: planning figures, without the share for peaks, background maintenance or backup; add those with growth.

    demanded = mailbox_profile("exchange-2010:100")
    5000 * demanded.iops, demanded.read_percent          # 600.0, 50
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from plimsoll.errors import InputError

_KIB = 1024
_FROM_MEMORY = "the IOPS per mailbox of Exchange {} are from memory"
_MIX_TAKEN_OVER = "no read share of Exchange {} is at hand; the 1:1 of Exchange 2007 is taken over (change it with --read-percent)"
_PAGES = "the page size, and with it the request size, of Exchange {} is from memory (change it with --block-size)"


@dataclass(frozen=True)
class MailboxProfile:
    """What one mailbox asks of its database volume.

    ``messages`` are sent and received per day, or their sum where only that is told. ``log_share`` is log writes over database IOPS.
    """

    name: str
    iops: float
    read_percent: float
    block_bytes: int
    messages: str
    source: str
    notes: tuple[str, ...] = ()
    mailbox_bytes: int | None = None
    log_share: float | None = None

    def database_iops(self, mailboxes: int) -> float:
        """IOPS of the database volume."""
        return mailboxes * self.iops

    def log_writes_per_s(self, mailboxes: int) -> float | None:
        """Sequential writes of the log volume; None where no share is told."""
        return None if self.log_share is None else self.log_share * self.database_iops(mailboxes)


def _exchange_2003() -> Iterator[MailboxProfile]:
    kinds = {"light": (0.5, "20/50", 50), "average": (0.75, "30/75", 100), "heavy": (1.0, "40/100", 200), "large": (1.5, "60/150", 500)}
    for kind, (iops, messages, megabytes) in kinds.items():
        yield MailboxProfile(
            f"exchange-2003:{kind}",
            iops,
            read_percent=66,
            block_bytes=4 * _KIB,
            messages=f"{messages} sent/received per day",
            source="learn.microsoft.com/previous-versions/tn-archive/bb125019",
            notes=("the source gives reads 75 to 66 %; 66 %, the dearer end, is taken", _PAGES.format(2003)),
            mailbox_bytes=megabytes * 10**6,
        )


def _exchange_2007() -> Iterator[MailboxProfile]:
    kinds = {"light": (0.11, "5/20"), "average": (0.18, "10/40"), "heavy": (0.32, "20/80"), "very-heavy": (0.48, "30/120")}
    for kind, (iops, messages) in kinds.items():
        yield MailboxProfile(
            f"exchange-2007:{kind}",
            iops,
            read_percent=50,
            block_bytes=8 * _KIB,
            messages=f"{messages} sent/received per day",
            source="slipstick.com/exs/ex07/080918ms_iops.asp",
            notes=("the messages per day of Exchange 2007 are from memory", _PAGES.format(2007)),
            log_share=0.38,
        )


#: IOPS of Exchange 2013 by messages per day. Not a formula: 100 → .067 while 50 → .034.
_EXCHANGE_2013 = dict(zip(range(50, 501, 50), (0.034, 0.067, 0.101, 0.134, 0.168, 0.201, 0.235, 0.268, 0.302, 0.335), strict=True))
_MIB_CACHE_PER_50 = 3


def _by_messages() -> Iterator[MailboxProfile]:
    """Exchange 2010, .060 per 50 messages alone and .050 with copies of the database, and 2013."""
    families = {
        "exchange-2010": {messages: round(0.060 * messages / 50, 3) for messages in range(50, 501, 50)},
        "exchange-2010-copies": {messages: round(0.050 * messages / 50, 3) for messages in range(50, 501, 50)},
        "exchange-2013": _EXCHANGE_2013,
    }
    for family, rates in families.items():
        version = family.split("-")[1]
        notes = (_FROM_MEMORY.format(version), _MIX_TAKEN_OVER.format(version), _PAGES.format(version))
        for messages, iops in rates.items():
            cache = f"; {_MIB_CACHE_PER_50 * messages // 50} MB of database cache per mailbox supposed" if version == "2010" else ""
            yield MailboxProfile(
                f"{family}:{messages}",
                iops,
                read_percent=50,
                block_bytes=32 * _KIB,
                messages=f"{messages} messages per day{cache}",
                source="sizing guidance of the vendor, from memory",
                notes=notes,
            )


#: Every profile by name.
PROFILES = {profile.name: profile for made in (_exchange_2003(), _exchange_2007(), _by_messages()) for profile in made}


def mailbox_profile(name: str) -> MailboxProfile:
    """The profile called ``name``; refuses others and says which kinds its version has."""
    found = PROFILES.get(name.strip().lower())
    if found is not None:
        return found
    families: dict[str, list[str]] = {}
    for known in PROFILES:
        family, kind = known.split(":")
        families.setdefault(family, []).append(kind)
    family = name.strip().lower().split(":")[0]
    if family in families:
        raise InputError(
            f"mailbox profile {name!r} is unknown; {family} has {', '.join(families[family])}, as in '{family}:{families[family][1]}'."
        )
    raise InputError(
        f"mailbox profile {name!r} is unknown; there are {', '.join(f'{known}:…' for known in families)}, as in 'exchange-2010:100'."
    )
