"""Whether the machine or the program is at fault when less was done than there was time for.

Model: beside the attempt one process does nothing but wake up in time, at the priority of the tests, and another nothing but write a block to
the disk now and then. What the attempt lacks is excused, and it is made again, if one of them lost `LOST_SHARE_MIN` of its time as well (on
an idle machine it is 1 to 2 %). Without that excuse the first attempt that falls short fails the test: no fault passes because one attempt
of several was right.

    result = excused(tmp_path, lambda: run("oltp-db"), lambda result: requests(result) > 20)
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Protocol, TypeVar

from support.patience import TRIES
from support.punctuality import Reference
from support.standstill import DiskReference

Outcome = TypeVar("Outcome")

#: Of an attempt of two seconds, a tenth of a second.
LOST_SHARE_MIN = 0.05


class Excuse(Protocol):
    """What runs beside an attempt."""

    lost_share: float

    def __enter__(self) -> Excuse: ...

    def __exit__(self, *_: object) -> None: ...


class Machine:
    """See the module; ``lost_share`` is known when the block has ended."""

    lost_share = 0.0

    def __init__(self, folder: Path) -> None:
        self._processor, self._disk = Reference(ahead=False), DiskReference(folder)

    def __enter__(self) -> Machine:
        self._begun_s = time.monotonic()
        self._processor.__enter__()
        self._disk.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        took_s = time.monotonic() - self._begun_s
        self._disk.__exit__()
        self._processor.__exit__()
        self.lost_share = max(self._processor.late_share, self._disk.slow_s / took_s)


def excused(
    folder: Path,
    attempt: Callable[[], Outcome],
    enough: Callable[[Outcome], object],
    machine: Callable[[Path], Excuse] = Machine,
) -> Outcome:
    """The first outcome with ``enough`` in it; those before it were the machine's fault."""
    shares: list[float] = []
    for _ in range(TRIES):
        with machine(folder) as beside:
            outcome = attempt()
        if enough(outcome):
            return outcome
        shares.append(beside.lost_share)
        assert shares[-1] >= LOST_SHARE_MIN, f"too little, and the machine lost {shares[-1]:.1%} of its time only: {str(outcome)[:2000]}"
    raise AssertionError(f"not once in {TRIES} attempts, in which the machine lost {shares} of its time: {str(outcome)[:2000]}")
