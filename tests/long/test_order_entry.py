"""Order entry on private PostgreSQL servers as whole runs: what a point begins with, what it records, and what becomes of marks."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import time
from collections.abc import Iterator
from contextlib import chdir, closing, contextmanager
from pathlib import Path

import pytest

from long.test_decision_support import Started, run_of
from long.test_order_entry_faults import measuring
from plimsoll.cli import main
from plimsoll.monitor.flush_times import FlushTimes
from plimsoll.reports.view.drivers.order_entry import commits_of
from plimsoll.result import Result
from plimsoll.store.reader import StoredRun, list_runs
from plimsoll.stored.outcome import OrderEntryOutcome
from support.private_server import missing_server
from support.reachable import reachable_place

pytestmark = pytest.mark.skipif(missing_server() is not None, reason=str(missing_server()))
SMALL = ("--set", "warehouses=1", "--set", "customers=10", "--set", "items=100", "--set", "terminals=4", "-d", "500ms", "--warmup", "100ms")
#: Among so many transactions of two terminals some meet at the same row.
COMMITS_MIN = 50
#: How long is measured: the longer ones where a disk is so slow that the one before saw too little.
DURATIONS = ("500ms", "5s", "50s")
#: How long a database stands still.
STALL_S = 3.0


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where a run works; notes of servers go to a cache of the test's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with reachable_place() as made:
        monkeypatch.chdir(made)
        yield made


def _ran(place: Path, *words: str) -> Result:
    assert main(["run", "order-entry", "-t", f"postgresql:new:{place}/own", *SMALL, *words]) == 0
    (run,) = list_runs("results")
    assert isinstance(run, StoredRun)
    return run.points[0].result


def _ordered(place: Path, *words: str) -> OrderEntryOutcome:
    """What a run counted that lasted for `COMMITS_MIN` commits at least, however slow the disk is."""
    for number, duration in enumerate(DURATIONS):
        (here := place / str(number)).mkdir()
        with chdir(here):
            orders = _ran(here, *words, "-d", duration).engine["orders"]
        assert orders is not None
        if commits_of(orders) >= COMMITS_MIN:
            return orders
    pytest.fail(f"fewer than {COMMITS_MIN} commits in {duration}")


@pytest.mark.parametrize(("calls", "client"), [("functions", "threads of the engine"), ("statements", "one thread, libpq")])
def test_transactions_that_cannot_be_put_in_an_order_are_tried_again(place: Path, calls: str, client: str) -> None:
    # Two terminals at one warehouse: they update its row and those of its districts at the same time.
    orders = _ordered(place, "--set", "isolation=repeatable read", "--set", f"calls={calls}", "--set", "terminals=2")
    assert orders["client"] == client
    assert orders["retries"]["serialization"] > 0
    assert orders["consistent"] is True


def test_new_orders_at_a_rate_count_from_when_they_were_due(place: Path) -> None:
    result = _ran(place, "--set", "rate=40", "-d", "1500ms")
    assert result.offered_per_s == 40.0
    new_orders = result.totals["new-order"]
    assert new_orders.service_ns is not None
    assert new_orders.latency_ns.mean >= new_orders.service_ns.mean
    # 60 are due, give or take four standard deviations; what was due and not begun is counted as well.
    assert abs(new_orders.count - 60) < 4 * 60**0.5 + result.engine["engine"]["unissued"]


@pytest.mark.parametrize("engine", ["sqlite", "postgresql"])
def test_a_database_that_stands_still_is_in_the_percentiles_of_what_was_due_meanwhile(place: Path, engine: str) -> None:
    """Coordinated omission: with four terminals, four transactions would be slow."""
    address = f"sqlite:{place}/db" if engine == "sqlite" else f"postgresql:new:{place}/db"
    words = ("run", "order-entry", "-t", address, *SMALL, "--set", "rate=40", "-d", "10s", "--set", "interval=100ms")
    started = measuring(Started(place / "run", *words))
    with _held(place / "db", engine):
        time.sleep(STALL_S)
    code, _, err = started.ended()
    assert code == 0, err
    result = run_of(started.here).points[0].result
    total = result.totals["new-order"]
    assert total.latency_ns is not None and total.service_ns is not None
    # 120 of 400 were due while nothing went on, and half of those had to wait for more than half of that time: 15 of 100.
    assert total.latency_ns.p90 > STALL_S / 2 * 1e9
    assert total.service_ns.p90 < total.latency_ns.p90 / 2


@contextmanager
def _held(directory: Path, engine: str) -> Iterator[None]:
    """Nothing is committed there meanwhile: another connection holds SQLite's lock, or every process of the server is stopped."""
    if engine == "sqlite":
        with closing(sqlite3.connect(directory / "sqlite" / "orders.db", isolation_level=None, timeout=60)) as other:
            other.execute("BEGIN IMMEDIATE")
            yield
            other.execute("ROLLBACK")
        return
    server = int((directory / "postgresql" / "data" / "postmaster.pid").read_text().splitlines()[0])
    processes = [int(pid) for pid in Path(f"/proc/{server}/task/{server}/children").read_text().split()]
    for process in processes:
        os.kill(process, signal.SIGSTOP)
    try:
        yield
    finally:
        for process in processes:
            os.kill(process, signal.SIGCONT)


