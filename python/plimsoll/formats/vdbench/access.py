"""Which requests a WD issues: mix, sizes and order, as options of a stream.

Model: values of the run's loops come before those of the WD. A mix of sizes is aligned to its greatest common divisor, as everywhere here.
Limits: requests of Vdbench's ``eof`` end at the end of the range, which needs the number of threads and is added by whoever knows it.

    access(use, verdicts).options       # {'read_percent': 70, 'block_size': '8KiB', 'random_percent': 100}
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from plimsoll.formats.vdbench.definition import Definition
from plimsoll.formats.vdbench.numbers import decimal_text, number, series, size_text
from plimsoll.formats.vdbench.parameter import Parameter, Word
from plimsoll.formats.vdbench.sizes import Sizes, nearly_whole, parsed, request_size, say_of_shares, transfer_sizes
from plimsoll.formats.vdbench.storage import Storage
from plimsoll.formats.vdbench.values import Values
from plimsoll.formats.vdbench.verdicts import Verdicts

Json = dict[str, Any]

#: In how many zones of equal size the falling density of poisson addresses is drawn.
POISSON_ZONES = 20
_RANDOM, _SEQUENTIAL, _FROM_ANYWHERE = "random", "sequential", "seqnz"


@dataclass(frozen=True)
class Use(Values):
    """A WD on one SD in one round of the run's loops."""

    run: Definition
    storage: Storage

    @property
    def workload(self) -> Definition:
        """The WD."""
        return self.definition


@dataclass(frozen=True)
class Access:
    """Options of a stream, its alignment and longest request, and whether it ends at the end of its region."""

    options: Json
    sizes: Sizes
    ends: bool


def access(use: Use, verdicts: Verdicts) -> Access:
    """Mix, sizes and order; raises `InputError` for values that cannot be."""
    options: Json = {"read_percent": reads(use, verdicts)}
    sizes = transfer_sizes(use.parameter("xfersize"), use.words("xfersize"), nearly_whole)
    say_of_shares(use.parameter("xfersize"), use.words("xfersize"), verdicts)
    options["block_size"] = sizes.block_size
    align = use.storage.definition.get("align")
    if align is not None:
        sizes = Sizes(sizes.block_size, request_size(align, number(align)), sizes.longest)
        options["align"] = size_text(sizes.align)
    elif isinstance(sizes.block_size, str) and "-" in sizes.block_size:
        options["align"] = size_text(sizes.align)
    order, ends = _order(use, verdicts)
    _say_of_order(use, order, ends, verdicts)
    options |= order
    options |= _stride(use, sizes, options, verdicts)
    return Access(options, sizes, ends)


def reads(use: Use, verdicts: Verdicts) -> float:
    """Percentage of reads: a loop's, or that of rdpct or wrpct, whichever stands last."""
    rdpct, wrpct = use.workload.get("rdpct"), use.workload.get("wrpct")
    if "rdpct" in use.loops or wrpct is None:
        return _whole_percent(use, "rdpct", 100, verdicts)
    share = 100 - _whole_percent(use, "wrpct", 0, verdicts)
    if rdpct is None:
        return share
    other = _whole_percent(use, "rdpct", 100, verdicts)
    last, lost = (wrpct, rdpct) if _later(use.workload, wrpct, rdpct) else (rdpct, wrpct)
    if other != share:
        verdicts.surprise(lost, f"{last.text} stands later and decides the mix alone")
    return share if last is wrpct else other


def _whole_percent(use: Use, name: str, default: float, verdicts: Verdicts) -> float:
    """A percentage of the WD without what is behind its point, which Vdbench cuts off."""
    share, parameter = use.percent(name, default), use.workload.get(name)
    if parameter is None or name in use.loops or share == int(share):
        return share
    verdicts.surprise(parameter, f"Vdbench cuts it to {int(share)}")
    return int(share)


def _later(workload: Definition, one: Parameter, other: Parameter) -> bool:
    """Whether one parameter is read after another: those of the default come before a definition's own."""
    places = [(parameter in workload.own.values(), parameter.order) for parameter in (one, other)]
    return places[0] > places[1]


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
    if named[0] == _FROM_ANYWHERE:
        verdicts.ignored(parameter, "requests start at the beginning of the range; only the first pass differs")
    # Vdbench takes any beginning of these words.
    if _RANDOM.startswith(named[0]):
        return {"random_percent": 100}, ends
    if _SEQUENTIAL.startswith(named[0]) or named[0] == _FROM_ANYWHERE:
        return {"random_percent": 0}, ends
    share = parsed(parameter, Word(named[0])).value
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
    midpoint = parsed(parameter, Word(words[1])).value
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
    found = [item.value for item in series(parameter)]
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
