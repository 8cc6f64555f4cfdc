"""A request of a block trace, whatever format it came from, and what a reader has to say besides.

Model: readers are iterators; they keep no more than a bounded window of the trace. Times are nanoseconds since the trace's own zero and may
step back where several processors wrote the trace. Addresses and lengths are bytes.
Limits: what a trace says of processes, of merges and of the way through the block layer is not kept.

    TraceRequest(at_ns=0, op="read", offset=4096, length=8192, target="8,0")
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

from plimsoll.displayed import quoted

#: Above this no file or device has an address; a larger number is damage.
MOST_BYTES = 1 << 63
#: Above this a time is damage: 292 years in nanoseconds.
MOST_NS = 1 << 63


class TraceRequest(NamedTuple):
    """One request. ``at_ns`` is None where the format has no times, ``service_ns`` where the trace has no completion."""

    at_ns: int | None
    op: str
    offset: int
    length: int
    target: str
    service_ns: int | None = None


@dataclass
class Reading:
    """Where a reader is, what it left out, counted by reason, and what it takes for granted that the trace does not say."""

    source: str
    line: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    #: In the order in which it came up.
    assumed: dict[str, None] = field(default_factory=dict)


def shortened(text: str) -> str:
    """What stands in the file, quoted, and short enough for a sentence."""
    return quoted(text if len(text) <= 40 else f"{text[:40]}…")
