"""Regions: the part of an SD that each stream of a WD goes to, and what is hot in it by cache hits and ``hotband=(from,to)``.

Model: an SD is a part of the target, which is all that its streams see. Within it the range says from where to where, in percent up to 200
and in bytes above. ``streams=n`` cuts that into n equal pieces. Where the SD's length is not known, regions are percentages of it.
Vdbench sends rhpct percent of reads and whpct percent of writes into the hit area at the beginning, the others elsewhere. A hot zone has
one share for reads and writes, so it says the same where both shares are equal or there is only one kind of requests.
In a hot band requests crowd towards its beginning, as an index would have them. Vdbench draws a probability and looks its place up in a
curve: `CURVE` has how many requests lie before which place, and between two places they are spread evenly. Places beyond the band are
folded back into it, so what is left of the curve there lies evenly over the band. Its source (``HotBand.java``) calls the places MB, but
divides once by the bytes of a request where it takes KB for bytes; so a place is a thousandth of what the table says, and that is what is
drawn and what stands here. Writes are moved up by a hundredth of the band there. Requests that follow the one before them (seekpct below
100) do not look for a place.
Limits: a range does not wrap around the end. Reads and writes of a stream share one distribution, so in a mix writes in a hot band go where
reads go. Within a zone requests are spread evenly, also where a fold ends in it.

    [(region, hot)], notes = places(use, access)
    region                 # Region(start=512, length=10737417728)
    hot.options            # {'distribution': 'hot:80/0.01', 'region_start': 512, 'region_length': 10737417728}
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from plimsoll.displayed import quoted
from plimsoll.formats.vdbench.access import Access, Sizes
from plimsoll.formats.vdbench.model import Parameter
from plimsoll.formats.vdbench.notes import Notes, Translated, ignored, native, together, unsupported
from plimsoll.formats.vdbench.resolve import Use
from plimsoll.formats.vdbench.storage import HITAREA
from plimsoll.formats.vdbench.values import decided_percent, decimal_text, number, parse, series, size_text
from plimsoll.stored import Json

#: The most streams of a WD on an SD.
STREAMS_MAX = 4096
#: Numbers of a range up to this are percentages.
PERCENT_MAX = 200


@dataclass(frozen=True)
class Region:
    """Bytes of the target, or percent of it where ``percent`` is set; no length means to the end.

    What lies before ``first_byte`` is left out; it is apart from the start so that equal parts of a region meet at even places.
    """

    start: float
    length: float | None
    percent: bool = False
    first_byte: int = 0

    def options(self) -> Json:
        """As options of a stream; what holds by default is left out."""
        if self.percent:
            start = f"{decimal_text(self.start, 9)}%" if self.start else size_text(self.first_byte)
            options: Json = {"region_start": start, "region_length": f"{decimal_text(self.length or 0, 9)}%"}
        else:
            length = self.bytes
            options = {"region_start": size_text(self._begin), "region_length": None if length is None else size_text(length)}
        return {key: value for key, value in options.items() if value not in (0, None)}

    @property
    def bytes(self) -> int | None:
        """How many, where that is known."""
        return None if self.percent or self.length is None else int(self.start) + int(self.length) - self._begin

    @property
    def _begin(self) -> int:
        return max(int(self.start), self.first_byte)

    def part(self, at: int, many: int) -> Region:
        """One of ``many`` equal parts."""
        assert self.length is not None, "a region without length is not divided"
        if self.percent:
            return Region(self.start + self.length * at / many, self.length / many, True, self.first_byte if at == 0 else 0)
        length = int(self.length) // many
        return Region(int(self.start) + at * length, length, first_byte=self.first_byte)


def places(use: Use, found: Access) -> tuple[list[tuple[Region, Translated]], Notes]:
    """Where requests go: one region, or one for each of the WD's streams, with its options and what is hot in it."""
    offset, moved = _shifted(use, found.sizes)
    cut, limited = _regions(use, offset)
    made = [
        (region, together((_hits(use, found, region), _hot_places(use, found, region), Translated(region.options())))) for region in cut
    ]
    return made, (*moved, *limited)


def _regions(use: Use, offset: int) -> tuple[list[Region], Notes]:
    """One region, or one for each of the WD's streams."""
    streams = _streams(use)
    limits, notes = _limits(use)
    length = use.storage.length
    whole = _shares(use, limits, offset) if length is None else _bytes(use, limits, offset, length)
    return [whole] if streams == 1 else [whole.part(at, streams) for at in range(streams)], notes


def _streams(use: Use) -> int:
    parameter = use.streams
    if parameter is None:
        return 1
    found = series(parameter)[0].value
    if found != int(found) or not 1 <= found <= STREAMS_MAX:
        raise parameter.wrong(f"{found:g} is no number of streams here; write 1 to {STREAMS_MAX}.")
    return int(found)


