"""Order entry on a PostgreSQL server of its own: measured both ways, checked, and told of when the server dies."""

from __future__ import annotations

import os
import signal
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import psycopg
import pytest

from plimsoll import _core
from plimsoll.apps.databases import schema
from plimsoll.apps.order_entry.postgresql import PostgresqlConnections, PostgresqlSessions
from plimsoll.apps.order_entry.postgresql_store import SCHEMA, PostgresqlStore, told
from plimsoll.apps.order_entry.store import Filling
from plimsoll.apps.order_entry.terminals import Ending
from plimsoll.cli import main
from plimsoll.engine.block import native
from plimsoll.errors import SafetyRefusal, TargetError
from plimsoll.orders.draws import Constants, Draws
from plimsoll.orders.functions import CALL_OF, call
from plimsoll.orders.population import SEED
from plimsoll.orders.requests import MIX, Clerk, Deck, Line, NewOrder
from plimsoll.orders.scale import Scale
from plimsoll.store.reader import StoredRun, list_runs
from support.patience import HANGS_S, wait_until
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


#: Orders that take stock in opposite orders, and one item between that somebody holds until both have their first.
HERE, THERE, HELD = (Line(1, 1, 1), Line(3, 1, 1), Line(2, 1, 1)), (Line(2, 1, 1), Line(3, 1, 1), Line(1, 1, 1)), 3


@contextmanager
def _held_item(store: PostgresqlStore) -> Iterator[None]:
    """Ends once two terminals wait for the held item, each with an item that the other one needs."""
    with psycopg.connect(**store._connection, autocommit=True) as session, psycopg.connect(**store._connection, autocommit=True) as looking:
        session.execute("ALTER SYSTEM SET deadlock_timeout = '10ms'")
        session.execute("SELECT pg_reload_conf()")
        with session.transaction():
            session.execute(f"SELECT FROM {SCHEMA}.stock WHERE s_w_id = 1 AND s_i_id = {HELD} FOR UPDATE")
            yield
            waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND state = 'active'"
            wait_until(lambda: looking.execute(waiting).fetchone() == (2,), "two terminals wait for the item")


@pytest.mark.parametrize("calls", ["functions", "statements"])
def test_two_orders_that_lock_each_other_out_are_tried_again(store: PostgresqlStore, calls: str) -> None:
    with closing(_sessions(store, 2, calls)) as sessions:
        with _held_item(store):
            # Different districts, so that only the stock is met at.
            sessions.submit(0, NewOrder(1, 1, 1, HERE, unused=False))
            sessions.submit(1, NewOrder(1, 2, 1, THERE, unused=False))
            if calls == "statements":
                _served(sessions, store)
        assert [ending.verdict for ending in _ended(sessions, 2)] == ["committed", "committed"]
        assert sessions.retries["deadlock"] >= 1
    assert store.broken() == []


def _served(sessions: PostgresqlSessions, store: PostgresqlStore) -> None:
    """Statements follow each other while somebody asks for endings; none comes before the item is free."""
    waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND state = 'active'"
    with psycopg.connect(**store._connection, autocommit=True) as looking:
        wait_until(lambda: not sessions.wait(0.01) and looking.execute(waiting).fetchone() == (2,), "both statements wait for the item")


def test_damage_is_found(store: PostgresqlStore) -> None:
    with psycopg.connect(**store._connection, autocommit=True) as session:
        session.execute(f"DELETE FROM {SCHEMA}.order_line WHERE ol_w_id = 2 AND ol_d_id = 9 AND ol_o_id = 5 AND ol_number = 1")
    (sentence,) = store.broken()
    assert sentence.startswith("consistency condition 4 does not hold in warehouse 2, district 9")


def test_settings_are_those_of_the_terminals_and_not_of_whoever_looks(store: PostgresqlStore) -> None:
    """The isolation that was asked for is one of their connections; the one that was recorded was everybody's."""
    stream = {"terminals": 1, "calls": "functions", "isolation": "serializable"}
    with store.working(stream) as working:
        assert working.settings["default_transaction_isolation"] == "serializable"
        assert working.settings["synchronous_commit"] == "on"
    assert store.facts()["default_transaction_isolation"] == "read committed"


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
        session.execute(f"DROP TABLE {SCHEMA}.letters")
        assert store.remove()


