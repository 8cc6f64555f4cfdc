"""Whole runs of mail users that something cuts short: they end with one sentence, keep what they measured, and leave nothing running."""

from __future__ import annotations

import json
import os
import signal
import smtplib
import socket
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import pytest

from long.mail.test_mail_users import COMMAND, SMALL, servers_below
from plimsoll.apps.mail import server
from plimsoll.apps.mail.configuration import DOMAIN
from plimsoll.apps.mail.server import PrivateMail
from plimsoll.errors import TargetError
from support.patience import HANGS_S, wait_until

pytestmark = pytest.mark.usefixtures("mail_server")


def test_ctrl_c_ends_a_day_keeps_what_it_measured_and_accounts_for_its_letters(place: Path) -> None:
    command = [*COMMAND, "run", "mail-medium", "-t", f"mail:new:{place}/mail", *SMALL, "--set", "duration=1h", "--set", "warmup=0s"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=place, text=True) as process:
        measured = lambda: any(path.read_text().count("\n") >= 2 for path in place.glob("results/*/points/*/intervals.jsonl"))  # noqa: E731
        wait_until(measured, "intervals are stored")
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=HANGS_S)
    assert process.returncode == 130 and "Traceback" not in said, said
    (path,) = place.glob("results/*/points/*/result.json")
    stored = json.loads(path.read_text())
    account = stored["engine"]["mail"]["account"]
    assert stored["status"] == "interrupted" and stored["totals"]
    assert account["taken"] == account["found"] > 0 and not account["lost"], account
    assert servers_below(place) == [] and not (place / "mail").exists()


def test_a_port_that_somebody_takes_first_is_named(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken, socket.create_server(("127.0.0.1", 0)) as other:
        ports = [one.getsockname()[1] for one in (taken, other)]
        monkeypatch.setattr(server, "_free_ports", lambda _: ports)
        mail = PrivateMail(str(place / "mail"), str(place))
        with pytest.raises(TargetError, match=rf"Dovecot did not start: .*{ports[0]}.*Address already in use"):
            mail.start()
    assert servers_below(place) == []


def test_no_free_port_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        monkeypatch.setattr(server, "_PORTS", range(port, port + 1))
        with pytest.raises(TargetError, match=rf"no port from {port} to {port + 1} of the loopback is free; stop what listens there"):
            server._free_ports(1)


def test_a_letter_among_the_incoming_ones_is_delivered_though_no_other_comes(place: Path) -> None:
    mail = PrivateMail(str(place / "mail"), str(place))
    mail.start()
    try:
        with smtplib.SMTP(*mail.submission.split(":")) as session:
            session.login("u0", mail.password)
            mail.kill("dovecot")
            session.sendmail(f"u0@{DOMAIN}", [f"u0@{DOMAIN}"], b"Subject: x\r\n\r\ny\r\n")
        wait_until(lambda: put_back(Path(mail.queue)), "the letter is put off")
        mail.revive("dovecot")
        begun = time.monotonic()
        wait_until(lambda: mail.queued() == 0, "the letter is delivered")
        # Unasked, Postfix looks there every five minutes.
        assert time.monotonic() - begun < 150
    finally:
        mail.stop()


def put_back(queue: Path) -> bool:
    """Put a letter that waits to be tried again where Postfix puts one that somebody still delivers."""
    for letter in (queue / "deferred").glob("*/*"):
        with suppress(FileNotFoundError):
            os.utime(letter, (0, 0))
            letter.rename(queue / "incoming" / letter.name)
            return True
    return False
