"""``hotband=(from,to)``: a band of the SD in which requests crowd towards its beginning, as an index would have them.

Model: Vdbench draws a probability and looks its place up in a curve: `CURVE` has how many requests lie before which place, and between two
places they are spread evenly. Places beyond the band are folded back into it, so what is left of the curve there lies evenly over the band.
Its source (``HotBand.java``) calls the places MB, but divides once by the bytes of a request where it takes KB for bytes; so a place is a
thousandth of what the table says, and that is what is drawn and what stands here. Writes are moved up by a hundredth of the band there.
Requests that follow the one before them (seekpct below 100) do not look for a place.
Limits: reads and writes of a stream share one distribution, so in a mix writes go where reads go. Within a zone requests are spread evenly,
also where a fold ends in it.

    hot_places(parameter, use, found, region, verdicts)        # {'distribution': 'hot:8.7/0.001,…'}
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from plimsoll.formats.vdbench.access import Access, Use
from plimsoll.formats.vdbench.numbers import decimal_text
from plimsoll.formats.vdbench.region import Region
from plimsoll.formats.vdbench.verdicts import Verdicts

Json = dict[str, Any]

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


def hot_places(use: Use, found: Access, region: Region, verdicts: Verdicts) -> Json:
    """The distribution of a WD with a hotband; nothing for one without."""
    parameter = use.workload.get("hotband")
    if parameter is None:
        return {}
    why = _impossible(use, found, region)
    if why or region.bytes is None:
        verdicts.unsupported(parameter, why)
        return {}
    reads = found.options["read_percent"]
    if 0 < reads < 100:
        verdicts.ignored(
            parameter, "the band and its hot places are kept, but writes go where reads go; Vdbench moves them 1 % of the band up"
        )
    else:
        verdicts.native(parameter, "the range, and in it Vdbench's curve of hot places as distribution hot")
    return {"distribution": f"hot:{_zones(region.bytes, found.sizes.align, moved=reads == 0)}"}


def _impossible(use: Use, found: Access, region: Region) -> str:
    if found.options["random_percent"] == 0:
        return "sequential requests have no hot places; the nearest thing is a seekpct above 0, or range in place of hotband"
    if "distribution" in found.options or use.parameter("rhpct") is not None or use.parameter("whpct") is not None:
        return "requests follow one distribution, and another parameter says a second one; the nearest thing is hotband alone"
    if region.bytes is None:
        return f"where its hot places end follows from the size of {use.storage.path}; write the size of SD {use.storage.name!r}"
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
