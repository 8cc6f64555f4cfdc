"""Regions that are worked through in zones, and those of which some zones are hot.

Model: with ``zonemode=strided`` ``zonesize`` bytes are transferred inside of ``zonerange`` bytes, then ``zoneskip`` bytes are left out and
the next zone begins; behind the end of the file the first one is next. These are our zones, except that a last zone that the file cuts
short is left out here. Hot zones in bytes (``zoned_abs``) are shares of a region whose length has to be known.

    zones, notes = zones_of(values)
    zoned(zones, align=4096)                           # {"zone_length": "32KiB", "zone_amount": "16KiB", "zone_skip": "64KiB"}
    hot_zones(((60, 1 << 30), (40, 3 << 30)), 4 << 30)        # "hot:60/25,40/75"
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from plimsoll.formats.fio.files import Files, Region
from plimsoll.formats.fio.notes import Note, Translated, Unfit, all_idle, surprise, unsupported
from plimsoll.formats.fio.quantity import Quantity, bytes_text, rounded
from plimsoll.formats.fio.requests import Values
from plimsoll.formats.known_targets import KnownTargets
from plimsoll.stored import Json

_LENGTHS = ("zonesize", "zonerange", "zoneskip")
_ZONED_DEVICE = "zoned devices are not driven by their zones; zonemode=strided works through a conventional region in zones"


@dataclass(frozen=True)
class Zones:
    """Bytes of a zone that are transferred, of the whole zone, and between two zones; all 0 where there are none, or none that we take."""

    #: Whether the region has zones at all.
    strided: bool = False
    amount: int = 0
    length: int = 0
    skip: int = 0
    #: The option that says how long a zone is.
    length_from: str = "zonesize"


def zones_of(values: Values) -> tuple[Zones, tuple[Note, ...]]:
    """The zones of a job; raises `Unfit` where their size or their mode is missing."""
    word = str(values.get("zonemode", "none"))
    mode = word.partition(":")[0]
    size: Quantity | None = values.get("zonesize")
    if mode == "zbd":
        return Zones(), (unsupported("zonemode", _ZONED_DEVICE),)
    if mode == "none":
        if size is not None and size.number:
            raise Unfit("zonesize", "fio takes it with a zonemode only; write zonemode=strided.")
        return Zones(), all_idle(_LENGTHS, "there is no zonemode")
    if size is None or not size.number:
        raise Unfit("zonemode" if size is None else "zonesize", "zones need their size; write zonesize=1m, for example.")
    strided = word == "strided"
    found = {name: values[name] for name in _LENGTHS if name in values}
    percent = next((name for name, quantity in found.items() if not quantity.is_bytes), None)
    if percent:
        return Zones(strided), (unsupported(percent, "zones are counted in bytes; write a size"),)
    length, skip = found.get("zonerange", size), found.get("zoneskip", Quantity(0))
    return Zones(strided, size.number, length.number, skip.number, "zonerange" if "zonerange" in values else "zonesize"), ()


def zoned(zones: Zones, align: int) -> Translated:
    """The options; ``align`` is what requests start at multiples of."""
    if not zones.amount:
        return Translated({})
    for name, number in ((zones.length_from, zones.length), ("zoneskip", zones.skip)):
        if number % align:
            why = f"zones begin at multiples of the size of a request, {align} bytes; write a multiple of it"
            return Translated({}, (unsupported(name, why),))
    found: Json = {"zone_length": bytes_text(zones.length)}
    if zones.amount != zones.length:
        found["zone_amount"] = bytes_text(zones.amount)
    if zones.skip:
        found["zone_skip"] = bytes_text(zones.skip)
    why = "a last zone that the end of the file cuts short is left out here; fio goes on in what there is of it"
    return Translated(found, (surprise("zonemode", why),))


def hot_zones(zones: Sequence[tuple[int, int]], length: Quantity | None, remedy: str) -> Translated:
    """Zones in percent and bytes as shares of a region whose length the job gives; what lies behind them is not asked for."""
    if length is None or not length.is_bytes:
        why = f"zones are shares of a region whose length is known; write size= in bytes, or zoned:, or {remedy}"
        return Translated({"distribution": "uniform"}, (unsupported("random_distribution", why),))
    if sum(size for _, size in zones) > length.number:
        why = "the zones are longer than the region; write shorter ones"
        return Translated({"distribution": "uniform"}, (unsupported("random_distribution", why),))
    return Translated({"distribution": "hot:" + ",".join(f"{access}/{rounded(100 * size / length.number)}" for access, size in zones)})


def length_of(region: Region, files: Files, targets: KnownTargets) -> Quantity | None:
    """The length of a region, from the job or from its only file; None for several files."""
    paths = files.of(0)
    if len(paths) > 1:
        return None
    given = region.size or (region.filesize[0] if region.filesize is not None else None)
    if given is not None and given.is_bytes and given.number:
        return given
    there, start = targets.at_length(paths[0]), region.offset or Quantity(0)
    if there is None or not start.is_bytes:
        return None
    return Quantity(there * given.number // 100 if given is not None and given.number else there - start.number)
