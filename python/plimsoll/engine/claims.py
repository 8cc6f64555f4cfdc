"""What this process claims of targets, so that no other run uses them meanwhile, and how claims go to others of the same run.

with holding():
    ...  # points of one run; what the first has claimed the second finds claimed
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

from plimsoll.handover import as_name
from plimsoll.target import Target


@contextmanager
def holding() -> Iterator[None]:
    """What this process claims of its targets stays claimed inside, also between two points of a run."""
    from plimsoll import _core

    session = _core.Session()
    try:
        yield
    finally:
        session.close()


#: What an open file carries of a claim, and its descriptor.
Loan = tuple[str, int]


#: Whether processes of a run that no descriptor reaches use a target, too: who comes later, or who has claimed it for all.
Elsewhere = Literal["nobody", "follows", "leads", "leads_here"]


def lent_claims(target: Target, elsewhere: Elsewhere, *, writes: bool) -> list[Loan]:
    """Claims on a target of this process, to be handed to others of its run; the caller closes the descriptors."""
    from plimsoll import _core

    return _core.Session().lend(as_name(target.handed), writes, elsewhere)


def forgo_reading(target: Target) -> None:
    """Give up what this process claims of a target for reading alone, so that another machine can claim it for writing."""
    from plimsoll import _core

    _core.Session().forgo_reading(as_name(target.handed))


def borrow_claims(loans: list[Loan], companions: list[str]) -> None:
    """Take over claims that another process of the same run has lent; ``companions`` are all of its processes."""
    from plimsoll import _core

    _core.accompanied_by(companions)
    _core.Session().borrow_claims(loans)


def this_process() -> str:
    """This process as its companions are told of it."""
    from plimsoll import _core

    return _core.this_process()
