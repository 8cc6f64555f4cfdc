"""The process of one workflow on DuckDB: the same steps as statements, within the same memory, told in the same lines.

Model: the rows are read from text into a database in the directory of the workflow, which the steps fill further; what does not fit into
memory DuckDB spills beside it. One thread, like the native engine, and no compression, so that bytes are bytes. Each step's results are
checked by statements: rows, numbers, exact sums, order, groups. The protocol is that of the native process
(`crates/analytics/src/teller.rs`).
Limits: an index is an ordered table of keys and places, since DuckDB's own indexes have to fit into memory. What a step would have needed
to move is not known of an engine with its own format; what it moved is what its calls did (/proc/self/io), without their times.

    python3 -P -m plimsoll.apps.analytics.duckdb_worker '{"rows": 1000, …}' /mnt/array/work/1 /mnt/array/input/1.csv
"""

from __future__ import annotations

import ctypes
import json
import os
import random
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import duckdb

from plimsoll.engine.rows import native_rows
from plimsoll.stored import Json
from plimsoll.units import size_text

#: What DuckDB takes beside what it counts against its limit: allocations of readers and sorts.
_BESIDE_BYTES = 48 << 20
_LIMIT_LEAST_BYTES = 64 << 20
#: Rows that are looked up in each index.
_LOOKUPS = 100
_TOLD_EVERY_S = 1.0
_SECTOR_BYTES = 512
_PR_SET_PDEATHSIG = 1
_NUMBERS, _DATES = 12, 3
_COLUMNS = {
    "number": "UBIGINT",
    **{f"c{place}": "VARCHAR" for place in range(1, 5)},
    **{f"d{place}": "DOUBLE" for place in range(1, _NUMBERS + 1)},
    **{f"t{place}": "INTEGER" for place in range(1, _DATES + 1)},
}
#: A number in steps of 2^-53: its sum is exact in any order.
_AMOUNT = "CAST(d1 * 9007199254740992 AS HUGEINT)"
_C1_LABEL = "'CLASS' || lpad(CAST((CAST(right(c1, 3) AS INTEGER) * 7 + 3) % 50 AS VARCHAR), 3, '0')"


class Wrong(Exception):
    """Results are not what they have to be; the sentence says which."""