def _limits(use: Use) -> tuple[tuple[float, float] | None, Notes]:
    """The range that holds, in percent or bytes; None for the whole SD."""
    parameter = use.limits
    if parameter is None:
        return None, ()
    found = [item.value for item in series(parameter)]
    if len(found) > 2:
        return None, (unsupported(parameter, "a stream has one range; the nearest thing is a WD for each, with the same skew"),)
    if len(found) != 2 or not 0 <= found[0] < found[1]:
        raise parameter.wrong("a range has a beginning and a larger end; write percent such as (10,20), or bytes such as (1g,2g).")
    if 100 < found[1] <= PERCENT_MAX:
        why = f"a range does not wrap around the end; the nearest thing is {parameter.keyword}=({found[0]:g},100)"
        return None, (unsupported(parameter, why),)
    return (found[0], found[1]), ()


def _bytes(use: Use, limits: tuple[float, float] | None, offset: int, length: int) -> Region:
    start, end = 0, length
    if limits is not None:
        parameter = use.limits or use.storage.lun
        start, end = (int(limit * length / 100) if limits[1] <= PERCENT_MAX else int(limit) for limit in limits)
        if end > length or start >= end:
            raise parameter.wrong(f"it does not lie within the {length} bytes of SD {quoted(use.storage.name)}; write one that does.")
    first = max(use.storage.first_byte, offset)
    if end <= first:
        raise use.storage.lun.wrong(f"SD {quoted(use.storage.name)} has no room after byte {first}; write a larger size or range.")
    return Region(start, end - start, first_byte=first)


def _shares(use: Use, limits: tuple[float, float] | None, offset: int) -> Region:
    """Regions of an SD whose length is not known."""
    first = max(use.storage.first_byte, offset)
    if limits is not None and limits[1] > PERCENT_MAX:
        return Region(limits[0], limits[1] - limits[0], first_byte=first)
    if limits is None and _streams(use) == 1:
        return Region(first, None)
    start, end = limits or (0, 100)
    return Region(start, end - start, percent=True, first_byte=first)


def _shifted(use: Use, sizes: Sizes) -> tuple[int, Notes]:
    """Bytes by which the SD's offset moves every address."""
    parameter = use.storage.offset
    if parameter is None:
        return 0, ()
    offset = _offset(parameter)
    if offset % sizes.align:
        near = f"the nearest thing is align={offset & -offset} instead of offset"
        why = f"addresses are multiples of the alignment, {sizes.align} bytes; {near}"
        return 0, (unsupported(parameter, why),)
    return offset, (native(parameter, "region_start"),)


def _offset(parameter: Parameter) -> int:
    found = number(parameter)
    if found.value < 0 or found.value % 512:
        raise parameter.wrong("an offset is a multiple of 512; write for example 4096.")
    return int(found.value)


def _hits(use: Use, access: Access, region: Region) -> Translated:
    """The distribution that sends its share to the hit area; nothing where no hits are asked for."""
    present = [setting.parameter for setting in (use.rhpct, use.whpct) if setting is not None]
    shares = {"read": decided_percent(use.rhpct, 0), "write": decided_percent(use.whpct, 0)}
    reads = access.options["read_percent"]
    relevant = {share for kind, share in shares.items() if (reads > 0 if kind == "read" else reads < 100)}
    if not present or relevant == {0}:
        return Translated({})
    why = _no_zone(use, access, region, relevant)
    if why or region.bytes is None:
        return Translated({}, tuple(unsupported(parameter, why) for parameter in present))
    zone = f"hot:{decimal_text(relevant.pop(), 6)}/{decimal_text(100 * _area(use) / region.bytes, 9)}"
    notes = tuple(native(parameter, "a hot zone of hitarea at the beginning of the region") for parameter in present)
    return Translated({"distribution": zone}, notes)


def _no_zone(use: Use, access: Access, region: Region, relevant: set[float]) -> str:
    if len(relevant) > 1:
        return (
            "reads and writes of a stream share one distribution; the nearest thing is rhpct equal to whpct, or two WDs, one that reads "
            "and one that writes"
        )
    if access.options["random_percent"] < 100:
        return "sequential requests do not go to a hot zone; the nearest thing is seekpct=100"
    if "distribution" in access.options:
        return "requests follow one distribution, and seekpct says another; the nearest thing is seekpct=100"
    if region.bytes is None:
        return f"the hit area's share of {use.storage.path} follows from its size; write the size of SD {quoted(use.storage.name)}"
    if _area(use) < access.sizes.longest:
        return "the hit area holds no request; the nearest thing is a larger hitarea"
    if _area(use) >= region.bytes:
        return "the hit area is not smaller than the region; write a smaller hitarea"
    return ""


