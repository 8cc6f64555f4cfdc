"""What a job writes, how durable that is, and what is verified: the content options of a stream.

Model: fio's buffers are random and a little different in every write; ours are different in every write. Verification writes stamps of our
own whichever method is named, and reads everything back after the run; a job that only reads expects the stamps of an earlier run.

    content(job, ends=True)        # {"direct": True, "verify": "all", "flush_at_end": True}
"""

from __future__ import annotations

from typing import Any

from plimsoll.formats.fio.jobs import Job
from plimsoll.formats.fio.options import ENGINE_ALIASES
from plimsoll.formats.fio.quantity import rounded

Json = dict[str, Any]

#: The largest ratio that our options take; fio's 100 percent means nothing but duplicates.
_RATIO_MAX = 1000
_SECTOR = 512
_STAMPED = f"verified data are stamps in every {_SECTOR} bytes; write multiples of {_SECTOR}, or verify=0"
_SYNC = {"0": False, "none": False, "1": True, "sync": True, "dsync": True}

#: Engines of which the kernel takes no flush beside other requests: the thread that issues one waits for it.
_WAITING = ("libaio", *ENGINE_ALIASES)


def content(job: Job, *, ends: bool) -> Json:
    """The options; ``ends`` says whether the stream ends by itself, without which nothing can be flushed at its end."""
    options: Json = {"direct": _direct(job), **_read_ahead(job)}
    if job.requests.mode.writes:
        options.update(_written(job))
        options.update(_durable(job, ends=ends))
    else:
        options.update(_read(job))
    return options


def _direct(job: Job) -> bool:
    direct = job.requests.direct
    if not direct and not (job.has("direct") or job.has("buffered")) and job.get("ioengine") not in ("null", "mmap"):
        job.surprise("", "neither direct nor buffered is given, so fio goes through the page cache; direct=1 would bypass it")
    return direct


def _read_ahead(job: Job) -> Json:
    """What fio tells the page cache by default, or as it is asked to: of a mapping only whether it is told anything."""
    hint, mapped = str(job.get("fadvise_hint", "1")), job.get("ioengine") == "mmap"
    if (job.requests.direct and not mapped) or job.get("ioengine") == "null":
        job.idle("fadvise_hint", "requests pass the page cache by")
        return {}
    if hint == "noreuse":
        job.ignored("fadvise_hint", "the page cache is not told that nothing is read twice")
    if hint in ("0", "noreuse"):
        return {}
    random = job.requests.mode.random if mapped or hint == "1" else hint == "random"
    return {"read_ahead": "off" if random else "far"}


def _read(job: Job) -> Json:
    for name in ("fsync", "fdatasync", "end_fsync", "fsync_on_close", "sync"):
        job.idle(name, "nothing is written")
    if not job.requests.mode.reads or not _verifies(job) or job.get("verify") == "null":
        for name in ("verify_only", "do_verify"):
            job.idle(name, "nothing is verified")
        return {}
    job.native("verify", 'verify = "found": every sector that is read has to bear a stamp of ours, whichever run wrote it')
    job.surprise("verify", "what fio itself has written bears no stamps of ours; run the writing job with plimsoll first")
    if not job.requests.verifies_only:
        job.idle("verify_only", "a job that reads writes nothing anyway")
    return {"verify": "found"}


def _verifies(job: Job) -> bool:
    return str(job.get("verify", "0")).partition(":")[0] != "0"


def _written(job: Job) -> Json:
    if _verifies(job) and job.get("verify") != "null":
        return _verified(job)
    if job.get("verify") == "null":
        job.ignored("verify", "nothing is verified; fio only walks through the motions")
    return _shaped(job)


def _verified(job: Job) -> Json:
    for name in ("buffer_pattern", "zero_buffers", "buffer_compress_percentage", "dedupe_percentage"):
        job.idle(name, "verified data are stamps")
    if not job.get("do_verify", True):
        job.native("do_verify", 'content = "stamps", which nothing reads back')
        return {"content": "stamps"}
    if "t" in job.requests.mode.ops:
        return {}
    job.native("verify", 'verify = "all": stamps of our own in every sector, whichever method is named, read back after the run')
    return {"verify": "all"}


