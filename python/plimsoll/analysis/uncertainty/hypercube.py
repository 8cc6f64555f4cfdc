"""Latin hypercube: of every uncertain value as many draws from each part of its range, in an order of its own.

Model: draws come in blocks of `BLOCK`. In a block each twentieth of a range is drawn once; which draw has it is a shuffle that depends on
the seed, the block and the identity of the value alone. So two arrays that have a value in common draw the same for it, whatever else they
have, and more draws go on where fewer ended. Where in its twentieth a draw lies is the same for all of a block: the middle, then a
quarter and three quarters, and so on (van der Corput), so that the draws of one value are spread evenly over all blocks.
Limits: between values draws are shuffled, not arranged, so any two are correlated by chance, by about one over the root of their number.

    share(1, "drives/savvio-10k1-73g · devices.model.queue.window · assumed · 16", 0)      # 0.625
"""

from __future__ import annotations

import random
from functools import lru_cache

#: Draws of a block: the ends of a 90 % interval lie between its first two and its last two.
BLOCK = 20


def share(seed: int, identity: str, number: int) -> float:
    """What part of the range of a value lies below its draw ``number``; above 0 and below 1."""
    block, place = divmod(number, BLOCK)
    return (_order(seed, identity, block)[place] + _corput(block + 1)) / BLOCK


def again(seed: int, identity: str, number: int, attempt: int) -> float:
    """The same for a draw that was refused, at the ``attempt``-th time: from anywhere in the range."""
    return random.Random(f"{seed} {identity} {number} again {attempt}").uniform(1e-9, 1 - 1e-9)  # noqa: S311 - no secret


@lru_cache(maxsize=4096)
def _order(seed: int, identity: str, block: int) -> tuple[int, ...]:
    order = list(range(BLOCK))
    random.Random(f"{seed} {identity} {block}").shuffle(order)  # noqa: S311 - an order, not a secret
    return tuple(order)


def _corput(number: int) -> float:
    """The ``number``-th of 1/2, 1/4, 3/4, 1/8 …"""
    value, step = 0.0, 0.5
    while number:
        number, bit = divmod(number, 2)
        value += bit * step
        step /= 2
    return value
