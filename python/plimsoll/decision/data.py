"""The data of the decision-support load: tables of any size, refresh sets, and what the 22 queries ask for.

Model: `crates/dss` draws everything from the arguments alone, in streams of bytes, while the interpreter goes on; only `write_parquet`
touches a disk.
A table can be drawn in parts at the same time, each in a thread of its own. Equal arguments give equal bytes on every machine.
Limits: derived from TPC-H, not comparable with published TPC-H results; `STANDARD_SCALES` are the sizes those results have.

    tables(0.01)["orders"]                                  # 15000
    with kept():                                            # what the rows of several streams are drawn from, made once
        for text in copy_text("orders", 0.01):              # about a megabyte of lines for PostgreSQL's COPY each
            copy.write(text)
    parameters(seed=1122093000, stream=0, scale=1.0)[1]   # {"delta": 78}
    refresh(1.0, 1).deletes[:3]                             # [1, 2, 3]
"""

from __future__ import annotations

import json
import os
from collections import deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress

from plimsoll import _core
from plimsoll.errors import TargetError
from plimsoll.records import dataclass

#: What stands in a query: a number, a word or day or decimal, or several of them.
Value = int | str | list[int] | list[str]
#: The values of a query by name, as `plimsoll.decision.queries` names them.
Parameters = dict[str, Value]

#: The sizes that published results of TPC-H have; any other is flagged.
STANDARD_SCALES = (1, 10, 30, 100, 300, 1000, 3000, 10000, 30000, 100000)
#: Refresh sets that a load has orders for.
REFRESH_SETS = 1000


@dataclass(frozen=True)
class Column:
    """A column; its type as SQL writes it."""

    name: str
    type: str


@dataclass(frozen=True)
class Table:
    """A table: columns in the order of its rows, and the keys of other tables by the columns that hold them."""

    name: str
    columns: tuple[Column, ...]
    primary_key: tuple[str, ...]
    foreign_keys: dict[tuple[str, ...], str]


@dataclass(frozen=True)
class Refresh:
    """A refresh set, or a part of it: orders that come with their items, as text for COPY, and keys of orders that go with theirs."""

    orders: bytes
    lineitem: bytes
    deletes: list[int]


def _schema() -> dict[str, Table]:
    described = json.loads(_core.data_schema())
    return {
        table["name"]: Table(
            table["name"],
            tuple(Column(column["name"], column["type"]) for column in table["columns"]),
            tuple(table["primary_key"]),
            {tuple(key["columns"]): key["table"] for key in table["foreign_keys"]},
        )
        for table in described
    }


#: The eight tables by name, in the order in which foreign keys allow loading.
TABLES = _schema()

#: In which order streams ask their queries: row 0 is the power test, row s stream s.
ORDER = tuple(tuple(order) for order in _core.data_orders())


def tables(scale: float) -> dict[str, int]:
    """How many rows each table has at a scale; InputError where there is no such scale."""
    return {table: rows(table, scale) for table in TABLES}


def rows(table: str, scale: float, *, part: int = 1, parts: int = 1) -> int:
    """How many rows part ``part`` of ``parts`` of a table has."""
    return _core.data_rows(table, scale, part, parts)


def copy_text(table: str, scale: float, *, part: int = 1, parts: int = 1) -> Iterator[bytes]:
    """The rows of a part of a table as text for ``COPY … FROM STDIN``, in pieces of whole rows, about a megabyte each."""
    return _core.data_copy(table, scale, part, parts)


def parquet(table: str, scale: float, *, part: int = 1, parts: int = 1) -> Iterator[bytes]:
    """The same rows as a Parquet file, in pieces of some megabytes: groups of 120,000 rows, then the file's end."""
    return _core.data_parquet(table, scale, part, parts)


def ahead(pieces: Iterator[bytes], count: int = 8) -> Iterator[bytes]:
    """The same pieces, drawn by a thread of its own from now on, up to ``count`` of them before they are asked for.

    For a loader that waits for its server: rows are drawn meanwhile. One that ends early leaves no thread behind.
    """
    pool = ThreadPoolExecutor(1, thread_name_prefix="plimsoll-rows")
    waiting = deque(pool.submit(next, pieces, None) for _ in range(count))

    def drawn() -> Iterator[bytes]:
        try:
            while (piece := waiting.popleft().result()) is not None:
                waiting.append(pool.submit(next, pieces, None))
                yield piece
        finally:
            pool.shutdown(cancel_futures=True)

    return drawn()


def write_parquet(table: str, scale: float, directory: str, *, part: int = 1, parts: int = 1) -> str:
    """Write a part of a table below a directory; the path. A table in parts is a directory of its own.

    The file appears by its name once it is whole. Raises TargetError with what the system says.
    """
    name = f"{table}.parquet" if parts == 1 else os.path.join(table, f"{table}.{part}.parquet")
    path = os.path.join(directory, name)
    pieces = parquet(table, scale, part=part, parts=parts)
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(f"{path}.part", "wb", buffering=0) as file:
            for piece in pieces:
                left = memoryview(piece)
                while left:
                    left = left[file.write(left) :]
        os.replace(f"{path}.part", path)
    except OSError as problem:
        with suppress(OSError):
            os.remove(f"{path}.part")
        raise TargetError(f"{path}: cannot be written ({str(problem.strerror).lower()}).") from None
    return path


def refresh(scale: float, number: int, *, part: int = 1, parts: int = 1) -> Refresh:
    """Part ``part`` of ``parts`` of refresh set ``number``, 1 to `REFRESH_SETS`: whole orders, say for a transaction."""
    with kept():
        orders = _core.data_refresh_copy("orders", scale, number, (part, parts))
        items = _core.data_refresh_copy("lineitem", scale, number, (part, parts))
        return Refresh(orders, items, _core.data_refresh_deletes(scale, number, part, parts))


def parameters(seed: int, stream: int, scale: float) -> dict[int, Parameters]:
    """The values that the 22 queries of a stream ask for, by number of query; stream 0 is the power test."""
    return dict(enumerate(json.loads(_core.data_parameters(seed, stream, scale)), 1))


def order_of(stream: int) -> tuple[int, ...]:
    """The order in which a stream asks its queries; streams beyond the table begin again at its row 1."""
    return ORDER[0] if stream == 0 else ORDER[(stream - 1) % (len(ORDER) - 1) + 1]


def is_standard(scale: float) -> bool:
    """Whether published results have this size."""
    return scale in STANDARD_SCALES


@contextmanager
def kept() -> Iterator[None]:
    """Keeps what rows are drawn from, 300 MiB of text that take about a second to make, from the first stream to the last."""
    source = _core.DataSource()
    try:
        yield
    finally:
        del source
