"""The requests of a WD: mix, sizes, order, and the flags of ``openflags``, as options of a stream.

Model: values of the run's loops come before those of the WD. ``xfersize`` is one size, sizes with their percentages, or a range with its
alignment; a mix of sizes is aligned to its greatest common divisor, as everywhere here. Flags mean page cache, durability and state of the
caches: the run's come before the WD's, and these before the SD's. A device without any is opened with ``O_DIRECT``.
Limits: requests of Vdbench's ``eof`` end at the end of the range, which needs the number of threads and is added by whoever knows it.

    access(use, verdicts).options                       # {'read_percent': 70, 'block_size': '8KiB', 'random_percent': 100}
    transfer_sizes(parameter, words).block_size         # '4KiB', {'4KiB': 60, '8KiB': 40}, '4KiB-64KiB'
    opened(use, verdicts)                               # {'direct': True, 'dsync': False}
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from plimsoll.displayed import quoted
from plimsoll.formats.vdbench.model import Definition, Parameter, Verdicts, Word
from plimsoll.formats.vdbench.storage import Storage
from plimsoll.formats.vdbench.values import Number, Values, decimal_text, number, parse, series, size_text

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
        raise parameter.wrong(f"{quoted(word.text)} is not a number; write for example 4k.")
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


_DIRECT = ("o_direct", "directio")
_DURABLE = {
    "o_dsync": "",
    "o_sync": "o_sync is dsync here, which leaves out times and other metadata of the file",
}
_WITHOUT = {
    "o_rsync": "reads do not wait for writes that are pending",
    "fsync": "nothing is flushed when a run ends; the nearest thing is flush_every",
}


def flags_of(use: Use) -> Parameter | None:
    """The parameter that decides."""
    return use.run.get("openflags") or use.workload.get("openflags") or use.storage.definition.get("openflags")


def opened(use: Use, verdicts: Verdicts) -> Json:
    """Options of a stream that follow from the flags."""
    parameter = flags_of(use)
    flags = [] if parameter is None else [text.lower() for text in parameter.texts if text.lower() != "none"]
    options = {"direct": use.storage.device if not flags else any(flag in _DIRECT for flag in flags)}
    if use.storage.device and parameter is not None and not options["direct"]:
        verdicts.native(parameter, "flags without o_direct leave the page cache in between")
    if not options["direct"]:
        why = "without o_direct a run measures this host's page cache as well, in Vdbench as here"
        verdicts.surprise(parameter or use.storage.lun, why)
    for flag in flags:
        assert parameter is not None, "flags stand in a parameter"
        _said(parameter, flag, verdicts)
    if any(flag in _DURABLE for flag in flags):
        options["dsync"] = True
    return options


def empties_cache(use: Use) -> bool:
    """Whether the page cache is to be dropped before each run."""
    parameter = flags_of(use)
    return parameter is not None and "clear_cache" in [text.lower() for text in parameter.texts]


def _said(parameter: Parameter, flag: str, verdicts: Verdicts) -> None:
    if flag in _DIRECT:
        verdicts.native(parameter, "direct = true")
    elif flag == "clear_cache":
        verdicts.native(parameter, 'cache = "cold"')
    elif flag in _DURABLE:
        (verdicts.ignored if _DURABLE[flag] else verdicts.native)(parameter, _DURABLE[flag] or "dsync = true")
    elif flag in _WITHOUT:
        verdicts.ignored(parameter, _WITHOUT[flag])
    elif flag.startswith("0x"):
        verdicts.unsupported(parameter, f"bits of open() cannot be given; the nearest things are o_direct and o_dsync in place of {flag}")
    else:
        raise parameter.wrong(
            f"{quoted(flag)} is not a flag; there are o_direct, directio, o_sync, o_dsync, o_rsync, fsync and clear_cache."
        )
