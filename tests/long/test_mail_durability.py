"""Mail servers killed in the middle of their work: what they accepted is all there, in every format of mailboxes, and nobody is left running."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from long.mail.test_mail_users import servers_below
from long.settings import Scale
from mail.conftest import mail_server, place
from support.patience import HANGS_S, first_fair

__all__ = ["mail_server", "place"]

pytestmark = pytest.mark.usefixtures("mail_server")


def killed(place: Path, *more: str) -> dict[str, Any]:
    """The result of users whose servers are killed."""
    target = f"mail:new:{place}/mail"
    settings = ["users=12", "speed=1500", "inbox_messages=4", "folders=2", "warmup=0s", "kill_every=700ms", *more]
    command = [sys.executable, "-m", "plimsoll", "run", "mail-medium", "-t", target, "--json"]
    for setting in settings:
        command += ["--set", setting]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, cwd=place, timeout=4 * HANGS_S)
    assert ran.returncode in (0, 1) and "Traceback" not in ran.stderr, ran.stderr
    (result,) = json.loads(ran.stdout)["results"]
    assert servers_below(place) == []
    found: dict[str, Any] = {"status": result["status"], "error": result["error"], **result["engine"]["mail"]}
    return found


@pytest.mark.parametrize("which", ["dovecot", "postfix", "both"])
@pytest.mark.parametrize("mailbox_format", ["maildir", "sdbox"])
def test_every_accepted_letter_is_there_after_servers_were_killed(place: Path, which: str, mailbox_format: str, scale: Scale) -> None:
    seconds = scale.seconds(60, least=6)

    settings = (f"kill={which}", f"mailbox_format={mailbox_format}", f"duration={seconds:g}s")
    found = first_fair(lambda: killed(place, *settings), lambda found: len(found["kills"]) >= 3 and found["letters"])
    assert found["status"] == "complete", found["error"]
    account = found["account"]
    assert account["taken"] == found["deliveries"] > 0
    assert {kind: account[kind] for kind in ("lost", "doubled", "misdelivered", "damaged")} == dict.fromkeys(
        ("lost", "doubled", "misdelivered", "damaged"), 0
    ), account["examples"]
