"""Jobs that work on many files and not on blocks: engines that create, stat and delete files, and jobs that open and close them as they go.

Many files that fio opens once, at its beginning, are the parts of a target like few of them: requests to open files are what is measured.
Where it has fewer of them open than there are (``openfiles``), opening and closing is part of the load, which is what a tree is for; so is
one of files whose lengths are drawn.

Model: every job has a tree of its own, flat, with ``nrfiles`` files for each clone; its clones are threads. Each thread goes through the
files once, ``loops`` times, or until the time is over.
Limits: fio keeps ``openfiles`` files open and asks for a block of each in turn; here a file is opened and closed around what is asked of
it, which is measured as operations of its own. Files that are read or written in order are so one after the other.

    trees = trees_of(values, files, region, pace, requests)
    tree_stream(trees, "stat")[0].stream        # {"name": "stat", "tree": "stat", "operation": "stat", …}
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from plimsoll.formats.fio.files import FILES_MAX, Files, Region, capped_bytes, capped_requests
from plimsoll.formats.fio.notes import Note, ignored, native, surprise, unsupported
from plimsoll.formats.fio.pace import HELD, Crew, Pace, paced
from plimsoll.formats.fio.quantity import Quantity, bytes_text, rounded
from plimsoll.formats.fio.requests import Requests, Values
from plimsoll.stored import Json

#: What the engines of files do, and what has to be there before.
OPERATIONS = {"filecreate": ("create", "nothing"), "filestat": ("stat", "files"), "filedelete": ("delete", "files")}
#: So many files are a target, however few of them fio has open at a time.
_FEW = 256
_LETTERS = {"r": "read", "w": "write"}
_DEFAULT_BYTES = 4096
#: What jobs on blocks have and trees do not; each is said to be left out where it asks for anything.
_LEFT_OUT = (
    *("offset", "offset_increment", "offset_align", "fill_device", "filename_format", "ba", "percentage_random", "random_distribution"),
    *("bs_is_seq_rand", "rw_sequencer", "zonemode", "iodepth", "serialize_overlap", "continue_on_error", "exitall_on_error"),
    *("rate_min", "rate_iops_min", "max_latency", "latency_target", "steadystate", "sync", "fsync", "fdatasync", "end_fsync"),
    *("fsync_on_close", "zero_buffers", "buffer_pattern", "buffer_compress_percentage", "dedupe_percentage", "verify", "verify_only"),
    *("read_iolog",),
)
#: Values that ask for nothing.
_NOTHING = (None, False, 0, "", "0", "none", "random")
_HELD_OR_PAUSED = HELD | {"pause", "pause_requests", "pause_interval"}
#: What streams on blocks have, and those on trees do not.
_NO_OPTIONS = _HELD_OR_PAUSED | {"queue_depth", "read_percent"}


def is_of_files(values: Values) -> bool:
    """Whether a job needs a tree of files."""
    if values.get("ioengine", "") in OPERATIONS:
        return True
    count = values.get("nrfiles", 1)
    if count <= _FEW or "filename" in values:
        return False
    least, most = values.get("filesize", (0, 0))
    # Those that are drawn have a length each.
    return bool(count > FILES_MAX or 0 < values.get("openfiles", 0) < count or least != most)


@dataclass(frozen=True)
class Trees:
    """What a job asks of the files of a tree."""

    requests: Requests
    files: Files
    region: Region
    pace: Pace
    clones: int
    #: What its engine does with files, and what has to be there before; None for one that reads and writes them.
    operation: tuple[str, str] | None
    #: After so many requests; 0 where the files decide.
    number: int
    seed: int | None
    #: Where the tree lies; several directories, where the job names several.
    directory: str
    #: Options that ask for what streams on trees do not have.
    left_out: tuple[str, ...]


def _left_out(values: Values) -> tuple[str, ...]:
    given = {name: values[name] for name in _LEFT_OUT if name in values}
    return tuple(name for name, value in given.items() if value not in _NOTHING and (name, value) != ("iodepth", 1))


def trees_of(values: Values, files: Files, region: Region, pace: Pace, requests: Requests) -> Trees:
    """The trees of a job."""
    return Trees(
        requests=requests,
        files=files,
        region=region,
        pace=pace,
        clones=values.get("numjobs", 1),
        operation=OPERATIONS.get(values.get("ioengine", "")),
        number=values.get("number_ios", 0),
        seed=values.get("randseed"),
        directory=str(values.get("directory", ".")),
        left_out=_left_out(values),
    )


@dataclass(frozen=True)
class Tree:
    """A tree and the stream that works on it."""

    tree: Json
    stream: Json


def tree_stream(job: Trees, name: str) -> tuple[Tree, tuple[Note, ...]]:
    """The tree of a job, and its stream."""
    threads, files = job.clones, job.files.count
    tree: Json = {"name": name, "path": name, "files": files * threads, "sizes": _sizes(job.region, files)}
    notes = []
    if job.operation is None:
        transfers, said = _transfers(job.requests, job.files.service[0])
        notes += said
    else:
        transfers = {"operation": job.operation[0], "file_select": "sequential"}
        tree |= {} if job.operation[1] == "files" else {"lay_out": job.operation[1]}
        notes.append(native("ioengine", f'driver = "files", operation = "{job.operation[0]}"'))
    pace, said = _paced(job.pace, threads, job.requests)
    budget, more = _budget(job, files)
    stream: Json = {"name": name, "tree": name, **transfers, **pace}
    stream |= {"threads": threads} if threads > 1 else {}
    stream |= {} if job.seed is None else {"seed": job.seed}
    why = "streams on trees of files have no such option, so the run goes on without it"
    notes += [*said, *more, *(ignored(name, why) for name in job.left_out), native("nrfiles", "files of a tree")]
    return Tree(tree, stream | budget), tuple(notes)


def _budget(job: Trees, files: int) -> tuple[Json, list[Note]]:
    """After how much a thread ends: its files once, or so many bytes or requests as the job says."""
    endless, operation = job.region.endless, job.operation
    once = operation is not None and operation[0] != "stat"
    budget: Json = {}
    notes = list[Note]()
    if operation is None and not endless:
        amount, notes = _amount(job.region, files)
        capped, said = capped_bytes(job.region, amount)
        budget["amount"] = bytes_text(capped)
        notes += said
    elif not endless:
        budget["requests"] = files * (1 if once else job.region.loops)
        if once and job.region.loops > 1:
            notes.append(ignored("loops", "what is created or deleted is so once"))
    elif once:
        notes.append(surprise("time_based", "every file is created or deleted once, so the stream ends when no file is left"))
    if job.number:
        wanted = job.number * (1 if endless else job.region.loops)
        budget["requests"] = min(wanted, budget.get("requests", wanted))
    if "requests" in budget:
        budget["requests"], said = capped_requests(job.region, budget["requests"])
        notes += said
    return budget, notes


def _amount(region: Region, files: int) -> tuple[int, list[Note]]:
    """Bytes that a thread transfers before it ends: its files once, unless the job says how much."""
    notes = []
    for name, wanted in (("io_size", region.io_size), ("size", region.size)):
        if wanted is not None and not wanted.is_bytes:
            why = "how long the files of a tree are together is not known before they are made; write bytes"
            notes.append(unsupported(name, why))
        if wanted is not None and wanted.is_bytes and wanted.number:
            return wanted.number * region.loops, notes
    least, most = region.filesize or (Quantity(_DEFAULT_BYTES), Quantity(_DEFAULT_BYTES))
    return (least.number + most.number) // 2 * files * region.loops, notes


def _sizes(region: Region, files: int) -> Any:
    if region.filesize is not None:
        least, most = region.filesize
        if least.number == most.number:
            return bytes_text(most.number)
        return f"{bytes_text(least.number)}-{bytes_text(most.number)}"
    size = region.size
    if size is None or not size.is_bytes:
        return bytes_text(_DEFAULT_BYTES)
    return bytes_text(max(1, size.number // files))


def _transfers(requests: Requests, service: str) -> tuple[Json, list[Note]]:
    """Reads and writes of many files."""
    mode = requests.mode
    if not set(mode.ops) <= {"r", "w"}:
        why = f"files of a tree are read and written; nearest is rw={'randwrite' if mode.random else 'write'}"
        return {"operation": "write"}, [unsupported("rw", why)]
    notes = []
    if not mode.random and service != "sequential":
        why = "of so many files each is read or written to its end before the next; write file_service_type=sequential, or drop openfiles"
        notes.append(unsupported("file_service_type", why))
    shares = {_LETTERS[op]: rounded(share) for op, share in requests.shares.items() if share > 0}
    size = next(iter(requests.lengths))
    if len(requests.lengths) > 1 or not size.fixed:
        notes.append(unsupported("bs", "files of a tree are read and written by requests of one size; write bs= with one value"))
    options: Json = {"operation": next(iter(shares)) if len(shares) == 1 else shares, "transfer_size": bytes_text(size.least)}
    options["file_select"] = "random" if service == "random" else "sequential"
    options["file_access"] = "random" if mode.random else "sequential"
    if mode.random:
        options["stop_after"] = 1
    if requests.direct:
        options["direct"] = True
    why = "a file is opened and closed around what is asked of it, and both are measured; fio keeps openfiles of them open"
    return options, [*notes, surprise("nrfiles", why)]


def _paced(pace: Pace, threads: int, requests: Requests) -> tuple[Json, list[Note]]:
    made = paced(pace, Crew(queue_depth=1, threads=threads), requests.shares)
    notes = list(made.notes)
    for name in sorted(_HELD_OR_PAUSED & made.options.keys()):
        given = "thinktime_blocks" if name.startswith("pause") else "flow"
        notes.append(unsupported(given, "threads of a tree have a rate or a thinktime; drop it"))
    return {name: value for name, value in made.options.items() if name not in _NO_OPTIONS}, notes
