"""A session with Spark: its queries, and the few statements that change tables, which Spark has not for plain Parquet files.

Model: a query goes to Spark as it is. CREATE TABLE, DROP TABLE, INSERT … VALUES, UPDATE and DELETE, as every engine has them, are read by
sqlglot and become changes of `plimsoll.apps.databases.parquet_tables`. DELETE is copy on write: Spark finds the files that hold rows which
go, and writes them anew without these rows; the others stay. Rows of text come in through a file beside the tables, which every worker
sees, and Spark writes them as Parquet. A transaction sees its own changes, and nobody else does before its commit.
Limits: UPDATE, and INSERT … VALUES, are for small tables whose rows are in the manifest.

    with database.session() as session:
        session.run(["DELETE FROM orders WHERE o_orderkey < 100"])
"""

from __future__ import annotations

import json
import os
import re
import shutil
import threading
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

from plimsoll.apps.databases.database import DatabaseError, Moved, Row
from plimsoll.apps.databases.parquet_tables import FILE_NAME, Change, ParquetTable, Version
from plimsoll.decision.parquet_footer import row_count

if TYPE_CHECKING:
    from sqlglot import exp

    from plimsoll.apps.databases.spark import Spark

_QUERY = re.compile(r"\s*(SELECT|WITH|VALUES)\b", re.IGNORECASE)
#: A query of one table and nothing else: of a small one no Spark is needed.
_PLAIN = re.compile(r"\s*SELECT\b[^;()]*\bFROM\s+(\w+)\s*", re.IGNORECASE)
#: As COPY text has it, in a literal of Spark's.
_NULL = r"\\N"