def _traces_flushes() -> bool:
    """Whether the kernel tells of each flush here."""
    try:
        FlushTimes([os.getpid()]).close()
    except OSError:
        return False
    return True


def test_flushes_log_vacuum_and_checkpoints_are_in_the_result(place: Path) -> None:
    # The server's processes tell what they counted once a second.
    orders = _ran(place, "-d", "3s").engine["orders"]
    assert orders is not None
    assert orders["wal_bytes"] > 0
    assert orders["flush_ns"]["count"] > 0
    assert 0 < orders["flush_ns"]["mean"] < 10e9
    # Those of a second may not have been handed in, at either end.
    if _traces_flushes() and "p99" in orders["flush_ns"]:
        assert orders["flush_ns"]["count"] == pytest.approx(orders["counters"]["wal_sync"], rel=0.1 + 1 / orders["watched_s"])
        assert 0 < orders["flush_ns"]["p50"] <= orders["flush_ns"]["p99"] <= orders["flush_ns"]["max"]
    counted = {"commits", "wal_records", "full_page_images", "checkpoints_timed", "checkpoints_requested", "autovacuums", "hot_updates"}
    assert counted <= set(orders["counters"])
    assert {"max_wal_size", "checkpoint_completion_target", "autovacuum_naptime", "full_page_writes", "wal_sync_method"} <= set(
        orders["settings"]
    )
    assert sum(orders["waits"].values()) == pytest.approx(1.0)


def test_a_cold_point_begins_with_the_servers_files_out_of_the_page_cache(place: Path) -> None:
    result = _ran(place, "--cache", "cold")
    assert result.cache["state"] == "cold"
    assert "was dropped (posix_fadvise)" in str(result.cache["how"])


def test_a_ramp_gives_a_mark_and_two_of_them_are_compared(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = [word for word in SMALL if word != "terminals=4"]
    del words[words.index("items=100") + 1]
    for number, duration in enumerate(DURATIONS):
        (here := place / str(number)).mkdir()
        with chdir(here):
            for label in ("A", "B"):
                asked = ["--over", "terminals=1..4", "--objective", "p90 of new-order <= 60s", "--label", label, "-d", duration]
                assert main(["ramp", "order-entry", "-t", f"postgresql:new:{here}/{label}", *words, *asked, "--quiet"]) == 0
                assert not (here / label).exists()
            capsys.readouterr()
            first, second = (str(run.path) for run in list_runs("results"))
            assert main(["compare", first, second, "--json"]) == 0
        (mark,) = json.loads(capsys.readouterr().out)["marks"]
        # A disk may be so slow that no new-order ended at a level, which then says nothing.
        if None not in mark["values"]:
            break
    assert [value["level"] for value in mark["values"]] == [4, 4]
