"""Cache hits: ``rhpct`` and ``whpct`` of a hit area as a hot zone at the beginning of the region.

Model: Vdbench sends rhpct percent of reads and whpct percent of writes into the hit area, the others elsewhere. A hot zone has one share
for reads and writes, so it says the same where both shares are equal or there is only one kind of requests.

    hits(use, access, region, verdicts)        # {'distribution': 'hot:80/0.01'}
"""

from __future__ import annotations

from typing import Any

from plimsoll.formats.vdbench.access import Access, Use
from plimsoll.formats.vdbench.numbers import decimal_text, parse
from plimsoll.formats.vdbench.parameter import Parameter
from plimsoll.formats.vdbench.region import Region
from plimsoll.formats.vdbench.storage import HITAREA
from plimsoll.formats.vdbench.verdicts import Verdicts

Json = dict[str, Any]


def hits(use: Use, access: Access, region: Region, verdicts: Verdicts) -> Json:
    """The distribution that sends its share to the hit area; nothing where no hits are asked for."""
    present = [parameter for parameter in (use.parameter("rhpct"), use.parameter("whpct")) if parameter is not None]
    shares = {"read": use.percent("rhpct", 0), "write": use.percent("whpct", 0)}
    reads = access.options["read_percent"]
    relevant = {share for kind, share in shares.items() if (reads > 0 if kind == "read" else reads < 100)}
    if not present or relevant == {0}:
        return {}
    why = _impossible(use, access, region, relevant)
    for parameter in present:
        if why:
            verdicts.unsupported(parameter, why)
        else:
            verdicts.native(parameter, "a hot zone of hitarea at the beginning of the region")
    if why or region.bytes is None:
        return {}
    return {"distribution": f"hot:{decimal_text(relevant.pop(), 6)}/{decimal_text(100 * _area(use) / region.bytes, 9)}"}


def _impossible(use: Use, access: Access, region: Region, relevant: set[float]) -> str:
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
        return f"the hit area's share of {use.storage.path} follows from its size; write the size of SD {use.storage.name!r}"
    if _area(use) < access.sizes.longest:
        return "the hit area holds no request; the nearest thing is a larger hitarea"
    if _area(use) >= region.bytes:
        return "the hit area is not smaller than the region; write a smaller hitarea"
    return ""


def _area(use: Use) -> float:
    parameter = _parameter(use)
    if parameter is None:
        return HITAREA
    text = use.choice["hitarea"].text if "hitarea" in use.choice else parameter.word
    found = parse(text)
    if found is None or found.value <= 0:
        raise parameter.wrong(f"{text!r} is no size; write for example hitarea=1m.")
    return found.value


def _parameter(use: Use) -> Parameter | None:
    return use.loops.get("hitarea") or use.storage.definition.get("hitarea")