class SparkSession:
    """`plimsoll.apps.databases.database.Session`."""

    def __init__(self, database: Spark) -> None:
        self._database = database
        self._tables = database.tables_of
        self._name = f"plimsoll-{uuid.uuid4().hex}"
        self._spark: Any = None
        self._change: Change | None = None
        #: Tables of this session alone, and those that its Spark knows by their names.
        self._own: dict[str, ParquetTable] = {}
        self._views: dict[str, ParquetTable] = {}
        self._statements = 0
        self._cancelled = threading.Event()
        self._asking = False

    def run(self, statements: Sequence[str], parameters: Sequence[object] = ()) -> list[Row]:
        rows: list[Row] = []
        for statement in statements:
            if _QUERY.match(statement):
                rows = self._answer(statement, parameters)
            else:
                self._changed(lambda change, statement=statement: _carry_out(self, statement, change))  # type: ignore[misc]
        return rows

    def begin(self) -> None:
        if self._change is not None:
            raise DatabaseError(f"{self._database.shown}: a transaction is under way already.")
        self._change = self._tables.begin()

    def commit(self) -> None:
        change, self._change = self._change, None
        if change is not None:
            change.commit()

    def rollback(self) -> None:
        change, self._change = self._change, None
        if change is not None:
            change.undo()

    def copy(self, table: str, text: Iterable[bytes], columns: Sequence[str] = ()) -> int:
        path = os.path.join(self._tables.making, f"{uuid.uuid4().hex}.txt")
        rows, last = 0, b"\n"
        try:
            with open(path, "wb", buffering=0) as file:
                for chunk in text:
                    _write(file.fileno(), chunk)
                    rows, last = rows + chunk.count(b"\n"), chunk[-1:] or last
            rows += last != b"\n"
            if rows:
                self._changed(lambda change: self._take_text(change, table, path, columns))
        except OSError as problem:
            raise _unwritten(path, problem) from None
        finally:
            with suppress(OSError):
                os.unlink(path)
        return rows

    def copy_parquet(self, table: str, pieces: Iterable[bytes]) -> int:
        """Take a Parquet file into ``table``; how many rows it has. ``pieces`` are the file from its first byte to its last."""
        path = os.path.join(self._tables.making, f"{uuid.uuid4().hex}.parquet")
        try:
            with open(path, "wb", buffering=0) as file:
                for piece in pieces:
                    _write(file.fileno(), piece)
            rows = row_count(path)
        except OSError as problem:
            raise _unwritten(path, problem) from None
        except ValueError as problem:
            raise DatabaseError(f"{self._database.shown}: what was to become a part of {table} is no Parquet file ({problem}).") from None
        self._changed(lambda change: self.put(change, table, [path]))
        return rows

    def moved(self) -> Moved:
        """Summed over the stages of the last statement, as Spark's status store has them; bytes read are not told (see the database)."""
        if self._spark is None or not self._statements:
            return Moved()
        with suppress(Exception):
            return self._counted()
        return Moved()

    def _counted(self) -> Moved:
        context = self._database.started().sparkContext
        scala = context._jsc.sc()
        scala.listenerBus().waitUntilEmpty()
        store, mapper = scala.statusStore(), context._jvm.org.apache.spark.status.api.v1.JacksonMessageWriter().mapper()
        spilled = cpu_ns = 0
        for job in context.statusTracker().getJobIdsForGroup(self._group):
            for stage in json.loads(mapper.writeValueAsString(store.job(job).stageIds())):
                found = json.loads(mapper.writeValueAsString(store.lastStageAttempt(stage)))
                spilled, cpu_ns = spilled + int(found["diskBytesSpilled"]), cpu_ns + int(found["executorCpuTime"])
        return Moved(None, spilled, cpu_ns / 1e9)

    def cancel(self) -> None:
        if self._asking:
            self._cancelled.set()
            with suppress(Exception):
                self._database.started().sparkContext._jsc.sc().cancelJobGroupAndFutureJobs(self._group, "cancelled by Plimsoll")

    def close(self) -> None:
        self.rollback()
        for table in self._own.values():
            for path in self._tables.paths(table):
                with suppress(OSError):
                    os.unlink(path)
        self._own.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def _group(self) -> str:
        """What Spark calls the jobs of the last statement."""
        return f"{self._name}-{self._statements}"

    def table(self, name: str, change: Change) -> ParquetTable:
        """A table as this session sees it. Raises `DatabaseError` where there is none."""
        seen = {**change.applied(self._tables.current), **self._own}
        if name not in seen:
            raise DatabaseError(f"{self._database.shown}: there is no table {name}.")
        return seen[name]

    def make_own(self, name: str, columns: Sequence[tuple[str, str]], *, unless_there: bool) -> None:
        """A table of this session alone."""
        if name in self._own and not unless_there:
            raise DatabaseError(f"{self._database.shown}: there is a table {name} already.")
        self._own.setdefault(name, ParquetTable(tuple(columns)))

    def is_own(self, name: str) -> bool:
        """Whether a table is this session's alone."""
        return name in self._own

    def forget_own(self, name: str) -> None:
        """A table of this session goes."""
        del self._own[name]

    def put(self, change: Change, name: str, paths: Sequence[str]) -> None:
        """Take files that were made into a table."""
        if self.table(name, change).rows is not None:
            raise DatabaseError(f"{self._database.shown}: {name} is a small table, which takes no files.")
        if name in self._own:
            here = tuple(os.path.relpath(path, self._tables.home) for path in paths)
            self._own[name] = replace(self._own[name], files=self._own[name].files + here)
        else:
            change.add(name, paths)

    def leave(self, change: Change, name: str, files: Sequence[str]) -> None:
        """Files that a table no longer has."""
        if name in self._own:
            self._own[name] = replace(self._own[name], files=tuple(file for file in self._own[name].files if file not in files))
        else:
            change.leave(name, files)

    def query(self, statement: str, change: Change, write_to: str | None = None, views: Version | None = None) -> list[Row]:
        """Let Spark carry out a query in the tables as this session sees them, and ``views`` beside them; its rows, or none where
        they are written as one Parquet file for each of the tasks."""
        with self._tables.reading() as current, self._group_of_jobs():
            spark = self._seeing({**change.applied(current), **self._own, **(views or {})})
            frame = spark.sql(statement)
            if write_to is None:
                return [tuple(row) for row in frame.collect()]
            frame.write.parquet("file:" + write_to)
            return []

    def _answer(self, statement: str, parameters: Sequence[object]) -> list[Row]:
        change = self._change or self._tables.begin()
        plain = _PLAIN.fullmatch(statement)
        if plain is not None and (table := self._tables.current.get(plain[1])) is not None and not table.files and table.rows is not None:
            return _of_rows(statement, plain[1], self.table(plain[1], change))
        with self._tables.reading() as current, self._group_of_jobs():
            spark = self._seeing({**change.applied(current), **self._own} if self._change is not None or self._own else current)
            frame = spark.sql(statement, args=list(parameters)) if parameters else spark.sql(statement)
            return [tuple(row) for row in frame.collect()]

    def _seeing(self, version: Version) -> Any:
        """pyspark's session with this version of the tables behind its views."""
        for name, table in version.items():
            if self._views.get(name) != table:
                self._database.view(self._spark, name, table)
                self._views[name] = table
        return self._spark

    @contextmanager
    def _group_of_jobs(self) -> Iterator[None]:
        """What Spark does inside belongs to this statement, and can be cancelled."""
        root = self._database.started()
        with self._database.telling(self._cancelled):
            if self._spark is None:
                self._spark = root.newSession()
            self._cancelled.clear()
            self._statements += 1
            root.sparkContext.setJobGroup(self._group, "", interruptOnCancel=True)
            self._asking = True
            try:
                yield
            finally:
                self._asking = False

    def _changed(self, work: Callable[[Change], None]) -> None:
        """Do it in the transaction that is under way, or in one of its own."""
        if self._change is not None:
            work(self._change)
            return
        change = self._tables.begin()
        try:
            work(change)
        except BaseException:
            change.undo()
            raise
        change.commit()

    def _take_text(self, change: Change, name: str, path: str, columns: Sequence[str]) -> None:
        """Rows of COPY text, which Spark reads from a file and writes as Parquet."""
        table = self.table(name, change)
        given = list(columns) or [column for column, _ in table.columns]
        fields = {column: f"CAST(nullif(fields[{index}], '{_NULL}') AS {{}})" for index, column in enumerate(given)}
        chosen = ", ".join(f"{fields.get(column, 'CAST(NULL AS {})').format(kind)} AS `{column}`" for column, kind in table.columns)
        with self._group_of_jobs():
            lines = self._spark.read.option("lineSep", "\n").text(as_uri(path))
            lines.createOrReplaceTempView("plimsoll_text")
        statement = f"SELECT /*+ COALESCE(1) */ {chosen} FROM (SELECT split(value, '\\t', -1) AS fields FROM plimsoll_text)"  # noqa: S608
        self.put(change, name, self.written(change, statement))

    def written(self, change: Change, statement: str, views: Version | None = None) -> list[str]:
        """The files that Spark wrote an answer to."""
        folder = os.path.join(self._tables.making, uuid.uuid4().hex)
        try:
            self.query(statement, change, folder, views)
            made = sorted(name for name in os.listdir(folder) if name.endswith(".parquet") and not name.startswith((".", "_")))
            paths = [os.path.join(self._tables.making, f"{uuid.uuid4().hex}.parquet") for _ in made]
            for name, path in zip(made, paths, strict=True):
                os.rename(os.path.join(folder, name), path)
            return paths
        except OSError as problem:
            raise _unwritten(folder, problem) from None
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def _carry_out(session: SparkSession, statement: str, change: Change) -> None:
    """A statement that changes tables."""
    import sqlglot
    from sqlglot import exp

    try:
        # They are the same for every engine: a quote is doubled, and a backslash is a backslash.
        tree = sqlglot.parse_one(statement, read="duckdb")
    except sqlglot.errors.SqlglotError as problem:
        raise DatabaseError(f"the statement cannot be read ({str(problem).splitlines()[0]}).") from None
    works: dict[type, Callable[[SparkSession, Any, Change], None]] = {
        exp.Create: _create,
        exp.Drop: _drop,
        exp.Insert: _insert,
        exp.Update: _update,
        exp.Delete: _delete,
    }
    if (work := works.get(type(tree))) is not None:
        work(session, tree, change)
        return
    raise DatabaseError(f"Spark has no such statement for Parquet files: {' '.join(statement.split())[:80]}.")


