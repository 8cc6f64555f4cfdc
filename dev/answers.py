"""Makes the expected answers of decision support anew: `python/plimsoll/decision/answers/`.

Model: DuckDB and PostgreSQL answer the 22 queries with the qualification values, on the same rows, which Plimsoll draws. Where they differ
anywhere, by more than the last digits of a division, nothing is written. So an answer is what two engines that share no code agree on.
Limits: the server is one that is running; a schema of its own is made there and dropped. The same data make the same file, byte for byte,
except where a version of an engine is named in it.

    .venv/bin/python dev/answers.py --scale 1 --postgresql 'host=/tmp/socket user=postgres'
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
import tempfile
from collections.abc import Iterable, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import psycopg

from plimsoll.decision import data
from plimsoll.decision.queries import QUERIES, columns, qualification, text
from plimsoll.decision.validation import Row, answer_file, written

SCHEMA = "plimsoll_answers"
#: Divisions have this many digits at least in every engine.
_DIGITS = 10
_COPIED = 1 << 20


def main() -> int:
    """Answer, compare, write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--scale", type=float, required=True)
    parser.add_argument("--postgresql", required=True, help="how to reach a running server, as libpq has it")
    asked = parser.parse_args()
    values = qualification(asked.scale)
    embedded = duckdb.connect()
    with data.kept(), tempfile.TemporaryDirectory() as folder:
        for table in data.TABLES:
            path = data.write_parquet(table, asked.scale, folder)
            embedded.execute(f"CREATE TABLE {table} AS FROM read_parquet('{path}')")
    with psycopg.connect(asked.postgresql, autocommit=True) as server:
        server.execute(f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE; CREATE SCHEMA {SCHEMA}; SET search_path = {SCHEMA}")
        for table in data.TABLES:
            _copy(embedded, server, table)
        server.execute("ANALYZE")
        ones = {number: embedded.execute(text(number, values[number])).fetchall() for number in QUERIES}
        others = {number: server.execute(text(number, values[number], "postgres")).fetchall() for number in QUERIES}
        versions = [f"DuckDB {duckdb.__version__}", f"PostgreSQL {server.info.server_version // 10000}"]
        server.execute(f"DROP SCHEMA {SCHEMA} CASCADE")
    apart = [sentence for number in QUERIES for sentence in disagreements(number, ones[number], others[number])]
    if apart:
        print(*apart[:20], f"{len(apart)} values differ; nothing was written.", sep="\n", file=sys.stderr)
        return 1
    answers = {str(number): [stored_row(number, row) for row in ones[number]] for number in QUERIES}
    write(asked.scale, {"scale": asked.scale, "agreed": versions, "answers": answers})
    print(answer_file(asked.scale))
    return 0


def disagreements(number: int, ones: Sequence[Sequence[object]], others: Sequence[Sequence[object]]) -> Iterable[str]:
    """Where two engines differ, beyond the last digits of a division."""
    if len(ones) != len(others):
        yield f"query {number}: {len(ones)} rows and {len(others)}"
    for position, (one, other) in enumerate(zip(ones, others, strict=False), 1):
        left, right = stored_row(number, one), stored_row(number, other)
        if left != right:
            yield f"query {number}, row {position}: {left} and {right}"


def stored_row(number: int, row: Sequence[object]) -> Row:
    """A row as it is kept: numbers in one form, divisions with ten digits."""
    return tuple(
        value if value is None or column.kind == "str" else _number(Decimal(value), divided=column.kind in ("avg", "rat"))
        for column, value in zip(columns(number), map(written, row), strict=True)
    )


def _number(value: Decimal, *, divided: bool) -> str:
    plain = Decimal(f"{value:.{_DIGITS}g}") if divided else value
    return f"{plain.normalize():f}"


def _copy(embedded: Any, server: Any, table: str) -> None:
    """One table from DuckDB to PostgreSQL, with its types; text sorts by code point."""
    described = embedded.execute(f"DESCRIBE {table}").fetchall()
    types = {name: 'TEXT COLLATE "C"' if kind == "VARCHAR" else kind for name, kind, *_ in described}
    server.execute(f"CREATE TABLE {table} ({', '.join(f'{name} {kind}' for name, kind in types.items())})")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "table.csv"
        embedded.execute(f"COPY {table} TO '{file}' (HEADER false)")
        with file.open("rb") as source, server.cursor().copy(f"COPY {table} FROM STDIN (FORMAT csv)") as copy:
            while block := source.read(_COPIED):
                copy.write(block)


def write(scale: float, document: object) -> None:
    """The file, without the time that would make it another one each day."""
    Path(answer_file(scale)).parent.mkdir(exist_ok=True)
    lines = json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()
    Path(answer_file(scale)).write_bytes(gzip.compress(lines, compresslevel=9, mtime=0))


if __name__ == "__main__":
    sys.exit(main())
