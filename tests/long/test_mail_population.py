"""The users of the report of 2003: 1,200 of them for a minute of their working day, on real servers, and every letter is there."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from long.mail.test_mail_users import servers_below
from mail.conftest import mail_server, place
from support.patience import HANGS_S

__all__ = ["mail_server", "place"]

pytestmark = pytest.mark.usefixtures("mail_server")
USERS = 1200


def test_1200_users_work_for_a_minute_of_their_day_and_every_letter_is_there(place: Path) -> None:
    """At ten times its speed that minute takes six seconds. Mailboxes have what the profile says of a user, but for the bulk of the inbox."""
    target = f"mail:new:{place}/mail"
    settings = [
        "speed=10",
        "duration=6s",
        "warmup=0s",
        f"users={USERS}",
        "inbox_messages=4",
        "folders=2",
        "folder_messages=2",
        "appointments=2",
    ]
    command = [sys.executable, "-m", "plimsoll", "run", "groupware-2003", "-t", target, "--json"]
    for setting in settings:
        command += ["--set", setting]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, cwd=place, timeout=2 * HANGS_S)
    assert ran.returncode == 0, ran.stderr
    said = json.loads(ran.stdout)
    (point,) = said["mail"]
    account = point["account"]
    # 203.4 tasks of each user in eight hours: 8.5 in a second of the day, 85 at ten times its speed, 508 in 6 s. A quarter of that is more
    # than five times their scatter as those of a Poisson process.
    (result,) = said["results"]
    done = sum(total["count"] + total["errors"] for total in result["totals"].values()) + (result["unfinished"] or 0)
    skipped = sum(sum(tasks.values()) for tasks in result["engine"]["mail"]["skipped"].values())
    assert point["users"] == USERS and 0.75 * 508 <= done + skipped <= 1.25 * 508
    assert account["taken"] > 0 and account["found"] == account["taken"] == point["deliveries"]
    assert not any(account[kind] for kind in ("lost", "doubled", "misdelivered", "damaged")), account["examples"]
    assert point["score_ms"] > 0 and servers_below(place) == []
