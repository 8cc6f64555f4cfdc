"""How much of each file a clone uses, and how much it transfers before it ends.

Model: ``size`` is the length over all files of the clone and, unless ``io_size`` says otherwise, what it transfers; ``offset`` and
``offset_increment`` say where its region starts in each file. Percentages are of the file. With ``time_based`` there is no amount.

    extent(job, clone=1, files=1)        # Extent(start=…, length=…, amount=…)
"""

from __future__ import annotations

from dataclasses import dataclass

from plimsoll.formats.fio.files import named_files
from plimsoll.formats.fio.job import Job
from plimsoll.formats.fio.quantity import Quantity

_NOTHING = Quantity(0)
_ZONES = "lengths are not counted in zones; write bytes or percent"


@dataclass(frozen=True)
class Extent:
    """``length`` is per file, None to its end; ``amount`` is over all files, None without limit."""

    start: Quantity
    length: Quantity | None
    amount: Quantity | None


def extent(job: Job, clone: int, files: int) -> Extent:
    """The region and amount of a clone that has so many files."""
    start = _start(job, clone)
    length = _length(job, clone, start, files)
    return Extent(start, length, _amount(job, start, length, files))


def _start(job: Job, clone: int) -> Quantity:
    offset, step = _checked(job, "offset"), _checked(job, "offset_increment")
    if job.has("offset_align"):
        job.native("offset_align", "a region starts at a multiple of the alignment of its requests")
    if not step.number or not clone:
        return offset if offset.number else Quantity(0, step.unit if step.number else offset.unit)
    if offset.number and offset.unit != step.unit:
        job.unsupported("offset_increment", "bytes and percent do not add up here; write offset and offset_increment in the same unit")
        return offset
    start = Quantity(offset.number + clone * step.number, step.unit)
    if not start.is_bytes and start.number >= 100:
        raise job.wrong("offset_increment", f"clone {clone} would start at {start.number}% of the file; write a smaller step.")
    return start


def _checked(job: Job, name: str) -> Quantity:
    value: Quantity = job.get(name, _NOTHING)
    if value.unit == "zones":
        job.unsupported(name, _ZONES)
        return _NOTHING
    return value


def _length(job: Job, clone: int, start: Quantity, files: int) -> Quantity | None:
    if job.has("filesize"):
        least, most = job.get("filesize")
        if least.number != most.number:
            job.unsupported("filesize", "files of one target have one length; write a single size")
        count = len(named_files(job, clone)) if job.target else 1
        return Quantity(max(1, most.number * count - (start.number if start.is_bytes else 0)))
    size = job.get("size")
    if size is None:
        return None
    if size.unit == "zones":
        job.unsupported("size", _ZONES)
        return None
    if not size.number:
        return None
    return Quantity(max(1, size.number // files)) if size.is_bytes else size


def _amount(job: Job, start: Quantity, length: Quantity | None, files: int) -> Quantity | None:
    if is_time_based(job):
        for name in ("loops", "io_size"):
            job.idle(name, "time_based goes on until runtime is over")
        return None
    amount = _once(job, start, length, files)
    return amount and Quantity(amount.number * job.get("loops", 1), amount.unit)


def _once(job: Job, start: Quantity, length: Quantity | None, files: int) -> Quantity | None:
    io_size = job.get("io_size")
    if io_size is not None and io_size.number:
        if io_size.is_bytes:
            return Quantity(io_size.number)
        if io_size.unit == "zones":
            job.unsupported("io_size", _ZONES)
            return None
        if length is not None:
            total = length.number * files if length.is_bytes else length.number
            return Quantity(max(1, total * io_size.number // 100), length.unit)
        return Quantity(io_size.number, "percent")
    size = job.get("size")
    if job.has("filesize") and size is not None and length is not None and size.number and size.unit != "zones":
        wanted = size.number if size.is_bytes else job.get("filesize")[1].number * files * size.number // 100
        return Quantity(max(1, min(wanted, length.number * files)))
    if length is None:
        return Quantity(100 - start.number, "percent") if not start.is_bytes or not start.number else None
    return Quantity(length.number * files, "bytes") if length.is_bytes else length


def is_time_based(job: Job) -> bool:
    """``time_based`` without a runtime has no effect with fio."""
    return bool(job.get("time_based")) and bool(job.get("runtime"))
