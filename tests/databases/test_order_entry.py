"""Order entry on a PostgreSQL server of its own: measured both ways, checked, and told of when the server dies."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from plimsoll.apps.databases import schema
from plimsoll.apps.order_entry.postgresql import PostgresqlSessions
from plimsoll.apps.order_entry.postgresql_store import SCHEMA, PostgresqlStore, told
from plimsoll.apps.order_entry.store import Filling
from plimsoll.apps.order_entry.terminals import Ending
from plimsoll.cli import main
from plimsoll.engine import native
from plimsoll.errors import SafetyRefusal
from plimsoll.orders.draws import Constants, Draws
from plimsoll.orders.population import SEED
from plimsoll.orders.requests import MIX, Clerk, Deck, Line, NewOrder
from plimsoll.orders.scale import Scale
from plimsoll.store.reader import StoredRun, list_runs
from support.patience import HANGS_S
from support.private_server import private_server

pytestmark = pytest.mark.usefixtures("postgresql", "held")
SCALE = Scale(warehouses=2, customers=10, items=100)
SMALL = ("--set", "warehouses=1", "--set", "customers=10", "--set", "items=100", "--set", "terminals=4", "-d", "500ms", "--warmup", "100ms")


@pytest.fixture
def server(place: Path) -> Iterator[object]:
    made = private_server(place / "pg")
    made.start()
    yield made
    made.stop(discarding=True)


@pytest.fixture
def store(server: object) -> PostgresqlStore:
    found = PostgresqlStore(server.connection, "postgresql:new:pg")  # type: ignore[attr-defined]
    found.fill(SCALE, Filling(SCALE, lambda _done, _total: None, native().control()))
    return found


def _sessions(store: PostgresqlStore, terminals: int, calls: str = "functions") -> PostgresqlSessions:
    conninfo = psycopg.conninfo.make_conninfo(**{**store._connection, "options": f"-c search_path={SCHEMA}"})
    return PostgresqlSessions(conninfo, terminals, calls=calls)


def _ended(sessions: PostgresqlSessions, number: int = 1) -> list[Ending]:
    found: list[Ending] = []
    while len(found) < number:
        found += sessions.wait(HANGS_S)
    return found


@pytest.mark.parametrize("calls", ["functions", "statements"])
def test_transactions_of_several_terminals_leave_the_data_consistent(store: PostgresqlStore, calls: str) -> None:
    constants = Constants.of_run(1, Constants.of_database(SEED))
    clerk, deck = Clerk(SCALE, constants, Draws(1, "terminal", 0)), Deck(MIX, Draws(1, "deck", 0), dealt=True)
    verdicts: list[str] = []
    assert store.broken() == []
    with closing(_sessions(store, 4, calls)) as sessions:
        for terminal in range(4):
            sessions.submit(terminal, clerk.request(deck.next(), terminal % 2 + 1, 1))
        while len(verdicts) < 300:
            for ending in _ended(sessions):
                assert ending.problem is None
                verdicts.append(ending.verdict)
                if len(verdicts) <= 296:
                    sessions.submit(ending.terminal, clerk.request(deck.next(), ending.terminal % 2 + 1, 1))
    assert store.broken() == []
    assert set(verdicts) <= {"committed", "rolled back"}


@pytest.mark.parametrize("calls", ["functions", "statements"])
def test_an_order_with_an_unused_item_leaves_nothing_behind(store: PostgresqlStore, calls: str) -> None:
    with closing(_sessions(store, 1, calls)) as sessions:
        sessions.submit(0, NewOrder(1, 1, 1, (Line(1, 1, 1), Line(101, 1, 1)), unused=True))
        assert [ending.verdict for ending in _ended(sessions)] == ["rolled back"]
        assert store.orders() == 200
        sessions.submit(0, NewOrder(1, 1, 1, (Line(1, 1, 1), Line(2, 1, 1)), unused=False))
        assert [ending.verdict for ending in _ended(sessions)] == ["committed"]
        assert store.orders() == 201


@pytest.mark.parametrize("calls", ["functions", "statements"])
def test_two_orders_that_lock_each_other_out_are_tried_again(store: PostgresqlStore, calls: str) -> None:
    with psycopg.connect(**store._connection, autocommit=True) as session:
        session.execute("ALTER SYSTEM SET deadlock_timeout = '10ms'")
        session.execute("SELECT pg_reload_conf()")
    here, there = (Line(1, 1, 1), Line(2, 1, 1)), (Line(2, 1, 1), Line(1, 1, 1))
    with closing(_sessions(store, 2, calls)) as sessions:
        for _ in range(2_000):
            # Different districts, so that only the stock is met at, in opposite orders.
            sessions.submit(0, NewOrder(1, 1, 1, here, unused=False))
            sessions.submit(1, NewOrder(1, 2, 1, there, unused=False))
            assert {ending.verdict for ending in _ended(sessions, 2)} == {"committed"}
            if sessions.retries["deadlock"]:
                break
        assert sessions.retries["deadlock"] >= 1
    assert store.broken() == []


def test_damage_is_found(store: PostgresqlStore) -> None:
    with psycopg.connect(**store._connection, autocommit=True) as session:
        session.execute(f"DELETE FROM {SCHEMA}.order_line WHERE ol_w_id = 2 AND ol_d_id = 9 AND ol_o_id = 5 AND ol_number = 1")
    (sentence,) = store.broken()
    assert sentence.startswith("consistency condition 4 does not hold in warehouse 2, district 9")


def test_a_schema_of_somebody_elses_is_left_alone(server: object) -> None:
    with psycopg.connect(**server.connection, autocommit=True) as session:  # type: ignore[attr-defined]
        session.execute(f"CREATE SCHEMA {SCHEMA}")
        session.execute(f"CREATE TABLE {SCHEMA}.letters (text text)")
        store = PostgresqlStore(server.connection, "postgresql://me@db1/test")  # type: ignore[attr-defined]
        for verb in (
            lambda: store.holds(SCALE),
            lambda: store.fill(SCALE, Filling(SCALE, lambda *_: None, native().control())),
            store.remove,
        ):
            with pytest.raises(SafetyRefusal, match="that Plimsoll did not make"):
                verb()
        assert session.execute(f"SELECT count(*) FROM {SCHEMA}.letters").fetchone() == (0,)
        session.execute(f"COMMENT ON SCHEMA {SCHEMA} IS '{schema.MARKER}'")
        assert store.remove()


def test_a_server_that_dies_fails_what_is_under_way_and_whatever_follows(store: PostgresqlStore, server: object) -> None:
    with closing(_sessions(store, 2)) as sessions:
        os.kill(server.pid, signal.SIGQUIT)  # type: ignore[attr-defined]
        problems = []
        for _ in range(2):
            while not problems or len(problems) % 2:
                sessions.submit(0, NewOrder(1, 1, 1, (Line(1, 1, 1),), unused=False))
                problems += [ending.problem for ending in _ended(sessions) if ending.problem is not None]
                problems += problems[:1] if len(problems) == 1 else []
        assert problems[-1].trouble == "lost"
        assert str(problems[-1]).startswith("the server is gone: ")


@pytest.mark.parametrize(
    ("state", "trouble"),
    [("40P01", "conflict"), ("53100", "full"), ("53300", "refused"), ("57014", "cancelled"), ("57P01", "lost"), ("42P01", "statement")],
)
def test_what_a_server_says_is_of_a_kind(state: str, trouble: str) -> None:
    problem = told("ERROR:  something is wrong\nDETAIL:  more", state, alive=True)
    assert problem.trouble == trouble
    assert f"something is wrong (SQLSTATE {state})." in str(problem)


def test_a_run_on_a_server_of_its_own_measures_checks_and_removes(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(place)
    assert main(["run", "order-entry", "-t", f"postgresql:new:{place}/own", *SMALL, "--objective", "p90 of new-order <= 60s"]) == 0
    (run,) = list_runs("results")
    assert isinstance(run, StoredRun)
    result = run.points[0].result
    orders = result.engine["orders"]
    assert orders is not None
    assert orders["consistent"] is True
    assert orders["wal_bytes"] > 0
    assert orders["settings"]["fsync"] == "on"
    assert {"autovacuum", "checkpoint_timeout", "wal_level", "synchronous_commit"} <= set(orders["settings"])
    assert result.totals["new-order"].count > 0
    assert not (place / "own").exists()
