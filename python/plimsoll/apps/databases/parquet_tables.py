"""Tables as Parquet files in a directory, for engines that read such files and have no tables of their own.

Model: one file, the manifest, says which files make up each table; a file that it does not name is nothing. A change writes new files,
makes them durable, and then replaces the manifest by a rename: all of it is there afterwards, or nothing, however the process ends. Nobody
changes a file. Who reads holds on to the version that was current at the start; files that a later version left go when nobody reads an
older one.
A table that is filled by INSERT … VALUES has its few rows in the manifest itself, so that reading them starts no engine.
Limits: one process at a time changes a directory, which it has claimed. Two changes at once that leave the same file behind conflict.

    tables = ParquetTables("/mnt/array/dss/spark")
    change = tables.begin()
    change.create("region", (("r_regionkey", "BIGINT"), ("r_name", "STRING")))
    change.add("region", [path])
    change.commit()
    with tables.reading() as version:
        version["region"].files
"""

from __future__ import annotations

import json
import os
import re
import shutil
import threading
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace

from plimsoll.apps.databases.database import DatabaseError
from plimsoll.errors import TargetError

SCHEMA = "plimsoll.tables/1"
_MANIFEST = "tables.json"
FILE_NAME = "plimsoll_file"
#: Where what is being made lies, until it is renamed into a table: gone at the next start.
_MAKING = "making"
_NO_SPACE = (28, 122)
#: What files of tables are called (`ParquetTables.new_name`).
_NAME = re.compile(r"[0-9a-f]{32}\.parquet")


@dataclass(frozen=True)
class ParquetTable:
    """Columns with their types in the engine's words, and what holds the rows: files by their names below the directory, or ``rows``.
    With ``names_files``, an engine shows the name of the file of each row in the column `FILE_NAME`."""

    columns: tuple[tuple[str, str], ...]
    files: tuple[str, ...] = ()
    rows: tuple[tuple[str | int | float | None, ...], ...] | None = None
    names_files: bool = False


#: What was current at one instant.
Version = Mapping[str, ParquetTable]


class ParquetTables:
    """The tables below ``home``, a directory of Plimsoll's own."""

    def __init__(self, home: str) -> None:
        self.home = home
        self._lock = threading.Lock()
        self._version: Version = {}
        self._readers: list[Version] = []
        #: Files that no version has any more, but that somebody may still read.
        self._left: set[str] = set()

    @property
    def making(self) -> str:
        """Where an engine writes what is not part of a table yet."""
        return os.path.join(self.home, _MAKING)

    @property
    def manifest(self) -> str:
        """The file that says what there is."""
        return os.path.join(self.home, _MANIFEST)

    def open(self) -> None:
        """Read what there is; what a killed process left unfinished goes."""
        self._version = self._stored()
        shutil.rmtree(self.making, ignore_errors=True)
        os.makedirs(self.making, exist_ok=True)
        known = set(_files(self._version))
        for folder in next(os.walk(self.home))[1]:
            for name in os.listdir(os.path.join(self.home, folder)):
                # A file of another name is somebody's.
                if _NAME.fullmatch(name) and os.path.join(folder, name) not in known:
                    os.unlink(os.path.join(self.home, folder, name))

    def _stored(self) -> Version:
        try:
            with open(self.manifest, encoding="utf-8") as file:
                document = json.load(file)
            if document["schema"] != SCHEMA:
                raise ValueError(document["schema"])
            return {name: _table(found) for name, found in document["tables"].items()}
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, KeyError, TypeError) as problem:
            raise TargetError(
                f"{self.manifest}: cannot be read as the list of Plimsoll's tables ({problem}); remove the directory, or name another."
            ) from None

    @property
    def current(self) -> Version:
        """The last version that was committed."""
        return self._version

    def paths(self, table: ParquetTable) -> list[str]:
        """Its files, as they are opened."""
        return [os.path.join(self.home, name) for name in table.files]

    @contextmanager
    def reading(self) -> Iterator[Version]:
        """The current version, whose files stay for as long as this lasts."""
        with self._lock:
            version = self._version
            self._readers.append(version)
        try:
            yield version
        finally:
            with self._lock:
                self._readers = [other for index, other in enumerate(self._readers) if index != _position(self._readers, version)]
            self._sweep()

    def begin(self) -> Change:
        """A change, of which nothing is seen by others before its commit."""
        return Change(self)

    def size_bytes(self) -> int:
        """What the tables take."""
        return sum(os.stat(os.path.join(self.home, name)).st_size for name in _files(self._version))

    def new_name(self, table: str) -> str:
        """A name that no file has or had."""
        return os.path.join(table, f"{uuid.uuid4().hex}.parquet")

    def put(self, change: Change) -> None:
        """Make a change the current version, durably."""
        with self._lock:
            version = change.applied(self._version)
            for name in sorted(set(_files(version)) - set(_files(self._version))):
                _make_durable(os.path.join(self.home, name))
            tables = {name: {"columns": table.columns, "files": table.files, "rows": table.rows} for name, table in version.items()}
            text = json.dumps({"schema": SCHEMA, "tables": tables})
            with _telling(self.manifest):
                with open(f"{self.manifest}.new", "w", encoding="utf-8") as file:
                    file.write(text)
                    file.flush()
                    os.fsync(file.fileno())
                os.rename(f"{self.manifest}.new", self.manifest)
                # From here on it is so, and nothing of it may be undone.
                change.added.clear()
                self._left |= set(_files(self._version)) - set(_files(version))
                self._version = version
                _make_durable(self.home)
        self._sweep()

    def _sweep(self) -> None:
        """Remove the files that nobody reads any more."""
        with self._lock:
            read = {name for version in self._readers for name in _files(version)}
            gone, self._left = self._left - read, self._left & read
        for name in gone:
            with suppress(OSError):
                os.unlink(os.path.join(self.home, name))


