"""The requests of a WD: mix, sizes, order, and the flags of ``openflags``, as options of a stream.

Model: values of the run's loops come before those of the WD. ``xfersize`` is one size, sizes with their percentages, or a range with its
alignment; a mix of sizes is aligned to its greatest common divisor, as everywhere here. Flags mean page cache, durability and state of the
caches: the run's come before the WD's, and these before the SD's. A device without any is opened with ``O_DIRECT``.
Limits: requests of Vdbench's ``eof`` end at the end of the range, which needs the number of threads and is added by whoever knows it.

    access(use).options                                 # {'read_percent': 70, 'block_size': '8KiB', 'random_percent': 100}
    transfer_sizes(parameter, words).block_size         # '4KiB', {'4KiB': 60, '8KiB': 40}, '4KiB-64KiB'
    opened(use).options                                 # {'direct': True, 'dsync': False}
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from plimsoll.displayed import quoted
from plimsoll.formats.vdbench.model import Parameter, Word
from plimsoll.formats.vdbench.notes import Note, Notes, Translated, ignored, native, surprise, unsupported
from plimsoll.formats.vdbench.resolve import Use
from plimsoll.formats.vdbench.values import Number, Setting, decided_percent, decimal_text, number, parse, series, size_text
from plimsoll.stored import Json

#: In how many zones of equal size the falling density of poisson addresses is drawn.
POISSON_ZONES = 20
_RANDOM, _SEQUENTIAL, _FROM_ANYWHERE = "random", "sequential", "seqnz"


@dataclass(frozen=True)
class Access:
    """Options of a stream, its alignment and longest request, whether it ends at the end of its region, what its flags say, whether they
    empty the page cache before, and what is to be said of the rest."""

    options: Json
    sizes: Sizes
    ends: bool
    opened: Translated
    cold: bool
    notes: Notes


def access(use: Use) -> Access:
    """Mix, sizes and order; raises `InputError` for values that cannot be."""
    read_percent, notes = reads(use)
    options: Json = {"read_percent": read_percent}
    sizes = transfer_sizes(use.xfersize, nearly_whole)
    notes += share_notes(use.xfersize)
    options["block_size"] = sizes.block_size
    align = use.storage.align
    if align is not None:
        sizes = Sizes(sizes.block_size, request_size(align, number(align)), sizes.longest)
        options["align"] = size_text(sizes.align)
    elif isinstance(sizes.block_size, str) and "-" in sizes.block_size:
        options["align"] = size_text(sizes.align)
    order, ends = _order(use)
    notes += (*order.notes, *_order_notes(use, order.options, ends))
    options |= order.options
    stride = _stride(use, sizes, options)
    return Access(options | stride.options, sizes, ends, opened(use), _empties_cache(use), (*notes, *stride.notes))


def reads(use: Use) -> tuple[float, Notes]:
    """Percentage of reads: a loop's, or that of rdpct or wrpct, whichever stands last."""
    rdpct, wrpct = use.rdpct, use.wrpct
    if wrpct is None or (rdpct is not None and rdpct.looped):
        return _whole_percent(rdpct, 100)
    written, notes = _whole_percent(wrpct, 0)
    share = 100 - written
    if rdpct is None:
        return share, notes
    other, more = _whole_percent(rdpct, 100)
    last, lost = (wrpct, rdpct) if wrpct.order > rdpct.order else (rdpct, wrpct)
    why = f"{last.parameter.text} stands later and decides the mix alone"
    lost_one = (surprise(lost.parameter, why),) if other != share else ()
    return share if last is wrpct else other, (*notes, *more, *lost_one)


def _whole_percent(setting: Setting | None, default: float) -> tuple[float, Notes]:
    """A percentage of the WD without what is behind its point, which Vdbench cuts off."""
    share = decided_percent(setting, default)
    if setting is None or setting.looped or share == int(share):
        return share, ()
    return int(share), (surprise(setting.parameter, f"Vdbench cuts it to {int(share)}"),)


def _order(use: Use) -> tuple[Translated, bool]:
    """Options that order requests, and whether they end at the end of the region."""
    if use.seekpct is None or not use.seekpct.words:
        return Translated({"random_percent": 100}), False
    parameter, words = use.seekpct.parameter, [word.text.lower() for word in use.seekpct.words]
    if words[0] == "poisson":
        return _poisson(parameter, words), False
    ends = "eof" in words
    named = [word for word in words if word != "eof"] or ["seq"]
    if len(named) > 1:
        raise parameter.wrong(f"{' and '.join(named)} cannot both hold; write one of random, seq, seqnz or a percentage.")
    if named[0] == _FROM_ANYWHERE:
        note = ignored(parameter, "requests start at the beginning of the range; only the first pass differs")
        return Translated({"random_percent": 0}, (note,)), ends
    # Vdbench takes any beginning of these words.
    if _RANDOM.startswith(named[0]):
        return Translated({"random_percent": 100}), ends
    if _SEQUENTIAL.startswith(named[0]):
        return Translated({"random_percent": 0}), ends
    share = parsed(parameter, Word(named[0])).value
    if share == -1:
        return Translated({"random_percent": 0, "direction": "backward"}), ends
    if not 0 <= share <= 100:
        raise parameter.wrong(f"{share:g} is no percentage; write 0 to 100, random, seq, seqnz, eof, poisson, or -1 for backwards.")
    return Translated({"random_percent": share}), ends


