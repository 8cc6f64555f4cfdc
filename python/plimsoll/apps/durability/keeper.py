"""A process that holds an embedded database and commits refreshes for as long as it lives: what is killed where there is no server.

Model: the parent writes ``rf1`` or ``rf2``, a line each; the answer is ``done N`` once the commit has returned, or ``failed`` with the
sentence of what went wrong. The end of the input ends the process.
Limits: one refresh at a time.

    python -m plimsoll.apps.durability.keeper /mnt/array/db/duckdb 0.01
"""

from __future__ import annotations

import sys

from plimsoll.apps.databases.database import Settings
from plimsoll.apps.databases.duckdb import DuckDb
from plimsoll.apps.decision.refresh import coming, going
from plimsoll.decision import data
from plimsoll.errors import PlimsollError


def main(directory: str, scale: str) -> int:
    """Open the database, say so, and commit what is asked for."""
    database = DuckDb(directory, Settings())
    try:
        database.open()
        with database.session() as session, data.kept():
            # What refreshes are drawn from is made now, and not in the first one.
            data.refresh(float(scale), 1)
            _say("ready")
            for line in sys.stdin:
                drawn = (coming if line.strip() == "rf1" else going)(session, float(scale))
                _say(f"done {drawn()}")
    except PlimsollError as problem:
        _say(f"failed {' '.join(str(problem).split())}")
        return 1
    return 0


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
