"""Where the regions of streams that run at the same time lie: one target for all of them, and how long each of its files is made.

Model: a job of ours has one target. One file is itself. Several files of one stream are striped by the length of a request when they are
taken in turn, which is what fio's round robin does, or joined when they are taken one after the other. Streams with different files get a
concatenation of all, of which each uses its own parts, in turn or joined likewise; no length has to be known for that.
A file that has to be made is as long as the longest region in it asks, beside others that are made and what is there already. Files that
are all made with one length are written as a target and its ``size``, which a typed ``--size`` can replace; lengths that differ, and files
beside what is there already, are written in the target. fio lays out all files of a job file before the first job, each as long as the
longest of the jobs wants it; so do groups with a file in common.
Limits: what is taken in turn beside files of other jobs is not verified.

    layout(uses, targets).placed.target                 # "concat:a,b?sizes=1GiB,64KiB", and `options` has a region for each stream
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import gcd

from plimsoll.formats.fio.files import Extent, capped_bytes
from plimsoll.formats.fio.flow import Use
from plimsoll.formats.fio.notes import Note, ignored, native, surprise, unsupported
from plimsoll.formats.fio.quantity import Quantity, bytes_text
from plimsoll.formats.known_targets import KnownTargets, is_device
from plimsoll.formats.parts import TargetParts, parts_text
from plimsoll.stored import Json

#: A scratch file is a multiple of this.
SCRATCH_STEP = 4096


def laid_out(groups: Sequence[TargetParts]) -> list[TargetParts]:
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


@dataclass(frozen=True)
class Laid:
    """A target, the options of each stream that say where its region is, and notes on the streams by their numbers."""

    placed: TargetParts
    options: tuple[Json, ...]
    notes: tuple[tuple[int, Note], ...] = ()


#: What one stream got: its options, where it ends in each of its files if that is known, and what is to be said.
_Given = tuple[Json, int | None, list[Note]]


def layout(uses: Sequence[Use], targets: KnownTargets) -> Laid:
    """The target of streams that use files so, and the regions that they have on it."""
    empty = [number for number, use in enumerate(uses) if not use.performer.has_target]
    if empty:
        return _null(uses, empty, targets)
    known, notes = [], list[tuple[int, Note]]()
    for number, use in enumerate(uses):
        measured, said = _measured(use, targets)
        known.append(measured)
        notes += [(number, note) for note in said]
    paths = list(dict.fromkeys(path for use in known for path in use.files))
    if len(paths) == 1:
        laid = _single(paths[0], known, targets)
    elif all(use.traced for use in known):
        laid = _replayed(paths, known)
    elif len({use.files for use in known}) == 1 and len({_unit(use) for use in known}) == 1:
        laid = _together(known, targets)
    else:
        laid = _apart(paths, known, targets)
    return replace(laid, notes=(*notes, *laid.notes))


def _null(uses: Sequence[Use], empty: Sequence[int], targets: KnownTargets) -> Laid:
    """No target at all; streams beside it that have one are not laid out."""
    why = "null is a target of its own; put stonewall between it and the others"
    notes = [(empty[0], unsupported("ioengine", why))] if len(empty) < len(uses) else []
    options: list[Json] = [{} for _ in uses]
    ends = []
    for number in empty:
        use, said = (uses[number], []) if targets.target else _sized(uses[number], targets)
        start, length = use.extent.start, use.extent.length
        options[number], more = _written(use, use.extent, targets)
        notes += [(number, note) for note in (*said, *more)]
        ends.append(start.number + length.number if length is not None and length.is_bytes and start.is_bytes else 0)
    most = rounded_up(max(ends), SCRATCH_STEP)
    return Laid(TargetParts(model=f"null:?size={bytes_text(most)}" if most else "null:"), tuple(options), tuple(notes))


def _measured(use: Use, targets: KnownTargets) -> tuple[Use, list[Note]]:
    """The use with what is known of its files: what is a percentage of nothing, and how long files are that have to be made."""
    use, notes = _percent_of_nothing(use, targets)
    use, more = _sized(use, targets)
    if use.zoned and len(use.files) > 1:
        more = [*more, unsupported("zonemode", "zones are of one file; name one with filename=")]
    return use, [*notes, *more]


def _single(path: str, uses: Sequence[Use], targets: KnownTargets) -> Laid:
    size = targets(path)
    ends: list[int | None] = []
    options, notes = [], list[tuple[int, Note]]()
    for number, use in enumerate(uses):
        start, length = use.extent.start, use.extent.length
        found, said = _written(use, replace(use.extent, amount=_counted(use, size)), targets)
        options.append(found)
        notes += [(number, note) for note in said]
        ends.append(start.number + length.number if length is not None and length.is_bytes and start.is_bytes else None)
    return Laid(TargetParts((path,), (_made(path, ends),)), tuple(options), tuple(notes))


def _percent_of_nothing(use: Use, targets: KnownTargets) -> tuple[Use, list[Note]]:
    """Percentages are of a file that is there; of one that has yet to be made fio takes an offset as none, and refuses a size."""
    if all(is_device(path) or targets.at_length(path) is not None for path in use.files):
        return use, []
    part, notes = use.extent, []
    if not part.start.is_bytes and part.start.number:
        if use.region.increment is not None:
            why = f"there is no file yet to take a percentage of; write it in bytes, or {targets.remedy}"
            notes.append(unsupported("offset_increment", why))
        else:
            why = "fio takes a percentage of a file that is not there yet as 0, so the region starts with the file"
            notes.append(ignored("offset", why))
        part = replace(part, start=Quantity(0))
    if part.length is not None and not part.length.is_bytes:
        why = f"there is no file yet to take a percentage of; write filesize=, or a size in bytes, or {targets.remedy}"
        notes.append(unsupported("size", why))
    return replace(use, extent=part), notes


def _sized(use: Use, targets: KnownTargets) -> tuple[Use, list[Note]]:
    """A file that has yet to be made has the size of the job, or the one that was given; without any, fio refuses the job."""
    missing = [path for path in use.files or ("",) if not path or (targets(path) is None and not is_device(path))]
    part, size = use.extent, targets.given
    if not missing or use.traced or (part.length is not None and part.length.is_bytes):
        return use, []
    if size is not None:
        return replace(use, extent=_in_bytes(use, size // max(1, len(use.files)))), []
    if part.length is None or not missing[0]:
        which = f"{missing[0]} is not there and the job has no size" if missing[0] else "the job has no size"
        why = f"{which}, so fio ends with 'you need to specify size='; write size=, or {targets.remedy}"
        return use, [unsupported(use.region.size_from, why)]
    return use, []


def _in_bytes(use: Use, size: int) -> Extent:
    """The extent in files that have yet to be made, each so long."""
    part, block = use.extent, use.request_bytes or 1
    start = _absolute(part.start, size)
    length = max(1, size - start if part.length is None else _absolute(part.length, size))
    whole = Quantity(max(1, length // block) * block * max(1, len(use.files)) * use.region.loops)
    amount = part.amount
    if not use.region.endless and (amount is None or not amount.is_bytes):
        amount = whole if amount is None or use.region.io_size is None else Quantity(max(1, size * amount.number // 100))
    return Extent(Quantity(start), Quantity(length), amount)


def _counted(use: Use, size: int | None) -> Quantity | None:
    """The amount in bytes where the length of the target is known; what is left after an offset follows from it too."""
    amount, start = use.extent.amount, use.extent.start
    if size is None:
        return amount
    if amount is None and not use.region.endless and use.extent.length is None and start.is_bytes:
        return Quantity(max(1, size - start.number) * use.region.loops)
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


def _together(uses: Sequence[Use], targets: KnownTargets) -> Laid:
    """All streams use the same files in the same way."""
    files, unit = uses[0].files, _unit(uses[0])
    given = [_used(use, unit, targets) for use in uses]
    notes = [(number, note) for number, use in enumerate(uses) for note in _turn_notes(use)]
    notes += [(number, note) for number, (_, _, said) in enumerate(given) for note in said]
    ends = [end for _, end, _ in given]
    if unit is None and (len(set(ends)) > 1 or (ends[0] is not None and any(is_device(path) for path in files))):
        notes.append((0, unsupported("size", _WHOLE)))
    whole = [end and rounded_up(end, unit or 1) for end in ends]
    placed = TargetParts(files, _sizes(files, dict.fromkeys(files, whole), targets), unit)
    return Laid(placed, tuple(options for options, _, _ in given), tuple(notes))


def _replayed(paths: Sequence[str], uses: Sequence[Use]) -> Laid:
    """The files that a log names, one after the other; several logs of different files have no common order of them."""
    notes = []
    if len({use.files for use in uses}) > 1:
        why = "logs of different files are repeated one after the other; put stonewall between"
        notes.append((0, unsupported("read_iolog", why)))
    if any(use.extent.length is not None for use in uses):
        notes.append((0, ignored("size", "the files of a log are as long as they are")))
    return Laid(TargetParts(tuple(paths), (None,) * len(paths)), ({},) * len(uses), tuple(notes))


def _apart(paths: Sequence[str], uses: Sequence[Use], targets: KnownTargets) -> Laid:
    """Streams with different files: each has parts of a concatenation of all."""
    numbers = {path: number for number, path in enumerate(paths)}
    ends: dict[str, list[int | None]] = {path: [] for path in paths}
    options, notes, joined = [], list[tuple[int, Note]](), list[int]()
    for number, use in enumerate(uses):
        unit, said = _turn(use)
        found, end, more = _used(use, unit, targets, alone=len(use.files) == 1)
        turn = {} if unit is None else {"parts_unit": bytes_text(unit)}
        options.append({"parts": parts_text([numbers[path] for path in use.files]), **turn, **found})
        notes += [(number, note) for note in (*said, *more)]
        joined += [number] * (len(use.files) > 1 and unit is None)
        for path in use.files:
            ends[path].append(None if end is None else rounded_up(end, unit or 1))
    sizes = _sizes(paths, ends, targets)
    made = dict(zip(paths, sizes, strict=True))
    notes += [(number, unsupported("size", _WHOLE)) for number in joined if not _is_whole(uses[number], made, targets)]
    return Laid(TargetParts(tuple(paths), sizes), tuple(options), tuple(notes))


def _turn(use: Use) -> tuple[int | None, list[Note]]:
    """In which unit a stream takes its files in turn beside those of other jobs."""
    said = (
        [unsupported("read_iolog", "a log beside jobs on other files has no place of its own; put stonewall between")] if use.traced else []
    )
    unit = _unit(use) if len(use.files) > 1 else None
    if unit is not None:
        said += _turn_notes(use)
    if unit is not None and use.stamped:
        return None, said if use.random else [*said, unsupported(use.stamped_from, _IN_TURN)]
    return unit, said


def _is_whole(use: Use, made: Mapping[str, int | None], targets: KnownTargets) -> bool:
    """Joined files are used from their first bytes to their last, so each has to be as long as the job uses of it."""
    length = use.extent.length
    return length is None or all((made[path] or targets(path)) == length.number for path in use.files)


def _unit(use: Use) -> int | None:
    """The bytes that go to one file before the next; None where files are to be joined."""
    word, run = use.service
    size = use.request_bytes
    unit = (size or 0) * (run if word == "roundrobin" else 1)
    return None if word == "sequential" or not size or size % _SECTOR or unit > _UNIT_MAX else unit


def _turn_notes(use: Use) -> list[Note]:
    if _unit(use) is None or use.service[0] != "random" or use.random:
        return []
    return [native("file_service_type", "files are taken in turn, which is even; fio draws one for each request")]


def _used(use: Use, unit: int | None, targets: KnownTargets, *, alone: bool = False) -> _Given:
    """The region of a stream in all its files, in turn by units or joined; a file that is used ``alone`` may say how long it is."""
    start, length, count = use.extent.start, use.extent.length, len(use.files)
    said = []
    if count > 1 and unit is None:
        said = _joined_notes(use)
        start = Quantity(0)
    ends = start.number + length.number if length is not None and length.is_bytes and start.is_bytes else None
    if unit and length is not None and length.is_bytes and use.request_bytes:
        # What is left of a file after the last whole request is no part of the turns.
        length = Quantity(max(1, length.number // use.request_bytes) * use.request_bytes)
    amount = _counted(use, targets(use.files[0])) if alone else use.extent.amount
    whole = Quantity(length.number * count) if length is not None and length.is_bytes else length
    first = Quantity(start.number * count) if start.is_bytes else start
    options, more = _written(use, Extent(first, whole, amount), targets)
    return options, ends, [*said, *more]


def _joined_notes(use: Use) -> list[Note]:
    start, length = use.extent.start, use.extent.length
    notes = []
    if use.service[0] == "roundrobin" and not use.random:
        why = (
            "files are taken in turn only by requests of one size, a multiple of 512; "
            "write bs= with one value, or file_service_type=sequential"
        )
        notes.append(unsupported("bs", why))
    if start.number or (length is not None and not length.is_bytes):
        why = "files that are joined are used whole; leave it out, or name one file"
        notes.append(unsupported("offset" if start.number else "size", why))
    return notes


def _absolute(quantity: Quantity, size: int) -> int:
    return quantity.number if quantity.is_bytes else size * quantity.number // 100 // SCRATCH_STEP * SCRATCH_STEP


def _written(use: Use, part: Extent, targets: KnownTargets) -> tuple[Json, list[Note]]:
    """The options that say where a region is and how much of it is transferred."""
    start, length, amount = part.start, part.length, part.amount
    options: Json = {}
    notes = list[Note]()
    if start.number:
        options["region_start"] = _text(start)
        align, notes = _aligned_to(use, start)
        options |= {} if align is None else {"align": bytes_text(align)}
    # Zones go on to the end of the file, whatever the size.
    if length is not None and not (use.zoned and use.region.filesize is None):
        options["region_length"] = _text(length)
    if amount is not None and not amount.is_bytes and amount.number > 100:
        why = "how long the target is is not known here, so several passes cannot be counted; write size= in bytes, or "
        notes.append(unsupported("loops", f"{why}{targets.remedy}"))
        amount = Quantity(100, "percent")
    if amount is not None and amount.is_bytes:
        number, said = capped_bytes(use.region, amount.number)
        amount = Quantity(number)
        notes += said
    return options | ({} if amount is None else {"amount": _text(amount)}), notes


def _aligned_to(use: Use, start: Quantity) -> tuple[int | None, list[Note]]:
    """Ours rounds a region's start up to the alignment; fio begins at the very offset and counts its blocks from there."""
    size = use.request_bytes
    if not start.is_bytes or not size or not start.number % size or len(use.files) > 1:
        return None, []
    if use.random:
        why = "fio's blocks begin at the offset; here they are multiples of their alignment, counted from the target's start"
        return None, [surprise("offset", why)]
    return gcd(start.number, size), []


def _text(quantity: Quantity) -> str | int:
    return bytes_text(quantity.number) if quantity.is_bytes else f"{quantity.number}%"
