"""Mail users on a server that is not Plimsoll's: one that these tests start as its owner would, with TLS and passwords."""

from __future__ import annotations

import imaplib
import json
import shutil
import socket
import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from plimsoll.apps.mail.server import PrivateMail
from plimsoll.apps.user import User
from support.patience import HANGS_S, wait_until

pytestmark = pytest.mark.usefixtures("mail_server")
SMALL = [
    "users=4",
    "inbox_messages=3",
    "folders=1",
    "folder_messages=1",
    "tasks=read=60,send=40,move=20,delete=20,check-inbox=20,resolve=5",
]
MINE = b"From: me@example.org\r\nSubject: precious\r\n\r\nmine\r\n"


class OwnersMail(PrivateMail):
    """Servers of somebody else's: they offer STARTTLS and let nobody log in without."""

    certificate: Path

    def _written(self, name: str, text: str, user: User) -> str:
        key = self.certificate.with_suffix(".key")
        if name == "dovecot.conf":
            text = text.replace("ssl = no", f"ssl = required\nssl_cert = <{self.certificate}\nssl_key = <{key}")
            text = text.replace("disable_plaintext_auth = no", "disable_plaintext_auth = yes")
        if name.endswith("main.cf"):
            text += f"smtpd_tls_security_level = may\nsmtpd_tls_auth_only = yes\nsmtpd_tls_cert_file = {self.certificate}\n"
            text += f"smtpd_tls_key_file = {key}\n"
        if name.endswith("master.cf"):
            text += "tlsmgr unix - - n 1000? 1 tlsmgr\n"
        return super()._written(name, text, user)


@pytest.fixture
def owner(place: Path) -> Iterator[OwnersMail]:
    """A server with mailboxes of nobody yet, and a certificate that its owner has made."""
    if shutil.which("openssl") is None:
        pytest.skip("there is no openssl, which makes the certificate")
    (place / "owner").mkdir()
    server = OwnersMail(str(place / "owner"), str(place / "owner"))
    server.certificate = place / "server.pem"
    names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    key = ["-keyout", str(server.certificate.with_suffix(".key")), "-out", str(server.certificate)]
    made = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", *names, *key]
    subprocess.run(made, check=True, capture_output=True, timeout=HANGS_S)
    server.certificate.with_suffix(".key").chmod(0o644)
    server.start()
    if server.lmtp:
        server.stop()
        pytest.skip("not root, so there is no Postfix to hand letters to")
    yield server
    server.stop()


def listed(place: Path, owner: OwnersMail, password: str | None = None, users: int = 4) -> Path:
    """The file of users."""
    path = place / "users.csv"
    secret = owner.password if password is None else password
    lines = [f"u{number},{secret},u{number}@plimsoll.invalid" for number in range(users)]
    path.write_text("\n".join(["name,password,address", *lines]) + "\n")
    return path


def target(owner: OwnersMail, users: Path, more: str = "") -> str:
    imap, smtp = owner.imap.rpartition(":")[2], owner.submission.rpartition(":")[2]
    return f"imap://localhost:{imap}?submission=smtp://localhost:{smtp}&users={users}&ca={owner.certificate}{more}"


def run(place: Path, where: str, *more: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "plimsoll", "run", "mail-medium", "-t", where, "--json"]
    for setting in (*SMALL, "speed=1500", "duration=2s", "warmup=0s"):
        command += ["--set", setting]
    return subprocess.run([*command, *more], capture_output=True, text=True, check=False, cwd=place, timeout=HANGS_S)


def mailbox(owner: OwnersMail, user: str) -> imaplib.IMAP4:
    connection = imaplib.IMAP4("localhost", int(owner.imap.rpartition(":")[2]))
    connection.starttls(ssl_context=ssl.create_default_context(cafile=str(owner.certificate)))
    connection.login(user, owner.password)
    return connection


def found_in(owner: OwnersMail, user: str) -> dict[str, list[bytes]]:
    """Messages of each folder that has any, and every folder of ours."""
    connection = mailbox(owner, user)
    names = [line.rpartition(b" ")[2].decode().strip('"') for line in connection.list()[1] if isinstance(line, bytes)]
    found: dict[str, list[bytes]] = {}
    for name in names:
        count = int(connection.select(name, readonly=True)[1][0] or 0)
        parts = connection.fetch("1:*", "(FLAGS BODY.PEEK[])")[1] if count else []
        messages = [part[1] + (b" seen" if b"\\Seen" in part[0] else b"") for part in parts if isinstance(part, tuple)]
        if messages or name.startswith("plimsoll-"):
            found[name] = messages
    connection.logout()
    return found


def told(ran: subprocess.CompletedProcess[str]) -> str:
    """What a run that failed said."""
    assert ran.returncode != 0 and "Traceback" not in ran.stderr, ran.stderr
    return ran.stderr


def test_named_users_work_through_tls_and_leave_everything_else_as_it_was(place: Path, owner: OwnersMail) -> None:
    before = mailbox(owner, "u1")
    before.append("INBOX", "", "", MINE)
    before.logout()
    users = listed(place, owner)
    ran = run(place, target(owner, users), "--destroy-data")
    assert ran.returncode == 0, ran.stderr
    said: dict[str, Any] = json.loads(ran.stdout)
    (result,) = said["results"]
    account, facts = result["engine"]["mail"]["account"], result["engine"]["engine"]["facts"]
    assert account["taken"] == account["found"] > 0 and not account["lost"] and not account["damaged"]
    assert "STARTTLS" in facts["IMAP server"] and "STARTTLS" in facts["letters go by"]
    assert not any(result["errors"].get(op) for op in result["errors"]), result["errors"]
    left = found_in(owner, "u1")
    assert left == {"INBOX": [MINE]}, "what was there is there, unread, and nothing of ours"
    assert found_in(owner, "u0") == {}
    secret = owner.password.encode()
    for path in [*(place / "results").rglob("*")]:
        assert not path.is_file() or secret not in path.read_bytes(), path
    assert owner.password not in ran.stdout + ran.stderr


