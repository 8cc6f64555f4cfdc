"""The 22 answers at scale 1, on the data that Plimsoll draws, of each engine that is here; and what is said of an answer that is wrong.

Spark's are at a tenth, beside DuckDB's (`test_spark.py`).
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from plimsoll.apps.databases.address import Address, parse
from plimsoll.apps.databases.database import Database, Settings
from plimsoll.apps.databases.engines import database_of
from plimsoll.apps.decision import dataset
from plimsoll.apps.decision.dataset import Hearing
from plimsoll.decision.queries import QUERIES
from plimsoll.engine.claims import holding
from plimsoll.engine.files import native_files
from support.private_server import missing_server

SCALE = 1.0
#: Of either engine; less than the data.
MEMORY = 512 << 20


class Going:
    """Nobody stops the load."""

    stopped = False

    def stop(self) -> None:
        """Not here."""

    abort = stop


def _duckdb(place: Path) -> Address:
    pytest.importorskip("duckdb", reason="skipped: DuckDB is not installed")
    return parse(f"duckdb:{place}/target")


def _postgresql(place: Path) -> Address:
    pytest.importorskip("psycopg", reason="skipped: PostgreSQL's client is not installed")
    if reason := missing_server():
        pytest.skip(f"skipped: {reason}")
    return parse(f"postgresql:new:{place}/target")


@pytest.fixture(params=[_duckdb, _postgresql], ids=["duckdb", "postgresql"])
def database(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Database]:
    """An empty database in a directory that the server's user reaches."""
    place = Path(tempfile.mkdtemp(prefix="plimsoll-test-", dir="/var/tmp"))
    place.chmod(0o755)
    monkeypatch.setenv("XDG_CACHE_HOME", str(place / "cache"))
    made: Callable[[Path], Address] = request.param
    try:
        address = made(place)
        with holding():
            home = native_files().own(str(address.directory), None, address.engine)
            opened = database_of(address, home, Settings(MEMORY))
            opened.open()
            try:
                yield opened
            finally:
                opened.close()
    finally:
        shutil.rmtree(place, ignore_errors=True)


def test_all_22_answers_at_scale_1_are_right_and_a_wrong_one_is_named(database: Database) -> None:
    hearing = Hearing(lambda *_: None, Going())
    note = dataset.load(database, SCALE, hearing)
    # 25 + 5 + 10,000 + 150,000 + 200,000 + 800,000 + 1,500,000 + 6,001,215, as dbgen makes them.
    assert note.rows == 8_661_245
    checked = dataset.checked(database, note, hearing)
    assert checked.differences == ()
    assert checked.checked == tuple(QUERIES)

    # Query 18's first row: the dearest order of a large quantity.
    with database.session() as session:
        session.run(["UPDATE customer SET c_name = 'Nobody' WHERE c_custkey = 128120"])
    wrong = dataset.checked(database, note, hearing, queries=(6, 18))
    assert wrong.wrong == (18,)
    assert wrong.differences == ("query 18, row 1, column c_name: expected 'Customer#000128120', seen 'Nobody'.",)
