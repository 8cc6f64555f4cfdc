"""Order entry on SQLite from end to end: filled, measured, checked, refused, and put away again."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from plimsoll.apps.order_entry import sqlite as engine_of_sqlite
from plimsoll.apps.order_entry.driver import OrderEntry
from plimsoll.apps.order_entry.sqlite import SqliteSessions
from plimsoll.apps.order_entry.sqlite_store import SqliteStore
from plimsoll.apps.order_entry.store import Filling
from plimsoll.engine.block import native
from plimsoll.host.page_cache import drop_pages, resident_bytes
from plimsoll.orders.draws import Constants, Draws
from plimsoll.orders.population import SEED
from plimsoll.orders.requests import Clerk, Delivery, Line, NewOrder
from plimsoll.orders.scale import Scale
from plimsoll.result import Result
from plimsoll.store.reader import StoredRun, list_runs
from support.patience import HANGS_S, wait_until
from support.said import Plimsoll, in_this_process

SCALE = Scale(warehouses=1, customers=10, items=100)
SMALL = ("--set", "warehouses=1", "--set", "customers=10", "--set", "items=100", "--set", "terminals=2", "-d", "400ms", "--warmup", "100ms")
BANNER = "derived from TPC-C, not comparable with published TPC-C results"


@pytest.fixture
def run(here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Plimsoll:
    monkeypatch.setattr("plimsoll.doctor.look.quick_look", lambda facts, others: "")
    return in_this_process(capsys)


@pytest.fixture
def store(tmp_path: Path) -> SqliteStore:
    found = SqliteStore(str(tmp_path))
    found.fill(SCALE, Filling(SCALE, lambda _done, _total: None, native().control()))
    return found


def _result() -> Result:
    (found,) = list_runs("results")
    assert isinstance(found, StoredRun)
    return found.points[0].result


def _path(place: Path) -> str:
    return str(place / "db/sqlite/orders.db")


def _changed(place: Path, statement: str) -> None:
    with closing(sqlite3.connect(_path(place))) as connection:
        connection.execute(statement)
        connection.commit()


def _ended(sessions: SqliteSessions) -> list[Any]:
    found: list[Any] = []
    while not found:
        found += sessions.wait(HANGS_S)
    return found


def test_a_run_measures_every_transaction_and_leaves_nothing_behind(run: Plimsoll, here: Path) -> None:
    said = run("run", "order-entry", "-t", "sqlite:db", *SMALL, "--objective", "p90 of new-order <= 60s")
    assert said.code == 0, said.err
    result = _result()
    assert {"new-order", "payment"} <= set(result.totals)
    orders = result.engine["orders"]
    assert orders is not None
    assert (orders["derived_from"], orders["consistent"], orders["broken"]) == (BANNER, True, [])
    assert orders["settings"]["journal_mode"] == "wal"
    assert orders["settings"]["synchronous"] == "FULL"
    # A quarter of the data, at least 128 MiB, shared by the two terminals; SQLite says KiB below 0.
    assert orders["settings"]["cache_size"] == "-65536"
    assert orders["wal_bytes"] > 0
    assert orders["flush_ns"]["count"] == orders["counters"]["commits"] > 0
    assert "checkpoints" in orders["counters"]
    assert abs(sum(orders["waits"].values()) - 1) < 0.01
    counted = orders["committed"]["new-order"] + orders["rolled_back"]
    assert abs(counted - result.totals["new-order"].count) <= 2
    assert not (here / "db").exists()


def test_without_a_target_a_scratch_directory_is_used_and_removed(run: Plimsoll, here: Path) -> None:
    assert run("run", "order-entry", *SMALL).code == 0
    assert sorted(path.name for path in here.iterdir()) == ["cache", "results", "small.toml"]


def test_data_that_are_not_consistent_fail_the_point_with_the_code_of_wrong_data(run: Plimsoll, here: Path) -> None:
    assert run("run", "order-entry", "-t", "sqlite:db", *SMALL, "--keep", "--out", "first").code == 0
    _changed(here, "UPDATE district SET d_ytd = d_ytd + 1 WHERE d_id = 3")
    said = run("run", "order-entry", "-t", "sqlite:db", *SMALL)
    assert said.code == 6
    result = _result()
    assert result.status == "failed"
    assert "the database is not consistent after the run: consistency condition 1 does not hold in warehouse 1" in str(result.error)
    assert [flag.severity for flag in result.flags if flag.name == "wrong_data"] == ["invalid"]
    assert result.totals["new-order"].count > 0, "what was measured stays visible"


def test_a_database_that_fits_is_used_again_and_another_scale_is_filled_anew(run: Plimsoll, here: Path) -> None:
    for customers, grown in ((10, False), (10, True), (12, False)):
        settings = [word.replace("customers=10", f"customers={customers}") for word in SMALL]
        out = f"{customers}-{grown}"
        assert run("run", "order-entry", "-t", "sqlite:db", *settings, "--keep", "--out", out).code == 0
        (found,) = list_runs(out)
        assert isinstance(found, StoredRun)
        before = (found.points[0].result.engine["orders"] or {})["orders_before"]
        assert (before > 10 * customers) == grown


def test_what_somebody_keeps_in_the_directory_is_not_touched(run: Plimsoll, here: Path) -> None:
    (here / "db").mkdir()
    (here / "db" / "letters.txt").write_text("mine")
    said = run("run", "order-entry", "-t", "sqlite:db", *SMALL)
    assert said.code == 3
    assert [path.name for path in (here / "db").iterdir()] == ["letters.txt"]


def test_a_file_of_somebodys_among_ours_outlives_the_run_and_is_named(run: Plimsoll, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It went with our directory."""
    fill = SqliteStore.fill

    def filled(store: SqliteStore, scale: Scale, filling: Filling) -> None:
        fill(store, scale, filling)
        Path(store.path).with_name("letters.txt").write_text("dear me")

    monkeypatch.setattr(SqliteStore, "fill", filled)
    said = run("run", "order-entry", "-t", "sqlite:db", *SMALL)
    assert said.code == 0
    letters = here / "db/sqlite/letters.txt"
    assert f"{letters} stays, since Plimsoll did not make it; what Plimsoll made beside it is removed" in said.err
    assert letters.read_text() == "dear me"
    assert os.listdir(letters.parent) == ["letters.txt"]


