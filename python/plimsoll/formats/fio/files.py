"""Which files a clone of a job uses, how much of each, and how much it transfers before it ends.

Model: ``filename=a:b`` names them for all clones; otherwise every clone has files of its own, named by ``filename_format``. Of several
directories each clone takes the next. A job called like a device uses the device. A target that was typed takes the place of all.
``size`` is the length over all files of the clone and, unless ``io_size`` says otherwise, what it transfers; ``offset`` and
``offset_increment`` say where its region starts in each file. Percentages are of the file. With ``time_based`` there is no amount. Where a
job asks for more than a stream can be asked for, it ends there, and a remark says so.

    files_of(job, clone=1)               # ("/data/reader.1.0",)
    extent(job, clone=1, files=1)        # Extent(start=…, length=…, amount=…)
    capped_bytes(job, 1 << 60)           # 1 << 50, and "loops=…" is remarked upon
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from plimsoll.formats.fio.jobs import Job
from plimsoll.formats.fio.quantity import Quantity, bytes_text
from plimsoll.formats.known_targets import is_of_windows

#: What names files, or says how several are used.
_NAMING = ("filename", "directory", "filename_format", "nrfiles", "file_service_type", "replay_redirect")
_FORMAT = "$jobname.$jobnum.$filenum"
#: More names are not written down. How many files a run can have open says the system then, and the run in one sentence.
FILES_MAX = 1 << 16


def files_of(job: Job, clone: int) -> tuple[str, ...]:
    """The paths, in the order in which fio opens them."""
    return (job.target,) if job.target else named_files(job, clone)


def named_files(job: Job, clone: int) -> tuple[str, ...]:
    """The paths that the job itself names."""
    directories = _names(job.get("directory", ""))
    directory = f"{directories[clone % len(directories)].rstrip('/')}/" if directories else ""
    named = _names(job.get("filename", ""))
    count = job.get("nrfiles", 1)
    if named:
        return tuple(f"{directory}{name}" for name in dict.fromkeys(named))
    if count == 1 and job.name.startswith("/dev/"):
        return (job.name,)
    pattern = job.get("filename_format") or _FORMAT
    known = {"jobname": job.name.replace("/", "."), "jobnum": str(clone), "clientuid": ""}
    found = []
    for number in range(min(count, FILES_MAX)):
        words = known | {"filenum": str(number)}
        name = re.sub(r"\$(jobname|jobnum|filenum|clientuid)", lambda match, words=words: words[match.group(1)], pattern)
        found.append(f"{directory}{name}")
    return tuple(dict.fromkeys(found))


def remark_target(job: Job) -> None:
    """What becomes of the names where a typed target takes their place."""
    for name in _NAMING if job.target else ():
        if job.has(name):
            job.native(name, f"--target {job.target} takes the place of what it names")


def remark_files(job: Job) -> None:
    """What cannot be a target."""
    remark_target(job)
    if job.target:
        return
    count = job.get("nrfiles", 1)
    named = _names(job.get("filename", ""))
    if named and job.has("nrfiles") and count != len(named):
        job.idle("nrfiles", "filename= names the files")
    elif count > FILES_MAX:
        job.unsupported("nrfiles", f"a target has at most {FILES_MAX} files here; write fewer of them")
    if named:
        job.idle("filename_format", "filename= names the files")
    if len(set(named)) < len(named):
        job.surprise("filename", "fio takes a file that is named twice as two, and asks for the same blocks of both; here it is one file")
    for name in named:
        if name in ("-", "/dev/null", "/dev/zero"):
            job.unsupported("filename", f"{name} holds no blocks; ioengine=null measures without a target")
        elif is_of_windows(name):
            job.unsupported("filename", f"{name} is a name of Windows; name a file or device of this system with --target")


def _names(text: str) -> list[str]:
    """Names between colons; a backslash keeps a colon in a name."""
    return [name.replace("\\:", ":") for name in re.split(r"(?<!\\):", text) if name]


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
    if job.requests.time_based:
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


#: The most that our options take.
AMOUNT_MAX = 1 << 50
REQUESTS_MAX = 10**15


def capped_bytes(job: Job, wanted: int) -> int:
    """The bytes to transfer, at most a pebibyte."""
    if wanted > AMOUNT_MAX:
        _remark(job, "io_size", f"it makes {bytes_text(wanted)}, and a job ends after 1 PiB here")
    return min(wanted, AMOUNT_MAX)


def capped_requests(job: Job, wanted: int) -> int:
    """The requests to issue, at most 10^15."""
    if wanted > REQUESTS_MAX:
        _remark(job, "number_ios", f"it makes {wanted} requests, and a job ends after {REQUESTS_MAX} here")
    return min(wanted, REQUESTS_MAX)


def _remark(job: Job, other: str, why: str) -> None:
    """On the repetitions, if there are any, or on the option that says how much."""
    names = [name for name in ("loops", other, "size", "filesize") if job.has(name) and (name != "loops" or job.get(name) > 1)]
    job.ignored(names[0] if names else "", f"{why}, which no run reaches in its time")
