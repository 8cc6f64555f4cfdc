"""Mail users on real servers: their day passes, their mail is all there, and no server outlives its run."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from support.patience import HANGS_S, wait_until

pytestmark = pytest.mark.usefixtures("mail_server")
COMMAND = [sys.executable, "-m", "plimsoll"]
SMALL = ["--set", "users=12", "--set", "speed=2000", "--set", "inbox_messages=4", "--set", "folders=2", "--set", "interval=250ms"]


def run(place: Path, *more: str, workload: str = "mail-medium") -> subprocess.CompletedProcess[str]:
    target = f"mail:new:{place}/mail"
    command = [*COMMAND, "run", workload, "-t", target, *SMALL, "--set", "duration=2s", "--set", "warmup=0s", "--json", *more]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=place, timeout=HANGS_S)


def mail_of(place: Path) -> dict[str, Any]:
    (path,) = place.glob("results/*/points/*/result.json")
    found: dict[str, Any] = json.loads(path.read_text())["engine"]
    return found


def servers_below(place: Path) -> list[str]:
    """Processes that name the place, as the servers' master processes do."""
    told = []
    for process in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if str(place).encode() in process.read_bytes() and b"plimsoll" not in process.read_bytes().split(b"\0")[0]:
                told.append(process.parent.name)
        except OSError:
            continue
    return [pid for pid in told if pid != str(os.getpid())]


def test_a_day_passes_and_every_letter_is_where_it_belongs(place: Path) -> None:
    ran = run(place)
    assert ran.returncode == 0, ran.stderr
    found = mail_of(place)
    account = found["mail"]["account"]
    assert account["taken"] > 0 and account["found"] == account["taken"] == found["mail"]["deliveries"]
    assert not any(account[kind] for kind in ("lost", "doubled", "misdelivered", "damaged"))
    assert found["mail"]["score_ms"] > 0 and "read" in found["mail"]["p95_ms"]
    assert found["engine"]["facts"]["mailbox format"] == "maildir"
    assert not (place / "mail").exists(), "what was made for the run goes with it"
    assert servers_below(place) == []


def test_no_password_is_in_what_is_stored(place: Path) -> None:
    assert run(place, "--keep").returncode == 0
    (configured,) = place.glob("mail/mail/dovecot.conf")
    password = next(line.split("password=")[1] for line in configured.read_text().splitlines() if "password=" in line)
    assert len(password) == 32 and configured.stat().st_mode & 0o077 == 0
    for path in (place / "results").rglob("*"):
        assert not path.is_file() or password.encode() not in path.read_bytes(), path


def test_servers_end_with_a_run_that_is_killed(place: Path) -> None:
    target = f"mail:new:{place}/mail"
    command = [*COMMAND, "run", "mail-medium", "-t", target, *SMALL, "--set", "duration=1h"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=place) as process:
        wait_until(lambda: any(place.glob("mail/mail/ledger")), "users work")
        process.send_signal(signal.SIGKILL)
        process.wait(timeout=HANGS_S)
    wait_until(lambda: servers_below(place) == [], "the servers end with their run")
    again = run(place)
    assert again.returncode == 0, again.stderr


def test_a_directory_of_somebody_else_is_refused(place: Path) -> None:
    (place / "mail").mkdir()
    (place / "mail" / "precious").write_text("mine")
    ran = run(place)
    assert ran.returncode != 0 and "Traceback" not in ran.stderr and len(ran.stderr.strip().splitlines()[-1]) > 20
    assert (place / "mail" / "precious").read_text() == "mine"
