"""Whole runs of decision support on PostgreSQL whose server dies, is stopped, has no room, or whose own process is ended."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from plimsoll.apps.databases.server import running
from plimsoll.monitor.processes import Family
from support.patience import HANGS_S, wait_until
from support.private_server import is_alive, missing_server, reached_directory

pytestmark = pytest.mark.skipif(missing_server() is not None, reason=f"skipped: {missing_server()}")
COMMAND = [str(Path(sys.executable).with_name("plimsoll")), "run", "decision-support", "--scale", "0.05", "--streams", "2", "--json"]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty directory that the server's user reaches; notes of servers go to a cache of the test's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with reached_directory() as made:
        yield made


@dataclass
class Run:
    """A command under way, its server, and the processes of that which are at a query."""

    process: subprocess.Popen[str]
    server: int
    querying: list[int]


def _querying(server: int) -> list[int]:
    return [one.pid for one in Family([server]).look() if _title(one.pid).endswith("SELECT") and "plimsoll postgres" in _title(one.pid)]


def _title(process: int) -> str:
    with suppress(OSError):
        return Path(f"/proc/{process}/cmdline").read_text().replace("\0", "").strip()
    return ""


def ended(place: Path, act: Callable[[Run], None]) -> tuple[int, dict[str, Any], str]:
    """Exit code, the result and stderr of a run to which something is done while two streams are at their queries."""
    data = str(place / "pg/postgresql/data")
    command = [*COMMAND, "-t", f"postgresql:new:{place}/pg"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=place) as process:

        def is_asking() -> bool:
            assert process.poll() is None, process.communicate()
            server = running(data)
            return bool(list(place.glob("results/*/points/*/job.json")) and server and len(_querying(server)) == 2)

        try:
            wait_until(is_asking, "two streams ask")
            server = running(data)
            assert server is not None
            act(Run(process, server, _querying(server)))
            out, err = process.communicate(timeout=HANGS_S)
        finally:
            process.kill()
    document = json.loads(out) if out.startswith("{") else {"results": [{}]}
    wait_until(lambda: not is_alive(server), "no server is left")
    return process.returncode, document["results"][0], err


@pytest.mark.parametrize(
    ("act", "said"),
    [
        (lambda run: os.kill(run.querying[0], signal.SIGKILL), "was terminated by signal 9"),
        (lambda run: os.kill(run.server, signal.SIGKILL), "the server"),
        (lambda run: os.kill(run.server, signal.SIGINT), "the server"),
        (lambda run: os.kill(run.querying[0], signal.SIGINT), "somebody else cancelled it; what was measured until then is kept"),
        (lambda run: os.kill(run.querying[0], signal.SIGTERM), "the server was stopped, or ended the connection"),
    ],
    ids=["process killed", "server killed", "server stopped", "query cancelled", "connection ended"],
)
def test_what_happens_to_a_server_is_one_sentence_and_nothing_is_left(place: Path, act: Callable[[Run], None], said: str) -> None:
    code, result, err = ended(place, act)
    assert code == 4
    assert result["status"] == "failed"
    assert said in result["error"]
    assert "\n" not in result["error"]
    assert "Traceback" not in err
    assert not (place / "pg").exists()


def test_ctrl_c_cancels_what_is_under_way_and_the_same_command_goes_on(place: Path) -> None:
    code, result, _ = ended(place, lambda run: run.process.send_signal(signal.SIGINT))
    assert (code, result["status"]) == (130, "interrupted")
    assert not (place / "pg").exists()


def test_after_a_kill_of_ours_no_server_runs_and_the_same_command_goes_on_and_clears_away(place: Path) -> None:
    ended(place, lambda run: run.process.kill())
    assert (place / "pg").exists()
    again = subprocess.run(
        [*COMMAND, "-t", f"postgresql:new:{place}/pg"], capture_output=True, text=True, cwd=place, check=False, timeout=HANGS_S
    )
    assert again.returncode == 0, again.stderr
    assert len(list(place.glob("results/*"))) == 1, "the run went on"
    assert not (place / "pg").exists()


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("mkfs.ext4"), reason="skipped: a small disk takes root and mkfs.ext4")
def test_a_full_disk_is_said_to_be_full(place: Path) -> None:
    disk, mount = place / "disk", place / "mnt"
    with disk.open("wb") as file:
        file.truncate(125 << 20)
    mount.mkdir()
    subprocess.run(["mkfs.ext4", "-q", str(disk)], check=True)
    subprocess.run(["mount", "-o", "loop", str(disk), str(mount)], check=True)
    try:
        command = [*COMMAND, "--scale", "0.03", "-t", f"postgresql:new:{mount}/pg"]
        done = subprocess.run(command, capture_output=True, text=True, cwd=place, check=False, timeout=HANGS_S)
        assert not (mount / "pg").exists()
    finally:
        subprocess.run(["umount", str(mount)], check=True)
    assert done.returncode == 4
    (result,) = json.loads(done.stdout)["results"]
    assert "there is no space left for the database (" in result["error"]
    assert "make room, or name another directory" in result["error"]
    assert "psycopg" not in done.stderr
