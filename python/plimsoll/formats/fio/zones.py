"""``zonemode=strided``: the region zone by zone.

Model: ``zonesize`` bytes are transferred inside of ``zonerange`` bytes, then ``zoneskip`` bytes are left out and the next zone begins;
behind the end of the file the first one is next. These are our zones, except that a last zone that the file cuts short is left out here.

    zones(job)        # {"zone_length": "32KiB", "zone_amount": "16KiB", "zone_skip": "64KiB"}
"""

from __future__ import annotations

from typing import Any

from plimsoll.formats.fio.job import Job
from plimsoll.formats.fio.quantity import Quantity, bytes_text

Json = dict[str, Any]

_LENGTHS = ("zonesize", "zonerange", "zoneskip")
_ZONED_DEVICE = "zoned devices are not driven by their zones; zonemode=strided works through a conventional region in zones"


def zones(job: Job, align: int) -> Json:
    """The options; ``align`` is what requests start at multiples of."""
    mode = str(job.get("zonemode", "none")).partition(":")[0]
    if mode == "zbd":
        job.unsupported("zonemode", _ZONED_DEVICE)
        return {}
    if mode == "none":
        if job.get("zonesize") is not None and job.get("zonesize").number:
            raise job.wrong("zonesize", "fio takes it with a zonemode only; write zonemode=strided.")
        for name in _LENGTHS:
            job.idle(name, "there is no zonemode")
        return {}
    if not job.has("zonesize") or not job.get("zonesize").number:
        raise job.wrong("zonesize" if job.has("zonesize") else "zonemode", "zones need their size; write zonesize=1m, for example.")
    found = {name: job.get(name) for name in _LENGTHS if job.has(name)}
    percent = next((name for name, quantity in found.items() if not quantity.is_bytes), None)
    if percent:
        job.unsupported(percent, "zones are counted in bytes; write a size")
        return {}
    return _checked(job, align)


def _checked(job: Job, align: int) -> Json:
    amount: Quantity = job.get("zonesize")
    length: Quantity = job.get("zonerange", amount)
    skip: Quantity = job.get("zoneskip", Quantity(0))
    if length.number < amount.number and not job.has("zonerange"):
        length = amount
    for name, quantity in (("zonerange" if job.has("zonerange") else "zonesize", length), ("zoneskip", skip)):
        if quantity.number % align:
            job.unsupported(name, f"zones begin at multiples of the size of a request, {align} bytes; write a multiple of it")
            return {}
    job.surprise("zonemode", "a last zone that the end of the file cuts short is left out here; fio goes on in what there is of it")
    found: Json = {"zone_length": bytes_text(length.number)}
    if amount.number != length.number:
        found["zone_amount"] = bytes_text(amount.number)
    if skip.number:
        found["zone_skip"] = bytes_text(skip.number)
    return found


def is_zoned(job: Job) -> bool:
    """Whether the region has zones."""
    return bool(job.get("zonemode", "none") == "strided")