def test_a_table_of_somebodys_in_the_file_keeps_it_from_being_made_anew(run: Plimsoll, here: Path) -> None:
    assert run("run", "order-entry", "-t", "sqlite:db", *SMALL, "--keep").code == 0
    _changed(here, "CREATE TABLE letters AS SELECT 1 AS number")
    said = run("run", "order-entry", "-t", "sqlite:db", *SMALL, "--set", "items=120", "--keep")
    assert said.code != 0
    assert "stays as it is, since Plimsoll did not make 'letters' in it; move that to a file of your own" in said.err
    with closing(sqlite3.connect(_path(here))) as connection:
        assert connection.execute("SELECT number FROM letters").fetchone() == (1,)


@pytest.mark.parametrize(
    ("target", "said"),
    [("duckdb:db", "duckdb is no engine for this load"), ("/dev/null", "names no database engine"), ("sqlite://x", "has no server")],
)
def test_a_target_that_is_no_database_of_these_is_refused(run: Plimsoll, here: Path, target: str, said: str) -> None:
    answer = run("run", "order-entry", "-t", target, *SMALL)
    assert answer.code == 2
    assert said in answer.err
    assert not (here / "results").exists()


def test_too_many_warehouses_for_the_disk_are_refused_before_anything_is_written(run: Plimsoll, here: Path) -> None:
    said = run("run", "order-entry", "-t", "sqlite:db", "--set", "warehouses=100000", "-d", "400ms", "--warmup", "0s")
    assert said.code == 4
    assert "ask for fewer (--set warehouses=N), or make room." in said.err + said.out
    assert not (here / "db").exists()


