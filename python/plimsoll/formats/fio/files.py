"""Which files a clone of a job uses, how much of each, and how much it transfers before it ends.

Model: ``filename=a:b`` names them for all clones; otherwise every clone has files of its own, named by ``filename_format``. Of several
directories each clone takes the next. A job called like a device uses the device. A target that was typed takes the place of all.
``size`` is the length over all files of the clone and, unless ``io_size`` says otherwise, what it transfers; ``offset`` and
``offset_increment`` say where its region starts in each file. Percentages are of the file. With ``time_based`` there is no amount. Where a
job asks for more than a stream can be asked for, it ends there, and a note says so.

    files = files_of("reader", values, target="")
    files.of(clone=1)                             # ("/data/reader.1.0",)
    extent(region_of(values, endless=False), files, clone=1)       # Extent(start=…, length=…, amount=…)
    capped_bytes(region, 1 << 60)                 # 1 << 50, and a note on "loops"
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from plimsoll.formats.fio.forms import SERVICES
from plimsoll.formats.fio.notes import Note, Unfit, all_idle, idle, ignored, native, surprise, unsupported
from plimsoll.formats.fio.quantity import Quantity, bytes_text
from plimsoll.formats.fio.requests import Values
from plimsoll.formats.known_targets import is_of_windows

#: What names files, or says how several are used.
_NAMING = ("filename", "directory", "filename_format", "nrfiles", "file_service_type", "replay_redirect")
_FORMAT = "$jobname.$jobnum.$filenum"
#: More names are not written down. How many files a run can have open says the system then, and the run in one sentence.
FILES_MAX = 1 << 16
_RUN_MAX = 1 << 20


@dataclass(frozen=True)
class Files:
    """How the files of a job are named and taken."""

    job: str
    #: The typed target that takes the place of all the job's own, or nothing.
    target: str
    directories: tuple[str, ...]
    #: Those that it names itself, for all clones.
    named: tuple[str, ...]
    pattern: str
    #: How many each clone has, where they are not named.
    count: int
    #: How several are taken: the word, and how many requests go to one of them in a row.
    service: tuple[str, int]

    def of(self, clone: int) -> tuple[str, ...]:
        """The paths, in the order in which fio opens them."""
        return (self.target,) if self.target else self.own(clone)

    def own(self, clone: int) -> tuple[str, ...]:
        """The paths that the job itself names."""
        directory = f"{self.directories[clone % len(self.directories)].rstrip('/')}/" if self.directories else ""
        if self.named:
            return tuple(f"{directory}{name}" for name in dict.fromkeys(self.named))
        if self.count == 1 and self.job.startswith("/dev/"):
            return (self.job,)
        known = {"jobname": self.job.replace("/", "."), "jobnum": str(clone), "clientuid": ""}
        return tuple(
            dict.fromkeys(f"{directory}{_filled(self.pattern, known | {'filenum': str(n)})}" for n in range(min(self.count, FILES_MAX)))
        )


def _filled(pattern: str, words: Mapping[str, str]) -> str:
    return re.sub(r"\$(jobname|jobnum|filenum|clientuid)", lambda match: words[match.group(1)], pattern)


def files_of(job: str, values: Values, target: str) -> Files:
    """The files of a job of that name."""
    word, _, number = str(values.get("file_service_type", "roundrobin")).partition(":")
    return Files(
        job=job,
        target=target,
        directories=_names(values.get("directory", "")),
        named=_names(values.get("filename", "")),
        pattern=values.get("filename_format") or _FORMAT,
        count=values.get("nrfiles", 1),
        service=(word, int(number) if number.isdigit() and 0 < int(number) <= _RUN_MAX else 1),
    )


def file_notes(files: Files, values: Values, *, reached: bool) -> tuple[Note, ...]:
    """What cannot be a target, and how it is taken; ``reached`` says whether the engine reaches the files at all."""
    notes = [*target_notes(files, values), *(() if files.target else _named_notes(files, values))] if reached else []
    if files.service[0] not in SERVICES:
        why = "files are taken evenly or one after the other; random_distribution= prefers blocks of all files"
        notes.append(unsupported("file_service_type", why))
    return tuple(notes)


def target_notes(files: Files, values: Values) -> tuple[Note, ...]:
    """What becomes of the names where a typed target takes their place."""
    why = f"--target {files.target} takes the place of what it names"
    return tuple(native(name, why) for name in _NAMING if files.target and name in values)


def _named_notes(files: Files, values: Values) -> list[Note]:
    """What cannot be a target."""
    named = files.named
    notes = []
    if named and "nrfiles" in values and files.count != len(named):
        notes.append(idle("nrfiles", "filename= names the files"))
    elif files.count > FILES_MAX:
        notes.append(unsupported("nrfiles", f"a target has at most {FILES_MAX} files here; write fewer of them"))
    if named:
        notes.append(idle("filename_format", "filename= names the files"))
    if len(set(named)) < len(named):
        why = "fio takes a file that is named twice as two, and asks for the same blocks of both; here it is one file"
        notes.append(surprise("filename", why))
    for name in named:
        if name in ("-", "/dev/null", "/dev/zero"):
            notes.append(unsupported("filename", f"{name} holds no blocks; ioengine=null measures without a target"))
        elif is_of_windows(name):
            notes.append(unsupported("filename", f"{name} is a name of Windows; name a file or device of this system with --target"))
    return notes


def _names(text: str) -> tuple[str, ...]:
    """Names between colons; a backslash keeps a colon in a name."""
    return tuple(name.replace("\\:", ":") for name in re.split(r"(?<!\\):", text) if name)


_NOTHING = Quantity(0)
_ZONES = "lengths are not counted in zones; write bytes or percent"
#: Options that say how much is transferred, in the order in which remarks on it go to them.
_AMOUNTS = ("loops", "io_size", "number_ios", "size", "filesize")


@dataclass(frozen=True)
class Region:
    """What a job says of the part of its files that it uses, and of how much it transfers; None where it says nothing."""

    offset: Quantity | None
    increment: Quantity | None
    size: Quantity | None
    filesize: tuple[Quantity, Quantity] | None
    io_size: Quantity | None
    loops: int
    #: Ends by its time only.
    endless: bool
    #: Those of `_AMOUNTS` that are given and say more than nothing.
    amount_from: tuple[str, ...]

    @property
    def size_from(self) -> str:
        """The option that says how long the region is, or nothing."""
        return "" if self.size is None else "size"

    @property
    def length_of_files(self) -> int | None:
        """How long each file is, where the job says so."""
        return None if self.filesize is None else self.filesize[1].number


def region_of(values: Values, *, endless: bool) -> Region:
    """The region of a job."""
    loops: int = values.get("loops", 1)
    return Region(
        offset=values.get("offset"),
        increment=values.get("offset_increment"),
        size=values.get("size"),
        filesize=values.get("filesize"),
        io_size=values.get("io_size"),
        loops=loops,
        endless=endless,
        amount_from=tuple(name for name in _AMOUNTS if name in values and (name != "loops" or loops > 1)),
    )


def region_notes(region: Region, values: Values, clones: int) -> tuple[Note, ...]:
    """What is to be said of a region; raises `Unfit` where one of the clones would start behind the end."""
    notes = [unsupported(name, _ZONES) for name in ("offset", "offset_increment") if _in_zones(values.get(name))]
    if "offset_align" in values:
        notes.append(native("offset_align", "a region starts at a multiple of the alignment of its requests"))
    notes += _start_notes(region, clones)
    if region.filesize is not None:
        if region.filesize[0].number != region.filesize[1].number:
            notes.append(unsupported("filesize", "files of one target have one length; write a single size"))
    elif _in_zones(region.size):
        notes.append(unsupported("size", _ZONES))
    if region.endless:
        notes += all_idle(("loops", "io_size"), "time_based goes on until runtime is over")
    elif _in_zones(region.io_size) and region.io_size is not None and region.io_size.number:
        notes.append(unsupported("io_size", _ZONES))
    return tuple(notes)


def _in_zones(quantity: Quantity | None) -> bool:
    return quantity is not None and quantity.unit == "zones"


def _start_notes(region: Region, clones: int) -> list[Note]:
    """Where the clones cannot start."""
    offset, step = _known(region.offset), _known(region.increment)
    if not step.number or clones == 1:
        return []
    if offset.number and offset.unit != step.unit:
        why = "bytes and percent do not add up here; write offset and offset_increment in the same unit"
        return [unsupported("offset_increment", why)]
    outside = next((clone for clone in range(1, clones) if not step.is_bytes and offset.number + clone * step.number >= 100), None)
    if outside is not None:
        start = offset.number + outside * step.number
        raise Unfit("offset_increment", f"clone {outside} would start at {start}% of the file; write a smaller step.")
    return []


def _known(quantity: Quantity | None) -> Quantity:
    return _NOTHING if quantity is None or _in_zones(quantity) else quantity


@dataclass(frozen=True)
class Extent:
    """``length`` is per file, None to its end; ``amount`` is over all files, None without limit."""

    start: Quantity
    length: Quantity | None
    amount: Quantity | None


#: Of a stream whose files are not known yet.
NO_EXTENT = Extent(_NOTHING, None, None)


def extent(region: Region, files: Files, clone: int) -> Extent:
    """The region and amount of a clone."""
    count = len(files.of(clone))
    start = _start(region, clone)
    length = _length(region, start, count, len(files.own(clone)) if files.target else 1)
    return Extent(start, length, _amount(region, start, length, count))


def _start(region: Region, clone: int) -> Quantity:
    offset, step = _known(region.offset), _known(region.increment)
    if not step.number or not clone:
        return offset if offset.number else Quantity(0, step.unit if step.number else offset.unit)
    if offset.number and offset.unit != step.unit:
        return offset
    return Quantity(offset.number + clone * step.number, step.unit)


def _length(region: Region, start: Quantity, files: int, joined: int) -> Quantity | None:
    """``joined`` files of the job are one here, where a typed target takes their place."""
    if region.length_of_files is not None:
        return Quantity(max(1, region.length_of_files * joined - (start.number if start.is_bytes else 0)))
    size = region.size
    if size is None or _in_zones(size) or not size.number:
        return None
    return Quantity(max(1, size.number // files)) if size.is_bytes else size


def _amount(region: Region, start: Quantity, length: Quantity | None, files: int) -> Quantity | None:
    if region.endless:
        return None
    amount = _once(region, start, length, files)
    return amount and Quantity(amount.number * region.loops, amount.unit)


def _once(region: Region, start: Quantity, length: Quantity | None, files: int) -> Quantity | None:
    io_size = region.io_size
    if io_size is not None and io_size.number:
        if io_size.is_bytes:
            return Quantity(io_size.number)
        if _in_zones(io_size):
            return None
        if length is not None:
            total = length.number * files if length.is_bytes else length.number
            return Quantity(max(1, total * io_size.number // 100), length.unit)
        return Quantity(io_size.number, "percent")
    size = region.size
    if region.length_of_files is not None and size is not None and length is not None and size.number and not _in_zones(size):
        wanted = size.number if size.is_bytes else region.length_of_files * files * size.number // 100
        return Quantity(max(1, min(wanted, length.number * files)))
    if length is None:
        return Quantity(100 - start.number, "percent") if not start.is_bytes or not start.number else None
    return Quantity(length.number * files, "bytes") if length.is_bytes else length


#: The most that our options take.
AMOUNT_MAX = 1 << 50
REQUESTS_MAX = 10**15


def capped_bytes(region: Region, wanted: int) -> tuple[int, tuple[Note, ...]]:
    """The bytes to transfer, at most a pebibyte."""
    why = f"it makes {bytes_text(wanted)}, and a job ends after 1 PiB here"
    return min(wanted, AMOUNT_MAX), _beyond(region, "number_ios", why) if wanted > AMOUNT_MAX else ()


def capped_requests(region: Region, wanted: int) -> tuple[int, tuple[Note, ...]]:
    """The requests to issue, at most 10^15."""
    why = f"it makes {wanted} requests, and a job ends after {REQUESTS_MAX} here"
    return min(wanted, REQUESTS_MAX), _beyond(region, "io_size", why) if wanted > REQUESTS_MAX else ()


def _beyond(region: Region, other: str, why: str) -> tuple[Note, ...]:
    """On the repetitions, if there are any, or on the option that says how much; ``other`` counts in another unit."""
    names = [name for name in region.amount_from if name != other]
    return (ignored(names[0] if names else "", f"{why}, which no run reaches in its time"),)
