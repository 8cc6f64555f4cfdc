"""The refreshes on DuckDB: each is one transaction, so that orders come and go with their items or not at all."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from plimsoll.apps.databases.database import DatabaseError, Session, Settings
from plimsoll.apps.databases.duckdb import DuckDb
from plimsoll.apps.decision import dataset
from plimsoll.apps.decision.dataset import Hearing
from plimsoll.apps.decision.refresh import Sets, coming, going
from plimsoll.decision import data

pytest.importorskip("duckdb", reason="skipped: DuckDB is not installed")

SCALE = 0.01
#: 1,500 orders times scale, a thousandth of them.
ORDERS = 15


class _Going:
    stopped = False

    def stop(self) -> None: ...

    abort = stop


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The directory of a database that is loaded and closed. What rows are drawn from is made once."""
    place = tmp_path_factory.mktemp("loaded")
    opened = DuckDb(str(place), Settings(memory_bytes=256 << 20, threads=2))
    hearing = Hearing(lambda _done, _total: None, _Going())
    with data.kept():
        opened.open()
        dataset.write(opened, dataset.load(opened, SCALE, hearing))
        opened.close()
        yield place


@pytest.fixture
def database(loaded: Path, tmp_path: Path) -> Iterator[DuckDb]:
    """A copy of it."""
    shutil.copytree(loaded, tmp_path, dirs_exist_ok=True)
    opened = DuckDb(str(tmp_path), Settings(memory_bytes=256 << 20, threads=2))
    opened.open()
    yield opened
    opened.close()


class Breaking:
    """A session that ends at one of its verbs, as a server does that dies there."""

    def __init__(self, session: Session, verb: str, at: str) -> None:
        self._session, self._verb, self._at = session, verb, at

    def __getattr__(self, name: str) -> Any:
        return getattr(self._session, name)

    def copy(self, table: str, text: Iterable[bytes], columns: Sequence[str] = ()) -> int:
        self._maybe("copy", table)
        return self._session.copy(table, text, columns)

    def run(self, statements: Sequence[str], parameters: Sequence[object] = ()) -> Any:
        for statement in statements:
            self._maybe("run", statement)
            found = self._session.run([statement], parameters)
        return found

    def commit(self) -> None:
        self._maybe("commit", "")
        self._session.commit()

    def _maybe(self, verb: str, what: str) -> None:
        if verb == self._verb and what.startswith(self._at):
            raise DatabaseError("the server is gone", "lost")


def _counts(database: DuckDb) -> tuple[int, int, Sets]:
    with database.session() as session:
        ((orders, items),) = session.run(["SELECT (SELECT count(*) FROM orders), (SELECT count(*) FROM lineitem)"])
        return int(orders), int(items), Sets.of(session)


def test_orders_come_with_their_items_and_go_with_theirs(database: DuckDb) -> None:
    orders, items, sets = _counts(database)
    rows = data.refresh(SCALE, 1)
    with database.session() as session:
        assert coming(session, SCALE)() == rows.orders.count(b"\n") + rows.lineitem.count(b"\n")
    assert _counts(database) == (orders + ORDERS, items + rows.lineitem.count(b"\n"), Sets(sets.inserted + 1, sets.deleted))
    with database.session() as session:
        ((gone,),) = session.run([f"SELECT count(*) FROM lineitem WHERE l_orderkey IN ({', '.join(map(str, rows.deletes))})"])
        assert going(session, SCALE)() == ORDERS
    after = _counts(database)
    assert after == (orders, items + rows.lineitem.count(b"\n") - gone, Sets(sets.inserted + 1, sets.deleted + 1))


@pytest.mark.parametrize(
    ("verb", "at"), [("copy", "lineitem"), ("run", "UPDATE"), ("commit", "")], ids=["before the items", "before the note", "before the end"]
)
def test_orders_that_come_while_the_server_dies_are_not_there_at_all(database: DuckDb, verb: str, at: str) -> None:
    before = _counts(database)
    with database.session() as session, pytest.raises(DatabaseError):
        coming(Breaking(session, verb, at), SCALE)()  # type: ignore[arg-type]
    assert _counts(database) == before


@pytest.mark.parametrize(("verb", "at"), [("run", "DELETE FROM orders"), ("run", "UPDATE"), ("commit", "")])
def test_orders_that_go_while_the_server_dies_are_all_still_there(database: DuckDb, verb: str, at: str) -> None:
    before = _counts(database)
    with database.session() as session, pytest.raises(DatabaseError):
        going(Breaking(session, verb, at), SCALE)()  # type: ignore[arg-type]
    assert _counts(database) == before
