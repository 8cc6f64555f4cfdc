"""Which requests a WD issues: mix, sizes and order, as options of a stream.

Model: values of the run's loops come before those of the WD. A mix of sizes is aligned to its greatest common divisor, as everywhere here.
Limits: requests of Vdbench's ``eof`` end at the end of the range, which needs the number of threads and is added by whoever knows it.

    access(use, verdicts).options       # {'read_percent': 70, 'block_size': '8KiB', 'random_percent': 100}
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from plimsoll.formats.vdbench import numbers
from plimsoll.formats.vdbench.definition import Definition
from plimsoll.formats.vdbench.numbers import Number, decimal_text, size_text
from plimsoll.formats.vdbench.parameter import Parameter, Word
from plimsoll.formats.vdbench.storage import Storage
from plimsoll.formats.vdbench.verdicts import Verdicts

Json = dict[str, Any]

SIZE_MAX = 1 << 30
#: In how many zones of equal size the falling density of poisson addresses is drawn.
POISSON_ZONES = 20
_RANDOM, _SEQUENTIAL = ("random", "rand"), ("seq", "sequential", "seqnz")


@dataclass(frozen=True)
class Use:
    """A WD on one SD in one round of the run's loops; ``choice`` are the loops' values by keyword."""

    run: Definition
    workload: Definition
    storage: Storage
    choice: Mapping[str, Word]
    loops: Mapping[str, Parameter]

    def parameter(self, name: str) -> Parameter | None:
        """The parameter that decides, a loop before the WD's own."""
        return self.loops.get(name) or self.workload.get(name)

    def words(self, name: str) -> tuple[Word, ...]:
        """The values that decide; none when neither says anything."""
        if name in self.choice:
            return (self.choice[name],)
        parameter = self.workload.get(name)
        return parameter.values if parameter is not None else ()

    def number(self, name: str, default: float) -> float:
        """The number that decides."""
        parameter = self.parameter(name)
        if parameter is None:
            return default
        found = numbers.parse(self.words(name)[0].text)
        if found is None or len(self.words(name)) != 1:
            raise parameter.wrong(f"{self.words(name)[0].text!r} is not a number; write for example {name}=50.")
        return found.value

    def percent(self, name: str, default: float) -> float:
        """The number that decides, as a percentage."""
        value = self.number(name, default)
        if not 0 <= value <= 100:
            parameter = self.parameter(name) or self.workload.head
            raise parameter.wrong(f"{value:g} is no percentage; write 0 to 100.")
        return value


@dataclass(frozen=True)
class Sizes:
    """``block_size``, and what addresses are multiples of."""

    block_size: Any
    align: int
    longest: int


@dataclass(frozen=True)
class Access:
    """Options of a stream, its alignment and longest request, and whether it ends at the end of its region."""

    options: Json
    sizes: Sizes
    ends: bool


def access(use: Use, verdicts: Verdicts) -> Access:
    """Mix, sizes and order; raises `InputError` for values that cannot be."""
    options: Json = {"read_percent": reads(use)}
    sizes = _sizes(use)
    options["block_size"] = sizes.block_size
    align = use.storage.definition.get("align")
    if align is not None:
        sizes = Sizes(sizes.block_size, _size(align, numbers.number(align)), sizes.longest)
        options["align"] = size_text(sizes.align)
    elif isinstance(sizes.block_size, str) and "-" in sizes.block_size:
        options["align"] = size_text(sizes.align)
    order, ends = _order(use, verdicts)
    _say_of_order(use, order, ends, verdicts)
    options |= order
    options |= _stride(use, sizes, options, verdicts)
    return Access(options, sizes, ends)


def reads(use: Use) -> float:
    """Percentage of reads."""
    rdpct, wrpct = use.parameter("rdpct"), use.workload.get("wrpct")
    if rdpct is None and wrpct is not None:
        return 100 - use.percent("wrpct", 0)
    share = use.percent("rdpct", 100)
    if wrpct is not None and "rdpct" not in use.loops and share + use.percent("wrpct", 0) != 100:
        raise wrpct.wrong(f"rdpct is {share:g}, and both do not make 100; write one of them.")
    return share


def _sizes(use: Use) -> Sizes:
    parameter = use.parameter("xfersize")
    if parameter is None:
        return Sizes("4KiB", 4096, 4096)
    words = use.words("xfersize")
    if len(words) == 1:
        size = _size(parameter, _parsed(parameter, words[0]))
        return Sizes(size_text(size), size, size)
    found = [_parsed(parameter, word) for word in words]
    if len(found) == 3:
        return _between(parameter, found)
    if len(found) % 2:
        raise parameter.wrong(
            f"{len(found)} values are neither sizes with their percentages nor (smallest,largest,align); write (4k,60,8k,40)."
        )
    return _shares(parameter, found)


def _parsed(parameter: Parameter, word: Word) -> Number:
    found = numbers.parse(word.text)
    if found is None:
        raise parameter.wrong(f"{word.text!r} is not a number; write for example 4k.")
    return found


def _between(parameter: Parameter, found: Sequence[Number]) -> Sizes:
    least, most, align = (_size(parameter, item) for item in found)
    if not least < most or least % align or most % align:
        raise parameter.wrong("a range of sizes is (smallest,largest,align), both multiples of the last; write for example (4k,64k,4k).")
    return Sizes(f"{size_text(least)}-{size_text(most)}", align, most)


