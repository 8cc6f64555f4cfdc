"""Where the regions of streams that run at the same time lie: one target for all of them.

Model: a job of ours has one target. One file is itself. Several files of one stream are striped by the length of a request when they are
taken in turn, which is what fio's round robin does, or joined when they are taken one after the other. Streams with different files get a
concatenation of all, each its own part of it; that needs the lengths of the files, which are known for files that are made for the run.
Streams that each take several files of their own in turn get a stripe of all, of which each leaves out what belongs to the others.
Limits: the lengths of devices are known only where the caller can tell them (`KnownTargets`).

    layout(flows, targets)        # Layout("concat:a,b", size_bytes=2 << 30, problem=None), and the flows have their regions
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import gcd

from plimsoll.formats.fio.capping import capped_bytes
from plimsoll.formats.fio.content import check_stamps
from plimsoll.formats.fio.extent import Extent
from plimsoll.formats.fio.flow import Flow
from plimsoll.formats.fio.quantity import Quantity, bytes_text
from plimsoll.formats.known_targets import KnownTargets, is_device

#: A scratch file is a multiple of this.
_STEP = 4096
_SECTOR = 512
_UNIT_MAX = 1 << 30
_KIND = re.compile(r"[A-Za-z0-9_-]+:")
_SPECIAL = re.compile(r"[%,?]")


@dataclass(frozen=True)
class Layout:
    """The target's text, and how long it is made when it does not exist."""

    target: str
    size_bytes: int | None = None


def layout(flows: Sequence[Flow], targets: KnownTargets) -> Layout:
    """The target; the regions and amounts are written into the flows' options."""
    empty = [flow for flow in flows if flow.performer.backend == "null"]
    if empty:
        if len(empty) < len(flows):
            empty[0].job.unsupported("ioengine", "null is a target of its own; put stonewall between it and the others")
        return _null(empty, targets)
    for flow in flows:
        _percent_of_nothing(flow, targets)
        _without_size(flow, targets)
        if flow.zoned and len(flow.files) > 1:
            flow.job.unsupported("zonemode", "zones are of one file; name one with filename=")
    paths = list(dict.fromkeys(path for flow in flows for path in flow.files))
    if len(paths) == 1:
        return _single(paths[0], flows, targets(paths[0]))
    if all("trace" in flow.options for flow in flows):
        return _replayed(paths, flows)
    if len({flow.files for flow in flows}) == 1:
        return _together(flows)
    return _in_turn(paths, flows, targets) or _apart(paths, flows, targets)


def _null(flows: Sequence[Flow], targets: KnownTargets) -> Layout:
    ends = []
    for flow in flows:
        if not targets.target:
            _without_size(flow, targets)
        start, length = flow.extent.start, flow.extent.length
        _write(flow, start, length, flow.extent.amount)
        ends.append(start.number + length.number if length is not None and length.is_bytes and start.is_bytes else 0)
    most = _up(max(ends), _STEP)
    return Layout(f"null:?size={bytes_text(most)}" if most else "null:")


def _single(path: str, flows: Sequence[Flow], size: int | None) -> Layout:
    ends: list[int | None] = []
    for flow in flows:
        start, length = flow.extent.start, flow.extent.length
        _write(flow, start, length, _counted(flow, size))
        ends.append(start.number + length.number if length is not None and length.is_bytes and start.is_bytes else None)
    return Layout(_alone(path), _made(ends, [path]))


def _percent_of_nothing(flow: Flow, targets: KnownTargets) -> None:
    """Percentages are of a file that is there; of one that has yet to be made fio takes an offset as none, and refuses a size."""
    if all(is_device(path) or targets.at_length(path) is not None for path in flow.files):
        return
    part = flow.extent
    if not part.start.is_bytes and part.start.number:
        if flow.job.has("offset_increment"):
            flow.job.unsupported(
                "offset_increment", f"there is no file yet to take a percentage of; write it in bytes, or {targets.remedy}"
            )
        else:
            flow.job.ignored("offset", "fio takes a percentage of a file that is not there yet as 0, so the region starts with the file")
        part = replace(part, start=Quantity(0))
    if part.length is not None and not part.length.is_bytes:
        why = f"there is no file yet to take a percentage of; write filesize=, or a size in bytes, or {targets.remedy}"
        flow.job.unsupported("size", why)
    flow.extent = part


