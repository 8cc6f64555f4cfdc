"""What is to be said of an option of a job, by the option's name, and a value that does not go with the others.

Model: what a job's options become is worked out from their values alone; where their lines stand is not known there. Every such function
hands its notes back beside what it found, and `ledger` puts them on the lines. Of an option that no line sets, notes go to the header of
the job: a default of fio is at work. Only an *idle* note of such an option says nothing.

    idle("rwmixread", "rw=read does not mix reads and writes")
    Translated({"flush_holds": True}, (native("fsync", "flush_every and flush_holds"),))
    raise Unfit("rate_process", "a rate is linear or poisson.")
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

Verdict = Literal["native", "idle", "ignored", "unsupported"]


@dataclass(frozen=True)
class Note:
    """What is to be said of an option; of the job as a whole where ``name`` is empty. A *surprise* stands beside the verdict."""

    name: str
    verdict: Verdict | Literal["surprise"]
    why: str


class Unfit(Exception):
    """A value that does not go with the others; ``name`` is its option, ``job`` the number of its job among those that run together."""

    def __init__(self, name: str, problem: object, job: int = 0) -> None:
        super().__init__(name, str(problem), job)
        self.name = name
        self.problem = str(problem)
        self.job = job


@dataclass(frozen=True)
class Translated:
    """Options of ours, and what is to be said of those that they were made of."""

    options: dict[str, Any]
    notes: tuple[Note, ...] = ()


def native(name: str, why: str) -> Note:
    """Says more about an option that takes effect."""
    return Note(name, "native", why)


def idle(name: str, why: str) -> Note:
    """The option says nothing to this job; another job may still heed its line."""
    return Note(name, "idle", why)


def ignored(name: str, why: str) -> Note:
    """The value of this job has no effect here."""
    return Note(name, "ignored", why)


def unsupported(name: str, why: str) -> Note:
    """The value of this job cannot be translated."""
    return Note(name, "unsupported", why)


def surprise(name: str, why: str) -> Note:
    """fio does something here that its file does not seem to say."""
    return Note(name, "surprise", why)


def all_idle(names: Iterable[str], why: str) -> tuple[Note, ...]:
    """Several options that say nothing, all for one reason."""
    return tuple(idle(name, why) for name in names)