def _order_notes(use: Use, order: Json, ends: bool) -> Notes:
    if use.seekpct is None or use.seekpct.looped:
        return ()
    backward = ", backwards" if "direction" in order else ""
    end = "; each thread ends after its part of one pass" if ends else ""
    return (native(use.seekpct.parameter, f"random_percent = {order['random_percent']:g}{backward}{end}"),)


def _poisson(parameter: Parameter, words: Sequence[str]) -> Translated:
    """Addresses at −ln(u) × length ÷ midpoint, folded into the length: a falling exponential, drawn here in steps."""
    if len(words) == 1:
        note = unsupported(parameter, "the midpoint that Vdbench takes is not known; write it, for example (poisson,3)")
        return Translated({"random_percent": 100}, (note,))
    midpoint = parsed(parameter, Word(words[1])).value
    if len(words) > 2 or not 0 < midpoint <= 100:
        raise parameter.wrong("poisson has one number, its midpoint, above 0 and at most 100; write for example (poisson,3).")
    whole = -math.expm1(-midpoint)
    shares = [
        100 * math.exp(-midpoint * at / POISSON_ZONES) * -math.expm1(-midpoint / POISSON_ZONES) / whole for at in range(POISSON_ZONES)
    ]
    zones = ",".join(f"{decimal_text(share, 6)}/{100 / POISSON_ZONES:g}" for share in shares[:-1])
    note = native(parameter, f"distribution hot in {POISSON_ZONES} equal zones, each with its share of the falling density")
    return Translated({"random_percent": 100, "distribution": f"hot:{zones}"}, (note,))


def _stride(use: Use, sizes: Sizes, options: Json) -> Translated:
    parameter = use.stride
    if parameter is None:
        return Translated({})
    found = [item.value for item in series(parameter)]
    if len(found) != 2 or not 0 < found[0] <= found[1]:
        raise parameter.wrong("a stride is (smallest,largest); write for example (64k,64k).")
    if found[0] != found[1]:
        why = f"strides cannot be drawn at random; the nearest thing is a fixed one, stride=({found[0]:g},{found[0]:g})"
        return Translated({}, (unsupported(parameter, why),))
    if options["random_percent"] == 100:
        return Translated({}, (native(parameter, "no request is sequential, so it changes nothing"),))
    if found[0] % sizes.align:
        why = f"a stride is a multiple of the alignment, {sizes.align} bytes; the nearest thing is such a number"
        return Translated({}, (unsupported(parameter, why),))
    return Translated({"stride": size_text(found[0])}, (native(parameter, "distance between the starts of sequential requests"),))


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


def transfer_sizes(setting: Setting | None, makes_100: Callable[[float], bool] = cut_to_whole) -> Sizes:
    """The sizes of requests, Vdbench's 4k where none are given."""
    if setting is None:
        return Sizes("4KiB", 4096, 4096)
    parameter, words = setting.parameter, setting.words
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


def share_notes(setting: Setting | None) -> Notes:
    """What to say where percentages do not make 100 exactly."""
    if setting is None or len(setting.words) <= 3 or len(setting.words) % 2:
        return ()
    parameter, words = setting.parameter, setting.words
    whole = sum(parsed(parameter, word).value for word in words[1::2])
    return (native(parameter, f"the percentages make {whole:g}; they are taken in proportion"),) if abs(whole - 100) >= _EXACT else ()


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


def opened(use: Use) -> Translated:
    """Options of a stream that follow from the flags."""
    parameter = use.openflags
    flags = [] if parameter is None else [text.lower() for text in parameter.texts if text.lower() != "none"]
    options = {"direct": use.storage.device if not flags else any(flag in _DIRECT for flag in flags)}
    notes: list[Note] = []
    if use.storage.device and parameter is not None and not options["direct"]:
        notes.append(native(parameter, "flags without o_direct leave the page cache in between"))
    if not options["direct"]:
        why = "without o_direct a run measures this host's page cache as well, in Vdbench as here"
        notes.append(surprise(parameter or use.storage.lun, why))
    if parameter is not None:
        notes += [_flag_note(parameter, flag) for flag in flags]
    if any(flag in _DURABLE for flag in flags):
        options["dsync"] = True
    return Translated(options, tuple(notes))


def _empties_cache(use: Use) -> bool:
    """Whether the page cache is to be dropped before each run."""
    parameter = use.openflags
    return parameter is not None and "clear_cache" in [text.lower() for text in parameter.texts]


def _flag_note(parameter: Parameter, flag: str) -> Note:
    if flag in _DIRECT:
        return native(parameter, "direct = true")
    if flag == "clear_cache":
        return native(parameter, 'cache = "cold"')
    if flag in _DURABLE:
        return ignored(parameter, _DURABLE[flag]) if _DURABLE[flag] else native(parameter, "dsync = true")
    if flag in _WITHOUT:
        return ignored(parameter, _WITHOUT[flag])
    if flag.startswith("0x"):
        return unsupported(parameter, f"bits of open() cannot be given; the nearest things are o_direct and o_dsync in place of {flag}")
    raise parameter.wrong(f"{quoted(flag)} is not a flag; there are o_direct, directio, o_sync, o_dsync, o_rsync, fsync and clear_cache.")
