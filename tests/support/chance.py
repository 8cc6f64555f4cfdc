"""How many of so many attempts may fail by chance: what tests in real time ask for, in place of one attempt that succeeds.

Model: attempts are independent, and a correct program fails each with the probability that a reference beside it fails, which is estimated
from as many trials by Laplace's rule, (failures + 1) / (trials + 2). A correct program exceeds `failures_max` less often than once in
`ONCE_IN`; a program that is wrong every second time exceeds it in nineteen of twenty sessions of twenty attempts beside a calm reference.

    failures_max(20, noise(0, 20))      # 6
"""

from __future__ import annotations

from math import comb

ONCE_IN = 10_000


def noise(failures: int, trials: int) -> float:
    """The probability that an attempt fails by chance, from a reference that failed so many times."""
    return (failures + 1) / (trials + 2)


def failures_max(attempts: int, probability: float) -> int:
    """The fewest failures that more of come less often than once in `ONCE_IN`."""
    beyond, allowed = 1.0, -1
    while beyond >= 1 / ONCE_IN:
        allowed += 1
        beyond -= comb(attempts, allowed) * probability**allowed * (1 - probability) ** (attempts - allowed)
    return allowed
