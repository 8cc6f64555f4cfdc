"""What a column of a table is: its name with the unit in it, what it holds, and what that means.

Column("latency_p99_ms", NUMBER, "ms", "the 99th percentile of latency")
"""

from __future__ import annotations

from typing import Literal

from plimsoll.records import dataclass

Holds = Literal["text", "number", "whole", "truth"]
#: A value of a table; None where there is none.
Value = str | float | int | bool | None

TEXT: Holds = "text"
NUMBER: Holds = "number"
WHOLE: Holds = "whole"
TRUTH: Holds = "truth"


@dataclass(frozen=True)
class Column:
    """``holds`` is text, a number, a whole number, or true and false; ``unit`` is empty where there is none."""

    name: str
    holds: Holds
    unit: str
    meaning: str


#: Of every table of figures (`plimsoll.analysis.derivation`).
DERIVED = Column(
    "derived", TEXT, "", "what the load is modelled on, with whose published results its figures are not comparable; mostly empty"
)
