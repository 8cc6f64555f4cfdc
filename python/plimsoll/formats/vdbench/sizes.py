"""``xfersize``: one size of requests, sizes with their percentages, or a range with its alignment.

transfer_sizes(parameter, words).block_size        # '4KiB', {'4KiB': 60, '8KiB': 40}, '4KiB-64KiB'
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from plimsoll.formats.vdbench.numbers import Number, parse, size_text
from plimsoll.formats.vdbench.parameter import Parameter, Word
from plimsoll.formats.vdbench.verdicts import Verdicts

SIZE_MAX = 1 << 30
_EXACT = 1e-6


@dataclass(frozen=True)
class Sizes:
    """Sizes as our options write them, what addresses are multiples of, and the largest in bytes."""

    block_size: Any
    align: int
    longest: int


def nearly_whole(whole: float) -> bool:
    """Whether percentages make 100 as Vdbench adds up those of a WD: rounded to a whole number, half up."""
    return math.floor(whole + 0.5) == 100


def cut_to_whole(whole: float) -> bool:
    """Whether they make 100 as Vdbench adds up those of FSDs and FWDs: with what is behind the point cut off."""
    return math.floor(whole + 1e-9) == 100


def transfer_sizes(parameter: Parameter | None, words: Sequence[Word], makes_100: Callable[[float], bool] = cut_to_whole) -> Sizes:
    """The sizes of requests, Vdbench's 4k where none are given."""
    if parameter is None:
        return Sizes("4KiB", 4096, 4096)
    if len(words) == 1:
        size = request_size(parameter, parsed(parameter, words[0]))
        return Sizes(size_text(size), size, size)
    found = [parsed(parameter, word) for word in words]
    if len(found) == 3:
        return _between(parameter, found)
    if len(found) % 2:
        raise parameter.wrong(
            f"{len(found)} values are neither sizes with their percentages nor (smallest,largest,align); write (4k,60,8k,40)."
        )
    return _weighted(parameter, found, makes_100)


def parsed(parameter: Parameter, word: Word) -> Number:
    """A word as a number."""
    found = parse(word.text)
    if found is None:
        raise parameter.wrong(f"{word.text!r} is not a number; write for example 4k.")
    return found


def request_size(parameter: Parameter, found: Number) -> int:
    """A number that can be the size of a request."""
    if found.percent or found.value != int(found.value) or not 1 <= found.value <= SIZE_MAX:
        raise parameter.wrong(f"{found.value:g}{'%' if found.percent else ''} is no size of requests; write 512 to 1g.")
    return int(found.value)


def shares(parameter: Parameter, found: Sequence[Number], makes_100: Callable[[float], bool] = cut_to_whole) -> list[tuple[Number, float]]:
    """Numbers with their percentages, in proportion where they make 100 only as Vdbench rounds."""
    pairs = [(item, share.value) for item, share in zip(found[::2], found[1::2], strict=True)]
    for _, share in pairs:
        if not 0 <= share <= 100:
            raise parameter.wrong(f"{share:g} is no percentage; write sizes and their percentages in turn, (4k,60,8k,40).")
    whole = sum(share for _, share in pairs)
    if not makes_100(whole):
        raise parameter.wrong(f"the percentages make {whole:g} and not 100; correct one of them.")
    return pairs if abs(whole - 100) < _EXACT else _in_proportion(pairs, whole)


def _in_proportion(pairs: Sequence[tuple[Number, float]], whole: float) -> list[tuple[Number, float]]:
    """The same shares as parts of 100; the largest takes what rounding leaves."""
    parts = [round(100 * share / whole, 6) for _, share in pairs]
    largest = parts.index(max(parts))
    parts[largest] = round(100 - sum(part for at, part in enumerate(parts) if at != largest), 6)
    return [(item, part) for (item, _), part in zip(pairs, parts, strict=True)]


def say_of_shares(parameter: Parameter | None, words: Sequence[Word], verdicts: Verdicts) -> None:
    """Says so where percentages do not make 100 exactly."""
    if parameter is None or len(words) <= 3 or len(words) % 2:
        return
    whole = sum(parsed(parameter, word).value for word in words[1::2])
    if abs(whole - 100) >= _EXACT:
        verdicts.native(parameter, f"the percentages make {whole:g}; they are taken in proportion")


def _between(parameter: Parameter, found: Sequence[Number]) -> Sizes:
    least, most, align = (request_size(parameter, item) for item in found)
    if not least < most or least % align or most % align:
        raise parameter.wrong("a range of sizes is (smallest,largest,align), both multiples of the last; write for example (4k,64k,4k).")
    return Sizes(f"{size_text(least)}-{size_text(most)}", align, most)


def _weighted(parameter: Parameter, found: Sequence[Number], makes_100: Callable[[float], bool]) -> Sizes:
    table: dict[int, float] = {}
    for item, share in shares(parameter, found, makes_100):
        size = request_size(parameter, item)
        table[size] = table.get(size, 0) + share
    table = {size: share for size, share in table.items() if share}
    return Sizes({str(size_text(size)): share for size, share in table.items()}, math.gcd(*table), max(table))
