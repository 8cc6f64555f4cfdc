"""A job of fio as streams of ours, before it is known where their regions lie on the target: what performs its requests, how fast they are
issued, and how many streams it makes.

Model: ``numjobs`` clones of a random job that share their files and region are threads of one stream. Clones of a sequential job each begin
at the start of the region, and clones with files or offsets of their own have regions of their own: those are a stream each. fio's engine
is our backend, with the depth that it really keeps.
A capped rate of fio is due at equal (or, with ``rate_process=poisson``, exponential) gaps and catches up when it has fallen behind:
our open arrival. Caps are per job and per operation; a mixed job runs both at their caps, whatever ``rwmixread`` says. A pause after every
``thinktime_blocks`` requests begins when all of them have completed.
fio fills its queue, waits for ``iodepth_batch_complete_min`` completions at once and until no more than ``iodepth_low`` are
outstanding, and fills it up again: our ``refill_depth``. It hands over ``iodepth_batch`` requests at once, as far as so many are missing;
from three on the kernel joins those that touch: our ``merge_depth``. ``flow`` is the weight of a job among those with its ``flow_id``:
our ``share``.
Limits: requests of a rate are due whatever is outstanding, so with a rate nothing holds them back.

    flows(job)                                    # [Flow(name="reader", options={…}, files=("/data/f",), …)]
    performer(job)                                # Performer("sync", depth=1)
    pace(job, queue_depth=8, threads=4)           # {"queue_depth": 8, "arrival": "constant", "rate": 4000}
    holding(job, queue_depth=16, paced=False)     # {"refill_depth": 8}
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

from plimsoll.formats.fio.addresses import addresses, is_zoned, zones
from plimsoll.formats.fio.content import content, flush_holds
from plimsoll.formats.fio.files import Extent, capped_requests, extent, files_of, remark_files
from plimsoll.formats.fio.jobs import Job
from plimsoll.formats.fio.options import ENGINE_ALIASES, ENGINES, OPTIONS
from plimsoll.formats.fio.quantity import Numbers, Quantity, rounded, time_text
from plimsoll.formats.fio.resolve import OPS
from plimsoll.formats.fio.values import SERVICES

#: What fio takes on Linux when nothing is said.
_DEFAULT = "psync"


@dataclass(frozen=True)
class Performer:
    """``backend`` is empty for an engine without counterpart."""

    backend: str
    depth: int
    polled: bool = False


def performer(job: Job) -> Performer:
    """The backend and depth of a job; raises `InputError` for a name that fio does not know either."""
    given = job.get("ioengine", _DEFAULT).partition(":")[0]
    name = ENGINE_ALIASES.get(given, given)
    engine = ENGINES.get(name)
    if engine is None:
        raise job.wrong("ioengine", f"fio has no engine {name!r}; nearest is ioengine=io_uring or ioengine=psync.")
    if not engine.backend:
        job.unsupported("ioengine", engine.why)
        return Performer("", 1)
    if engine.why:
        job.native("ioengine", engine.why)
    _check_options(job, name)
    depth = job.get("iodepth", 1)
    if engine.synchronous and depth > 1:
        given = "" if job.has("ioengine") else ", which fio takes when none is named,"
        job.surprise("iodepth", f"the engine {name}{given} has one request outstanding, whatever iodepth says; queue_depth is 1")
        depth = 1
    return Performer(engine.backend, depth, bool(job.get("hipri")) and engine.backend == "auto")


def _check_options(job: Job, engine: str) -> None:
    """Options of another engine have no effect, with fio neither."""
    for name in job.values:
        owners = OPTIONS[name].engine
        if owners and engine not in owners.split(", "):
            job.idle(name, f"belongs to ioengine={owners}")


Json = dict[str, Any]

#: What these options are here.
HELD = frozenset(("refill_depth", "share", "serialize_overlap"))
_BATCHES = ("iodepth_low", "iodepth_batch_complete_min", "iodepth_batch")
#: From so many requests in one call on the kernel joins neighbours (fs/aio.c, io_uring/io_uring.c).
_PLUGGED = 3
#: Engines that hand over several requests in one call.
_BATCHING = ("libaio", *ENGINE_ALIASES, "io_uring")


def holding(job: Job, queue_depth: int, *, paced: bool) -> Json:
    """The options; ``paced`` says that requests have instants of their own."""
    options = {**_waves(job, queue_depth, paced=paced), **_share(job, paced=paced)}
    if job.get("serialize_overlap"):
        if paced:
            job.ignored("serialize_overlap", "requests of a rate wait for nobody")
        elif queue_depth > 1:
            options["serialize_overlap"] = True
    return options


def _waves(job: Job, queue_depth: int, *, paced: bool) -> Json:
    if queue_depth == 1:
        for name in _BATCHES:
            job.idle(name, "one request is outstanding")
        return {}
    low = min(job.get("iodepth_low", 0) or queue_depth, queue_depth)
    least = min(max(1, job.get("iodepth_batch_complete_min", 1)), queue_depth)
    refill_depth = min(low, queue_depth - least)
    if refill_depth >= queue_depth - 1:
        job.idle("iodepth_batch", "each completion is followed by one request, so fio hands over one at a time whatever it says")
        return {}
    if paced:
        for name in _BATCHES:
            if job.has(name):
                job.ignored(name, "requests of a rate are issued when they are due")
        return {}
    together = min(job.get("iodepth_batch", 1), queue_depth - refill_depth)
    return {"refill_depth": refill_depth, **({"merge_depth": together} if together >= _PLUGGED and _joins(job) else {})}


def _joins(job: Job) -> bool:
    """Whether fio's engine hands over several requests in one call, and some of them can touch."""
    return job.get("ioengine") in _BATCHING and job.requests.direct and not _is_random(job)


