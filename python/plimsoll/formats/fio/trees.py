"""Jobs that work on many files and not on blocks: engines that create, stat and delete files, and jobs that open and close them as they go.

Many files that fio opens once, at its beginning, are the parts of a target like few of them: requests to open files are what is measured.
Where it has fewer of them open than there are (``openfiles``), opening and closing is part of the load, which is what a tree is for; so is
one of files whose lengths are drawn.

Model: every job has a tree of its own, flat, with ``nrfiles`` files for each clone; its clones are threads. Each thread goes through the
files once, ``loops`` times, or until the time is over.
Limits: fio keeps ``openfiles`` files open and asks for a block of each in turn; here a file is opened and closed around what is asked of
it, which is measured as operations of its own. Files that are read or written in order are so one after the other.

    tree_stream(job, "stat")        # ({"name": "stat", "files": 100, …}, {"name": "stat", "operation": "stat", …})
"""

from __future__ import annotations

from typing import Any

from plimsoll.formats.fio.files import FILES_MAX, capped_bytes, capped_requests
from plimsoll.formats.fio.flow import HELD, pace
from plimsoll.formats.fio.jobs import Job
from plimsoll.formats.fio.quantity import Quantity, bytes_text, rounded

Json = dict[str, Any]

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


def is_of_files(job: Job) -> bool:
    """Whether the job needs a tree of files."""
    if job.get("ioengine", "") in OPERATIONS:
        return True
    count = job.get("nrfiles", 1)
    if count <= _FEW or job.has("filename"):
        return False
    return bool(count > FILES_MAX or 0 < job.get("openfiles", 0) < count or _are_drawn(job))


def _are_drawn(job: Job) -> bool:
    """Whether each file has a length of its own."""
    least, most = job.get("filesize", (0, 0))
    return bool(least != most)


def tree_stream(job: Job, name: str) -> tuple[Json, Json]:
    """The tree of a job, and its stream."""
    threads, files = job.get("numjobs", 1), job.get("nrfiles", 1)
    operation = OPERATIONS.get(job.get("ioengine", ""))
    tree: Json = {"name": name, "path": name, "files": files * threads, "sizes": _sizes(job, files)}
    stream: Json = {"name": name, "tree": name}
    if operation is None:
        stream |= _transfers(job)
    else:
        stream |= {"operation": operation[0], "file_select": "sequential"}
        tree |= {} if operation[1] == "files" else {"lay_out": operation[1]}
        job.native("ioengine", f'driver = "files", operation = "{operation[0]}"')
    stream |= _paced(job, threads)
    if threads > 1:
        stream["threads"] = threads
    if job.has("randseed"):
        stream["seed"] = job.get("randseed")
    stream |= _budget(job, operation, files)
    _remark_left_out(job)
    job.native("nrfiles", "files of a tree")
    return tree, stream


def _budget(job: Job, operation: tuple[str, str] | None, files: int) -> Json:
    """After how much a thread ends: its files once, or so many bytes or requests as the job says."""
    budget: Json = {}
    if operation is None and not job.requests.time_based:
        budget["amount"] = bytes_text(capped_bytes(job, _amount(job, files)))
    elif not job.requests.time_based:
        budget["requests"] = files * _rounds(job, operation)
    elif operation is not None and operation[0] != "stat":
        job.surprise("time_based", "every file is created or deleted once, so the stream ends when no file is left")
    if job.get("number_ios"):
        rounds = 1 if job.requests.time_based else int(job.get("loops", 1))
        budget["requests"] = min(job.get("number_ios") * rounds, budget.get("requests", job.get("number_ios") * rounds))
    if "requests" in budget:
        budget["requests"] = capped_requests(job, budget["requests"])
    return budget


def _remark_left_out(job: Job) -> None:
    for name in _LEFT_OUT:
        if job.has(name) and job.get(name) not in _NOTHING and (name, job.get(name)) != ("iodepth", 1):
            job.ignored(name, "streams on trees of files have no such option, so the run goes on without it")


def _rounds(job: Job, operation: tuple[str, str] | None) -> int:
    """How often a thread goes through its files."""
    if operation is not None and operation[0] != "stat" and job.get("loops", 1) > 1:
        job.ignored("loops", "what is created or deleted is so once")
        return 1
    return int(job.get("loops", 1))


def _amount(job: Job, files: int) -> int:
    """Bytes that a thread transfers before it ends: its files once, unless the job says how much."""
    loops: int = job.get("loops", 1)
    for name in ("io_size", "size"):
        wanted = job.get(name)
        if wanted is not None and not wanted.is_bytes:
            job.unsupported(name, "how long the files of a tree are together is not known before they are made; write bytes")
        if wanted is not None and wanted.is_bytes and wanted.number:
            return int(wanted.number * loops)
    least, most = job.get("filesize", (Quantity(_DEFAULT_BYTES), Quantity(_DEFAULT_BYTES)))
    return int((least.number + most.number) // 2 * files * loops)


def _sizes(job: Job, files: int) -> Any:
    if job.has("filesize"):
        least, most = job.get("filesize")
        if least.number == most.number:
            return bytes_text(most.number)
        return f"{bytes_text(least.number)}-{bytes_text(most.number)}"
    size = job.get("size")
    if size is None or not size.is_bytes:
        return bytes_text(_DEFAULT_BYTES)
    return bytes_text(max(1, size.number // files))


def _transfers(job: Job) -> Json:
    """Reads and writes of many files."""
    mode, service = job.requests.mode, str(job.get("file_service_type", "roundrobin")).partition(":")[0]
    if not set(mode.ops) <= {"r", "w"}:
        job.unsupported("rw", f"files of a tree are read and written; nearest is rw={'randwrite' if mode.random else 'write'}")
        return {"operation": "write"}
    if not mode.random and service != "sequential":
        job.unsupported(
            "file_service_type",
            "of so many files each is read or written to its end before the next; write file_service_type=sequential, or drop openfiles",
        )
    shares = {_LETTERS[op]: rounded(share) for op, share in job.requests.shares.items() if share > 0}
    sizes = job.requests.lengths
    size = sizes.pop()
    if sizes or not size.fixed:
        job.unsupported("bs", "files of a tree are read and written by requests of one size; write bs= with one value")
    options: Json = {"operation": next(iter(shares)) if len(shares) == 1 else shares, "transfer_size": bytes_text(size.least)}
    options["file_select"] = "random" if service == "random" else "sequential"
    options["file_access"] = "random" if mode.random else "sequential"
    if mode.random:
        options["stop_after"] = 1
    if job.requests.direct:
        options["direct"] = True
    job.surprise(
        "nrfiles", "a file is opened and closed around what is asked of it, and both are measured; fio keeps openfiles of them open"
    )
    return options


def _paced(job: Job, threads: int) -> Json:
    options = pace(job, queue_depth=1, threads=threads)
    options.pop("queue_depth", None)
    options.pop("read_percent", None)
    for name in sorted(_HELD_OR_PAUSED & options.keys()):
        given = "thinktime_blocks" if name.startswith("pause") else "flow"
        job.unsupported(given, "threads of a tree have a rate or a thinktime; drop it")
        options.pop(name)
    return options
