"""Where the regions of streams that run at the same time lie: one target for all of them, and how long each of its files is made.

Model: a job of ours has one target. One file is itself. Several files of one stream are striped by the length of a request when they are
taken in turn, which is what fio's round robin does, or joined when they are taken one after the other. Streams with different files get a
concatenation of all, of which each uses its own parts, in turn or joined likewise; no length has to be known for that.
A file that has to be made is as long as the longest region in it asks, beside others that are made and what is there already. Files that
are all made with one length are written as a target and its ``size``, which a typed ``--size`` can replace; lengths that differ, and files
beside what is there already, are written in the target. fio lays out all files of a job file before the first job, each as long as the
longest of the jobs wants it; so do groups with a file in common.
Limits: what is taken in turn beside files of other jobs is not verified.

    layout(flows, targets).target                       # "concat:a,b?sizes=1GiB,64KiB", and the flows have their regions
    Placed(("a", "b"), (1 << 20, 4096)).target          # "concat:a,b?sizes=1MiB,4KiB"
    Placed(("a", "b"), (4096, 4096)).size_bytes         # 8192
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import gcd

from plimsoll.formats.fio.content import check_stamps
from plimsoll.formats.fio.files import Extent, capped_bytes
from plimsoll.formats.fio.flow import Flow
from plimsoll.formats.fio.quantity import Quantity, bytes_text
from plimsoll.formats.known_targets import KnownTargets, is_device
from plimsoll.formats.parts import parts_text, plain_path, set_text

#: A scratch file is a multiple of this.
SCRATCH_STEP = 4096


@dataclass(frozen=True)
class Placed:
    """``sizes`` has a length for each path, None where nothing is made; ``unit`` is that of a stripe; ``model`` a target of no path."""

    paths: tuple[str, ...] = ()
    sizes: tuple[int | None, ...] = ()
    unit: int | None = None
    model: str = ""

    @property
    def alike(self) -> bool:
        """Whether all are made, and with one length."""
        return bool(self.sizes) and None not in self.sizes and len(set(self.sizes)) == 1

    @property
    def target(self) -> str:
        """The target as it is written."""
        if self.model:
            return self.model
        if len(self.paths) == 1:
            return plain_path(self.paths[0])
        sizes = [] if self.alike else ["-" if size is None else str(bytes_text(size)) for size in self.sizes]
        return set_text(self.paths, str(bytes_text(self.unit)) if self.unit else "", sizes)

    @property
    def size_bytes(self) -> int | None:
        """The size of the whole target, where its text does not say that of the parts."""
        return len(self.sizes) * (self.sizes[0] or 0) if self.alike else None

    @property
    def made_bytes(self) -> int:
        """How much is made."""
        return sum(size or 0 for size in self.sizes)


def laid_out(groups: Sequence[Placed]) -> list[Placed]:
    """The targets of groups that run one after the other: a file that several of them make has the longest of its lengths in all."""
    longest: dict[str, int] = {}
    for placed in groups:
        for path, size in zip(placed.paths, placed.sizes, strict=True):
            longest[path] = max(longest.get(path, 0), size or 0)
    return [
        replace(placed, sizes=tuple(size and longest[path] for path, size in zip(placed.paths, placed.sizes, strict=True)))
        for placed in groups
    ]


def rounded_up(number: int, step: int) -> int:
    """The next multiple of ``step``."""
    return -(-number // step) * step


_SECTOR = 512
_UNIT_MAX = 1 << 30
_IN_TURN = "files in turn beside those of other jobs are not verified; write file_service_type=sequential, or put stonewall between"
_WHOLE = "files that are joined are used whole; leave size out, or name one file"


def layout(flows: Sequence[Flow], targets: KnownTargets) -> Placed:
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
    if len({flow.files for flow in flows}) == 1 and len({_unit(flow) for flow in flows}) == 1:
        return _together(flows, targets)
    return _apart(paths, flows, targets)


def _null(flows: Sequence[Flow], targets: KnownTargets) -> Placed:
    ends = []
    for flow in flows:
        if not targets.target:
            _without_size(flow, targets)
        start, length = flow.extent.start, flow.extent.length
        _write(flow, start, length, flow.extent.amount)
        ends.append(start.number + length.number if length is not None and length.is_bytes and start.is_bytes else 0)
    most = rounded_up(max(ends), SCRATCH_STEP)
    return Placed(model=f"null:?size={bytes_text(most)}" if most else "null:")


def _single(path: str, flows: Sequence[Flow], size: int | None) -> Placed:
    ends: list[int | None] = []
    for flow in flows:
        start, length = flow.extent.start, flow.extent.length
        _write(flow, start, length, _counted(flow, size))
        ends.append(start.number + length.number if length is not None and length.is_bytes and start.is_bytes else None)
    return Placed((path,), (_made(path, ends),))


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


def _made(path: str, ends: Sequence[int | None]) -> int | None:
    """How long a file has to be made for regions that end there; None for a device, and where one goes to the end."""
    known = [end for end in ends if end is not None]
    return None if is_device(path) or len(known) < len(ends) else rounded_up(max(known, default=0), SCRATCH_STEP) or None


def _sizes(paths: Sequence[str], ends: Mapping[str, Sequence[int | None]], targets: KnownTargets) -> tuple[int | None, ...]:
    """How long each file is made: as long as the regions in it ask, where it is not that long; a typed size is that of all files alike."""
    made = {path: _made(path, ends[path]) for path in paths}
    there = {path for path in paths if is_device(path) or _reaches(targets(path), made[path])}
    known = [size for size in made.values() if size is not None]
    if targets.given is not None and targets.overrides and not there:
        return tuple(max(known) if len(known) == len(paths) else None for _ in paths)
    return tuple(None if path in there else made[path] for path in paths)


def _reaches(found: int | None, wanted: int | None) -> bool:
    """Whether a file is there, and long enough; fio makes a shorter one longer."""
    return found is not None and found >= (wanted or 0)


def _together(flows: Sequence[Flow], targets: KnownTargets) -> Placed:
    """All streams use the same files in the same way."""
    files, unit = flows[0].files, _unit(flows[0])
    ends = [_used(flow, unit) for flow in flows]
    if unit is None and (len(set(ends)) > 1 or (ends[0] is not None and any(is_device(path) for path in files))):
        flows[0].job.unsupported("size", _WHOLE)
    whole = [end and rounded_up(end, unit or 1) for end in ends]
    return Placed(files, _sizes(files, dict.fromkeys(files, whole), targets), unit)


def _replayed(paths: Sequence[str], flows: Sequence[Flow]) -> Placed:
    """The files that a log names, one after the other; several logs of different files have no common order of them."""
    if len({flow.files for flow in flows}) > 1:
        flows[0].job.unsupported("read_iolog", "logs of different files are repeated one after the other; put stonewall between")
    if any(flow.extent.length is not None for flow in flows):
        flows[0].job.ignored("size", "the files of a log are as long as they are")
    return Placed(tuple(paths), (None,) * len(paths))


def _apart(paths: Sequence[str], flows: Sequence[Flow], targets: KnownTargets) -> Placed:
    """Streams with different files: each has parts of a concatenation of all."""
    numbers = {path: number for number, path in enumerate(paths)}
    ends: dict[str, list[int | None]] = {path: [] for path in paths}
    for flow in flows:
        if "trace" in flow.options:
            flow.job.unsupported("read_iolog", "a log beside jobs on other files has no place of its own; put stonewall between")
        unit = _unit(flow) if len(flow.files) > 1 else None
        flow.options["parts"] = parts_text([numbers[path] for path in flow.files])
        if unit is not None and _is_stamped(flow):
            unit = None
            if not flow.random:
                flow.job.unsupported("verify" if flow.job.has("verify") else "", _IN_TURN)
        if unit is not None:
            flow.options["parts_unit"] = bytes_text(unit)
        end = _used(flow, unit, targets)
        for path in flow.files:
            ends[path].append(None if end is None else rounded_up(end, unit or 1))
    sizes = _sizes(paths, ends, targets)
    made = dict(zip(paths, sizes, strict=True))
    for flow in flows:
        if len(flow.files) > 1 and "parts_unit" not in flow.options:
            _check_whole(flow, made, targets)
    return Placed(tuple(paths), sizes)


def _is_stamped(flow: Flow) -> bool:
    """Whether each byte needs one place on the target, which files in turn beside those of other jobs do not give it."""
    return flow.options.get("verify", "off") != "off" or flow.options.get("content") == "stamps"


def _check_whole(flow: Flow, made: Mapping[str, int | None], targets: KnownTargets) -> None:
    """Joined files are used from their first bytes to their last, so each has to be as long as the job uses of it."""
    length = flow.extent.length
    if length is not None and any((made[path] or targets(path)) != length.number for path in flow.files):
        flow.job.unsupported("size", _WHOLE)


def _unit(flow: Flow) -> int | None:
    """The bytes that go to one file before the next; None where files are to be joined."""
    word, run = flow.service
    size = flow.request_bytes
    unit = (size or 0) * (run if word == "roundrobin" else 1)
    if word == "sequential" or not size or size % _SECTOR or unit > _UNIT_MAX:
        return None
    if word == "random" and not flow.random:
        flow.job.native("file_service_type", "files are taken in turn, which is even; fio draws one for each request")
    return unit


def _used(flow: Flow, unit: int | None, targets: KnownTargets | None = None) -> int | None:
    """Writes the region of a stream in all its files, in turn by units or joined; returns where it ends in each, where that is known."""
    start, length, count = flow.extent.start, flow.extent.length, len(flow.files)
    if count > 1 and unit is None:
        _check_joined(flow)
        start = Quantity(0)
    ends = start.number + length.number if length is not None and length.is_bytes and start.is_bytes else None
    if unit and length is not None and length.is_bytes and flow.request_bytes:
        # What is left of a file after the last whole request is no part of the turns.
        length = Quantity(max(1, length.number // flow.request_bytes) * flow.request_bytes)
    amount = _counted(flow, targets(flow.files[0])) if targets and count == 1 else flow.extent.amount
    whole = Quantity(length.number * count) if length is not None and length.is_bytes else length
    _write(flow, Quantity(start.number * count) if start.is_bytes else start, whole, amount)
    return ends


def _check_joined(flow: Flow) -> None:
    start, length = flow.extent.start, flow.extent.length
    if flow.service[0] == "roundrobin" and not flow.random:
        flow.job.unsupported(
            "bs",
            "files are taken in turn only by requests of one size, a multiple of 512; "
            "write bs= with one value, or file_service_type=sequential",
        )
    if start.number or (length is not None and not length.is_bytes):
        flow.job.unsupported("offset" if start.number else "size", "files that are joined are used whole; leave it out, or name one file")


def _absolute(quantity: Quantity, size: int) -> int:
    return quantity.number if quantity.is_bytes else size * quantity.number // 100 // SCRATCH_STEP * SCRATCH_STEP


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
