"""Whole runs on a server of the user's that refuses, takes no writes or no further connection: one sentence, what was measured, no password."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from plimsoll.apps.databases import server as server_module
from plimsoll.apps.databases.server import PrivateServer
from plimsoll.engine.claims import holding
from support.patience import HANGS_S
from support.private_server import missing_server, private_server, server_url

pytestmark = pytest.mark.skipif(missing_server() is not None, reason=f"skipped: {missing_server()}")
CANARY = "canary-51e7"
COMMAND = [str(Path(sys.executable).with_name("plimsoll")), "run", "decision-support", "--scale", "0.01", "--queries", "1,6", "--json"]


@pytest.fixture(scope="module")
def server() -> Iterator[PrivateServer]:
    """A server of the user's, on which ``me`` may do everything, ``reader`` only read, and ``few`` has twelve connections."""
    place = Path(tempfile.mkdtemp(prefix="plimsoll-test-", dir="/tmp"))
    place.chmod(0o755)
    with holding():
        made = private_server(place / "theirs")
        made.start()
        with psycopg.connect(**made.connection, autocommit=True) as connection:
            for role, more in (("me", ""), ("reader", ""), ("few", "CONNECTION LIMIT 12")):
                connection.execute(f"CREATE ROLE {role} LOGIN PASSWORD '{CANARY}' {more}")
                connection.execute(f"CREATE DATABASE of_{role} OWNER {role}")
            connection.execute("ALTER ROLE reader SET default_transaction_read_only = on")
            hba = Path(made.data) / "pg_hba.conf"
            hba.write_text("local all me,reader,few scram-sha-256\n" + hba.read_text())
            connection.execute("SELECT pg_reload_conf()")
        yield made
        made.stop(discarding=True)
    shutil.rmtree(place, ignore_errors=True)


def ended(place: Path, target: str, *words: str) -> tuple[int, dict[str, Any], str]:
    """Exit code, the result, and everything that was said; no password is in that, nor in any file that was left."""
    done = subprocess.run([*COMMAND, "-t", target, *words], capture_output=True, text=True, cwd=place, check=False, timeout=HANGS_S)
    assert CANARY not in done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    assert not [path for path in place.rglob("*") if path.is_file() and CANARY.encode() in path.read_bytes()]
    results = json.loads(done.stdout)["results"] if done.stdout.startswith("{") else []
    return done.returncode, results[0] if results else {}, done.stderr


@pytest.mark.parametrize(
    ("role", "password", "said"),
    [
        (
            "me",
            "wrong-51e7",
            'the server refuses the password (password authentication failed for user "me"); give the right one in the file',
        ),
        ("nobody", CANARY, "the server refuses"),
        ("reader", CANARY, "this server takes no writes (cannot execute CREATE SCHEMA in a read-only transaction); name one that does"),
    ],
    ids=["wrong password", "unknown role", "read-only"],
)
def test_a_server_that_refuses_is_one_sentence_before_anything_is_made(
    server: PrivateServer, place: Path, role: str, password: str, said: str
) -> None:
    code, result, err = ended(place, server_url(server.connection, role, f"of_{role}", password))
    assert code == 4
    assert said in err + str(result.get("error"))
    assert password not in err
    with psycopg.connect(**server.connection) as connection:
        assert connection.execute("SELECT 1 FROM pg_namespace WHERE nspname = 'plimsoll'").fetchone() is None


def test_a_server_that_is_not_there_is_one_sentence(place: Path) -> None:
    code, result, err = ended(place, f"postgresql://me:{CANARY}@127.0.0.1:1/shop")
    assert code == 4
    assert "no server answers" in err + str(result.get("error"))
    assert "start it, or correct host and port" in err + str(result.get("error"))


def test_a_standby_is_refused_with_what_to_name_instead(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ready = server_module._is_ready

    def is_standby(data: str) -> bool:
        lines = server_module._pid_file(data)
        return ready(data) or (len(lines) >= 8 and lines[7].strip() == "standby")

    with holding():
        standby = private_server(place / "standby")
        standby.start()
        standby.stop()
        monkeypatch.setattr(server_module, "_is_ready", is_standby)
        (Path(standby.data) / "standby.signal").touch()
        standby.start()
        try:
            code, result, err = ended(place, server_url(standby.connection, "plimsoll"))
        finally:
            standby.stop(discarding=True)
    assert code == 4
    assert "this server is a standby, where nothing can be written; name the one that it follows" in err + str(result.get("error"))


def test_connections_that_run_out_end_the_point_in_one_sentence_and_what_was_measured_stays(server: PrivateServer, place: Path) -> None:
    # The power test takes two connections beside those that hold the schema, sixteen streams, of which none asks before all are connected,
    # take more than there are.
    code, result, _ = ended(place, server_url(server.connection, "few", "of_few", CANARY), "--set", "test=both", "--streams", "16")
    assert (code, result["status"]) == (4, "failed")
    assert 'the server takes no further connection (too many connections for role "few")' in result["error"]
    assert "use fewer streams" in result["error"] and "\n" not in result["error"]
    decision = result["engine"]["decision"]
    assert [query["number"] for query in decision["queries"] if query["phase"] == "power"] == [6, 1]
    assert decision["metrics"]["power"] > 0 and decision["metrics"]["throughput"] is None