def test_nothing_is_written_without_permission_nor_for_users_who_are_not_named(place: Path, owner: OwnersMail) -> None:
    users = listed(place, owner, users=3)
    ran = run(place, target(owner, users))
    assert "add --destroy-data" in told(ran)
    ran = run(place, target(owner, users), "--destroy-data")
    assert "4 users are to work, and the file names 3" in told(ran)
    assert found_in(owner, "u0") == {} and found_in(owner, "u3") == {}


def test_a_server_that_dies_while_users_work_fails_the_point_in_one_sentence(place: Path, owner: OwnersMail) -> None:
    users = listed(place, owner)
    command = [sys.executable, "-m", "plimsoll", "run", "mail-medium", "-t", target(owner, users), "--destroy-data"]
    for setting in (*SMALL, "speed=1500", "duration=1h", "warmup=0s", "interval=250ms"):
        command += ["--set", setting]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=place) as process:
        measured = lambda: any(path.read_text() for path in place.glob("results/*/points/*/intervals.jsonl"))  # noqa: E731
        wait_until(measured, "users work")
        owner.kill("dovecot")
        _, said = process.communicate(timeout=HANGS_S)
    assert process.returncode not in (0, None) and "Traceback" not in said, said
    assert "failed: " in said and "IMAP server" in said and owner.password not in said, said


def test_what_the_server_refuses_is_one_sentence(place: Path, owner: OwnersMail) -> None:
    users = listed(place, owner, "not-the-password")
    wrong = run(place, target(owner, users), "--destroy-data")
    assert "user u0 cannot log in to the IMAP server at localhost" in told(wrong)
    assert "not-the-password" not in wrong.stderr + wrong.stdout
    users = listed(place, owner)
    strange = run(place, target(owner, users).replace(f"&ca={owner.certificate}", ""), "--destroy-data")
    assert "its certificate is not believed" in told(strange)
    plain = run(place, target(owner, users, "&security=none"), "--destroy-data")
    assert "user u0 cannot send at the SMTP server at localhost" in told(plain)
    elsewhere = target(owner, users).replace(owner.imap.rpartition(":")[2], "9")
    refused = run(place, elsewhere, "--destroy-data")
    assert "localhost:9 cannot be reached: Connection refused" in told(refused)


def test_a_password_can_come_from_the_environment_and_is_withheld_from_an_address(
    place: Path, owner: OwnersMail, monkeypatch: pytest.MonkeyPatch
) -> None:
    users = place / "users.csv"
    users.write_text("name,address\n" + "".join(f"u{number},u{number}@plimsoll.invalid\n" for number in range(4)))
    lacking = run(place, target(owner, users), "--destroy-data")
    assert "users.csv:2: user 'u0' has no password" in told(lacking)
    monkeypatch.setenv("PLIMSOLL_MAIL_PASSWORD", owner.password)
    assert run(place, target(owner, users), "--destroy-data").returncode == 0
    monkeypatch.setenv("PLIMSOLL_MAIL_PASSWORD", "wrong")
    typed = target(owner, users).replace("imap://", f"imap://:{owner.password}@")
    ran = run(place, typed, "--destroy-data")
    assert ran.returncode == 0, ran.stderr
    for path in (place / "results").rglob("*"):
        assert not path.is_file() or owner.password.encode() not in path.read_bytes(), path


def test_a_server_that_gives_no_answer_is_named(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from plimsoll.apps.mail.reader import Door, Login
    from plimsoll.errors import TargetError

    with socket.create_server(("127.0.0.1", 0)) as dumb:
        held: list[socket.socket] = []
        threading.Thread(target=lambda: held.append(dumb.accept()[0]), daemon=True).start()
        door = Door("127.0.0.1", dumb.getsockname()[1], "none", None, timeout_s=0.2)
        with pytest.raises(TargetError, match="cannot be reached: it gave no answer in time"), door.opened(Login("u0", "x")):
            pass
        for one in held:
            one.close()


def test_users_of_several_hosts_work_at_the_owner_s_server_and_leave_it_as_it_was(
    place: Path, owner: OwnersMail, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(place / "state"))
    monkeypatch.setenv("PLIMSOLL_GANG_CARRIER", "direct")
    users = listed(place, owner)
    ran = run(place, target(owner, users), "--destroy-data", "--hosts", "local:2")
    assert ran.returncode == 0, ran.stderr
    (result,) = json.loads(ran.stdout)["results"]
    mail = result["engine"]["mail"]
    assert (mail["users"], mail["account"]["found"]) == (4, mail["account"]["taken"])
    assert mail["account"]["taken"] > 0 and not mail["account"]["lost"]
    assert "STARTTLS" in result["engine"]["engine"]["facts"]["IMAP server"]
    assert [found_in(owner, f"u{number}") for number in range(4)] == [{}] * 4, "nothing of ours stays"
    secret = owner.password.encode()
    stored = [path for folder in ("results", "state") for path in (place / folder).rglob("*") if path.is_file()]
    assert stored
    assert not [path for path in stored if secret in path.read_bytes()]
