"""Rows go to PostgreSQL straight over its socket where nothing on it is encrypted; what the server says meanwhile is heard."""

from __future__ import annotations

import itertools
import os
import signal
import threading
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import psycopg
import pytest

from plimsoll import _core
from plimsoll.apps.databases import postgresql_rows
from plimsoll.apps.databases.address import parse
from plimsoll.apps.databases.database import DatabaseError, Settings
from plimsoll.apps.databases.postgresql import PostgreSql, own_server, private
from plimsoll.apps.databases.postgresql_rows import messages, plain_socket
from plimsoll.certificates import Made
from plimsoll.decision import data
from plimsoll.engine.files import native_files
from plimsoll.errors import Interrupted
from support.patience import HANGS_S, wait_until

pytestmark = pytest.mark.usefixtures("postgresql", "held")
SUM = "SELECT count(*), md5(string_agg(orders::text, E'\\n' ORDER BY o_orderkey)) FROM orders"
LINES = b"1\tone\n" * 20_000


@pytest.fixture
def address() -> str:
    """A loopback address of this process's own: the server's port is the same everywhere."""
    return f"127.{64 + os.getpid() // 62500 % 128}.{os.getpid() // 250 % 250}.{1 + os.getpid() % 250}"


@pytest.fixture
def database(place: Path, address: str) -> Iterator[PostgreSql]:
    home = native_files().own(str(place / "pg"), None, "postgresql")
    made = private(home, str(place / "pg"), Settings(memory_bytes=32 << 20, options={"listen_addresses": address}))
    made.open()
    with made.session() as session:
        session.run(["CREATE TABLE kept (number int, name text)"])
    yield made
    made.close()


def _kept(database: PostgreSql) -> int:
    with database.session() as session:
        ((count,),) = session.run(["SELECT count(*) FROM kept"])
    return int(count)


def _ever() -> Iterator[bytes]:
    """Far more than lies on the way to a server."""
    yield from itertools.repeat(LINES, 3000)
    pytest.fail("nobody hears the server")


def _by_psycopg(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgresql_rows, "plain_socket", lambda _connection: None)


def _loaded_sum(database: PostgreSql) -> tuple[int, str]:
    """Orders as they are after a load, in chunks that end anywhere."""
    table = data.TABLES["orders"]
    text = b"".join(data.copy_text("orders", 0.01))
    with database.session() as session:
        columns = ", ".join(f"{column.name} {column.type} NOT NULL" for column in table.columns)
        session.run(["DROP TABLE IF EXISTS orders", f"CREATE TABLE orders ({columns})"])
        assert session.copy("orders", (text[at : at + 777_777] for at in range(0, len(text), 777_777))) == 15_000
        ((count, found),) = session.run([SUM])
    return int(count), str(found)


def test_messages_of_psycopg_hold_64_kib_at_most_and_none_is_lost() -> None:
    chunks = [b"a" * 200_000, b"", b"b" * 65_536, b"c"]
    sent = list(messages(iter(chunks)))
    assert b"".join(sent) == b"".join(chunks)
    assert [len(message) for message in sent] == [65_536, 65_536, 65_536, 200_000 - 3 * 65_536, 65_536, 1]