def test_a_table_of_somebody_elses_in_our_schema_keeps_it_from_being_dropped(store: PostgresqlStore) -> None:
    """It went with everything else in a schema that carries the mark."""
    with psycopg.connect(**store._connection, autocommit=True) as session:
        session.execute(f"CREATE TABLE {SCHEMA}.letters AS SELECT 1 AS number")
        session.execute(f"CREATE VIEW {SCHEMA}.first AS SELECT number FROM {SCHEMA}.letters")
        for verb in (store.remove, lambda: store.fill(SCALE, Filling(SCALE, lambda *_: None, native().control()))):
            with pytest.raises(
                TargetError, match="stays as it is, since Plimsoll did not make 'first' and 'letters' in it; move that elsewhere"
            ):
                verb()
        assert session.execute(f"SELECT number FROM {SCHEMA}.first").fetchone() == (1,)
        assert store.orders() > 0
        session.execute(f"DROP VIEW {SCHEMA}.first")
        session.execute(f"ALTER TABLE {SCHEMA}.letters SET SCHEMA public")
        assert store.remove()
        assert session.execute("SELECT number FROM public.letters").fetchone() == (1,)


def test_a_function_of_somebody_elses_in_our_schema_keeps_it_from_being_dropped(store: PostgresqlStore) -> None:
    """Also one that has the name of ours and takes other types."""
    with psycopg.connect(**store._connection, autocommit=True) as session:
        for made in ("shipped(int)", "delivery(text)"):
            session.execute(f"CREATE FUNCTION {SCHEMA}.{made} RETURNS int LANGUAGE sql AS 'SELECT 1'")
        for verb in (store.remove, lambda: store.fill(SCALE, Filling(SCALE, lambda *_: None, native().control()))):
            with pytest.raises(TargetError) as stopped:
                verb()
            assert (
                f"schema '{SCHEMA}' stays as it is, since Plimsoll did not make 'delivery(text)' and 'shipped(integer)' in it; move that"
                f" elsewhere (ALTER ROUTINE {SCHEMA}.delivery(text) SET SCHEMA public)." in str(stopped.value)
            )
        assert session.execute(f"SELECT {SCHEMA}.shipped(7)").fetchone() == (1,)
        assert store.orders() > 0
        for moved in ("shipped(int)", "delivery(text)"):
            session.execute(f"ALTER ROUTINE {SCHEMA}.{moved} SET SCHEMA public")
        assert store.remove()
        assert session.execute("SELECT public.shipped(7), public.delivery('')").fetchone() == (1, 1)


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
        assert str(problems[-1]).startswith("the server was stopped, or ended the connection (") or str(problems[-1]).startswith(
            "the server died"
        )


@pytest.mark.parametrize(
    ("state", "trouble"),
    [("40P01", "conflict"), ("53100", "full"), ("53300", "refused"), ("57014", "cancelled"), ("57P01", "lost"), ("42P01", "statement")],
)
def test_what_a_server_says_is_of_a_kind(state: str, trouble: str) -> None:
    problem = told("ERROR:  something is wrong\nDETAIL:  more", state, alive=True)
    assert problem.trouble == trouble
    assert "something is wrong" in str(problem)


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


@contextmanager
def _threads(store: PostgresqlStore, asked: list[list[tuple[int, int, bool, tuple[int | str, ...]]]]) -> Iterator[_core.TerminalThreads]:
    """Terminals of the engine with what each asks."""
    conninfo = psycopg.conninfo.make_conninfo(**{**store._connection, "options": f"-c search_path={SCHEMA}"})
    with closing(PostgresqlConnections(conninfo, len(asked))) as connections:
        threads = _core.TerminalThreads(connections.files, list(CALL_OF.values()), by_instants=False, low=0, stop_on_error=True)
        for terminal, requests in enumerate(asked):
            threads.put(terminal, requests)
        threads.begin(time.monotonic_ns())
        with closing(threads):
            yield threads


def test_threads_that_lock_each_other_out_are_tried_again(store: PostgresqlStore) -> None:
    asked = [[(0, 0, False, call(NewOrder(1, district, 1, lines, unused=False))[1])] for district, lines in ((1, HERE), (2, THERE))]
    retries, committed = Counter[str](), 0
    with ExitStack() as stack:
        with _held_item(store):
            threads = stack.enter_context(_threads(store, asked))

        def over() -> bool:
            nonlocal committed
            told = threads.cut(0)
            retries.update(told["retries"])
            committed += told["cells"][0]["committed"]
            return committed == 2 or threads.failures() != []

        wait_until(over, "both orders are entered")
        assert threads.failures() == []
    assert retries["deadlock"] >= 1
    assert store.broken() == []
