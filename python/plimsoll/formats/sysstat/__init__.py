"""What sysstat watched, as points of ours: ``iostat -x`` text, ``iostat -o JSON`` and ``sadf -j``, one point per device.

Model: a report of iostat's is an interval; its rates times its length are counts, its waits are mean latencies. What is observed is no
load of a known kind, so the workload is called ``observed`` and has no options. The first of several reports covers the time since boot
and is left out, as is a device that did nothing.
Limits: the counters hold means only. Requests are those the device saw, after merging. Partitions and the disk below them count the same
requests twice, as iostat shows them.

    points = read_sysstat(text, "iostat.txt")
"""

from __future__ import annotations

from collections.abc import Sequence

from plimsoll.errors import InputError
from plimsoll.formats.stored_point import Recorded
from plimsoll.formats.sysstat.read import is_report, read_document, read_reports
from plimsoll.formats.sysstat.results import points_of

__all__ = ["is_sysstat", "read_sysstat"]


def is_sysstat(head: str) -> bool:
    """Whether a text begins like one of these."""
    return '"sysstat"' in head or is_report(head)


def read_sysstat(text: str, source: str) -> Sequence[Recorded]:
    """A point for each device that did anything. Raises `InputError` that names file and line."""
    origin, reports = read_document(text, source) if text.lstrip().startswith("{") else ("iostat", read_reports(text, source))
    points = points_of(reports, origin, source)
    if not points:
        raise InputError(f"{source}: no device did anything in it; watch while there is load.")
    return points
