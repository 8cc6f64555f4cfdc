"""Addresses that runs are sent to: what each means, what is refused in a sentence, and that no password is shown or noted."""

from __future__ import annotations

import pytest

from plimsoll import passwords
from plimsoll.delivery.address import address_of
from plimsoll.delivery.credentials import Login, login_of
from plimsoll.delivery.destinations import destination_of, lasting, warning_of
from plimsoll.delivery.dispatch import said
from plimsoll.delivery.identity import Trust
from plimsoll.delivery.mail import mail_destination, recipients_of, sender_of
from plimsoll.errors import InputError
from plimsoll.passwords import kept, withheld

CANARY = "canary-7b1f"


@pytest.fixture(autouse=True)
def nothing_known(monkeypatch, tmp_path):
    monkeypatch.setattr(passwords, "_kept", {})
    monkeypatch.setattr(passwords, "_guarded", set())
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("PLIMSOLL_PASSWORD", "PLIMSOLL_TOKEN", "NETRC"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("typed", "parts"),
    [
        ("sftp://lab@nas7/in%20box", ("lab", "nas7", None, "in box")),
        ("sftp://lab@Nas7:2222//srv/inbox", ("lab", "Nas7", 2222, "/srv/inbox")),
        ("scp://nas7/~/inbox", ("", "nas7", None, "inbox")),
        ("scp://nas7/~", ("", "nas7", None, "")),
        ("ftps://lab:secret@[::1]:2121", ("lab", "::1", 2121, "")),
        ("ftp://a%40b:secret@nas7/%2Fsrv", ("a@b", "nas7", None, "/srv")),
        ("smtp://relay:2525/lab@example.org,b@c.de", ("", "relay", 2525, "lab@example.org,b@c.de")),
        ("smtps://me:secret@relay:465/lab@example.org", ("me", "relay", 465, "lab@example.org")),
        ("smtps://me%40x.org:p%40ss@relay/lab@example.org", ("me@x.org", "relay", None, "lab@example.org")),
    ],
)
def test_an_address_is_taken_apart_and_shown_again(typed, parts):
    found = address_of(typed, "sftp://nas7")
    assert (found.user, found.host, found.port, found.path) == parts
    assert "secret" not in found.shown + found.url
    again = address_of(found.shown, "sftp://nas7")
    assert (again.user, again.host, again.port, again.path) == parts


@pytest.mark.parametrize(
    ("typed", "shown", "password"),
    [
        (f"smtp://me:{CANARY}@relay/lab@example.org", "smtp://me@relay/lab@example.org", CANARY),
        (f"smtp://me:{CANARY}@relay:25/lab@example.org?from=a@b.de", "smtp://me@relay:25/lab@example.org?from=a@b.de", CANARY),
        (f"ftp://me:{CANARY}@nas7/a@b", None, None),
        (f"smtp://me:{CANARY}/x@relay/lab@example.org", None, None),
        ("smtp://relay:25/lab@example.org", "smtp://relay:25/lab@example.org", None),
        ("smtp://relay/lab@example.org", "smtp://relay/lab@example.org", None),
        (f"https://lab7:8642/?token={CANARY}", "https://lab7:8642/", None),
    ],
)
def test_a_password_is_told_from_a_mail_address(typed, shown, password):
    if shown is None:
        with pytest.raises(InputError, match="where the password ends is unclear") as refused:
            withheld(typed)
        assert CANARY not in str(refused.value)
        return
    assert withheld(typed) == shown
    assert kept(shown).get("password") == password