def test_equal_rows_arrive_over_a_socket_over_tcp_and_encrypted_by_psycopg(
    database: PostgreSql, place: Path, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[int] = []
    write = _core.copy_rows

    def heard(file: int, text: bytes) -> bool:
        written.append(len(text))
        return write(file, text)

    monkeypatch.setattr(_core, "copy_rows", heard)
    sums = [_loaded_sum(database)]
    assert sum(written) > 1 << 20
    _take_from(database, place, address)
    url = f"postgresql://plimsoll@{address}:5432/postgres?gssencmode=disable&sslmode="
    for mode, is_plain in (("disable", True), ("require", False)):
        written.clear()
        other = own_server(parse(url + mode), Settings(), claims=False)
        with other.session() as session:
            assert session._connection.pgconn.ssl_in_use == (not is_plain)
            assert (plain_socket(session._connection) is not None) == is_plain
        sums.append(_loaded_sum(other))
        assert bool(written) == is_plain
    assert sums == [sums[0]] * 3


def _take_from(database: PostgreSql, place: Path, address: str) -> None:
    """The server takes connections at an address, encrypted or not."""
    folder = place / "pg/postgresql/data"
    made = Made.certificate_of([address], (timedelta(days=-1), timedelta(days=1)))
    owner = folder.stat()
    for name, text in (("server.crt", made.pem), ("server.key", made.key_pem)):
        (folder / name).write_bytes(text)
        (folder / name).chmod(0o600)
        os.chown(folder / name, owner.st_uid, owner.st_gid)
    hba = folder / "pg_hba.conf"
    hba.write_text("host all all 127.0.0.0/8 trust\n" + hba.read_text())
    with database.session() as session:
        session.run(["ALTER SYSTEM SET ssl = on"])
        session.run(["SELECT pg_reload_conf()"])
    asked = f"postgresql://plimsoll@{address}:5432/postgres?sslmode=require"
    wait_until(lambda: _takes(asked), "the server takes encrypted connections")


def _takes(url: str) -> bool:
    try:
        psycopg.connect(url).close()
    except psycopg.Error:
        return False
    return True


def test_a_row_that_is_refused_ends_the_load_at_once_and_is_told_as_psycopg_would(
    database: PostgreSql, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failed(text: Iterator[bytes]) -> str:
        with database.session() as session:
            with pytest.raises(DatabaseError) as problem:
                session.copy("kept", text)
            # The connection lives, and knows where it is.
            assert session.run(["SELECT 7"]) == [(7,)]
        assert problem.value.trouble == "statement"
        return str(problem.value)

    bad = b"no number\tx\n"
    said = failed(itertools.chain([LINES, bad], _ever()))
    assert 'invalid input syntax for type integer: "no number"' in said
    assert failed(iter([LINES, bad])) == said
    _by_psycopg(monkeypatch)
    assert failed(iter([LINES, bad, LINES])) == said
    assert _kept(database) == 0


def test_a_load_that_somebody_cancels_ends_and_is_told_as_such(database: PostgreSql) -> None:
    with database.session() as session:

        def endless() -> Iterator[bytes]:
            yield LINES
            session.cancel()
            yield from _ever()

        with pytest.raises(DatabaseError, match="the statement was cancelled") as problem:
            session.copy("kept", endless())
    assert problem.value.trouble == "cancelled"
    assert _kept(database) == 0


def test_a_server_that_dies_while_rows_come_is_told_with_what_it_wrote(database: PostgreSql, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plimsoll.apps.databases.postgresql._WORDS_S", HANGS_S)
    session = database.session()

    def endless() -> Iterator[bytes]:
        yield LINES
        os.kill(session.process, signal.SIGKILL)
        yield from _ever()

    with pytest.raises(
        DatabaseError, match=r"the server died or was stopped \(server process \(PID \d+\) was terminated by signal 9"
    ) as told:
        session.copy("kept", endless())
    assert told.value.trouble == "lost"


def test_a_load_that_is_interrupted_leaves_nothing_and_a_connection_that_lives(database: PostgreSql) -> None:
    def stopped() -> Iterator[bytes]:
        yield LINES
        raise Interrupted("stopped while the database was loaded")

    with database.session() as session:
        with pytest.raises(Interrupted, match="stopped while the database was loaded"):
            session.copy("kept", stopped())
        assert session.run(["SELECT count(*) FROM kept"]) == [(0,)]


def test_ctrl_c_is_heard_while_a_server_takes_nothing(database: PostgreSql) -> None:
    session = database.session()
    process = session.process
    main = threading.main_thread().ident
    assert main is not None

    def stalled() -> Iterator[bytes]:
        yield LINES
        os.kill(process, signal.SIGSTOP)
        threading.Timer(0.5, signal.pthread_kill, [main, signal.SIGINT]).start()
        yield from _ever()

    try:
        with pytest.raises(KeyboardInterrupt):
            session.copy("kept", stalled())
    finally:
        os.kill(process, signal.SIGCONT)
    session.close()
    assert _kept(database) == 0


def test_a_server_that_says_something_meanwhile_gets_every_row(database: PostgreSql) -> None:
    with database.session() as session:
        session.run(
            [
                "CREATE FUNCTION heard() RETURNS trigger LANGUAGE plpgsql AS "
                "$$ BEGIN RAISE NOTICE '%', repeat('x', 200); RETURN NEW; END $$",
                "CREATE TRIGGER heard BEFORE INSERT ON kept FOR EACH ROW WHEN (NEW.number = 2) EXECUTE FUNCTION heard()",
            ]
        )
        assert session.copy("kept", [LINES, b"2\ttwo\n" * 100, LINES * 20]) == 420_100
        assert session.run(["SELECT count(*) FROM kept"]) == [(420_100,)]
