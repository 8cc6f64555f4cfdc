"""Seeded draws: uniform and non-uniform numbers, names and texts, the same on every machine and version of Python.

Model: a stream of draws is named by the seed and by what it is for, so that the population of a warehouse does not depend on which others
were made before. Only ``random()`` of the generator is used, whose sequence Python promises to keep. `Draws.nurand` is the non-uniform
function of TPC-C 5.11, clause 2.1.6: (((draw 0..A | draw x..y) + C) mod (y − x + 1)) + x. Its constants C are drawn once for a database and
once for a run; the two for last names differ as the specification asks (by 65 to 119, but not by 96 or 112).
Limits: texts are cut from a pool of 64 KiB of letters and digits, so that they compress to about three quarters, and no further.

    draws = Draws(1, "stock", 7)
    draws.between(1, 10), draws.text(14, 24), last_name(371)          # …, …, 'PRICALLYOUGHT'
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache
from random import Random
from string import ascii_letters, digits

from plimsoll.orders.scale import CUSTOMERS, ITEMS

#: A last name has one for each of its digits.
SYLLABLES = ("BAR", "OUGHT", "ABLE", "PRI", "PRES", "ESE", "ANTI", "CALLY", "ATION", "EING")
_POOL_LENGTH = 1 << 16
#: The A of the non-uniform function for the whole range of last names, customers and items.
LAST_NAME_SPREAD, CUSTOMER_SPREAD, ITEM_SPREAD = 255, 1023, 8191
_DIFFERENCES = tuple(number for number in range(65, 120) if number not in (96, 112))


class Draws:
    """One stream of draws."""

    def __init__(self, seed: int, *purpose: object) -> None:
        name = ":".join(map(str, (seed, *purpose)))
        self.random = Random(int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big")).random  # noqa: S311 — a load, no secret

    def between(self, low: int, high: int) -> int:
        """A whole number from ``low`` to ``high``, both included."""
        return low + int(self.random() * (high - low + 1))

    def nurand(self, spread: int, low: int, high: int, constant: int) -> int:
        """A whole number from ``low`` to ``high``, some much more often than others."""
        drawn = self.between(0, spread) | self.between(low, high)
        return (drawn + constant) % (high - low + 1) + low

    def text(self, shortest: int, longest: int) -> str:
        """Letters and digits."""
        length = shortest + int(self.random() * (longest - shortest + 1))
        begin = int(self.random() * (_POOL_LENGTH - length))
        return _pool()[begin : begin + length]

    def number_text(self, length: int) -> str:
        """Digits."""
        return f"{int(self.random() * 10**length):0{length}d}"

    def shuffled(self, count: int) -> list[int]:
        """The numbers 1 to ``count`` in an order of chance."""
        found = list(range(1, count + 1))
        for place in range(count - 1, 0, -1):
            other = int(self.random() * (place + 1))
            found[place], found[other] = found[other], found[place]
        return found


@dataclass(frozen=True)
class Constants:
    """The C of the non-uniform function for last names, customers and items."""

    last_name: int
    customer: int
    item: int

    @classmethod
    def of_database(cls, seed: int) -> Constants:
        """Those that the tables are filled with; of these only the one for last names is used."""
        return cls(Draws(seed, "constants").between(0, LAST_NAME_SPREAD), 0, 0)

    @classmethod
    def of_run(cls, seed: int, loaded: Constants) -> Constants:
        """Those that terminals draw with on tables that were filled with ``loaded``."""
        draws = Draws(seed, "constants of the run")
        apart = _DIFFERENCES[draws.between(0, len(_DIFFERENCES) - 1)]
        last_name = loaded.last_name + apart if loaded.last_name + apart <= LAST_NAME_SPREAD else loaded.last_name - apart
        return cls(last_name, draws.between(0, CUSTOMER_SPREAD), draws.between(0, ITEM_SPREAD))


def customer_spread(customers: int) -> int:
    """The A for customers; of a small district as much smaller as it is."""
    return _spread(CUSTOMER_SPREAD, customers, CUSTOMERS)


def item_spread(items: int) -> int:
    """The A for items."""
    return _spread(ITEM_SPREAD, items, ITEMS)


def last_name_spread(names: int) -> int:
    """The A for last names."""
    return _spread(LAST_NAME_SPREAD, names, 1000)


def last_name(number: int) -> str:
    """The last name of a number from 0 to 999: a syllable for each of its digits."""
    return SYLLABLES[number // 100] + SYLLABLES[number // 10 % 10] + SYLLABLES[number % 10]


def _spread(whole: int, count: int, of: int) -> int:
    """All ones in binary, as ``whole`` is, and about as large beside ``count`` as that is beside ``of``."""
    return whole if count >= of else (1 << max(0, (whole * count // of).bit_length())) - 1


@cache
def _pool() -> str:
    """The same for every seed: what differs is where texts are cut from it."""
    draw = Random(0x506C696D).random  # noqa: S311 — a load, no secret
    letters = ascii_letters + digits
    return "".join(letters[int(draw() * len(letters))] for _ in range(_POOL_LENGTH))
