"""What the flatfiles of devices and of file systems have in common: padded rows, instants, and columns about the run.

print(table(["Run", "rate"], [["rd1", 100.0]]))
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from plimsoll.formats.recorded import Course

_ABSENT = "n/a"


def table(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """One header of words and rows padded with blanks."""
    texts = [list(header), *([_text(value) for value in row] for row in rows)]
    widths = [max(len(row[column]) for row in texts) for column in range(len(header))]
    return "".join(" ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)).rstrip() + "\n" for row in texts)


def tod_of(when: datetime) -> str:
    """The time of day."""
    return f"{when:%H:%M:%S}.{when.microsecond // 1000:03d}"


def when_of(when: datetime) -> str:
    """The date, time and zone."""
    return f"{when:%m/%d/%Y-%H:%M:%S}-{when.tzname() or 'UTC'}"


def outstanding(course: Course) -> int:
    """Threads of Vdbench's: each has one request outstanding."""
    return sum(int(stream.get("threads", 1)) * int(stream.get("queue_depth", 1)) for stream in course.streams)


def version_of(course: Course) -> str:
    """What wrote the file, in place of Vdbench's version."""
    return f"plimsoll-{course.result.versions.get('plimsoll', 'import')}"


def used(cpu: Mapping[str, float]) -> float | None:
    """User and system together; None where either is not known."""
    return cpu["user_percent"] + cpu["system_percent"] if {"user_percent", "system_percent"} <= cpu.keys() else None


def _text(value: Any) -> str:
    if value is None:
        return _ABSENT
    return f"{value:.4f}" if isinstance(value, float) else str(value).replace(" ", "_")
