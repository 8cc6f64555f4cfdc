"""Spark as a load: queries of Parquet files by a Spark of our own on this machine, or by the user's cluster.

Model: tables are Parquet files that Plimsoll's generator writes (`plimsoll.apps.databases.parquet_tables`); Spark itself loads nothing.
The driver is a Java process that starts with the first statement that needs it. ``spark:local`` works in that process alone, and sorts and
spills in the directory of the target; at ``spark://`` the workers of a cluster do the work, which all have to see that directory. Sessions
are those of one ``SparkSession``, with views of their own of the version of the tables that they read. Memory is the heap: of our process,
or of each executor of a cluster.
Limits: Spark's own counter of bytes read leaves out what its vectored reader of Parquet reads, so it is not told. Caches of workers are out
of reach: a cluster cannot be brought to a cold start.

    database = Spark(parse("spark:local?data=/mnt/array/dss"), "/mnt/array/dss/spark", Settings(memory_bytes=2 << 30))
"""

from __future__ import annotations

import logging
import os
import re
import shutil
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from plimsoll.apps.databases import java_process, spark_cluster
from plimsoll.apps.databases.address import Address
from plimsoll.apps.databases.database import Counters, DatabaseError, Settings, Trouble
from plimsoll.apps.databases.java_process import JavaProcess
from plimsoll.apps.databases.parquet_tables import FILE_NAME, ParquetTable, ParquetTables
from plimsoll.apps.databases.spark_cluster import Watch
from plimsoll.apps.databases.spark_session import SparkSession, as_uri
from plimsoll.errors import InputError
from plimsoll.host.page_cache import drop_pages
from plimsoll.units import binary

#: With less, Spark spends its time on making room.
MEMORY_LEAST = 1 << 30
#: Below the directory: what Spark sorts and spills, on this machine.
_WORK = "work"
_LOOPBACK = "127.0.0.1"
_ALWAYS: Mapping[str, str] = {
    "spark.app.name": "plimsoll",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.catalogImplementation": "in-memory",
    "spark.sql.session.timeZone": "UTC",
    # Files are listed by us, not by jobs of Spark's.
    "spark.sql.sources.parallelPartitionDiscovery.threshold": "1000000",
    "spark.hadoop.mapreduce.fileoutputcommitter.marksuccessfuljobs": "false",
}
#: Settings that decide on what is measured.
_RECORDED = (
    *("spark.master", "spark.driver.memory", "spark.executor.memory", "spark.executor.cores", "spark.local.dir"),
    *("spark.sql.shuffle.partitions", "spark.sql.adaptive.enabled", "spark.sql.files.maxPartitionBytes"),
    "spark.sql.autoBroadcastJoinThreshold",
)
#: What Spark says, and which kind of trouble that is; the first that fits.
_TROUBLES: tuple[tuple[str, Trouble], ...] = (
    (r"no space left|disk quota", "full"),
    (r"OutOfMemory|GC overhead|Cannot broadcast the table|UNABLE_TO_ACQUIRE_MEMORY", "memory"),
    (r"cancelled|canceled", "cancelled"),
    (
        r"SparkContext (was|has been) (shut down|stopped)|stopped SparkContext|Connection refused|Error while sending|Answer from Java",
        "lost",
    ),
)
#: A process of Java whose connection is broken takes so long to end, if it does.
_ENDS_S = 5.0
#: A heap that is exhausted ends the process with this status (SparkExitCode.OOM).
_OUT_OF_MEMORY = 52


def check(address: Address, memory_bytes: int | None) -> None:
    """Raise the sentence of what is missing here: pyspark, Java, memory, or an answer of the cluster's master."""
    java_process.check(max(memory_bytes or MEMORY_LEAST, MEMORY_LEAST) if address.is_private else MEMORY_LEAST)
    try:
        import sqlglot  # noqa: F401
    except ImportError:
        raise InputError(
            "Spark needs the package sqlglot, which is not installed here; install it (pip install 'plimsoll[spark]')."
        ) from None
    if not address.is_private:
        spark_cluster.check_masters(address)