class Teller:
    """Writes lines, from two threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._moved = (0, 0)

    def say(self, **line: Any) -> None:
        with self._lock:
            sys.stdout.write(f"{json.dumps(line)}\n")
            sys.stdout.flush()

    def tell_moved(self) -> None:
        """What calls moved since the last time; they are not timed."""
        now = moved()
        read, written = (after - before for before, after in zip(self._moved, now[:2], strict=True))
        self._moved = now[:2]
        self.say(moved={"read": [read, 0, ""], "write": [written, 0, ""]})

    def begin(self) -> None:
        """Count from here."""
        self._moved = moved()[:2]


class Workflow:
    """The steps on one database."""

    def __init__(self, spec: Json, folder: str, source: str) -> None:
        self._spec = spec
        self._source = source
        limit = max(spec["memory_bytes"] - resident_bytes() - _BESIDE_BYTES, _LIMIT_LEAST_BYTES)
        settings: dict[str, Any] = {
            "memory_limit": size_text(limit // 1024 * 1024),
            "threads": 1,
            "temp_directory": os.path.join(folder, "spill"),
            "preserve_insertion_order": "true",
        }
        self._database = duckdb.connect(os.path.join(folder, "workflow.duckdb"), config=settings)
        self._database.execute("SET force_compression = 'uncompressed'")

    def carry_out(self, step: str) -> int:
        """One step with its check; the rows that it handled."""
        work: dict[str, Callable[[], None]] = {
            "data-step": self._data_step,
            "iterate": self._iterate,
            "format": self._format,
            "index": self._index,
            "sort": self._sort,
            "summary": self._summary,
        }
        work[step]()
        self._run("CHECKPOINT")
        return 0 if step == "iterate" else int(self._spec["rows"])

    def close(self) -> None:
        self._database.close()

    def _data_step(self) -> None:
        columns = ", ".join(f"'{name}': '{kind}'" for name, kind in _COLUMNS.items())
        read = f"read_csv(?, header = false, auto_detect = false, buffer_size = 4194304, columns = {{{columns}}})"
        derived = "(d1 + d2) / 2 AS d9, d3 * d4 AS d10, sqrt(d5) AS d11, abs(d6 - d7) AS d12"
        self._run(f"CREATE TABLE a AS SELECT * REPLACE ({derived}) FROM {read}", [self._source])
        self._check_sums("a")

    def _iterate(self) -> None:
        loops = int(self._spec["loops"])
        if (found := native_rows().iterate(loops)) != float(loops) ** 3:
            raise Wrong(f"{loops}³ additions of 1 made {found}")

    def _format(self) -> None:
        self._run(f"CREATE TABLE format_c1 AS SELECT DISTINCT c1 AS value, {_C1_LABEL} AS label FROM a")
        self._run("CREATE TABLE format_c2 AS SELECT DISTINCT c2 AS value, right(c2, 1) || left(c2, 15) AS label FROM a")
        joined = "a JOIN format_c1 AS one ON a.c1 = one.value JOIN format_c2 AS two ON a.c2 = two.value"
        self._run(f"CREATE TABLE b AS SELECT a.* REPLACE (one.label AS c1, two.label AS c2) FROM {joined}")
        self._check_sums("b")
        self._check_groups("b")

    def _index(self) -> None:
        draws = random.Random(self._spec["seed"])  # noqa: S311 — no secret
        rows = int(self._spec["rows"])
        for name, key in (("index_c2", "c2"), ("index_c1_c3", "c1, c3")):
            self._run(f"CREATE TABLE {name} AS SELECT {key}, rowid AS place FROM b ORDER BY {key}, rowid")
            count, places = self._one(f"SELECT count(*), sum(place) FROM {name}")
            if (count, places) != (rows, rows * (rows - 1) // 2):
                raise Wrong(f"{name}: {count:,} entries do not lead to each of {rows:,} rows")
            self._check_order(name, f"{key}, place")
            named = key.split(", ")
            for place in (draws.randrange(rows) for _ in range(_LOOKUPS)):
                values = self._one(f"SELECT {key} FROM b WHERE rowid = ?", [place])
                where = " AND ".join(f"{column} = ?" for column in named)
                if self._one(f"SELECT count(*) FROM {name} WHERE {where} AND place = ?", [*values, place]) != (1,):
                    raise Wrong(f"{name}: row {place + 1} was not found by its key")

    def _sort(self) -> None:
        self._run("CREATE TABLE c AS SELECT * FROM b ORDER BY c3, c4")
        self._check_sums("c")
        self._check_order("c", "c3, c4")

    def _summary(self) -> None:
        figures = "count(*) AS n, sum(d1) AS sum, avg(d1) AS mean, min(d1) AS least, max(d1) AS greatest, stddev_pop(d1) AS deviation"
        month = "date_trunc('month', DATE '1970-01-01' + t1)"
        self._run(f"CREATE TABLE summary AS SELECT c1, {month} AS month, {figures} FROM c GROUP BY ALL ORDER BY ALL")
        self._check_groups("c")
        if (found := self._one("SELECT sum(n) FROM summary")[0]) != self._spec["rows"]:
            raise Wrong(f"summary: its groups have {found} rows, not {self._spec['rows']}")

    def _check_sums(self, table: str) -> None:
        tally = self._spec["input"]
        wanted = {"rows": tally["rows"], "sum of the row numbers": tally["numbers"], "sum of the amounts": int(tally["amount"])}
        found = self._one(f"SELECT count(*), sum(number), sum({_AMOUNT}) FROM {table}")
        for (what, right), one in zip(wanted.items(), found, strict=True):
            if one != right:
                raise Wrong(f"{table}: the {what} is {one}, and was {right} when they were written")

    def _check_groups(self, table: str) -> None:
        """Rows of each label are those of its value."""
        of_values = f"SELECT {_C1_LABEL} AS label, count(*) AS n FROM a GROUP BY ALL"
        other = self._one(f"SELECT count(*) FROM (({of_values}) EXCEPT (SELECT c1, count(*) FROM {table} GROUP BY ALL))")
        if other != (0,):
            raise Wrong(f"{table}: rows of its labels are not those of the values")

    def _check_order(self, table: str, key: str) -> None:
        found = self._one(f"SELECT count(*) FROM (SELECT ({key}) AS key, lag(({key})) OVER () AS last FROM {table}) WHERE key < last")
        if found != (0,):
            raise Wrong(f"{table}: {found[0]:,} rows are not in order")

    def _one(self, statement: str, values: list[Any] | None = None) -> tuple[Any, ...]:
        row = self._database.execute(statement, values).fetchone()
        assert row is not None
        return tuple(row)

    def _run(self, statement: str, values: list[Any] | None = None) -> None:
        self._database.execute(statement, values)


def record(step: str, before: Json, after: Json, rows: int, check: str | None) -> Json:
    """What became of a step, as the native process tells it."""
    read, written = (after["moved"][place] - before["moved"][place] for place in (0, 1))
    stored = [after["moved"][place] - before["moved"][place] for place in (2, 3)]
    devices = [now - then for then, now in zip(before["devices"], after["devices"], strict=True)] if after["devices"] else None
    return {
        "name": step,
        "start_ns": before["at_ns"],
        "end_ns": after["at_ns"],
        "rows": rows,
        "user_us": after["user_us"] - before["user_us"],
        "system_us": after["system_us"] - before["system_us"],
        "needed_read_bytes": None,
        "needed_written_bytes": None,
        "read_bytes": read,
        "written_bytes": written,
        "stored": stored,
        "devices": devices,
        "passes": None,
        "check": check,
    }


def glance(devices: list[str]) -> Json:
    """Counters of this process and of the devices now."""
    used = os.times()
    return {
        "at_ns": time.monotonic_ns(),
        "user_us": round(used.user * 1e6),
        "system_us": round(used.system * 1e6),
        "moved": moved(),
        "devices": device_bytes(devices),
    }


def moved() -> tuple[int, int, int, int]:
    """Bytes of read and write calls, and of storage read and written for this process."""
    with open("/proc/self/io", encoding="ascii") as file:
        found = dict(line.split(": ") for line in file.read().splitlines())
    return int(found["rchar"]), int(found["wchar"]), int(found["read_bytes"]), int(found["write_bytes"])


def device_bytes(devices: list[str]) -> list[int]:
    """What devices read and wrote, for everybody; empty where one of them does not say."""
    total = [0, 0]
    for name in devices:
        try:
            with open(f"/sys/class/block/{name}/stat", encoding="ascii") as file:
                words = file.read().split()
            total = [total[0] + int(words[2]) * _SECTOR_BYTES, total[1] + int(words[6]) * _SECTOR_BYTES]
        except (OSError, ValueError, IndexError):
            return []
    return total if devices else []


def resident_bytes() -> int:
    """What this process has resident now."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def live(teller: Teller, spec: Json, folder: str, source: str) -> Json:
    """All steps; the last line."""
    workflow, step = None, "data-step"
    try:
        workflow = Workflow(spec, folder, source)
        for step in ("data-step", "iterate", "format", "index", "sort", "summary"):
            before = glance(spec["devices"])
            teller.say(began={"step": step, "at_ns": before["at_ns"]})
            rows, check = 0, None
            try:
                rows, check = workflow.carry_out(step), "ok"
            except Wrong as wrong:
                check = f"wrong data: {wrong}."
                raise
            finally:
                teller.tell_moved()
                teller.say(ended=record(step, before, glance(spec["devices"]), rows, check))
    except (Wrong, duckdb.Error, OSError) as problem:
        told = " ".join(str(problem).split("\n")[0].split()).rstrip(".")
        wrong_data = isinstance(problem, Wrong)
        sentence = f"wrong data: {told}." if wrong_data else f"DuckDB: {told}."
        return {"failed": {"at_ns": time.monotonic_ns(), "step": step, "sentence": sentence, "wrong_data": wrong_data}}
    finally:
        if workflow is not None:
            with suppress(duckdb.Error):
                workflow.close()
    return {"done": {"at_ns": time.monotonic_ns()}}


def main(spec_text: str, folder: str, source: str) -> int:
    """The whole life of the process; 0 when the workflow came to its end."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    spec, teller = json.loads(spec_text), Teller()
    teller.say(ready={"resident_bytes": resident_bytes()})
    start = sys.stdin.readline().strip()
    if not start:
        return 1
    time.sleep(max(int(start) - time.monotonic_ns(), 0) / 1e9)
    teller.begin()
    done = threading.Event()

    def tell() -> None:
        while not done.wait(_TOLD_EVERY_S):
            teller.tell_moved()

    telling = threading.Thread(target=tell, daemon=True)
    telling.start()
    last = live(teller, spec, folder, source)
    done.set()
    telling.join()
    teller.say(**last)
    sys.stdin.readline()
    return 0 if "done" in last else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
