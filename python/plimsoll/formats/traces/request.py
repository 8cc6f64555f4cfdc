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
from plimsoll.errors import InputError

SECTOR_BYTES = 512
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
    """Where a reader is, the lines that it left out, counted by reason, and what it takes for granted that the trace does not say."""

    source: str
    line: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    #: In the order in which it came up.
    assumed: dict[str, None] = field(default_factory=dict)

    def error(self, problem: str) -> InputError:
        """A sentence that names the line."""
        return InputError(f"{self.source}:{self.line}: {problem}")

    def whole(self, text: str, what: str, example: str) -> int:
        """A whole number from 0 on."""
        # isdigit alone would take superscripts, which int refuses.
        if not (text.isascii() and text.isdigit()) or len(text) > 20:
            raise self.error(f"{what} {shortened(text)} is not a whole number from 0 on; write one, for example {example}.")
        return int(text)

    def extent(self, offset: int, length: int) -> None:
        """Refuse an extent that no storage has."""
        if length == 0:
            raise self.error("the request has a length of 0; a read, write or trim moves at least one byte.")
        if offset + length > MOST_BYTES:
            raise self.error(f"the request ends at byte {offset + length}, beyond any storage; give the trace as it was recorded.")

    def instant(self, at_ns: int) -> int:
        """Refuse a time that no trace reaches."""
        if at_ns >= MOST_NS:
            raise self.error("the time is more than 292 years in nanoseconds; give the trace in the units of its format.")
        return at_ns


def shortened(text: str) -> str:
    """What stands in the file, quoted, and short enough for a sentence."""
    return quoted(text if len(text) <= 40 else f"{text[:40]}…")