def _shares(parameter: Parameter, found: Sequence[Number]) -> Sizes:
    shares: dict[int, float] = {}
    for item, share in zip(found[::2], found[1::2], strict=True):
        if not 0 <= share.value <= 100:
            raise parameter.wrong(f"{share.value:g} is no percentage; write sizes and their percentages in turn, (4k,60,8k,40).")
        size = _size(parameter, item)
        shares[size] = shares.get(size, 0) + share.value
    if abs(sum(shares.values()) - 100) > 1e-6:
        raise parameter.wrong(f"the percentages make {sum(shares.values()):g} and not 100; correct one of them.")
    shares = {size: share for size, share in shares.items() if share}
    return Sizes({str(size_text(size)): share for size, share in shares.items()}, math.gcd(*shares), max(shares))


def _size(parameter: Parameter, found: Number) -> int:
    if found.percent or found.value != int(found.value) or not 1 <= found.value <= SIZE_MAX:
        raise parameter.wrong(f"{found.value:g}{'%' if found.percent else ''} is no size of requests; write 512 to 1g.")
    return int(found.value)


def _order(use: Use, verdicts: Verdicts) -> tuple[Json, bool]:
    """Options that order requests, and whether they end at the end of the region."""
    parameter = use.parameter("seekpct")
    words = [word.text.lower() for word in use.words("seekpct")]
    if parameter is None or not words:
        return {"random_percent": 100}, False
    if words[0] == "poisson":
        return _poisson(parameter, words, verdicts), False
    ends = "eof" in words
    named = [word for word in words if word != "eof"] or ["seq"]
    if len(named) > 1:
        raise parameter.wrong(f"{' and '.join(named)} cannot both hold; write one of random, seq, seqnz or a percentage.")
    if named[0] == "seqnz":
        verdicts.ignored(parameter, "requests start at the beginning of the range; only the first pass differs")
    if named[0] in _RANDOM:
        return {"random_percent": 100}, ends
    if named[0] in _SEQUENTIAL:
        return {"random_percent": 0}, ends
    share = _parsed(parameter, Word(named[0])).value
    if share == -1:
        return {"random_percent": 0, "direction": "backward"}, ends
    if not 0 <= share <= 100:
        raise parameter.wrong(f"{share:g} is no percentage; write 0 to 100, random, seq, seqnz, eof, poisson, or -1 for backwards.")
    return {"random_percent": share}, ends


def _say_of_order(use: Use, order: Json, ends: bool, verdicts: Verdicts) -> None:
    parameter = use.parameter("seekpct")
    if parameter is None or parameter in use.loops.values():
        return
    backward = ", backwards" if "direction" in order else ""
    end = "; each thread ends after its part of one pass" if ends else ""
    verdicts.native(parameter, f"random_percent = {order['random_percent']:g}{backward}{end}")


def _poisson(parameter: Parameter, words: Sequence[str], verdicts: Verdicts) -> Json:
    """Addresses at −ln(u) × length ÷ midpoint, folded into the length: a falling exponential, drawn here in steps."""
    if len(words) == 1:
        verdicts.unsupported(parameter, "the midpoint that Vdbench takes is not known; write it, for example (poisson,3)")
        return {"random_percent": 100}
    midpoint = _parsed(parameter, Word(words[1])).value
    if len(words) > 2 or not 0 < midpoint <= 100:
        raise parameter.wrong("poisson has one number, its midpoint, above 0 and at most 100; write for example (poisson,3).")
    whole = -math.expm1(-midpoint)
    shares = [
        100 * math.exp(-midpoint * at / POISSON_ZONES) * -math.expm1(-midpoint / POISSON_ZONES) / whole for at in range(POISSON_ZONES)
    ]
    zones = ",".join(f"{decimal_text(share, 6)}/{100 / POISSON_ZONES:g}" for share in shares[:-1])
    verdicts.native(parameter, f"distribution hot in {POISSON_ZONES} equal zones, each with its share of the falling density")
    return {"random_percent": 100, "distribution": f"hot:{zones}"}


def _stride(use: Use, sizes: Sizes, options: Json, verdicts: Verdicts) -> Json:
    parameter = use.workload.get("stride")
    if parameter is None:
        return {}
    found = [item.value for item in numbers.series(parameter)]
    if len(found) != 2 or not 0 < found[0] <= found[1]:
        raise parameter.wrong("a stride is (smallest,largest); write for example (64k,64k).")
    if found[0] != found[1]:
        verdicts.unsupported(
            parameter, f"strides cannot be drawn at random; the nearest thing is a fixed one, stride=({found[0]:g},{found[0]:g})"
        )
        return {}
    if options["random_percent"] == 100:
        verdicts.native(parameter, "no request is sequential, so it changes nothing")
        return {}
    if found[0] % sizes.align:
        verdicts.unsupported(parameter, f"a stride is a multiple of the alignment, {sizes.align} bytes; the nearest thing is such a number")
        return {}
    verdicts.native(parameter, "distance between the starts of sequential requests")
    return {"stride": size_text(found[0])}
