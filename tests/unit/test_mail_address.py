"""Addresses of mail servers, files of users, and what is refused before a server is spoken to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from plimsoll.apps.mail.address import is_address, parse
from plimsoll.apps.mail.driver import Mail
from plimsoll.apps.mail.own_server import OwnMail
from plimsoll.apps.mail.users import users_of
from plimsoll.engine.block import native
from plimsoll.engine.mail import native_mail
from plimsoll.errors import InputError, SafetyRefusal
from plimsoll.passwords import withheld
from plimsoll.target import Target

URL = "imap://mail.example.org?users={}"


def office(users: int = 2, **options: Any) -> Any:
    workload = {"driver": "mail", "stream": [{"users": users, "tasks": {"read": 1}}], **options}
    return native_mail().check(workload, "office.toml")


@pytest.fixture
def users(tmp_path: Path) -> Path:
    path = tmp_path / "users.csv"
    path.write_text("name,password,address\nann,s3cret-of-ann,ann@example.org\nbob,s3cret-of-bob,bob@example.org\n")
    return path


@pytest.mark.parametrize(
    ("typed", "imap", "submission"),
    [
        ("imap://h?users=u", "h:143 starttls", "h:587 starttls"),
        ("imaps://h?users=u", "h:993 tls", "h:587 starttls"),
        ("imap://h:1143?users=u&security=none&submission=h2:25", "h:1143 none", "h2:25 none"),
        ("imaps://[::1]:99/?users=u&submission=smtps://s", "[::1]:99 tls", "s:465 tls"),
    ],
)
def test_ports_and_tls_are_those_of_the_field(typed: str, imap: str, submission: str) -> None:
    own = parse(typed).own
    assert own is not None and is_address(typed)
    assert (f"{own.imap} {own.imap.security}", f"{own.submission} {own.submission.security}") == (imap, submission)


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        ("imap://h", "name the file of users"),
        ("imap://h?users=u&securty=none", "did you mean 'security'?"),
        ("imap://h?users=u&security=ssl", "write starttls or none, or imaps://"),
        ("imap://h?users=u&submission=http://h", "is no address for letters; write smtp://HOST"),
        ("imap://h:999999?users=u", "is no number from 1 to 65535"),
        ("imap:///box?users=u", "names no host"),
        ("mail:/mnt/array", "did you mean 'mail:new:/mnt/array'?"),
    ],
)
def test_a_wrong_address_is_answered_in_one_sentence(typed: str, sentence: str) -> None:
    with pytest.raises(InputError) as refusal:
        parse(typed)
    assert sentence in str(refusal.value)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "write a head and a line for each user: name,password,address."),
        ("ann,secret\n", "write a head"),
        ("name,password\nann@d,x\nann@d,y\n", "user 'ann@d' stands twice"),
        ("name,password\nann,x\n", "users.csv:2: 'ann' is no mail address"),
        (
            "name,address\nann,ann@d\n",
            "users.csv:2: user 'ann' has no password; write it there, or one for all users in PLIMSOLL_MAIL_PASSWORD.",
        ),
        ('name,password\nann@d,"a\nb"\n', "has a sign in it that no mail server takes"),
    ],
)
def test_a_wrong_file_of_users_is_answered_with_its_line(tmp_path: Path, text: str, sentence: str) -> None:
    path = tmp_path / "users.csv"
    path.write_text(text)
    with pytest.raises(InputError) as refusal:
        users_of(parse(URL.format(path)))
    assert sentence in str(refusal.value)


def test_no_text_of_a_user_has_the_password(users: Path) -> None:
    found = users_of(parse(URL.format(users)))
    assert [user.address for user in found] == ["ann@example.org", "bob@example.org"] and found[0].password == "s3cret-of-ann"
    assert "s3cret" not in repr(found)


def test_a_password_that_was_typed_is_for_everybody_and_not_in_the_target(users: Path) -> None:
    users.write_text("name\nann@d\n")
    text = withheld(f"imap://:of-everybody@h?users={users}")
    assert "of-everybody" not in text
    (ann,) = users_of(parse(text))
    assert ann.password == "of-everybody" and parse(text).own.imap.host == "h"  # type: ignore[union-attr]


def test_mailboxes_of_others_are_not_written_to_without_permission(users: Path) -> None:
    target = Target(URL.format(users))
    driver = Mail(native(), office())
    said = driver.write_refusal(target, None)
    assert said is not None and "the mailboxes of the users in" in said and "add --destroy-data" in said
    assert driver.write_refusal(target, {"destroy_data": True}) is None
    with pytest.raises(SafetyRefusal, match="add --destroy-data"):
        driver.prepare_target(target, None, None, lambda done, total: None, driver.control())


def test_only_users_of_the_file_work_and_their_server_is_never_killed(users: Path) -> None:
    own = parse(URL.format(users)).own
    assert own is not None
    found = users_of(parse(URL.format(users)))
    with pytest.raises(InputError, match="3 users are to work, and the file names 2; name more, or lower users"):
        OwnMail(own, found, office(3))
    with pytest.raises(InputError, match="Plimsoll does not kill a server of yours"):
        OwnMail(own, found, office(2, kill="dovecot"))
