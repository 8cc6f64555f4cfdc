"""Mail users of several hosts on one server: divided exactly, accounted for over what all of them sent, and no fault is silent. No Ray."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from plimsoll.histogram import merged
from support.gang import Gang, worker_of
from support.patience import wait_until

pytestmark = pytest.mark.usefixtures("mail_server")
SMALL = [
    *("--set", "users=5", "--set", "speed=4000", "--set", "inbox_messages=2", "--set", "folders=1", "--set", "folder_messages=1"),
    *("--set", "interval=250ms", "--warmup", "0s", "-q"),
]
WORDS = ("run", "mail-medium", "--hosts", "local:2", "--target", "mail:new:./mail", *SMALL)


def host_points(gang: Gang) -> list[Any]:
    return [json.loads(path.read_text()) for path in sorted(gang.results.glob("*/hosts/*/points/*/result.json"))]


def test_users_of_two_hosts_are_those_of_one_and_every_letter_is_accounted_for(place: Path) -> None:
    gang = Gang(place)
    done = gang.run(*WORDS, "-d", "1s", "--keep")
    assert done.returncode == 0, done.stderr
    point, own = gang.point(), host_points(gang)
    mail, sections = point["engine"]["mail"], [one["engine"]["mail"] for one in own]
    assert [one["users"] for one in sections] == [3, 2]
    assert [one["job"]["definition"]["stream"][0]["users"] for one in own] == [3, 2]
    assert (mail["users"], point["job"]["definition"]["stream"][0]["users"]) == (5, 5)
    account = mail["account"]
    assert account["found"] == account["taken"] == mail["deliveries"] == sum(one["deliveries"] for one in sections)
    assert all(one["deliveries"] for one in sections), "both hosts' users have sent letters"
    assert not any(account[kind] for kind in ("lost", "doubled", "misdelivered", "damaged"))
    assert [one.get("account") for one in sections] == [None, None], "counted once, where the server is"
    handed = merged([one["handovers"] for one in sections])
    assert handed is not None
    assert mail["handover_ms"]["count"] == handed.count == sum(one["handover_ms"]["count"] for one in sections if one["handover_ms"])
    assert mail["handover_ms"]["p95"] == handed.percentile(95.0) / 1e6, "percentiles are those of all times, not of percentiles"
    assert point["engine"]["offered_per_s"] == pytest.approx(sum(one["engine"]["offered_per_s"] for one in own))
    for op, total in point["totals"].items():
        assert total["count"] == sum(one["totals"][op]["count"] for one in own if op in one["totals"])
    assert "with 5 users" in done.stdout
    (configured,) = place.glob("mail/mail/dovecot.conf")
    password = next(line.split("password=")[1] for line in configured.read_text().splitlines() if "password=" in line).encode()
    stored = [path for folder in (gang.results, gang.state) for path in folder.rglob("*") if path.is_file()]
    assert stored
    assert not [path for path in stored if password in path.read_bytes()]


def test_letters_of_a_host_that_was_killed_are_no_fault_of_the_server_and_the_other_s_are_all_there(place: Path) -> None:
    gang = Gang(place)
    process = gang.start(*WORDS, "-d", "3s")
    nest = gang.note(process)["nest"]
    gang.begun(2, process)
    os.kill(worker_of(nest, "local2"), signal.SIGKILL)
    _, said = process.communicate()
    assert process.returncode == 4, said
    point = gang.point()
    assert point["error"].startswith("local2: lost ")
    assert "its worker was killed by SIGKILL. What the other host measured is kept. The sums are partial." in point["error"]
    mail = point["engine"]["mail"]
    assert mail["unaccounted"] == 1
    assert not any(mail["account"][kind] for kind in ("lost", "doubled", "misdelivered", "damaged")), mail["account"]
    assert mail["account"]["taken"] >= mail["deliveries"] > 0
    assert not (place / "mail").exists(), "what was made is removed"


def test_a_server_that_dies_under_several_hosts_is_told_once_and_by_name(place: Path) -> None:
    gang = Gang(place)
    process = gang.start(*WORDS, "-d", "60s")
    gang.begun(2, process)
    dovecot = [path for path in Path("/tmp").glob("plimsoll-mail-*/base/master.pid") if str(place) in command(path)]
    assert len(dovecot) == 1
    os.kill(int(dovecot[0].read_text()), signal.SIGKILL)
    _, said = process.communicate()
    assert process.returncode == 4, said
    assert gang.point()["error"].startswith(f"{place}/mail: Dovecot ended while users worked: ")
    assert "What hosts measured until then is kept." in said
    wait_until(lambda: not (place / "mail").exists(), "what was made is removed")


def command(pid_file: Path) -> str:
    """The command line of the process whose number a file names."""
    try:
        return Path(f"/proc/{int(pid_file.read_text())}/cmdline").read_text()
    except (OSError, ValueError):
        return ""
