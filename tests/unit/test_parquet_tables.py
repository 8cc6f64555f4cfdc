"""Tables as Parquet files: a change is there as a whole or not at all, and nobody loses a file that he reads."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from plimsoll.apps.databases.address import parse
from plimsoll.apps.databases.database import Database, DatabaseError, Settings
from plimsoll.apps.databases.parquet_tables import ParquetTables
from plimsoll.apps.databases.spark import Spark
from plimsoll.decision import data
from plimsoll.decision.parquet_footer import row_count
from plimsoll.errors import TargetError

COLUMNS = (("number", "BIGINT"),)


@pytest.fixture(scope="module", autouse=True)
def _source() -> Iterator[None]:
    """What rows are drawn from, made once."""
    with data.kept():
        yield


@pytest.fixture
def tables(tmp_path: Path) -> ParquetTables:
    made = ParquetTables(str(tmp_path))
    made.open()
    return made


def made_file(tables: ParquetTables, content: str = "rows") -> str:
    path = Path(tables.making, f"{content}.parquet")
    path.write_text(content)
    return str(path)


def filled(tables: ParquetTables, *contents: str) -> tuple[str, ...]:
    """A table ``t`` with a file for each content; their names."""
    change = tables.begin()
    change.create("t", COLUMNS)
    change.add("t", [made_file(tables, content) for content in contents])
    change.commit()
    return tables.current["t"].files


def seen(home: str) -> list[str]:
    """What a process that starts now finds in table ``t``."""
    found = ParquetTables(home)
    found.open()
    return [Path(path).read_text() for path in found.paths(found.current["t"])] if "t" in found.current else []


def test_nobody_sees_a_change_before_its_commit(tables: ParquetTables) -> None:
    filled(tables, "old")
    change = tables.begin()
    change.add("t", [made_file(tables, "new")])
    assert len(tables.current["t"].files) == 1
    change.commit()
    assert seen(tables.home) == ["old", "new"]


def test_a_change_that_is_undone_leaves_no_file(tables: ParquetTables) -> None:
    filled(tables, "old")
    change = tables.begin()
    change.add("t", [made_file(tables, "new")])
    change.undo()
    assert len(os.listdir(Path(tables.home, "t"))) == 1


def test_a_process_that_is_killed_before_the_rename_has_changed_nothing(tables: ParquetTables, monkeypatch: pytest.MonkeyPatch) -> None:
    (old,) = filled(tables, "old")
    change = tables.begin()
    change.leave("t", [old])
    change.add("t", [made_file(tables, "new")])

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(os, "rename", killed)
        patched.setattr(type(change), "undo", lambda _self: None)
        change.commit()
    assert seen(tables.home) == ["old"]
    assert len(os.listdir(Path(tables.home, "t"))) == 1, "the next start removes the file that is part of nothing"


def test_a_parquet_file_of_somebody_elses_among_the_tables_stays(tables: ParquetTables) -> None:
    filled(tables, "old")
    for path in (Path(tables.home, "t", "mine.parquet"), Path(tables.home, "theirs", "mine.parquet")):
        path.parent.mkdir(exist_ok=True)
        path.write_text("mine")
    assert seen(tables.home) == ["old"]
    assert Path(tables.home, "t", "mine.parquet").exists()
    assert Path(tables.home, "theirs", "mine.parquet").exists()


def test_a_change_is_kept_once_the_manifest_has_been_replaced_whatever_fails_then(
    tables: ParquetTables, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(tables, "old")
    change = tables.begin()
    change.add("t", [made_file(tables, "new")])
    fsync = os.fsync

    def failing(file: int) -> None:
        if os.path.samestat(os.fstat(file), os.stat(tables.home)):
            raise OSError(5, "Input/output error")
        fsync(file)

    with monkeypatch.context() as patched, pytest.raises(DatabaseError):
        patched.setattr(os, "fsync", failing)
        change.commit()
    assert seen(tables.home) == ["old", "new"]


def test_files_are_durable_before_they_are_named(tables: ParquetTables, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    fsync, rename = os.fsync, os.rename

    def noted_sync(file: int) -> None:
        said.append(f"fsync {os.path.basename(os.readlink(f'/proc/self/fd/{file}'))}")
        fsync(file)

    def noted_rename(old: str, new: str) -> None:
        said.append(f"rename {os.path.basename(new)}")
        rename(old, new)

    change = tables.begin()
    change.create("t", COLUMNS)
    change.add("t", [made_file(tables, "new")])
    monkeypatch.setattr(os, "fsync", noted_sync)
    monkeypatch.setattr(os, "rename", noted_rename)
    change.commit()
    (file,) = tables.current["t"].files
    assert said == [f"fsync {os.path.basename(file)}", "fsync tables.json.new", "rename tables.json", f"fsync {Path(tables.home).name}"]


def test_a_reader_keeps_the_files_of_its_version(tables: ParquetTables) -> None:
    (old,) = filled(tables, "old")
    with tables.reading() as version:
        change = tables.begin()
        change.leave("t", [old])
        change.add("t", [made_file(tables, "new")])
        change.commit()
        with tables.reading() as later:
            assert later["t"].files != version["t"].files
        (path,) = tables.paths(version["t"])
        assert Path(path).read_text() == "old"
    assert not Path(path).exists()
    assert seen(tables.home) == ["new"]


def test_two_changes_that_leave_the_same_file_conflict(tables: ParquetTables) -> None:
    (old,) = filled(tables, "old")
    first, second = tables.begin(), tables.begin()
    for change in (first, second):
        change.leave("t", [old])
    first.commit()
    with pytest.raises(DatabaseError, match="another session has changed t") as problem:
        second.commit()
    assert problem.value.trouble == "conflict"


def test_files_of_several_sessions_come_together(tables: ParquetTables) -> None:
    filled(tables)
    changes = [tables.begin(), tables.begin()]
    for number, change in enumerate(changes):
        change.add("t", [made_file(tables, f"part {number}")])
    for change in changes:
        change.commit()
    assert seen(tables.home) == ["part 0", "part 1"]


def test_a_list_of_tables_that_is_damaged_is_said_in_one_sentence(tables: ParquetTables) -> None:
    Path(tables.manifest).write_text('{"schema": "plimsoll.tables/1"')
    with pytest.raises(TargetError, match=r"tables\.json: cannot be read as the list of Plimsoll's tables"):
        tables.open()


def test_the_footer_of_a_parquet_file_says_its_rows(tmp_path: Path) -> None:
    with data.kept():
        for table in ("region", "lineitem"):
            path = tmp_path / table
            path.write_bytes(b"".join(data.parquet(table, 0.01)))
            assert row_count(str(path)) == data.rows(table, 0.01)


@pytest.mark.parametrize("cut", [0, 3, 11, 2000])
def test_a_parquet_file_that_is_cut_off_is_none(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "cut"
    path.write_bytes(b"".join(data.parquet("nation", 0.01))[: -cut - 1])
    with pytest.raises(ValueError, match="cut off"):
        row_count(str(path))


@pytest.fixture
def spark(tmp_path: Path) -> Spark:
    """Not started: small tables and files that are only taken in need no Java."""
    pytest.importorskip("sqlglot", reason="skipped: sqlglot is not installed")
    opened: Database = Spark(parse(f"spark:local?data={tmp_path}"), str(tmp_path), Settings())
    opened.open()
    assert isinstance(opened, Spark)
    return opened


def test_the_note_of_a_load_is_kept_without_starting_spark(spark: Spark) -> None:
    with spark.session() as session:
        session.run(
            [
                "CREATE TABLE plimsoll_load (note VARCHAR(100000), inserted INTEGER, deleted INTEGER)",
                "INSERT INTO plimsoll_load VALUES ('{\"said\": \"it''s here\"}', 0, 0)",
            ]
        )
        session.begin()
        session.run(["UPDATE plimsoll_load SET inserted = inserted + 1"])
        assert session.run(["SELECT inserted, deleted FROM plimsoll_load"]) == [(1, 0)]
        with spark.session() as other:
            assert other.run(["SELECT inserted FROM plimsoll_load"]) == [(0,)]
        session.commit()
    again = Spark(parse(f"spark:local?data={spark.tables_of.home}"), spark.tables_of.home, Settings())
    again.open()
    with again.session() as session:
        assert session.run(["SELECT note, inserted FROM plimsoll_load"]) == [('{"said": "it\'s here"}', 1)]
    assert spark.processes() == ()


def test_a_parquet_file_becomes_part_of_a_table_only_when_it_is_whole(spark: Spark) -> None:
    with spark.session() as session:
        session.run(["CREATE TABLE region (r_regionkey BIGINT NOT NULL, r_name CHAR(25) NOT NULL, r_comment VARCHAR(152))"])
        pieces = list(data.parquet("region", 0.01))
        assert session.copy_parquet("region", pieces) == 5
        with pytest.raises(DatabaseError, match="no Parquet file"):
            session.copy_parquet("region", pieces[:-1])
    assert len(spark.tables_of.current["region"].files) == 1
    assert spark.tables_of.current["region"].columns == (("r_regionkey", "BIGINT"), ("r_name", "STRING"), ("r_comment", "STRING"))


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("DROP TABLE nothing_here", "no table nothing_here"),
        ("UPDATE region SET r_name = 'x'", "updates no rows of Parquet files"),
        ("GRANT SELECT ON region TO me", "has no such statement"),
        ("CREATE TABLE (", "cannot be read"),
    ],
)
def test_a_statement_that_spark_cannot_have_here_is_one_sentence(spark: Spark, statement: str, said: str) -> None:
    with spark.session() as session:
        session.run(["CREATE TABLE region (r_regionkey BIGINT, r_name CHAR(25), r_comment VARCHAR(152))"])
        session.copy_parquet("region", data.parquet("region", 0.01))
        with pytest.raises(DatabaseError, match=said) as problem:
            session.run([statement])
    assert "\n" not in str(problem.value)
