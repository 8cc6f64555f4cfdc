"""Goal for loading PostgreSQL: rows that are drawn while they are copied arrive as quickly as those of a ready file by psql's \\copy.

Both fill the same table of a private server, whose work is the larger share; so the clock is read. As in a load of decision support it is
not running while the text is made that comments are cut from, which takes about a second at any scale; all else of ours is drawn while it
runs. Of psql it includes its start, some hundredths of a second.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

from plimsoll.apps.databases.programs import programs
from plimsoll.apps.databases.server import PrivateServer
from plimsoll.decision import data
from plimsoll.engine.claims import holding
from plimsoll.engine.files import native_files
from plimsoll.errors import PlimsollError
from speed import process
from speed.process import Finished
from speed.row import Row, unmeasured
from speed.setting import Setting

GOAL = 0.95
PEER = "psql \\copy"
TABLE = "lineitem"
_SETTINGS = {"shared_buffers": "256MB", "max_wal_size": "4GB"}
_PROGRAM = """
import sys, time
import psycopg
from plimsoll.apps.databases.postgresql_rows import copy
from plimsoll.decision import data
host, port, user, table, scale = sys.argv[1:]
with data.kept():
    begun = time.monotonic()
    rows = data.ahead(data.copy_text(table, float(scale)))
    with psycopg.connect(host=host, port=port, user=user, dbname="postgres") as connection, connection.cursor() as cursor:
        cursor.execute(f"TRUNCATE {table}")
        copy(cursor, f"COPY {table} FROM STDIN", rows)
    print(time.monotonic() - begun)
"""


def rows(setting: Setting) -> list[Row]:
    """All goals of this group."""
    psql = shutil.which("psql")
    if psql is None:
        return [unmeasured("copying", "psql is not installed; apt-get install postgresql")]
    scale = 0.2 if setting.quick else 1.0
    try:
        programs()
        with _served(scale) as (server, file):
            return [_row(setting, _contestants(setting, psql, server, file, scale), scale)]
    except PlimsollError as problem:
        return [unmeasured("copying", str(problem))]


@contextmanager
def _served(scale: float) -> Iterator[tuple[list[str], str]]:
    """A private server with an empty table, as host, port and user, and the file that psql copies."""
    with tempfile.TemporaryDirectory(prefix="plimsoll-bench-", dir="/var/tmp") as folder, holding():
        Path(folder).chmod(0o755)
        file = Path(folder) / f"{TABLE}.tsv"
        with file.open("wb") as out:
            out.writelines(data.copy_text(TABLE, scale))
        server = PrivateServer(native_files().own(f"{folder}/pg", None, "postgresql"), f"{folder}/pg", _SETTINGS)
        server.start()
        try:
            reached = [str(server.connection[name]) for name in ("host", "port", "user")]
            columns = ", ".join(f"{column.name} {column.type} NOT NULL" for column in data.TABLES[TABLE].columns)
            process.run(_psql("psql", reached, f"CREATE TABLE {TABLE} ({columns})"))
            yield reached, str(file)
        finally:
            server.stop(discarding=True)


def _contestants(setting: Setting, psql: str, server: list[str], file: str, scale: float) -> dict[str, Callable[[int], Finished]]:
    python = str(Path(setting.plimsoll.command).with_name("python"))
    return {
        "plimsoll": lambda _: process.run([python, "-c", _PROGRAM, *server, TABLE, str(scale)]),
        PEER: lambda _: process.run([*_psql(psql, server, f"TRUNCATE {TABLE}"), "-c", f"\\copy {TABLE} FROM '{file}'"]),
    }


def _psql(psql: str, server: list[str], statement: str) -> list[str]:
    host, port, user = server
    return [psql, "-X", "-q", "-v", "ON_ERROR_STOP=1", "-h", host, "-p", port, "-U", user, "-d", "postgres", "-c", statement]


def _row(setting: Setting, contestants: dict[str, Callable[[int], Finished]], scale: float) -> Row:
    what = "rows drawn into PostgreSQL by COPY"
    found = setting.interleaved(what, contestants, setting.long_rounds)
    wall_s = {name: median(float(done.stdout or done.wall_ns / 1e9) for done in runs) for name, runs in found.items()}
    cpu_s = {name: median(done.cpu_ns for done in runs) / 1e9 for name, runs in found.items()}
    detail = (
        f"{TABLE} at scale {scale:g}: {wall_s['plimsoll']:.2f} s by the clock, {PEER} of a ready file {wall_s[PEER]:.2f} s; "
        f"CPU time of the client {cpu_s['plimsoll']:.2f} and {cpu_s[PEER]:.2f} s"
    )
    return Row(what, "at least", GOAL, f"× {PEER}", wall_s[PEER] / wall_s["plimsoll"], detail)
