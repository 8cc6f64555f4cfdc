"""A keeper whose database acknowledges commits and makes them later, all at once, which never comes: a planted bug for trials of durability.

python -m support.early_keeper DIRECTORY SCALE
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from plimsoll.apps.databases.duckdb import DuckDbSession
from plimsoll.apps.durability.keeper import main


def acknowledging_early(begin: Callable[[Any], None]) -> tuple[Callable[[Any], None], Callable[[Any], None]]:
    """Verbs ``begin`` and ``commit`` of a session that stays in its first transaction and says it had committed."""
    begun: set[int] = set()

    def first(session: Any) -> None:
        if id(session) not in begun:
            begun.add(id(session))
            begin(session)

    return first, lambda _session: None


if __name__ == "__main__":
    DuckDbSession.begin, DuckDbSession.commit = acknowledging_early(DuckDbSession.begin)  # type: ignore[method-assign]
    sys.exit(main(*sys.argv[1:]))