def test_a_ramp_over_terminals_finds_a_mark(run: Plimsoll, here: Path) -> None:
    words = [word for word in SMALL if word not in ("terminals=2",)]
    del words[words.index("items=100") + 1]
    said = run(
        "ramp",
        "order-entry",
        "-t",
        f"sqlite:{here}/db",
        *words,
        "--over",
        "terminals=1..2",
        "--objective",
        "p90 of new-order <= 60s",
        "--json",
    )
    assert said.code == 0, said.err
    assert said.json["conclusions"][0]["mark"]["level"] == 2
    # What is removed once for all points is not missed for each.
    assert "left behind" not in said.err
    assert not (here / "db").exists()


def test_open_arrivals_offer_new_orders_at_a_rate(run: Plimsoll, here: Path) -> None:
    assert run("run", "order-entry", "-t", "sqlite:db", *SMALL, "--set", "rate=100").code == 0
    result = _result()
    assert (result.job.arrival, result.offered_per_s) == ("open", 100.0)
    assert result.totals["new-order"].service_ns != result.totals["new-order"].latency_ns


def test_transactions_of_terminals_are_carried_out_and_the_log_is_counted(store: SqliteStore) -> None:
    clerk = Clerk(SCALE, Constants.of_run(1, Constants.of_database(SEED)), Draws(1, "terminal", 0))
    with closing(SqliteSessions(store.path, 3)) as sessions:
        for number in range(60):
            sessions.submit(number % 3, clerk.request(("new-order", "payment", "order-status")[number % 3], 1, 1))
            (ending,) = _ended(sessions)
            assert ending.verdict in ("committed", "rolled back"), ending.problem
        assert sessions.log.frames > 40
        assert sessions.commits.count >= 38
    assert store.broken() == []


#: Takes the lock with which a process says that it uses the index of a log (SQLite's os_unix.c, UNIX_SHM_DMS), if nobody has it.
_UNUSED = """
import fcntl, sys
with open(sys.argv[1] + "-shm", "r+b") as index:
    try:
        fcntl.lockf(index, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, 128)
    except BlockingIOError:
        sys.exit("used")
"""


def test_another_process_sees_that_the_database_is_used(store: SqliteStore) -> None:
    """Our look at the index of the log took SQLite's locks away: whoever came cut the index off, and Plimsoll died of it (SIGBUS)."""
    with closing(SqliteSessions(store.path, 1)) as sessions:
        for number in (1, 2):
            sessions.submit(0, Delivery(1, number))
            assert [ending.verdict for ending in _ended(sessions)] == ["committed"]
            said = subprocess.run([sys.executable, "-c", _UNUSED, store.path], capture_output=True, text=True, check=False)
            assert said.stderr == "used\n"
    assert not os.path.exists(f"{store.path}-shm"), "the last connection puts it away"
    assert store.broken() == []


def test_a_log_that_begins_anew_was_written_into_the_file(store: SqliteStore) -> None:
    with closing(SqliteSessions(store.path, 1)) as sessions:
        for number in range(1, 4):
            sessions.submit(0, Delivery(1, number))
            _ended(sessions)
            with closing(sqlite3.connect(store.path)) as other:
                other.execute("PRAGMA wal_checkpoint(RESTART)")
        # The first began with an empty log.
        assert sessions.log.restarts == 2


def test_an_order_with_an_unused_item_is_rolled_back(store: SqliteStore) -> None:
    with closing(SqliteSessions(store.path, 1)) as sessions:
        sessions.submit(0, NewOrder(1, 1, 1, (Line(1, 1, 1), Line(101, 1, 1)), unused=True))
        assert [ending.verdict for ending in _ended(sessions)] == ["rolled back"]
    assert store.orders() == 100


def test_a_database_that_another_process_holds_is_told_of(store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_of_sqlite, "BUSY_S", 0.05)
    with closing(sqlite3.connect(store.path, isolation_level=None)) as other, closing(SqliteSessions(store.path, 1)) as sessions:
        other.execute("BEGIN IMMEDIATE")
        sessions.submit(0, Delivery(1, 1))
        (ending,) = _ended(sessions)
    assert ending.verdict == "failed"
    assert ending.problem.trouble == "locked"
    assert "another process holds the database (SQLITE_BUSY)" in str(ending.problem)