class Spark:
    """`plimsoll.apps.databases.database.Database` in ``directory``, which is ours and has to exist."""

    engine = "spark"
    dialect = "spark"
    concurrent_writers = True
    #: Statements are carried out in the Java process, or on a cluster.
    runs_here = False
    builds_keys = False
    takes_parquet = True
    text_suffix = ""

    def __init__(self, address: Address, directory: str, settings: Settings) -> None:
        self._address = address
        self._directory = os.path.abspath(directory)
        self._settings = settings
        self._lock = threading.Lock()
        self._process: JavaProcess | None = None
        self._context: Any = None
        self._root: Any = None
        self._watch: Watch | None = None
        self._is_open = False
        self._cold = ""
        self.tables_of = ParquetTables(self._directory)

    @property
    def shown(self) -> str:
        """The target in sentences."""
        return self._address.text

    def open(self) -> None:
        if not self._is_open:
            shutil.rmtree(os.path.join(self._directory, _WORK), ignore_errors=True)
            self.tables_of.open()
            self._is_open = True

    def close(self) -> None:
        self._is_open = False
        context, self._context, self._root = self._context, None, None
        watch, self._watch = self._watch, None
        if watch is not None:
            watch.stop()
        if context is not None:
            with suppress(Exception):
                context.stop()
        process, self._process = self._process, None
        if process is not None:
            process.stop()
            shutil.rmtree(os.path.join(self._directory, _WORK), ignore_errors=True)
            shutil.rmtree(self.tables_of.making, ignore_errors=True)

    def session(self) -> SparkSession:
        if not self._is_open:
            raise DatabaseError(f"{self.shown}: the database is not open.", "lost")
        return SparkSession(self)

    def restart(self) -> None:
        if not self._address.is_private:
            raise DatabaseError(
                f"{self.shown}: the page caches of a cluster's workers cannot be emptied from here; measure with --cache warm, or on"
                " spark:local."
            )
        self.close()
        files = [path for table in self.tables_of.current.values() for path in self.tables_of.paths(table)]
        self._cold = drop_pages(files).how if files else ""
        self.open()
        self.started()

    def cold_how(self) -> str:
        if not self._address.is_private:
            return "nothing: the page caches of a cluster's workers cannot be emptied from here"
        dropped = f" ({self._cold.rstrip('.')})" if self._cold else ""
        return f"Spark was stopped, its files dropped from the page cache{dropped}, and started again; caches of the storage stay warm"

    def tables(self) -> frozenset[str]:
        return frozenset(self.tables_of.current)

    def settle(self) -> None:
        """Nothing is left to do: files are durable when they become part of a table, and have no statistics but their own."""

    def size_bytes(self) -> int | None:
        return self.tables_of.size_bytes()

    def counters(self) -> Counters:
        return Counters()

    def waits(self) -> None:
        """Nothing waits for locks: a transaction that meets another one is undone."""

    def processes(self) -> Sequence[int]:
        pid = self._process.pid if self._process is not None and self._address.is_private else None
        return () if pid is None else (pid,)

    def facts(self) -> Mapping[str, str]:
        root = self.started()
        known = dict(root.sparkContext.getConf().getAll())
        java = str(root.sparkContext._jvm.java.lang.System.getProperty("java.version"))
        asked = {name: root.conf.get(name) if name.startswith("spark.sql.") else known.get(name) for name in _RECORDED}
        return {
            "version": str(root.version),
            "java": java,
            **{name: str(value) for name, value in asked.items() if value is not None},
            "deletes": "copy on write: files that hold rows which go are written anew without them",
        }

    def started(self) -> Any:
        """pyspark's first session; Spark is started if it is not."""
        with self._lock:
            if self._root is None:
                if not self._is_open:
                    raise DatabaseError(f"{self.shown}: the database is not open.", "lost")
                from pyspark.sql import SparkSession as Root

                self._process = JavaProcess(self._directory, os.path.dirname(self._directory), alone=self._address.is_private)
                # pyspark would print what goes wrong, with the stacks of two languages.
                logging.getLogger("SQLQueryContextLogger").disabled = True
                try:
                    with self.telling():
                        self._context = self._process.context(self._configuration())
                        root = Root(self._context)
                        if not self._address.is_private:
                            self._watch = Watch(self._address, self._context)
                            self._watch.await_workers()
                            self._look_from_workers(root)
                except BaseException:
                    self.close()
                    raise
                self._root = root
            return self._root

    def _configuration(self) -> dict[str, str]:
        heap = f"{max(self._settings.memory_bytes or MEMORY_LEAST, MEMORY_LEAST) >> 20}m"
        made = {
            **_ALWAYS,
            "spark.master": str(self._address.url),
            "spark.sql.warehouse.dir": os.path.join(self.tables_of.making, "warehouse"),
        }
        if self._address.is_private:
            threads = "*" if self._settings.threads is None else str(self._settings.threads)
            if self._address.url == "local[*]":
                made["spark.master"] = f"local[{threads}]"
            made |= {"spark.driver.memory": heap, "spark.local.dir": os.path.join(self._directory, _WORK)}
        else:
            made |= {"spark.driver.memory": f"{MEMORY_LEAST >> 20}m"}
            if self._settings.memory_bytes is not None:
                made["spark.executor.memory"] = heap
        if self._address.is_private or re.match(r"spark://(127\.|localhost:)", str(self._address.url)):
            made |= {"spark.driver.host": _LOOPBACK, "spark.driver.bindAddress": _LOOPBACK}
        return made | dict(self._settings.options)

    def _look_from_workers(self, root: Any) -> None:
        """Let a worker read a file below the directory; what it cannot is told as of any statement."""
        seen = os.path.join(self.tables_of.making, "seen")
        with open(seen, "w", encoding="utf-8") as file:
            file.write("1\n")
        root.read.text(as_uri(seen)).collect()

    @contextmanager
    def telling(self, cancelled: threading.Event | None = None) -> Iterator[None]:
        """What Spark says, in one sentence with the kind of trouble."""
        from py4j.protocol import Py4JError
        from pyspark.errors import PySparkException

        try:
            yield
        except (Py4JError, PySparkException, OSError, EOFError) as problem:
            # `DatabaseError` is none of these.
            raise self._trouble(problem, is_cancelled=cancelled is not None and cancelled.is_set()) from None

    def _trouble(self, problem: BaseException, *, is_cancelled: bool) -> DatabaseError:
        from py4j.protocol import Py4JError, Py4JJavaError
        from pyspark.errors import PySparkException

        said = first_words(problem)
        kind: Trouble = next((kind for words, kind in _TROUBLES if re.search(words, str(problem), re.IGNORECASE)), "statement")
        if is_cancelled:
            kind = "cancelled"
        process = self._process
        # Where Java itself has said nothing, its connection is broken: a process that dies lets go of that first.
        is_broken = isinstance(problem, (Py4JError, OSError, EOFError)) and not isinstance(problem, (Py4JJavaError, PySparkException))
        ended = process.ended(_ENDS_S if is_broken else 0.0) if process is not None else None
        if process is not None and ended is not None:
            kind = "memory" if ended == _OUT_OF_MEMORY else "lost"
            said = process.last_words()
        elif process is not None and not self._address.is_private and not is_cancelled:
            told = spark_cluster.told_of(self._address, str(problem), process.failure, self._watch)
            if told is not None:
                return told
        heap = binary(max(self._settings.memory_bytes or MEMORY_LEAST, MEMORY_LEAST))
        sentences = {
            "full": f"{self.shown}: there is no space left for what Spark writes ({said}); make room, or name another directory.",
            "memory": f"{self.shown}: Spark may not use as much memory as this needs, {heap} ({said}); raise memory.",
            "cancelled": f"{self.shown}: the statement was cancelled.",
            "lost": f"{self.shown}: Spark's Java process is gone: {said}.",
        }
        return DatabaseError(sentences.get(kind, f"{self.shown}: Spark says: {said}."), kind)

    def view(self, session: Any, name: str, table: ParquetTable) -> None:
        """Let a session of pyspark's see a table by its name."""
        self.frame(session, table).createOrReplaceTempView(name)

    def frame(self, session: Any, table: ParquetTable) -> Any:
        """The rows of a table as pyspark's DataFrame."""
        columns = ", ".join(f"`{name}` {kind}" for name, kind in table.columns)
        if not table.files:
            return session.sql(_rows_as_text(table))
        found = session.read.schema(columns).parquet(*(as_uri(path) for path in self.tables_of.paths(table)))
        return found.selectExpr("*", f"_metadata.file_name AS {FILE_NAME}") if table.names_files else found


def _rows_as_text(table: ParquetTable) -> str:
    """A query whose answer are the rows of a small table, or none."""
    from sqlglot import exp

    def chosen(values: Sequence[object]) -> str:
        return ", ".join(
            f"CAST({exp.convert(value).sql('spark')} AS {kind}) AS `{name}`"
            for (name, kind), value in zip(table.columns, values, strict=True)
        )

    if not table.rows:
        return f"SELECT {chosen([None] * len(table.columns))} WHERE FALSE"
    return " UNION ALL ".join(f"SELECT {chosen(row)}" for row in table.rows)


def first_words(problem: BaseException) -> str:
    """What an exception of Java's says, without its stack: the innermost reason where there is one."""
    java = getattr(problem, "java_exception", None)
    text = str(problem)
    if java is not None:
        with suppress(Exception):
            while java.getCause() is not None:
                java = java.getCause()
            text = str(java.getMessage() or java.toString())
    line = next((line for line in text.splitlines() if line.strip()), type(problem).__name__)
    # Without the class and the state of the error, which stand around the sentence.
    plain = re.sub(r"^\[[A-Z_.0-9]+\]\s*|\s*SQLSTATE: \w+.*$", "", " ".join(line.split()))
    return plain[:300].rstrip(".")