def check_stamps(job: Job, options: Json) -> None:
    """Remark a job whose requests are no whole sectors, each of which would bear a stamp; ``options`` are those of its finished stream."""
    if options.get("verify", "off") == "off" and options.get("content") != "stamps":
        return
    lengths = [length for sizes in job.requests.sizes.values() for length in (sizes.least, *(size for size, _ in sizes.shares))]
    # Only bytes that are no whole KiB stand as numbers.
    odd = [align for line in (options, *options.get("access", [])) if isinstance(align := line.get("align"), int) and align % _SECTOR]
    if any(length % _SECTOR for length in lengths):
        job.unsupported(next((name for name in ("bssplit", "bsrange", "bs") if job.has(name)), "bs"), _STAMPED)
    elif odd:
        job.unsupported("ba" if job.has("ba") else "offset", _STAMPED)


def _shaped(job: Job) -> Json:
    compress, duplicate = job.get("buffer_compress_percentage", 0), job.get("dedupe_percentage", 0)
    if job.get("zero_buffers"):
        _all_ignored(job, ("buffer_pattern", "buffer_compress_percentage", "dedupe_percentage"), "zero_buffers takes its place")
        return {"content": "zeros"}
    pattern = job.get("buffer_pattern")
    if compress or duplicate:
        if pattern is not None:
            job.ignored("buffer_pattern", "the compressible part of a block is zeros")
        if compress == 100:
            job.native("buffer_compress_percentage", 'content = "zeros"')
            return {"content": "zeros"}
        ratios = {"compress_ratio": _ratio(compress), "duplicate_ratio": _ratio(duplicate)}
        return {name: ratio for name, ratio in ratios.items() if ratio > 1}
    if pattern is None:
        return {}
    if pattern.problem:
        job.unsupported("buffer_pattern", pattern.problem)
        return {}
    return {"content": "pattern", "pattern": pattern.ours}


def _all_ignored(job: Job, names: tuple[str, ...], why: str) -> None:
    for name in names:
        job.idle(name, why)


def _ratio(percent: int) -> float | int:
    """A share of the data that costs nothing, as a ratio of all data to the rest."""
    return _RATIO_MAX if percent >= 100 else rounded(min(_RATIO_MAX, 100 / (100 - percent)))


def flush_holds(job: Job, options: Json) -> Json:
    """Whether a thread waits for its flushes, where it has more than one request outstanding; ``options`` are those of its stream."""
    if job.get("ioengine") not in _WAITING or options.get("queue_depth", 1) == 1 or "flush_every" not in options:
        return {}
    for name in ("fsync", "fdatasync"):
        if job.get(name) == options["flush_every"]:
            job.native(name, "flush_every and flush_holds, because libaio's thread issues nothing until its flush is back")
    return {"flush_holds": True}


def _writes_through(job: Job) -> bool:
    """Whether each write is durable before it completes."""
    word = job.get("sync", "0")
    if word not in _SYNC:
        raise job.wrong("sync", "there are 0, none, 1, sync and dsync.")
    if job.get("ioengine") != "mmap":
        return _SYNC[word]
    job.idle("sync", "a mapping is not written through because its file is open so, with fio neither; direct=1 has msync called")
    if job.requests.direct:
        job.native("direct", "dsync: fio calls msync after each request to a mapping, whose page cache stays in between")
    return job.requests.direct


def _durable(job: Job, *, ends: bool) -> Json:
    options: Json = {"dsync": True} if _writes_through(job) else {}
    every = [(name, job.get(name)) for name in ("fsync", "fdatasync") if job.get(name)]
    if every:
        options["flush_every"] = min(count for _, count in every)
        if job.requests.mode.ops == "rw":
            job.surprise(every[0][0], "when a flush is due fio flushes again after each read until the next write; here once")
        if len(every) == 2:
            job.ignored(max(every, key=lambda entry: int(entry[1]))[0], "one kind of flush is enough; the more frequent one is kept")
    for name in ("end_fsync", "fsync_on_close"):
        if job.get(name) and ends:
            options["flush_at_end"] = True
            if job.get("loops", 1) > 1:
                job.surprise(name, "fio flushes at the end of every loop; here once, at the end of the last")
        elif job.get(name):
            job.ignored(name, "the point ends by time, and nothing is flushed then; fsync= flushes after a number of writes")
    return options
