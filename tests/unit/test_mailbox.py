"""Mailbox sizing tables, as application-benchmarks.md 2.9 has them."""

from __future__ import annotations

import pytest

from plimsoll.analysis.sizing.demand import PROFILES, mailbox_profile
from plimsoll.analysis.sizing.raid import RAID
from plimsoll.errors import InputError


@pytest.mark.parametrize(
    ("kind", "iops", "messages", "megabytes"),
    [("light", 0.5, "20/50", 50), ("average", 0.75, "30/75", 100), ("heavy", 1.0, "40/100", 200), ("large", 1.5, "60/150", 500)],
)
def test_exchange_2003(kind: str, iops: float, messages: str, megabytes: int) -> None:
    profile = mailbox_profile(f"exchange-2003:{kind}")
    assert (profile.iops, profile.mailbox_bytes) == (iops, megabytes * 10**6)
    assert messages in profile.messages
    assert profile.read_percent == 66  # of 75/25 … 66/33 the end with more writes
    assert "bb125019" in profile.source


@pytest.mark.parametrize(
    ("kind", "iops", "messages"),
    [("light", 0.11, "5/20"), ("average", 0.18, "10/40"), ("heavy", 0.32, "20/80"), ("very-heavy", 0.48, "30/120")],
)
def test_exchange_2007(kind: str, iops: float, messages: str) -> None:
    profile = mailbox_profile(f"exchange-2007:{kind}")
    assert (profile.iops, profile.read_percent) == (iops, 50)
    assert messages in profile.messages
    assert "the messages per day of Exchange 2007 are from memory" in profile.notes


def test_log_writes_of_exchange_2007_are_38_percent_of_the_database() -> None:
    assert mailbox_profile("exchange-2007:average").log_writes_per_s(5000) == pytest.approx(0.38 * 900)
    assert mailbox_profile("exchange-2003:average").log_writes_per_s(5000) is None


@pytest.mark.parametrize(
    ("messages", "alone", "with_copies", "later"),
    [
        (50, 0.060, 0.050, 0.034),
        (100, 0.120, 0.100, 0.067),
        (150, 0.180, 0.150, 0.101),
        (200, 0.240, 0.200, 0.134),
        (250, 0.300, 0.250, 0.168),
        (300, 0.360, 0.300, 0.201),
        (350, 0.420, 0.350, 0.235),
        (400, 0.480, 0.400, 0.268),
        (450, 0.540, 0.450, 0.302),
        (500, 0.600, 0.500, 0.335),
    ],
)
def test_exchange_2010_and_2013_by_messages_per_day(messages: int, alone: float, with_copies: float, later: float) -> None:
    profiles = [mailbox_profile(f"{family}:{messages}") for family in ("exchange-2010", "exchange-2010-copies", "exchange-2013")]
    assert [profile.iops for profile in profiles] == [alone, with_copies, later]
    for profile in profiles:
        assert any("IOPS per mailbox" in note and "from memory" in note for note in profile.notes)
        assert any("taken over" in note for note in profile.notes)


def test_the_database_cache_supposed_is_three_megabytes_per_fifty_messages() -> None:
    assert "9 MB of database cache" in mailbox_profile("exchange-2010:150").messages


def test_mailboxes_multiply() -> None:
    assert mailbox_profile("exchange-2010:100").database_iops(5000) == pytest.approx(600)
    # The reference's check: 1,200 light users of 2003 are 600 IOPS.
    assert mailbox_profile("Exchange-2003:Light").database_iops(1200) == 600
    assert RAID["5"].disk_operations_per_s(600, 70) / 10 == pytest.approx(114)


def test_every_profile_says_where_its_figures_are_from() -> None:
    assert len(PROFILES) == 4 + 4 + 3 * 10
    for name, profile in PROFILES.items():
        assert profile.name == name
        assert profile.source and profile.notes


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        (
            "exchange-2007:huge",
            "mailbox profile 'exchange-2007:huge' is unknown; exchange-2007 has light, average, heavy, very-heavy, as in 'exchange-2007:average'.",
        ),
        (
            "exchange-2003",
            "mailbox profile 'exchange-2003' is unknown; exchange-2003 has light, average, heavy, large, as in 'exchange-2003:average'.",
        ),
        (
            "notes-8:light",
            "mailbox profile 'notes-8:light' is unknown; there are exchange-2003:…, exchange-2007:…, exchange-2010:…, "
            "exchange-2010-copies:…, exchange-2013:…, as in 'exchange-2010:100'.",
        ),
    ],
)
def test_an_unknown_profile_names_those_there_are(name: str, sentence: str) -> None:
    with pytest.raises(InputError) as refusal:
        mailbox_profile(name)
    assert str(refusal.value) == sentence