@dataclass
class Change:
    """What is to become of the tables; used by one thread."""

    tables: ParquetTables
    created: dict[str, ParquetTable] = field(default_factory=dict)
    dropped: set[str] = field(default_factory=set)
    added: dict[str, list[str]] = field(default_factory=dict)
    removed: dict[str, set[str]] = field(default_factory=dict)
    rows: dict[str, tuple[tuple[str | int | float | None, ...], ...]] = field(default_factory=dict)

    def applied(self, version: Version) -> Version:
        """The version with this change. Raises `DatabaseError` of kind ``conflict`` where another change was quicker."""
        made: dict[str, ParquetTable] = {name: table for name, table in version.items() if name not in self.dropped} | self.created
        for name in {*self.added, *self.removed, *self.rows}:
            if name not in made:
                raise DatabaseError(f"{self.tables.home}: there is no table {name}.")
            table, gone = made[name], self.removed.get(name, set())
            if not gone <= set(table.files):
                raise DatabaseError(f"{self.tables.home}: another session has changed {name} meanwhile.", "conflict")
            kept = tuple(file for file in table.files if file not in gone) + tuple(self.added.get(name, ()))
            made[name] = replace(table, files=kept, rows=self.rows.get(name, table.rows))
        return made

    def create(self, name: str, columns: Sequence[tuple[str, str]]) -> None:
        """A table, empty."""
        if name in self.applied(self.tables.current):
            raise DatabaseError(f"{self.tables.home}: there is a table {name} already.")
        self.created[name] = ParquetTable(tuple(columns))

    def drop(self, name: str) -> None:
        """The table goes, with its rows."""
        if name not in self.applied(self.tables.current):
            raise DatabaseError(f"{self.tables.home}: there is no table {name}.")
        for kept in (self.created, self.added, self.removed, self.rows):
            kept.pop(name, None)
        self.dropped.add(name)

    def add(self, name: str, paths: Iterable[str]) -> None:
        """Take files that lie where things are made into a table."""
        for path in paths:
            file = self.tables.new_name(name)
            with _telling(path):
                os.makedirs(os.path.join(self.tables.home, name), exist_ok=True)
                os.rename(path, os.path.join(self.tables.home, file))
            self.added.setdefault(name, []).append(file)

    def leave(self, name: str, files: Iterable[str]) -> None:
        """Files that are no longer part of a table; those of this change itself go at once."""
        own = self.added.get(name, [])
        for file in files:
            if file in own:
                own.remove(file)
                self._unlink(file)
            else:
                self.removed.setdefault(name, set()).add(file)

    def set_rows(self, name: str, rows: Iterable[Sequence[str | int | float | None]]) -> None:
        """The rows of a small table."""
        self.rows[name] = tuple(tuple(row) for row in rows)

    def commit(self) -> None:
        """All of it becomes the current version, or nothing."""
        try:
            self.tables.put(self)
        except BaseException:
            self.undo()
            raise

    def undo(self) -> None:
        """What was made for it goes."""
        for files in self.added.values():
            for file in files:
                self._unlink(file)
        self.added.clear()

    def _unlink(self, file: str) -> None:
        with suppress(OSError):
            os.unlink(os.path.join(self.tables.home, file))


def _position(readers: Sequence[Version], version: Version) -> int:
    return next(index for index, other in enumerate(readers) if other is version)


def _files(version: Version) -> Iterator[str]:
    for table in version.values():
        yield from table.files


def _table(found: Mapping[str, object]) -> ParquetTable:
    columns, files, rows = found["columns"], found["files"], found["rows"]
    if not isinstance(columns, list) or not isinstance(files, list) or not (rows is None or isinstance(rows, list)):
        raise ValueError("a table without its columns, files and rows")
    return ParquetTable(
        tuple((str(name), str(kind)) for name, kind in columns),
        tuple(map(str, files)),
        None if rows is None else tuple(tuple(row) for row in rows),
    )


def _make_durable(path: str) -> None:
    with _telling(path):
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(file)
        finally:
            os.close(file)


@contextmanager
def _telling(path: str) -> Iterator[None]:
    try:
        yield
    except OSError as problem:
        full = problem.errno in _NO_SPACE
        advice = "; make room, or name another directory" if full else ""
        raise DatabaseError(
            f"{path}: cannot be written ({str(problem.strerror).lower()}){advice}.", "full" if full else "statement"
        ) from None