def test_a_full_disk_fails_the_transaction_and_leaves_the_data_consistent(store: SqliteStore) -> None:
    with closing(SqliteSessions(store.path, 1)) as sessions:
        (pages,) = sessions._connections[0].execute("PRAGMA page_count").fetchone()
        sessions._connections[0].execute(f"PRAGMA max_page_count = {pages}")
        verdicts = []
        while not verdicts or verdicts[-1].verdict != "failed":
            sessions.submit(0, NewOrder(1, 1, 1, tuple(Line(item, 1, 1) for item in range(1, 16)), unused=False))
            verdicts += _ended(sessions)
    assert verdicts[-1].problem.trouble == "full"
    assert "its disk is full; make room, or ask for fewer warehouses" in str(verdicts[-1].problem)
    assert store.broken() == []


def test_turns_to_write_are_given_in_the_order_in_which_they_were_asked_for() -> None:
    turns, order, threads = engine_of_sqlite._Turns(), [], []

    def take(number: int) -> None:
        with turns:
            order.append(number)

    with turns:
        for number in range(10):
            thread = threading.Thread(target=take, args=(number,))
            thread.start()
            threads.append(thread)
            wait_until(lambda expected=number + 1: len(turns._waiting) == expected, "the thread asked for its turn")
    for thread in threads:
        thread.join(HANGS_S)
    assert order == list(range(10))


def test_a_summary_says_that_it_is_not_comparable(run: Plimsoll, here: Path) -> None:
    run("run", "order-entry", "-t", "sqlite:db", *SMALL)
    assert run("report", "latest", "-o", "x.md").code == 0
    assert f"{BANNER[0].upper()}{BANNER[1:]}." in (here / "x.md").read_text()


def test_json_of_a_run_has_operations_by_the_kind_of_transaction(run: Plimsoll, here: Path) -> None:
    said = run("run", "order-entry", "-t", "sqlite:db", *SMALL, "--json")
    (point,) = said.json["results"] if "results" in said.json else said.json["points"]
    assert "new-order" in json.dumps(point["totals"])


def test_a_cold_point_begins_with_its_database_out_of_the_page_cache(run: Plimsoll, here: Path) -> None:
    run("run", "order-entry", "-t", "sqlite:here", *SMALL, "--cache", "cold", "--keep")
    (stored,) = list_runs("results")
    assert isinstance(stored, StoredRun)
    cache = stored.points[0].result.cache
    # Of a file system that lives in memory the truth is that it stayed there.
    dropped = drop_pages([str(here / "here" / "sqlite" / "orders.db")])
    assert cache["state"] == ("cold" if dropped.cold else "as found")
    assert "page cache" in str(cache["how"])


def test_nothing_of_the_orders_is_read_before_a_cold_point_begins(store: SqliteStore) -> None:
    scale = Scale(warehouses=1, customers=300, items=1_000)
    store.fill(scale, Filling(scale, lambda _done, _total: None, native().control()))
    if not drop_pages([store.path]).cold:
        pytest.skip("the file system of the tests keeps its pages in memory")
    assert store.holds(scale)
    assert (store.orders(), len(store.facts()) > 0) == (3_000, True)
    # Read-ahead brings some pages besides those that are asked for.
    assert resident_bytes(store.path) < os.path.getsize(store.path) / 2


def test_a_server_of_the_users_cannot_start_cold(run: Plimsoll, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(OrderEntry, "write_refusal", lambda *_: None)
    monkeypatch.setattr(OrderEntry, "prepare_target", lambda *_: pytest.fail("nothing may be made for a point that cannot begin"))
    said = run("run", "order-entry", "-t", "postgresql://me@db1.invalid/test", *SMALL, "--cache", "cold")
    assert said.code != 0
    assert "a server of yours is not restarted, so that it cannot start cold" in said.err
