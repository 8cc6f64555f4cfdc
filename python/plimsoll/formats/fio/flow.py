"""A job of fio as streams of ours, before it is known where their regions lie on the target.

Model: ``numjobs`` clones of a random job that share their files and region are threads of one stream. Clones of a sequential job each begin
at the start of the region, and clones with files or offsets of their own have regions of their own: those are a stream each.

    flows(job)        # [Flow(name="reader", options={…}, files=("/data/f",), …)]
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

from plimsoll.formats.fio.addresses import addresses, mode_of, sizes_of
from plimsoll.formats.fio.capping import capped_requests
from plimsoll.formats.fio.content import content, flush_holds, is_direct
from plimsoll.formats.fio.engine import Performer, performer
from plimsoll.formats.fio.engine_options import ENGINE_ALIASES
from plimsoll.formats.fio.extent import Extent, extent, is_time_based
from plimsoll.formats.fio.files import files_of, remark_files
from plimsoll.formats.fio.job import Job
from plimsoll.formats.fio.pace import pace
from plimsoll.formats.fio.quantity import Numbers, Quantity, rounded, time_text
from plimsoll.formats.fio.value import SERVICES
from plimsoll.formats.fio.zones import is_zoned, zones

Json = dict[str, Any]

#: The most jobs at a time that fio takes, clones counted.
JOBS_MAX = 4096
TOO_MANY = f"fio itself ends with 'maximum number of jobs ({JOBS_MAX}) reached'; write fewer of them"


@dataclass
class Flow:
    """A stream with everything but its region."""

    job: Job
    name: str
    options: Json
    files: tuple[str, ...]
    extent: Extent
    performer: Performer

    @property
    def endless(self) -> bool:
        """Whether it ends by time only."""
        return is_time_based(self.job)

    @property
    def zoned(self) -> bool:
        """Whether its region has zones."""
        return is_zoned(self.job)

    @property
    def random(self) -> bool:
        return mode_of(self.job).random

    @property
    def request_bytes(self) -> int | None:
        """The one length that all requests have, or None."""
        found = {sizes.least if sizes.fixed else None for sizes in sizes_of(self.job).values()}
        return found.pop() if len(found) == 1 else None

    @property
    def service(self) -> tuple[str, int]:
        """How several files are taken: the word, and how many requests go to one of them in a row."""
        word, _, number = str(self.job.get("file_service_type", "roundrobin")).partition(":")
        return word, int(number) if number.isdigit() and 0 < int(number) <= 1 << 20 else 1


def flows(job: Job) -> list[Flow]:
    """The streams of a job, one or one for each clone."""
    engine = performer(job)
    if engine.backend != "null":
        remark_files(job)
    _check_service(job)
    count = job.get("numjobs", 1)
    if count > JOBS_MAX:
        job.unsupported("numjobs", TOO_MANY)
        count = JOBS_MAX
    places = [_place(job, clone, engine) for clone in range(count)]
    shared = len(set(places)) == 1
    together = count == 1 or (shared and mode_of(job).random)
    if count > 1 and shared and not mode_of(job).random:
        job.surprise("numjobs", "every clone begins at the same place, so the clones ask for the same blocks at about the same time")
    threads = count if together else 1
    options = _options(job, engine, threads)
    places = [(files, _whole_requests(job, options, files, part)) for files, part in places]
    _remark_rounds(job, options, places[0][1])
    names = [stream_name(job.name)] if together else [f"{stream_name(job.name)}-{clone}" for clone in range(count)]
    return [Flow(job, name, {"name": name, **options}, files, part, engine) for name, (files, part) in zip(names, places, strict=False)]


def _place(job: Job, clone: int, engine: Performer) -> tuple[tuple[str, ...], Extent]:
    files = files_of(job, clone)
    part = extent(job, clone, len(files))
    return (() if engine.backend == "null" else files), part


def _options(job: Job, engine: Performer, threads: int) -> Json:
    ends = not is_time_based(job)
    options = addresses(job)
    align = min(sizes.least for sizes in sizes_of(job).values())
    options |= zones(job, align)
    options |= pace(job, queue_depth=engine.depth, threads=threads)
    if "access" in options and "read_percent" in options:
        _mix_by_rate(job, options)
    if threads > 1:
        options["threads"] = threads
        partly = 0 < options.get("random_percent", 0) < 100
        if partly or any(line.get("random_percent", 100) < 100 for line in options.get("access", [])):
            options.setdefault("sequential", "per_thread")
    if job.get("number_ios"):
        # A pass ends after so many, and the next one goes on where it ended.
        options["requests"] = capped_requests(job, job.get("number_ios") * (job.get("loops", 1) if ends else 1) * _times(options))
    options |= content(job, ends=ends)
    options |= flush_holds(job, options)
    options |= _start(job)
    if job.get("ioengine") in ("libaio", *ENGINE_ALIASES) and not is_direct(job) and engine.depth > 1:
        job.surprise("iodepth", "libaio waits for each request that goes through the page cache; here they are outstanding together")
    return options


def _remark_rounds(job: Job, options: Json, part: Extent) -> None:
    """Where a sequential mix goes round."""
    again = job.get("loops", 1) > 1 or (part.amount is not None and part.length is not None and part.amount.number > part.length.number)
    if again and options.get("sequential") == "per_operation" and not options.get("random_percent"):
        job.surprise("rw", "when one operation has reached the end of the region fio begins anew with both; here each goes round by itself")


def _mix_by_rate(job: Job, options: Json) -> None:
    """Rates of reads and of writes decide their shares in an access list too."""
    reads = options.pop("read_percent")
    for line in options["access"]:
        if job.get("bs_is_seq_rand"):
            line["read_percent"] = reads
        else:
            line["weight"] = reads if line["read_percent"] == 100 else rounded(100 - reads)


def _times(options: Json) -> int:
    """A block that is trimmed and then written counts twice."""
    return 2 if options.get("trim_first") else 1


def _whole_requests(job: Job, options: Json, files: tuple[str, ...], part: Extent) -> Extent:
    """What a pass really transfers: whole requests only, of each file by itself; ``io_size`` is rounded up by both.

    With a stride a pass over a device is over at the end of the region; in a file that is no longer than the region it wraps and goes on.
    """
    length, sizes = part.length, set(sizes_of(job).values())
    if part.amount is not None:
        part = replace(part, amount=replace(part.amount, number=part.amount.number * _times(options)))
    if part.amount is None or job.has("io_size") or length is None or not length.is_bytes or len(sizes) > 1:
        return part
    size = sizes.pop()
    if not size.fixed or (job.has("filesize") and job.has("size")):
        return part
    requests = length.number // size.least
    if "stride" in options and any(path.startswith("/dev/") for path in files):
        stride = Numbers().size(str(options["stride"]).removesuffix("iB")).number
        requests = -(-length.number // stride)
    return replace(part, amount=Quantity(max(1, requests) * size.least * max(1, len(files)) * job.get("loops", 1) * _times(options)))


def _start(job: Job) -> Json:
    least, most = job.get("startdelay", (0, 0))
    if most > least:
        job.native("startdelay", f"start_after is the lower end, {time_text(least)}; fio draws a time from the range")
    return {"start_after": time_text(least)} if least else {}


def _check_service(job: Job) -> None:
    word = str(job.get("file_service_type", "roundrobin")).partition(":")[0]
    if word in SERVICES:
        return
    job.unsupported("file_service_type", "files are taken evenly or one after the other; random_distribution= prefers blocks of all files")


def stream_name(name: str) -> str:
    """A job's name in the letters that a stream's name may have."""
    word = re.sub(r"[^A-Za-z0-9_-]+", "-", name).strip("-")
    return word[:56] or "job"
