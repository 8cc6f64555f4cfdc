"""The transactions of order entry as calls that only take time: what is above that is a client's own way to the server and back.

Model: each function of the schema is busy for a time like that of a transaction and gives its answer, in place of its work; what is sent,
bound, and sent back stays as it was. The time matters: who waits that long sleeps and has to be woken, as in a transaction; an answer that
comes at once meets a client that is still awake. An order with an item that does not exist is answered by null, as before. The functions
are put back at the end.
Limits: a private server's, which nobody else asks meanwhile.

    with emptied(server.connection, "plimsoll_orders"):
        ...                         # what a call takes, less `BUSY_NS`
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from plimsoll.orders.functions import CREATE
from plimsoll.orders.scale import ITEMS

BUSY_NS = 200_000
_BODY = "AS $body$"


@contextmanager
def emptied(connection: Mapping[str, Any], schema: str) -> Iterator[None]:
    """Inside, functions do nothing but take `BUSY_NS`."""
    _made(connection, schema, [_empty(statement) for statement in CREATE])
    try:
        yield
    finally:
        _made(connection, schema, CREATE)


def _empty(statement: str) -> str:
    head, _, _ = statement.partition(_BODY)
    answer = f"CASE WHEN items[cardinality(items)] <= {ITEMS} THEN 1 END" if "items int[]" in head else "1"
    return f"""{head}{_BODY}
DECLARE until timestamptz := clock_timestamp() + interval '{BUSY_NS // 1000} us';
BEGIN
    WHILE clock_timestamp() < until LOOP END LOOP;
    RETURN {answer};
END $body$"""


def _made(connection: Mapping[str, Any], schema: str, statements: Sequence[str]) -> None:
    import psycopg

    with psycopg.connect(**connection, autocommit=True, options=f"-c search_path={schema}") as session:
        for statement in statements:
            session.execute(statement.replace("CREATE FUNCTION", "CREATE OR REPLACE FUNCTION", 1))
