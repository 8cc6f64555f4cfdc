"""The throughput that an analytics server should have for each core, and whether a measured one reaches it.

Model: two published figures, 100 MB/s of every file system and 150 of those for temporary data; MB are 10^6 bytes. A measured figure
reaches one when its whole 95 % interval does, and misses it when none of it does; without an interval the value decides. In between the
data cannot tell.
Source: SAS note 69955 (100 MB/s per core); SAS papers on file systems (100 to 150, 150 for SASWORK and UTILLOC). `sas-guidance` of the
published figures has them, too.

    verdict(Estimate(120e6), ALL_BYTES_PER_S)      # "reaches"
"""

from __future__ import annotations

from typing import Literal

from plimsoll.result import Estimate
from plimsoll.units import megabytes

#: Per core: of every file system, and of those for temporary data.
ALL_BYTES_PER_S, WORK_BYTES_PER_S = 100e6, 150e6
PUBLISHED = {"every file system": ALL_BYTES_PER_S, "temporary data": WORK_BYTES_PER_S}
Verdict = Literal["reaches", "misses", "too close to tell"]


def verdict(per_core: Estimate, asked_bytes_per_s: float) -> Verdict:
    """Whether the figure reaches what is asked."""
    low = per_core.value if per_core.low is None else per_core.low
    high = per_core.value if per_core.high is None else per_core.high
    if low >= asked_bytes_per_s:
        return "reaches"
    return "misses" if high < asked_bytes_per_s else "too close to tell"


def judged(per_core: Estimate) -> str:
    """``reaches the 100 and the 150 MB/s asked``: a figure against both, without full stop."""
    every, work = (verdict(per_core, asked) for asked in PUBLISHED.values())
    low, high = (f"{megabytes(asked)}" for asked in PUBLISHED.values())
    if every == work == "reaches":
        return f"reaches the {low} and the {high} MB/s asked"
    if every == "reaches":
        second = "misses the" if work == "misses" else "is too close to the"
        return f"reaches the {low} MB/s asked of every file system, {second} {high} of temporary data"
    if every == "misses":
        return f"misses the {low} MB/s asked of every file system"
    return f"is too close to the {low} MB/s asked of every file system to tell"
