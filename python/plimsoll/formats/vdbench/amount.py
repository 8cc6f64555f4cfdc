"""``maxdata`` and its kin: a run that ends when so much was transferred, before its time is over.

Model: the bytes are divided by all threads, and each thread ends when it has transferred its part. A number below 100 is a multiple of the
total size of the SDs.
Limits: where several streams have unequal speed, the fast ones end early, and the total is reached later than in Vdbench.

    amount_per_thread(run, 70, Whole(32, 1 << 30), verdicts)        # {'amount': 33554432}
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from plimsoll.formats.vdbench.definition import Definition
from plimsoll.formats.vdbench.numbers import number
from plimsoll.formats.vdbench.verdicts import Verdicts

Json = dict[str, Any]

#: Numbers below this are multiples of the total size.
MULTIPLE_BELOW = 100
#: More than this a thread is never asked to transfer.
AMOUNT_MAX = 1 << 50


@dataclass(frozen=True)
class Whole:
    """What the threads of a run are in total, and the bytes of its SDs; None where these are not known."""

    threads: int
    size: int | None


def amount_per_thread(run: Definition, reads: float, whole: Whole, verdicts: Verdicts) -> Json:
    """What each thread transfers at most; nothing where the time decides alone."""
    for name, share in (("maxdata", 100.0), ("maxdataread", reads), ("maxdatawritten", 100 - reads)):
        parameter = run.get(name)
        if parameter is None:
            continue
        value = number(parameter).value
        if value <= 0:
            raise parameter.wrong("that is no amount of data; write bytes such as 100g, or a multiple of the total size such as 2.")
        if share == 0:
            verdicts.native(parameter, "no request of the run counts for it, so the time decides")
            continue
        if value < MULTIPLE_BELOW:
            if whole.size is None:
                why = "a multiple of the total size needs the sizes; write the size of every SD, or the amount in bytes"
                verdicts.unsupported(parameter, why)
                return {}
            value *= whole.size
        part = int(value * 100 / share) // whole.threads
        if part > AMOUNT_MAX:
            verdicts.native(parameter, "it is more than elapsed leaves time for, so the time decides")
            return {}
        verdicts.native(parameter, "amount, divided by all threads and counted from the warm-up on; fast streams end before slow ones")
        return {"amount": max(1, part)}
    return {}