def _area(use: Use) -> float:
    setting = use.hitarea
    if setting is None:
        return HITAREA
    found = parse(setting.text)
    if found is None or found.value <= 0:
        raise setting.parameter.wrong(f"{quoted(setting.text)} is no size; write for example hitarea=1m.")
    return found.value


#: Place in bytes and the share of requests before it; the last place is where the last slope of the source ends.
CURVE = (
    (0, 0.0), (16_000, 0.087217), (32_000, 0.10101), (64_000, 0.132206), (128_000, 0.159946), (256_000, 0.201713), (512_000, 0.262602),
    (1_024_000, 0.32645), (2_048_000, 0.366902), (4_096_000, 0.386175), (8_192_000, 0.436941), (16_384_000, 0.482631),
    (32_768_000, 0.523752), (65_536_000, 0.56076), (131_072_000, 0.594068), (262_144_000, 0.624045), (524_288_000, 0.651024),
    (1_048_576_000, 0.675305), (2_097_152_000, 0.697159), (4_194_304_000, 0.716827), (8_388_608_000, 0.734528),
    (16_777_216_000, 0.750459), (33_554_432_000, 0.764797), (67_108_864_000, 0.777701), (134_217_728_000, 0.789314),
    (268_435_456_000, 0.799767), (536_870_912_000, 0.809174), (1_073_741_824_000, 0.81764), (1_313_220_738_087, 1.0),
)  # fmt: skip
#: Vdbench counts a band in these.
MB = 1_000_000
#: Its places are whole numbers of these many bytes.
STEP = 1000
#: By which part of the band writes are moved.
WRITES_MOVED = 100
_DECIMALS = 9


def _hot_places(use: Use, found: Access, region: Region) -> Translated:
    """The distribution of a WD with a hotband; nothing for one without."""
    parameter = use.hotband
    if parameter is None:
        return Translated({})
    why = _no_band(use, found, region)
    if why or region.bytes is None:
        return Translated({}, (unsupported(parameter, why),))
    reads = found.options["read_percent"]
    note = native(parameter, "the range, and in it Vdbench's curve of hot places as distribution hot")
    if 0 < reads < 100:
        why = "the band and its hot places are kept, but writes go where reads go; Vdbench moves them 1 % of the band up"
        note = ignored(parameter, why)
    return Translated({"distribution": f"hot:{_zones(region.bytes, found.sizes.align, moved=reads == 0)}"}, (note,))


def _no_band(use: Use, found: Access, region: Region) -> str:
    if found.options["random_percent"] == 0:
        return "sequential requests have no hot places; the nearest thing is a seekpct above 0, or range in place of hotband"
    if "distribution" in found.options or use.rhpct is not None or use.whpct is not None:
        return "requests follow one distribution, and another parameter says a second one; the nearest thing is hotband alone"
    if region.bytes is None:
        return f"where its hot places end follows from the size of {use.storage.path}; write the size of SD {quoted(use.storage.name)}"
    if region.bytes < max(MB, 2 * found.sizes.longest):
        return "Vdbench takes bands of a megabyte or more; the nearest thing is range in place of hotband"
    return ""


def _zones(length: int, align: int, *, moved: bool) -> str:
    """The band in zones as our options write them: percent of requests, percent of the region."""
    band = length // MB * MB // align * align
    turned = band - band // align // WRITES_MOVED * align if moved else band
    cuts = sorted({min(place, band) // align * align for place, _ in CURVE} | {turned, band})
    zones = [(_before(end, band) - _before(start, band), end - start) for start, end in pairwise(cuts)]
    # What writes are moved beyond the end begins the band.
    at = cuts.index(turned)
    zones = zones[at:] + zones[:at]
    # The last zone is left to the rest: of the requests, and of the region that no whole megabyte holds.
    return ",".join(f"{decimal_text(100 * share, _DECIMALS)}/{decimal_text(100 * size / length, _DECIMALS)}" for share, size in zones[:-1])


def _before(place: int, band: int) -> float:
    """Which part of the requests lies before a place of the band."""
    return sum(
        (after - before) * (_folded(stop, place, band) - _folded(start, place, band)) / (stop - start)
        for (start, before), (stop, after) in pairwise(CURVE)
    )


def _folded(end: int, place: int, band: int) -> int:
    """How many of the bytes from 0 to ``end``, folded into the band, lie before ``place``; up to the first fold in whole steps."""
    first = -(-place // STEP) * STEP
    if end <= band:
        return min(end, first)
    return first + (end // band - 1) * place + min(end % band, place)
