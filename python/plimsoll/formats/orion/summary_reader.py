"""What ORION's summary.txt says of a run and its tables do not: how long a point lasted, sizes, writes, LUNs.

read_summary(text)        # Told(duration_s=60.0, write_percent=0, small_kb=8, large_kb=1024, target="/dev/sdb")
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_LUN = re.compile(r"^Name: (.+?)\s+Size: \d+", re.MULTILINE)
_NAME = re.compile(r"(?P<test>.+?)(?:_(?P<day>\d{8})_(?P<time>\d{4}))?_summary\.txt", re.IGNORECASE)


@dataclass(frozen=True)
class Told:
    """Each as far as the summary has it."""

    duration_s: float | None = None
    write_percent: int | None = None
    small_kb: int | None = None
    large_kb: int | None = None
    target: str = ""


def is_summary(head: str) -> bool:
    """Whether a text begins as a summary does."""
    return head.lstrip("\ufeff \r\n").upper().startswith("ORION VERSION")


def read_summary(text: str) -> Told:
    """Lines that are not known, or have no number, are passed over."""
    return Told(
        duration_s=_number(text, r"Duration for each Data Point:\s*(\d{1,9}) seconds"),
        write_percent=_number(text, r"Write:\s*(\d{1,2}|100)%"),
        small_kb=_number(text, r"Small IO size:\s*(\d{1,7}) KB") or None,
        large_kb=_number(text, r"Large IO size:\s*(\d{1,7}) KB") or None,
        target=",".join(_LUN.findall(text)),
    )


def summary_of(name: str) -> tuple[str, str | None] | None:
    """The test and moment that the name of a summary has."""
    found = _NAME.fullmatch(name.replace("\\", "/").rpartition("/")[2])
    if found is None:
        return None
    return found["test"], f"{found['day']}_{found['time']}" if found["day"] else None


def _number(text: str, pattern: str) -> int | None:
    found = re.search(rf"^{pattern}\s*$", text, re.MULTILINE)
    return int(found[1]) if found else None
