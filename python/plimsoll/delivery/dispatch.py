"""One run to one destination, again and again until it is there.

deliver(open_run("latest"), Order(destination), Patience())
"""

from __future__ import annotations

import hashlib
import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import IO, Protocol

from plimsoll.delivery.outbox import Addressee, Note, held
from plimsoll.displayed import displayed_in_line
from plimsoll.errors import PlimsollError, TargetError
from plimsoll.passwords import masked
from plimsoll.store.parcel import pack, spool
from plimsoll.store.reader import StoredRun
from plimsoll.units import duration, seconds

_PIECE = 1 << 20
#: Seconds before the second try and, at most, before any later one.
_FIRST_S, _LONGEST_S = 1.0, 60.0


class NotNow(Exception):
    """The destination cannot take it at the moment; the text says why."""


@dataclass(frozen=True)
class Sent:
    """What is delivered: a run, its parcel, and the digest of its contents; ``mark`` is this delivery's own, also after a restart."""

    run: StoredRun
    digest: str
    size_bytes: int
    parcel: IO[bytes]
    mark: str

    @property
    def name(self) -> str:
        """The run's name."""
        return self.run.name

    def sha256(self) -> str:
        """Of the parcel as it is sent."""
        self.parcel.seek(0)
        total = hashlib.sha256()
        while piece := self.parcel.read(_PIECE):
            total.update(piece)
        self.parcel.seek(0)
        return total.hexdigest()


@dataclass(frozen=True)
class Delivered:
    """Under which name the destination has the run, whether it had it before, and what could not be checked there, if anything."""

    name: str
    known: bool
    doubt: str = ""


class Destination(Protocol):
    """Where runs go."""

    @property
    def shown(self) -> str:
        """Its address, without secrets."""

    @property
    def remembers(self) -> bool:
        """Whether it can tell that it has a run already."""

    def take(self, sent: Sent) -> Delivered:
        """Deliver it once. Raises `NotNow`, or `PlimsollError` where trying again would not help."""


@dataclass(frozen=True)
class Patience:
    """How long it is tried: ``for_s`` seconds, or until it is there; ``wait`` sleeps, ``told`` hears of each failure."""

    for_s: float | None = None
    wait: Callable[[float], None] = time.sleep
    now_s: Callable[[], float] = time.monotonic
    told: Callable[[str], None] = lambda _: None


@dataclass(frozen=True)
class Order:
    """What was asked for: where to, with which options (without secrets), and whether what a mail has brought goes once more."""

    destination: Destination
    options: Mapping[str, str] = field(default_factory=dict)
    again: bool = False


def deliver(run: StoredRun, order: Order, patience: Patience) -> Delivered:
    """Deliver ``run``; raises `TargetError` when it is not there in the time that was given. What was not delivered stays in the outbox."""
    destination = order.destination
    with spool() as parcel:
        digest = pack(run, parcel)
        size_bytes = parcel.tell()
        with held(run, digest, Addressee(destination.shown, order.options)) as note:
            if note.delivered_at is not None and not order.again:
                return Delivered(run.name, known=True)
            found = _tried(destination, Sent(run, digest, size_bytes, parcel, note.mark), note, patience)
            note.delivered(remember=not destination.remembers)
            return found


def _tried(destination: Destination, sent: Sent, note: Note, patience: Patience) -> Delivered:
    begun_s, pause_s = patience.now_s(), _FIRST_S
    while True:
        sent.parcel.seek(0)
        try:
            return destination.take(sent)
        except NotNow as problem:
            note.failed(str(problem))
            left_s = None if patience.for_s is None else patience.for_s - (patience.now_s() - begun_s)
            if left_s is not None and left_s <= 0:
                raise TargetError(
                    f"{destination.shown}: {sent.name} was not delivered in {seconds(patience.for_s or 0)}: {problem}."
                ) from None
            # Machines that failed together do not come back together.
            chosen_s = pause_s * (0.5 + random.random() / 2)  # noqa: S311  # no secret
            chosen_s = chosen_s if left_s is None else min(chosen_s, left_s)
            patience.told(f"{destination.shown}: {problem}; trying again in {duration(chosen_s * 1e9)}")
            patience.wait(chosen_s)
            pause_s = min(2 * pause_s, _LONGEST_S)
        except PlimsollError as problem:
            note.failed(str(problem))
            raise


def said(text: str) -> str:
    """A server's words within a sentence: one line, no more than is read, and no password that it repeats."""
    return displayed_in_line(masked(" ".join(text.split())))[:300].rstrip(". ")


def reason(problem: Exception) -> str:
    """What a connection that failed says of itself."""
    if isinstance(problem, TimeoutError):
        return "it does not answer"
    if isinstance(problem, OSError) and problem.strerror:
        return said(str(problem.strerror)).lower()
    return said(str(problem) or type(problem).__name__).lower()
