"""A real engine on real data: all 22 answers of DuckDB at scale 0.01, with the data that Plimsoll draws, are the expected ones."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from plimsoll.apps.databases.database import Session, Settings
from plimsoll.apps.databases.duckdb import DuckDb
from plimsoll.decision import data
from plimsoll.decision.queries import QUERIES, qualification, text
from plimsoll.decision.validation import differences

SCALE = 0.01


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    database = DuckDb(str(tmp_path_factory.mktemp("duckdb")), Settings())
    database.open()
    with database.session() as session, data.kept():
        for name, table in data.TABLES.items():
            session.run([f"CREATE TABLE {name} ({', '.join(f'{column.name} {column.type}' for column in table.columns)})"])
            session.copy(name, data.copy_text(name, SCALE))
        yield session
    database.close()


@pytest.mark.parametrize("number", QUERIES)
def test_the_answer_is_the_one_on_which_two_engines_agreed(number: int, loaded: Session) -> None:
    assert differences(number, loaded.run([text(number, qualification(SCALE)[number])]), SCALE) == []


def test_an_answer_that_the_data_changed_is_wrong(loaded: Session) -> None:
    loaded.begin()
    try:
        loaded.run(["UPDATE lineitem SET l_quantity = l_quantity + 1 WHERE l_orderkey = 1"])
        (said, *_) = differences(1, loaded.run([text(1, qualification(SCALE)[1])]), SCALE)
    finally:
        loaded.rollback()
    assert said.startswith("query 1, row ") and "column quantity: expected " in said


@pytest.mark.parametrize("dialect", ["duckdb", "postgres", "spark"])
def test_every_drawn_value_fits_its_query(dialect: str) -> None:
    for stream in range(3):
        drawn = data.parameters(1122093000, stream, 300.0)
        assert all(text(number, drawn[number], dialect) for number in QUERIES)