def _without_size(flow: Flow, targets: KnownTargets) -> None:
    """A file that has yet to be made has the size of the job, or the one that was given; without any, fio refuses the job."""
    missing = [path for path in flow.files or ("",) if not path or (targets(path) is None and not is_device(path))]
    part, size = flow.extent, targets.given
    if not missing or "trace" in flow.options or (part.length is not None and part.length.is_bytes):
        return
    if size is not None:
        flow.extent = _in_bytes(flow, size // max(1, len(flow.files)))
    elif part.length is None or not missing[0]:
        which = f"{missing[0]} is not there and the job has no size" if missing[0] else "the job has no size"
        why = f"{which}, so fio ends with 'you need to specify size='; write size=, or {targets.remedy}"
        flow.job.unsupported("size" if flow.job.has("size") else "", why)


def _in_bytes(flow: Flow, size: int) -> Extent:
    """The extent in files that have yet to be made, each so long."""
    part, block = flow.extent, flow.request_bytes or 1
    start = _absolute(part.start, size)
    length = max(1, size - start if part.length is None else _absolute(part.length, size))
    whole = Quantity(max(1, length // block) * block * max(1, len(flow.files)) * flow.job.get("loops", 1))
    amount = part.amount
    if not flow.endless and (amount is None or not amount.is_bytes):
        amount = whole if amount is None or not flow.job.has("io_size") else Quantity(max(1, size * amount.number // 100))
    return Extent(Quantity(start), Quantity(length), amount)


def _counted(flow: Flow, size: int | None) -> Quantity | None:
    """The amount in bytes where the length of the target is known; what is left after an offset follows from it too."""
    amount, start = flow.extent.amount, flow.extent.start
    if size is None:
        return amount
    if amount is None and not flow.endless and flow.extent.length is None and start.is_bytes:
        return Quantity(max(1, size - start.number) * flow.job.get("loops", 1))
    return amount if amount is None or amount.is_bytes else Quantity(max(1, size * amount.number // 100))


def _made(ends: Sequence[int | None], paths: Iterable[str]) -> int | None:
    """How long a file has to be made for these regions; None for devices, and where a region goes to the end."""
    if any(is_device(path) for path in paths) or any(end is None for end in ends):
        return None
    return _up(max(end for end in ends if end is not None), _STEP)


def _together(flows: Sequence[Flow]) -> Layout:
    """All streams use the same files."""
    files = flows[0].files
    unit = _unit(flows)
    if unit is None:
        return _joined(flows)
    ends: list[int | None] = []
    for flow in flows:
        start, length = flow.extent.start, flow.extent.length
        start = Quantity(start.number * len(files)) if start.is_bytes else start
        if length is not None and length.is_bytes:
            length = Quantity(length.number * len(files))
        _write(flow, start, length, flow.extent.amount)
        ends.append(start.number + length.number if length is not None and length.is_bytes and start.is_bytes else None)
    size = _made(ends, files)
    size = None if size is None else _up(size, len(files) * max(unit, _STEP) if unit % _STEP == 0 else len(files) * _up(unit, _STEP))
    return Layout(f"stripe:{_list(files)}?unit={bytes_text(unit)}", size)


def _replayed(paths: Sequence[str], flows: Sequence[Flow]) -> Layout:
    """The files that a log names, one after the other; several logs of different files have no common order of them."""
    if len({flow.files for flow in flows}) > 1:
        flows[0].job.unsupported("read_iolog", "logs of different files are repeated one after the other; put stonewall between")
    if any(flow.extent.length is not None for flow in flows):
        flows[0].job.ignored("size", "the files of a log are as long as they are")
    return Layout(f"concat:{_list(paths)}")


def _unit(flows: Sequence[Flow]) -> int | None:
    """The stripe unit that gives each file its requests in turn; None where files are to be joined."""
    units = set()
    for flow in flows:
        word, run = flow.service
        size = flow.request_bytes
        unit = (size or 0) * (run if word == "roundrobin" else 1)
        if word == "sequential" or not size or size % _SECTOR or unit > _UNIT_MAX:
            return None
        if word == "random" and not flow.random:
            flow.job.native("file_service_type", "files are taken in turn, which is even; fio draws one for each request")
        units.add(unit)
    return units.pop() if len(units) == 1 else None


def _joined(flows: Sequence[Flow]) -> Layout:
    """The files one after the other, each used from its first byte to its last."""
    files = flows[0].files
    lengths = set()
    for flow in flows:
        start, length = flow.extent.start, flow.extent.length
        if flow.service[0] == "roundrobin" and not flow.random:
            flow.job.unsupported(
                "bs",
                "files are taken in turn only by requests of one size, a multiple of 512; "
                "write bs= with one value, or file_service_type=sequential",
            )
        if start.number or (length is not None and not length.is_bytes):
            flow.job.unsupported(
                "offset" if start.number else "size", "files that are joined are used whole; leave it out, or name one file"
            )
        lengths.add(None if length is None else length.number)
        total = None if length is None else Quantity(length.number * len(files))
        _write(flow, Quantity(0), total, flow.extent.amount)
    if len(lengths) > 1 or (lengths != {None} and any(is_device(path) for path in files)):
        flows[0].job.unsupported("size", "files that are joined are used whole; leave size out, or name one file")
    ends = [None if length is None else length * len(files) for length in lengths]
    size = _made(ends, files)
    return Layout(f"concat:{_list(files)}", None if size is None else _up(size, len(files) * _STEP))


def _in_turn(paths: Sequence[str], flows: Sequence[Flow], targets: KnownTargets) -> Layout | None:
    """Streams that each take as many files of their own in turn: zones of a stripe, a row of units each; None where they do not."""
    count, lengths, units = len(flows[0].files), {flow.extent.length for flow in flows}, {flow.request_bytes for flow in flows}
    length, unit = lengths.pop(), units.pop()
    alike = not lengths and not units and all(len(flow.files) == count for flow in flows) and len(paths) == count * len(flows)
    if count == 1 or not alike or not unit or unit % _SECTOR or unit > _UNIT_MAX or not all(_takes_turns(flow) for flow in flows):
        return None
    if length is None or not length.is_bytes or length.number < unit:
        return None
    row, rows = count * unit, length.number // unit
    for place, flow in enumerate(flows):
        flow.options |= {"zone_length": bytes_text(row), "zone_skip": bytes_text(row * (len(flows) - 1))}
        _write(flow, Quantity(place * row), Quantity(rows * row * len(flows) - place * row), flow.extent.amount)
    made = None if any(is_device(path) or targets(path) is not None for path in paths) else len(paths) * _up(length.number, unit)
    return Layout(f"stripe:{_list(paths)}?unit={bytes_text(unit)}", None if made is None else _up(made, len(paths) * _up(unit, _STEP)))


def _takes_turns(flow: Flow) -> bool:
    """Whether it goes through its files from their first bytes on, a request of each in turn."""
    plain = not flow.random and not flow.zoned and not flow.extent.start.number
    return plain and flow.service == ("roundrobin", 1) and not {"stride", "direction", "sequential"} & flow.options.keys()


def _apart(paths: Sequence[str], flows: Sequence[Flow], targets: KnownTargets) -> Layout:
    """Streams with different files: each has a part of the concatenation."""
    lengths = _lengths(paths, flows, targets)
    if lengths is None:
        why = (
            "how long these files are is not known, so requests to them at once cannot be placed; "
            f"{targets.remedy}, or put stonewall between"
        )
        flows[0].job.unsupported("filename" if flows[0].job.has("filename") else "directory", why)
        return Layout(f"concat:{_list(paths)}")
    begin = {path: sum(lengths[other] for other in paths[:index]) for index, path in enumerate(paths)}
    for flow in flows:
        _within(flow, begin, lengths)
    made = None if any(targets(path) is not None for path in paths) else sum(lengths.values())
    return Layout(f"concat:{_list(paths)}", made)


def _lengths(paths: Sequence[str], flows: Sequence[Flow], targets: KnownTargets) -> dict[str, int] | None:
    """The length of every file; files that are made are all as long as the longest has to be."""
    known = {path: targets(path) for path in paths}
    sizes = {path: size for path, size in known.items() if size is not None}
    if len(sizes) == len(paths):
        return sizes if all(size % _SECTOR == 0 for size in sizes.values()) else None
    if sizes or any(is_device(path) for path in paths):
        return None
    ends = []
    for flow in flows:
        start, length = flow.extent.start, flow.extent.length
        if length is None or not length.is_bytes or not start.is_bytes:
            return None
        ends.append(start.number + length.number)
    return dict.fromkeys(paths, _up(max(ends), _STEP))


def _within(flow: Flow, begin: dict[str, int], lengths: dict[str, int]) -> None:
    """Writes the region of a stream that has a part, or several that follow each other."""
    first = flow.files[0]
    size = lengths[first]
    start = _absolute(flow.extent.start, size)
    length = size - start if flow.extent.length is None else _absolute(flow.extent.length, size)
    amount = flow.extent.amount
    if amount is not None and not amount.is_bytes:
        amount = Quantity(size * len(flow.files) * amount.number // 100)
    if len(flow.files) > 1:
        turns = flow.service[0] != "sequential" and not flow.random
        if turns or start or length != size or any(lengths[path] != size for path in flow.files):
            flow.job.unsupported(
                "nrfiles", "several files beside those of other jobs are used whole and not in turn; put stonewall between"
            )
        length *= len(flow.files)
    _write(flow, Quantity(begin[first] + start), Quantity(length), amount)


def _absolute(quantity: Quantity, size: int) -> int:
    return quantity.number if quantity.is_bytes else size * quantity.number // 100 // _STEP * _STEP


def _write(flow: Flow, start: Quantity, length: Quantity | None, amount: Quantity | None) -> None:
    if start.number:
        flow.options["region_start"] = _text(start)
        _align_to(flow, start)
    # Zones go on to the end of the file, whatever the size.
    if length is not None and not (flow.zoned and not flow.job.has("filesize")):
        flow.options["region_length"] = _text(length)
    if amount is not None and not amount.is_bytes and amount.number > 100:
        why = "how long the target is is not known here, so several passes cannot be counted; write size= in bytes, or "
        flow.job.unsupported("loops", f"{why}{flow.job.targets.remedy}")
        amount = Quantity(100, "percent")
    if amount is not None:
        flow.options["amount"] = _text(amount if not amount.is_bytes else Quantity(capped_bytes(flow.job, amount.number)))
    check_stamps(flow.job, flow.options)


def _align_to(flow: Flow, start: Quantity) -> None:
    """Ours rounds a region's start up to the alignment; fio begins at the very offset and counts its blocks from there."""
    size = flow.request_bytes
    if not start.is_bytes or not size or not start.number % size or len(flow.files) > 1:
        return
    if flow.random:
        flow.job.surprise(
            "offset", "fio's blocks begin at the offset; here they are multiples of their alignment, counted from the target's start"
        )
    else:
        flow.options.setdefault("align", bytes_text(gcd(start.number, size)))


def _text(quantity: Quantity) -> str | int:
    return bytes_text(quantity.number) if quantity.is_bytes else f"{quantity.number}%"


def _up(number: int, step: int) -> int:
    return -(-number // step) * step


def _alone(path: str) -> str:
    return f"./{path}" if _KIND.match(path) else path


def _list(paths: Iterable[str]) -> str:
    return ",".join(_SPECIAL.sub(lambda match: f"%{ord(match.group()):02X}", _alone(path)) for path in paths)