def _is_random(job: Job) -> bool:
    return job.requests.mode.random and job.get("percentage_random", (100,) * 3) == (100,) * 3


def _share(job: Job, *, paced: bool) -> Json:
    weight = job.get("flow", 0)
    if not weight:
        for name in ("flow_id", "flow_sleep", "flow_watermark"):
            job.idle(name, "there is no flow")
        return {}
    if weight < 0:
        why = "negative weights are of old files, and fio 3.33 runs such jobs without a ratio; write positive ones: the larger runs more"
        job.unsupported("flow", why)
        return {}
    if paced:
        job.unsupported("flow", "requests of a rate wait for nobody; drop flow, and give the jobs rates of this ratio")
        return {}
    group = job.get("flow_id", 0)
    return {"share": weight, **({"share_group": group} if group else {})}


def pace(job: Job, *, queue_depth: int, threads: int) -> Json:
    """The options; ``threads`` clones share the stream."""
    rates = _rates(job)
    options: Json = {"queue_depth": queue_depth, **holding(job, queue_depth, paced=bool(rates))}
    if rates:
        options.update(_arrival(job, rates, threads))
    else:
        for name in ("rate_process", "rate_ignore_thinktime"):
            job.idle(name, "there is no rate")
    options.update(_thinking(job, options, paced=bool(rates)))
    return options


def _rates(job: Job) -> dict[str, float]:
    """Requests per second of one clone, per operation that is capped."""
    if job.has("rate") and job.has("rate_iops"):
        raise job.wrong("rate_iops", "fio takes either rate or rate_iops; drop one of the two.")
    bytes_s, requests_s = job.get("rate", (None,) * 3), job.get("rate_iops", (None,) * 3)
    rates = {}
    for op, sizes in job.requests.sizes.items():
        index = OPS.index(op)
        if requests_s[index] and not sizes.fixed:
            job.surprise("rate_iops", "fio caps as many bytes as so many requests of the least size have, so longer requests are fewer")
        rate = (requests_s[index] or 0) * sizes.least / sizes.mean or (bytes_s[index] or 0) / sizes.mean
        if rate:
            rates[op] = float(rate)
    return rates


def _arrival(job: Job, rates: dict[str, float], threads: int) -> Json:
    name = "rate" if job.has("rate") else "rate_iops"
    mode = job.requests.mode
    word = job.get("rate_process", "linear")
    if word not in ("linear", "poisson"):
        raise job.wrong("rate_process", "a rate is linear or poisson.")
    if len(rates) < len(mode.ops):
        job.unsupported(name, "one operation of a mix is capped and the other is not; make a job of each operation")
        return {}
    total = sum(rates.values())
    if total * threads < 0.001:
        job.unsupported(name, "it is less than a request in 1000 seconds; write a higher rate")
        return {}
    options: Json = {"arrival": "poisson" if word == "poisson" else "constant", "rate": rounded(total * threads)}
    if len(rates) > 1:
        options["read_percent"] = rounded(100 * rates.get("r", 0) / total)
        if abs(options["read_percent"] - job.requests.shares.get("r", 0)) > 0.01:
            job.surprise(name, "fio caps reads and writes by themselves, so the two rates decide the mix and rwmixread does not")
    job.native(name, "arrival and rate; latency counts from the instant a request is due, with fio from its issue")
    return options


def _thinking(job: Job, options: Json, *, paced: bool) -> Json:
    think_ns = job.get("thinktime", 0)
    if not think_ns:
        if job.has("thinktime_iotime"):
            raise job.wrong("thinktime_iotime", "it says how long requests go on before thinktime, which is missing; write thinktime=.")
        for name in ("thinktime_blocks", "thinktime_blocks_type"):
            job.idle(name, "there is no thinktime")
        return {}
    if paced:
        job.unsupported("thinktime", "requests of a rate have no pauses; drop thinktime or the rate")
        return {}
    blocks = job.get("thinktime_blocks", None if job.get("thinktime_iotime") else 1)
    if blocks == 1 and options["queue_depth"] > 1:
        job.surprise("thinktime", "fio waits for every request before it pauses, so with thinktime_blocks=1 one is in flight")
    if blocks == 1 and not HELD & options.keys():
        return {"queue_depth": 1, "think_time": time_text(think_ns)}
    found: Json = {"pause": time_text(think_ns)}
    if blocks:
        found["pause_requests"] = blocks
        if options["queue_depth"] > 1 and job.get("thinktime_blocks_type", "complete") != "issue":
            job.surprise(
                "thinktime_blocks", "fio counts completions, so its first pause comes up to iodepth - 1 requests later; the next do not"
            )
    if job.get("thinktime_iotime"):
        found["pause_interval"] = time_text(job.get("thinktime_iotime"))
    return found


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
        return self.job.requests.time_based

    @property
    def zoned(self) -> bool:
        """Whether its region has zones."""
        return is_zoned(self.job)

    @property
    def random(self) -> bool:
        return self.job.requests.mode.random

    @property
    def request_bytes(self) -> int | None:
        """The one length that all requests have, or None."""
        found = {sizes.least if sizes.fixed else None for sizes in self.job.requests.sizes.values()}
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
    together = count == 1 or (shared and job.requests.mode.random)
    if count > 1 and shared and not job.requests.mode.random:
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
    ends = not job.requests.time_based
    options = addresses(job)
    align = min(sizes.least for sizes in job.requests.sizes.values())
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
    if job.get("ioengine") in ("libaio", *ENGINE_ALIASES) and not job.requests.direct and engine.depth > 1:
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
    length, sizes = part.length, job.requests.lengths
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