@pytest.mark.parametrize(
    ("url", "options", "problem"),
    [
        ("sftp://", {}, "it names no host; write for example sftp://lab@nas7/inbox."),
        ("sftp://-oProxyCommand=x/inbox", {}, "it names no host"),
        ("sftp://-oProxyCommand@nas7/inbox", {}, "its user is no name"),
        ("sftp://nas7/a%0Aput", {}, "it has a control character"),
        ("ftp://nas7/a%0D%0ADELE%20x", {}, "it has a control character"),
        ("ftp://nas7:port/x", {}, "it is no address"),
        ("sftp://nas7/a#b", {}, "it has a '#'; write %23"),
        ("sftp://nas7/x", {"identity": "/absent"}, "--identity /absent: it is not there or cannot be read"),
        (f"sftp://lab:{CANARY}@nas7/x", {}, "a password is not taken for sftp; use a key"),
        ("sftp://nas7/x", {"password_file": "x"}, "--password-file is for ftps://, ftp://, smtps:// or smtp://; leave it out for sftp://."),
        ("ftp://nas7/x", {"ca": "x"}, "leave it out for ftp://."),
        ("ftps://lab@nas7/x", {"password_file": "/absent"}, "--password-file /absent: no such file or directory"),
        ("ftps://nas7/x", {"fingerprint": "3F"}, "it has 64 hexadecimal digits"),
        ("smtp://relay", {}, "is followed by no mail address; write for example smtp://relay.example.org/lab@example.org."),
        ("smtp://relay/lab", {}, "is followed by no mail address"),
        ("smtp://relay/a@b.de,%0D%0ARCPT%20TO:x@y.z", {}, "it has a control character"),
        ("smtp://relay/lab@example.org?cc=x@y.de", {}, "'cc' is unknown; only '?from=' can follow"),
        ("smtp://relay/lab@example.org?from=x", {}, "'x' is no mail address"),
        ("lab@nas7:inbox", {}, "it begins with none of https://"),
    ],
)
def test_what_cannot_be_meant_is_said_in_a_sentence(url, options, problem):
    with pytest.raises(InputError) as refused:
        destination_of(url, options)
    assert problem in str(refused.value) and CANARY not in str(refused.value) and "\n" not in str(refused.value)


def test_the_password_is_the_first_that_there_is(tmp_path, monkeypatch):
    file = tmp_path / "password"
    file.write_text("of-the-file\n")
    (tmp_path / ".netrc").write_text("machine nas7 login lab password of-netrc\n")
    (tmp_path / ".netrc").chmod(0o600)
    assert login_of(address_of("ftps://nas7/x", ""), None) == Login("lab", "of-netrc")
    assert login_of(address_of("ftps://other@nas7/x", ""), None) == Login("other", None)
    monkeypatch.setenv("PLIMSOLL_PASSWORD", "of-the-environment")
    assert login_of(address_of("ftps://lab@nas7/x", ""), None).password == "of-the-environment"
    assert login_of(address_of("ftps://lab@nas7/x", ""), str(file)).password == "of-the-file"
    assert login_of(address_of("ftps://lab:of-the-address@nas7/x", ""), str(file)).password == "of-the-address"


@pytest.mark.parametrize("way", ["address", "file", "environment", "netrc", "token"])
def test_no_sentence_of_a_server_repeats_a_secret(way, tmp_path, monkeypatch):
    typed, options = "ftps://lab@nas7/x", {}
    if way == "address":
        typed = withheld(f"ftps://lab:{CANARY}@nas7/x")
    elif way == "file":
        (tmp_path / "password").write_text(CANARY)
        options = {"password_file": str(tmp_path / "password")}
    elif way == "environment":
        monkeypatch.setenv("PLIMSOLL_PASSWORD", CANARY)
    elif way == "netrc":
        (tmp_path / "netrc").write_text(f"machine nas7 login lab password {CANARY}\n")
        monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    else:
        typed = f"https://lab7:8642/?token={CANARY}"
    destination_of(typed, options)
    assert said(f"530 Login of lab with {CANARY}\r\nfailed.") == "530 Login of lab with *** failed"


def test_what_is_noted_has_no_secret_and_means_the_same_elsewhere(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    noted = lasting(f"ftps://lab:{CANARY}@nas7/x", {"ca": "nas.pem", "password_file": "secret", "fingerprint": None})
    assert noted == {"to": "ftps://lab@nas7/x", "ca": str(tmp_path / "nas.pem"), "password_file": str(tmp_path / "secret")}
    assert lasting(f"https://lab7:8642/?token={CANARY}", {})["to"] == "https://lab7:8642/"
    assert lasting("file:stick", {})["to"] == f"file:{tmp_path / 'stick'}"


def test_clear_text_is_warned_of():
    assert "in clear text" in warning_of("ftp://nas7/x")
    assert warning_of("ftps://nas7/x") is None


def test_a_mail_is_from_who_was_asked_for():
    assert sender_of(address_of("smtp://relay/a@b.de?from=rack@b.de", "")) == "rack@b.de"
    assert sender_of(address_of("smtp://me%40c.de@relay/a@b.de", "")) == "me@c.de"
    assert sender_of(address_of("smtp://relay/a@b.de", "")).startswith("plimsoll@")
    assert recipients_of(address_of("smtp://relay/a@b.de,%20c@d.de", "")) == ["a@b.de", "c@d.de"]
    assert mail_destination(address_of("smtp://relay/a@b.de", ""), Login("", None), Trust()).shown == "smtp://relay/a@b.de"
