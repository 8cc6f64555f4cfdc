"""Sizes with shares: ``bssplit=4k/60:8k/40``, and ranges of sizes.

Model: a split is entries ``SIZE/PERCENT`` between colons; entries without a percentage share what the others leave. Lists for writes and
trims follow after commas.

    read_split("4k/60:8k/", numbers)        # {4096: 60.0, 8192: 40.0}
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from plimsoll.errors import InputError
from plimsoll.formats.fio.quantity import Numbers, whole

_ENTRIES_MAX = 64


@dataclass(frozen=True)
class Sizes:
    """How long requests of one operation are: one size, a range, or sizes with their shares in percent."""

    least: int
    most: int
    shares: tuple[tuple[int, float], ...] = ()
    surprise: str = ""

    @property
    def fixed(self) -> bool:
        return self.least == self.most

    @property
    def mean(self) -> float:
        """Bytes of a request on average; a range is uniform."""
        if self.shares:
            return sum(size * share for size, share in self.shares) / 100
        return (self.least + self.most) / 2


def read_size(text: str, numbers: Numbers) -> Sizes:
    """One size."""
    quantity = numbers.size(text)
    _check(quantity.number, text)
    return Sizes(quantity.number, quantity.number, surprise=quantity.surprise)


def read_range(text: str, numbers: Numbers) -> Sizes:
    """``1k-4k`` or ``1k:4k``."""
    parts = re.split("[-:]", text.strip())
    if len(parts) != 2 or not all(parts):
        raise InputError(f"{text!r} is not a range of sizes; write for example 4k-64k.")
    least, most = numbers.size(parts[0]), numbers.size(parts[-1])
    for quantity in (least, most):
        _check(quantity.number, text)
    if least.number > most.number:
        raise InputError(f"{text!r} begins with the larger size; write {parts[1]}-{parts[0]}.")
    return Sizes(least.number, most.number, surprise=least.surprise or most.surprise)


def read_split(text: str, numbers: Numbers) -> Sizes:
    """Sizes with their shares, which sum to 100."""
    entries = [entry.strip() for entry in text.split(":")]
    if len(entries) > _ENTRIES_MAX:
        raise InputError(f"there are {len(entries)} sizes; fio takes at most {_ENTRIES_MAX}.")
    shares: list[tuple[int, float | None]] = []
    surprise = ""
    for entry in entries:
        size_text, _, share_text = entry.partition("/")
        size = numbers.size(size_text)
        _check(size.number, entry)
        surprise = surprise or size.surprise
        shares.append((size.number, _share(share_text, entry) if share_text.strip() else None))
    full = _spread(shares, text)
    return Sizes(min(size for size, _ in full), max(size for size, _ in full), tuple(full), surprise)


def _spread(shares: list[tuple[int, float | None]], text: str) -> list[tuple[int, float]]:
    """Blank shares get equal parts of the remainder; equal sizes are added up."""
    given = sum(share for _, share in shares if share is not None)
    blanks = sum(share is None for _, share in shares)
    if given > 100 or (given < 100 and not blanks):
        raise InputError(f"the shares in {text!r} sum to {given:g}; they must sum to 100.")
    each = (100 - given) / blanks if blanks else 0.0
    total: dict[int, float] = {}
    for size, share in shares:
        total[size] = total.get(size, 0.0) + (each if share is None else share)
    return [(size, share) for size, share in total.items() if share > 0]


def _share(text: str, entry: str) -> int:
    number, rest = whole(text)
    if rest or not 0 <= number <= 100:
        raise InputError(f"{entry!r} has no share from 0 to 100; write for example 4k/60.")
    return number


def _check(number: int, text: str) -> None:
    if number < 1:
        raise InputError(f"{text!r} is not a length of a request; write at least 1.")
    if number > 1 << 30:
        raise InputError(f"{text!r} is longer than 1 GiB, the longest request; write a smaller size.")
