"""What a single statement on a private PostgreSQL server moved: the blocks that it read, and what it spilled.

Model: the server tells a session the size of each of its temporary files when it deletes it, those of parallel workers included
(``log_temp_files``). Blocks read are counted for the database as a whole; between two readings with one statement and no other between
them they are that statement's.
Limits: what others read at the same time cannot be told apart, and is None then. Blocks may have come from the page cache.

    turn = tally.begin(); ...; tally.end()
    tally.bytes_of(turn, reading)
"""

from __future__ import annotations

import re
import threading

from plimsoll.records import dataclass

#: What a session is told so that it hears of its temporary files, and the log of the server does not grow by them.
SETTINGS = {"log_temp_files": "0", "client_min_messages": "log", "log_min_messages": "fatal"}
_TEMPORARY_FILE = re.compile(r"temporary file: path \".*\", size (\d+)")


def spilled_bytes(notice: str) -> int:
    """The size of the temporary file that the server speaks of; 0 where it speaks of something else."""
    found = _TEMPORARY_FILE.match(notice)
    return int(found[1]) if found else 0


@dataclass(frozen=True)
class Turn:
    """A statement: the how manieth it is of all sessions, and what had been read before it, where that is known."""

    number: int
    bytes_before: int | None


class Tally:
    """The statements of all sessions, and the last reading of what was read."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._begun = self._running = 0
        self._reading: tuple[int, int] | None = None

    @property
    def is_idle(self) -> bool:
        """Whether no statement is under way."""
        return self._running == 0

    def begin(self) -> Turn:
        """A statement begins."""
        with self._lock:
            last = self._reading if self._running == 0 else None
            before = last[1] if last is not None and last[0] == self._begun else None
            self._begun += 1
            self._running += 1
            return Turn(self._begun, before)

    def end(self) -> None:
        """One has ended."""
        with self._lock:
            self._running -= 1

    def read(self, read_bytes: int) -> None:
        """So much has been read until now by all statements that have ended."""
        with self._lock:
            self._reading = (self._begun, read_bytes) if self._running == 0 else None

    def bytes_of(self, turn: Turn, read_bytes: int) -> int | None:
        """What a statement that has ended read, when so much is read in all now; None where others ran, too."""
        with self._lock:
            alone = turn.number == self._begun and self._running == 0
            return read_bytes - turn.bytes_before if alone and turn.bytes_before is not None else None