def _create(session: SparkSession, tree: exp.Create, change: Change) -> None:
    from sqlglot import exp

    schema = tree.this
    if tree.kind != "TABLE" or not isinstance(schema, exp.Schema):
        raise DatabaseError("of CREATE, Spark has only CREATE TABLE with its columns here.")
    columns = [(column.name, _type(column.args["kind"])) for column in schema.expressions if isinstance(column, exp.ColumnDef)]
    unless_there = bool(tree.args.get("exists"))
    if any(isinstance(each, exp.TemporaryProperty) for each in (tree.args.get("properties") or exp.Properties()).expressions):
        session.make_own(schema.this.name, columns, unless_there=unless_there)
    elif not unless_there or schema.this.name not in change.applied(change.tables.current):
        change.create(schema.this.name, columns)


def _type(kind: exp.DataType) -> str:
    """A type in Spark's words; text has no length there that Parquet files would keep."""
    from sqlglot import exp

    return "STRING" if kind.this in exp.DataType.TEXT_TYPES else kind.sql("spark")


def _drop(session: SparkSession, tree: exp.Drop, change: Change) -> None:
    # Where sqlglot keeps the tables depends on its version.
    for table in tree.args.get("tables") or [tree.this]:
        if session.is_own(table.name):
            session.forget_own(table.name)
        elif not tree.args.get("exists") or table.name in change.applied(change.tables.current):
            change.drop(table.name)


