"""A directory for a server whose user is another one: pytest's own are closed to it.

with reachable_place() as place: private_server(place / "pg").start()
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def reachable_place() -> Iterator[Path]:
    """An empty directory that every user reaches."""
    made = Path(tempfile.mkdtemp(prefix="plimsoll-test-", dir="/tmp"))
    made.chmod(0o755)
    try:
        yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)
