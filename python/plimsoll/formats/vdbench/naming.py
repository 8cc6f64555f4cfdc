"""Names of streams, trees, workloads and experiments, made of those in the file.

unique(slug("run 1, threads 8"), set())        # 'run-1-threads-8'
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

Json = dict[str, Any]

NAME_MAX = 64
#: Letters kept free for the number that makes a name unique.
_NUMBER_LETTERS = 8


def named(streams: Sequence[Json]) -> list[Json]:
    """Streams with names that the engine takes, each its own."""
    taken: set[str] = set()
    for stream in streams:
        stream["name"] = unique(slug(stream["name"]), taken)
    return list(streams)


def slug(name: str) -> str:
    """Letters, digits, - and _ of a name."""
    return (re.sub(r"[^A-Za-z0-9_-]+", "-", name).strip("-") or "x")[: NAME_MAX - _NUMBER_LETTERS]


def unique(name: str, taken: set[str]) -> str:
    """The name, or the name with a number when it is taken."""
    found, number = name, 1
    while found in taken:
        number += 1
        found = f"{name}-{number}"
    taken.add(found)
    return found