def _insert(session: SparkSession, tree: exp.Insert, change: Change) -> None:
    """Rows of values, for a small table."""
    from sqlglot import exp

    name = tree.this.this.name if isinstance(tree.this, exp.Schema) else tree.this.name
    table = session.table(name, change)
    if table.files or session.is_own(name) or not isinstance(tree.expression, exp.Values):
        raise DatabaseError(f"{name}: Spark takes rows of values only into a small table here; copy them.")
    change.set_rows(name, [*(table.rows or ()), *(tuple(_value(each) for each in row.expressions) for row in tree.expression.expressions)])


def _value(literal: exp.Expression) -> str | int | float | None:
    return literal.to_py()  # type: ignore[no-any-return]


def _update(session: SparkSession, tree: exp.Update, change: Change) -> None:
    """Of a small table."""
    from sqlglot import exp

    table = session.table(tree.this.name, change)
    if table.rows is None:
        raise DatabaseError(f"{tree.this.name}: Spark updates no rows of Parquet files here.")
    new = {each.this.name: each.expression.sql("spark") for each in tree.expressions}
    where = tree.find(exp.Where)
    condition = where.this.sql("spark") if where is not None else "TRUE"
    chosen = [f"CASE WHEN {condition} THEN {new[name]} ELSE {name} END AS {name}" if name in new else name for name, _ in table.columns]
    statement = f"SELECT {', '.join(chosen)} FROM {tree.this.name}"  # noqa: S608
    change.set_rows(tree.this.name, _of_rows(statement, tree.this.name, table))


def _delete(session: SparkSession, tree: exp.Delete, change: Change) -> None:
    """Copy on write."""
    from sqlglot import exp

    name = tree.this.name
    table, where = session.table(name, change), tree.args.get("where")
    if where is None:
        session.leave(change, name, table.files)
        if table.rows is not None:
            change.set_rows(name, ())
        return
    assert isinstance(where, exp.Where)
    condition = where.this.sql("spark")
    if table.rows is not None:
        change.set_rows(name, _of_rows(f"SELECT * FROM {name} WHERE NOT ({condition})", name, table))  # noqa: S608
        return
    if not table.files:
        return
    of_files = f"SELECT DISTINCT {FILE_NAME} FROM plimsoll_named AS {name} WHERE {condition}"  # noqa: S608
    found = {str(file) for (file,) in session.query(of_files, change, views={"plimsoll_named": replace(table, names_files=True)})}
    touched = [file for file in table.files if os.path.basename(file) in found]
    if touched:
        kept = f"SELECT /*+ COALESCE({len(touched)}) */ * FROM plimsoll_kept AS {name} WHERE NOT coalesce({condition}, FALSE)"  # noqa: S608
        paths = session.written(change, kept, {"plimsoll_kept": replace(table, files=tuple(touched))})
        session.leave(change, name, touched)
        session.put(change, name, paths)


def _of_rows(statement: str, name: str, table: ParquetTable) -> list[Row]:
    """The answer of a query of a small table, without Spark."""
    from sqlglot import executor

    columns = [column for column, _ in table.columns]
    rows = [dict(zip(columns, row, strict=True)) for row in table.rows or ()]
    if not rows:
        return []
    return [tuple(row) for row in executor.execute(statement, dialect="spark", tables={name: rows}).rows]


def _write(file: int, piece: bytes) -> None:
    left = memoryview(piece)
    while left:
        left = left[os.write(file, left) :]


def _unwritten(path: str, problem: OSError) -> DatabaseError:
    full = problem.errno in (28, 122)
    advice = "; make room, or name another directory" if full else ""
    return DatabaseError(f"{path}: cannot be written ({str(problem.strerror).lower()}){advice}.", "full" if full else "statement")


def as_uri(path: str) -> str:
    """A path as Hadoop takes it: as it is, with a backslash before what would stand for several files."""
    return "file:" + re.sub(r"([\[\]{}*?\\])", r"\\\1", path)
