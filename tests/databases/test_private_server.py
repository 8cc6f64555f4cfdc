"""A private PostgreSQL server runs where it was asked to, as nobody special, and is never left running."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest

from plimsoll.apps.databases import programs as installed
from plimsoll.apps.databases.database import DatabaseError
from plimsoll.apps.databases.programs import programs
from plimsoll.apps.databases.server import running
from plimsoll.apps.user import check_reachable, server_user
from plimsoll.engine.files import native_files
from plimsoll.errors import InputError, Interrupted, TargetError
from plimsoll.orphans import any_noted
from support.patience import HANGS_S, wait_until
from support.private_server import MAKE_DATA, is_alive, killable_server, private_server

pytestmark = pytest.mark.usefixtures("postgresql")
ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root starts servers as another user")


def _said(*words: str) -> str:
    """What a command says on stderr."""
    done = subprocess.run([sys.executable, "-m", "plimsoll", *words], capture_output=True, text=True, timeout=HANGS_S, check=True)
    return done.stderr


@pytest.mark.usefixtures("held")
def test_a_server_is_made_started_stopped_and_removed_with_everything(place: Path) -> None:
    server = private_server(place / "pg")
    server.start()
    sockets = str(server.connection["host"])
    with psycopg.connect(**server.connection) as connection:
        assert connection.execute("SHOW listen_addresses").fetchone() == ("",)
        assert connection.execute("SHOW shared_buffers").fetchone() == ("16MB",)
        assert connection.execute("SHOW data_directory").fetchone() == (str(place / "pg/postgresql/data"),)
        connection.execute("CREATE TABLE kept (number int)")
    assert any_noted()
    assert oct(os.stat(sockets).st_mode & 0o777) == "0o700"
    server.stop()
    assert server.pid is None
    assert not os.path.exists(sockets)
    assert not any_noted()
    server.start()
    with psycopg.connect(**server.connection) as connection:
        assert connection.execute("SELECT count(*) FROM kept").fetchone() == (0,)
    server.stop(discarding=True)
    native_files().remove(str(place / "pg"))
    assert not os.listdir(place)


@pytest.mark.usefixtures("held")
def test_data_are_made_where_the_server_is_to_work(place: Path) -> None:
    server = private_server(place / "pg")
    os.makedirs(server.home, exist_ok=True)
    (Path(server.home) / "data.making").mkdir()
    MAKE_DATA(server, programs())
    assert "PG_VERSION" in os.listdir(server.data)
    assert "data.making" not in os.listdir(server.home), "what an end in the middle left is gone"
    assert oct(os.stat(server.data).st_mode & 0o777) == "0o700"
    assert os.stat(server.data).st_uid == server_user(("postgres", "nobody"), "PostgreSQL's server").uid
    made = os.stat(server.data)
    MAKE_DATA(server, programs())
    assert os.stat(server.data) == made, "data that are there stay"
    with open(Path(server.data) / "pg_hba.conf") as hba:
        assert any(line.split()[:1] == ["local"] and line.split()[-1] == "trust" for line in hba), "the socket lets in whoever reaches it"
    server.start()
    server.stop(discarding=True)


@ROOT
@pytest.mark.usefixtures("held")
def test_root_starts_the_server_as_somebody_else_and_a_directory_closed_to_that_user_is_named(place: Path) -> None:
    server = private_server(place / "pg")
    server.start()
    assert os.stat(f"/proc/{server.pid}").st_uid not in (0,)
    server.stop(discarding=True)
    (place / "closed").mkdir(mode=0o700)
    with pytest.raises(
        TargetError, match=rf"you are root, so the server runs as user '\w+', to whom {place}/closed is closed; .*chmod o\+x {place}/closed"
    ):
        check_reachable(str(place / "closed/pg"), server_user(("postgres", "nobody"), "PostgreSQL's server"))
    with pytest.raises(TargetError, match="closed"):
        private_server(place / "closed/pg").start()
    assert not any_noted()


def test_the_server_sees_no_password_of_the_users(place: Path) -> None:
    with killable_server(place / "pg") as run:
        assert b"canary-7b1f" in Path(f"/proc/{run.process.pid}/environ").read_bytes()
        for process in (run.guard, run.server):
            assert b"canary-7b1f" not in Path(f"/proc/{process}/environ").read_bytes() + Path(f"/proc/{process}/cmdline").read_bytes()


def test_a_server_stops_when_its_run_is_killed(place: Path) -> None:
    with killable_server(place / "pg") as run:
        run.process.kill()
        wait_until(lambda: not is_alive(run.server), "the guard stops the server")
        wait_until(lambda: not is_alive(run.guard), "the guard ends")
        assert not os.path.exists(run.sockets)


def test_a_server_stops_when_its_run_and_its_guard_are_killed(place: Path) -> None:
    with killable_server(place / "pg") as run:
        os.kill(run.guard, signal.SIGKILL)
        wait_until(lambda: not is_alive(run.server), "the kernel tells the server")


def test_the_next_command_stops_a_server_that_nobody_else_stopped(place: Path) -> None:
    with killable_server(place / "pg") as run:
        # A guard that stands still does nothing.
        os.kill(run.guard, signal.SIGSTOP)
        assert "killed run" not in _said("list"), "its run is alive"
        assert is_alive(run.server)
        run.process.kill()
        run.process.wait(timeout=HANGS_S)
        said = _said("list")
        assert f"plimsoll: stopped the PostgreSQL server in {place}/pg that a killed run had left running (pid {run.server})." in said
        assert not is_alive(run.server)
        assert not any_noted()
        assert "killed run" not in _said("list")


def test_the_next_run_in_the_same_directory_stops_it_as_well(place: Path) -> None:
    with killable_server(place / "pg") as run:
        os.kill(run.guard, signal.SIGSTOP)
        with pytest.raises(TargetError, match=rf"in use by another run of Plimsoll \(pid {run.process.pid}\)"):
            private_server(place / "pg")
        run.process.kill()
        run.process.wait(timeout=HANGS_S)
        server = private_server(place / "pg")
        server.start()
        assert not is_alive(run.server)
        assert server.pid not in (None, run.server)
        server.stop(discarding=True)


@pytest.mark.usefixtures("held")
def test_a_process_with_the_number_of_a_server_that_ended_is_left_alone(place: Path) -> None:
    server = private_server(place / "pg")
    server.start()
    server.stop()
    pid_file = Path(server.data) / "postmaster.pid"
    pid_file.write_text(f"{os.getpid()}\n{server.data}\n")
    assert running(server.data) is None


@pytest.mark.usefixtures("held")
def test_a_server_that_was_killed_starts_again_with_what_was_committed(place: Path) -> None:
    server = private_server(place / "pg")
    server.start()
    with psycopg.connect(**server.connection) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 7 AS number")
        connection.commit()
        before = server.pid
        assert before is not None
        os.kill(before, signal.SIGKILL)
    server.stop()
    server.start()
    with psycopg.connect(**server.connection) as connection:
        assert connection.execute("SELECT number FROM kept").fetchone() == (7,)
    server.stop(discarding=True)


@pytest.mark.usefixtures("held")
def test_what_keeps_a_server_from_starting_is_said_in_one_sentence(place: Path) -> None:
    server = private_server(place / "pg", {"shared_buffers": "much"})
    with pytest.raises(DatabaseError) as problem:
        server.start()
    assert "the PostgreSQL server did not start: " in str(problem.value)
    assert "shared_buffers" in str(problem.value) or "plimsoll.conf" in str(problem.value)
    assert "\n" not in str(problem.value)
    assert not any_noted()


@pytest.mark.usefixtures("held")
def test_a_start_can_be_stopped(place: Path) -> None:
    server = private_server(place / "pg")
    with pytest.raises(Interrupted):
        server.start(lambda: True)
    assert server.pid is None


def test_a_missing_server_is_one_sentence_with_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(InputError, match=r"apt-get install postgresql; .* postgresql://USER@HOST/DB"):
        programs(folders=("/nowhere/*/bin",))
    monkeypatch.setattr(installed, "OLDEST", 99)
    with pytest.raises(InputError, match=r"PostgreSQL \d+ is too old; install 99 or newer"):
        programs()
    with pytest.raises(InputError, match=r"made by PostgreSQL 9, whose server is not installed .*apt-get install postgresql-9"):
        programs(9)
