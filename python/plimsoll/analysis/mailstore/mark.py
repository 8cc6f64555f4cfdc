"""The mark of a mail store: the highest transfers per second at which its databases waited no longer than they may.

Model: the mark of any load (`plimsoll.analysis.load_line.mark`), whose rate is that of a mail store's transfers, with the threads of each
database at which it was held, and the counter that was furthest beyond its limit at the lowest level that failed.

    store_mark(mark)["crossed_first"]        # "read"
"""

from __future__ import annotations

from typing import TypedDict

from plimsoll.analysis.load_line.mark import MarkView
from plimsoll.result import OPS

#: The original's rule: the limit that the vendor of its databases recommends.
RULE = "read mean <= 20ms and write mean <= 20ms"


class StoreMark(TypedDict):
    """``crossed_first`` is None where no level failed, or what failed is no counter's latency."""

    transfers_per_s: float
    threads: float
    crossed_first: str | None


def store_mark(mark: MarkView) -> StoreMark:
    """The mark of a ramp over threads."""
    first = (mark["failed_by"] or "").partition(" ")[0]
    return {"transfers_per_s": mark["iops"], "threads": mark["level"], "crossed_first": first if first in OPS else None}
