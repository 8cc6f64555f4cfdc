"""Where on the target a stream goes: size, range, offset and streams of an SD and a WD, as regions.

Model: an SD is a part of the target, which is all that its streams see. Within it the range says from where to where, in percent up to 200
and in bytes above. ``streams=n`` cuts that into n equal pieces. Where the SD's length is not known, regions are percentages of it.
Limits: a range does not wrap around the end.

    regions(use, offset=0, verdicts)        # [Region(start=512, length=10737417728)]
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from plimsoll.formats.vdbench.access import Use
from plimsoll.formats.vdbench.numbers import decimal_text, number, series, size_text
from plimsoll.formats.vdbench.parameter import Parameter
from plimsoll.formats.vdbench.sizes import Sizes
from plimsoll.formats.vdbench.verdicts import Verdicts

Json = dict[str, Any]

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


def regions(use: Use, offset: int, verdicts: Verdicts) -> list[Region]:
    """One region, or one for each of the WD's streams."""
    streams = _streams(use)
    limits = _limits(use, verdicts)
    length = use.storage.length
    whole = _shares(use, limits, offset) if length is None else _bytes(use, limits, offset, length)
    return [whole] if streams == 1 else [whole.part(at, streams) for at in range(streams)]


def _streams(use: Use) -> int:
    parameter = use.workload.get("streams")
    if parameter is None:
        return 1
    found = series(parameter)[0].value
    if found != int(found) or not 1 <= found <= STREAMS_MAX:
        raise parameter.wrong(f"{found:g} is no number of streams here; write 1 to {STREAMS_MAX}.")
    return int(found)


def _limits(use: Use, verdicts: Verdicts) -> tuple[float, float] | None:
    """The range that holds, in percent or bytes; None for the whole SD."""
    parameter = _range_of(use)
    if parameter is None:
        return None
    found = [item.value for item in series(parameter)]
    if len(found) > 2:
        verdicts.unsupported(parameter, "a stream has one range; the nearest thing is a WD for each, with the same skew")
        return None
    if len(found) != 2 or not 0 <= found[0] < found[1]:
        raise parameter.wrong("a range has a beginning and a larger end; write percent such as (10,20), or bytes such as (1g,2g).")
    if 100 < found[1] <= PERCENT_MAX:
        verdicts.unsupported(
            parameter, f"a range does not wrap around the end; the nearest thing is {parameter.keyword}=({found[0]:g},100)"
        )
        return None
    return found[0], found[1]


def _range_of(use: Use) -> Parameter | None:
    """The parameter that limits the SD: of the WD's hotband and range whichever stands last, or the SD's own range."""
    own = [found for name in ("hotband", "range") if (found := use.workload.get(name)) is not None]
    return max(own, key=lambda found: found.order) if own else use.storage.definition.get("range")


def _bytes(use: Use, limits: tuple[float, float] | None, offset: int, length: int) -> Region:
    start, end = 0, length
    if limits is not None:
        parameter = _range_of(use) or use.storage.lun
        start, end = (int(limit * length / 100) if limits[1] <= PERCENT_MAX else int(limit) for limit in limits)
        if end > length or start >= end:
            raise parameter.wrong(f"it does not lie within the {length} bytes of SD {use.storage.name!r}; write one that does.")
    first = max(use.storage.first_byte, offset)
    if end <= first:
        raise use.storage.lun.wrong(f"SD {use.storage.name!r} has no room after byte {first}; write a larger size or range.")
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


def shifted(use: Use, sizes: Sizes, verdicts: Verdicts) -> int:
    """Bytes by which the SD's offset moves every address."""
    parameter = use.storage.definition.get("offset")
    if parameter is None:
        return 0
    offset = _offset(parameter)
    if offset % sizes.align:
        near = f"the nearest thing is align={offset & -offset} instead of offset"
        why = f"addresses are multiples of the alignment, {sizes.align} bytes; {near}"
        verdicts.unsupported(parameter, why)
        return 0
    verdicts.native(parameter, "region_start")
    return offset


def _offset(parameter: Parameter) -> int:
    found = number(parameter)
    if found.value < 0 or found.value % 512:
        raise parameter.wrong("an offset is a multiple of 512; write for example 4096.")
    return int(found.value)
