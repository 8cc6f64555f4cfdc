"""How hosts of one run share a target: which part of a workload each of them has.

check_share("interleaved")
"""

from __future__ import annotations

from typing import cast

from plimsoll.engine.exchange import value_of
from plimsoll.handover import as_json
from plimsoll.stored import Definition


def check_share(share: str) -> None:
    """Raise `InputError` for a word that says no way in which hosts can share a target."""
    from plimsoll import _core

    _core.check_share(share)


def share_workload(
    workload: Definition, share: str, part: tuple[int, int], shape: tuple[int, int], part_ends: list[int]
) -> tuple[Definition, list[tuple[int, int]]]:
    """The workload of host ``part``, (number, count), on a target of ``shape``, (bytes, logical block in bytes), that hosts share, and the
    ranges of bytes that it may touch."""
    from plimsoll import _core

    own, ranges = _core.share_workload(as_json(workload), share, part, shape, part_ends)
    return cast("Definition", value_of(own)), ranges
