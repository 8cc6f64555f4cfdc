"""A job of fio as streams of ours, before it is known where their regions lie on the target.

Model: ``numjobs`` clones of a random job that share their files and region are threads of one stream. Clones of a sequential job each begin
at the start of the region, and clones with files or offsets of their own have regions of their own: those are a stream each.

    flows(blocks, targets)        # [Flow(name="reader", options={…}, use=Use(files=("/data/f",), …))], and notes
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from plimsoll.formats.fio.addresses import Course, addresses
from plimsoll.formats.fio.content import Content, contents, flush_holds
from plimsoll.formats.fio.files import Extent, Files, Region, capped_requests, extent
from plimsoll.formats.fio.notes import Note, Translated, surprise, unsupported
from plimsoll.formats.fio.pace import Crew, Pace, paced
from plimsoll.formats.fio.performer import Performer
from plimsoll.formats.fio.quantity import Numbers, Quantity, rounded
from plimsoll.formats.fio.requests import Requests
from plimsoll.formats.fio.zones import Zones, hot_zones, length_of, zoned
from plimsoll.formats.known_targets import KnownTargets
from plimsoll.stored import Json

#: The most jobs at a time that fio takes, clones counted.
JOBS_MAX = 4096
TOO_MANY = f"fio itself ends with 'maximum number of jobs ({JOBS_MAX}) reached'; write fewer of them"


@dataclass(frozen=True)
class Clones:
    """How often a job runs at the same time, and what each of them ends by."""

    count: int
    #: After so many requests; 0 where the amount decides.
    requests: int


@dataclass(frozen=True)
class Use:
    """How a stream uses its files, as far as the layout of its target depends on it; what it asks of them is no part of that."""

    files: tuple[str, ...]
    extent: Extent
    region: Region
    performer: Performer
    #: How several files are taken: the word, and how many requests go to one of them in a row.
    service: tuple[str, int] = ("roundrobin", 1)
    #: The one length that all requests have, or None.
    request_bytes: int | None = None
    random: bool = False
    zoned: bool = False
    #: Repeats a log, which says where its requests go.
    traced: bool = False
    #: Every byte has one place on the target, which the stamp there names; the option that asks for them.
    stamped: bool = False
    stamped_from: str = ""


@dataclass(frozen=True)
class Blocks:
    """What a job asks of the blocks of its files."""

    name: str
    requests: Requests
    files: Files
    #: How the streams use files, but which.
    use: Use
    course: Course
    zones: Zones
    pace: Pace
    content: Content
    clones: Clones


@dataclass(frozen=True)
class Flow:
    """A stream with everything but its region."""

    name: str
    options: Json
    use: Use
    #: Those of its job; a log has its own.
    requests: Requests


def flows(job: Blocks, targets: KnownTargets) -> tuple[list[Flow], tuple[Note, ...]]:
    """The streams of a job, one or one for each clone."""
    random, count = job.requests.mode.random, job.clones.count
    notes = [unsupported("numjobs", TOO_MANY)] if count > JOBS_MAX else []
    count = min(count, JOBS_MAX)
    places = [
        (job.files.of(clone) if job.use.performer.has_target else (), extent(job.use.region, job.files, clone)) for clone in range(count)
    ]
    shared = len(set(places)) == 1
    together = count == 1 or (shared and random)
    if count > 1 and shared and not random:
        why = "every clone begins at the same place, so the clones ask for the same blocks at about the same time"
        notes.append(surprise("numjobs", why))
    made = _stream(job, count if together else 1, targets)
    options = made.options
    places = [(files, _whole_requests(job, options, files, part)) for files, part in places]
    notes += [*made.notes, *_round_notes(job, options, places[0][1])]
    word, own = stream_name(job.name), job.use
    names = [word] if together else [f"{word}-{clone}" for clone in range(count)]
    found = [
        Flow(name, options, replace(own, files=files, extent=part), job.requests)
        for name, (files, part) in zip(names, places, strict=False)
    ]
    return found, tuple(notes)


def _stream(job: Blocks, threads: int, targets: KnownTargets) -> Translated:
    """The options of a stream of so many threads."""
    hot = Translated({})
    if job.course.hot_bytes:
        hot = hot_zones(job.course.hot_bytes, length_of(job.use.region, job.files, targets), targets.remedy)
    asked = addresses(job.requests, job.course)
    zones = zoned(job.zones, min(sizes.least for sizes in job.requests.sizes.values()))
    depth = job.use.performer.depth
    rates = paced(job.pace, Crew(depth, threads, joins=_joins(job)), job.requests.shares)
    options = _mixed({**asked.options, **hot.options, **zones.options}, rates.options, job.course)
    notes = [*asked.notes, *hot.notes, *zones.notes, *rates.notes]
    if threads > 1:
        options |= {"threads": threads, **_apart(options)}
    if job.clones.requests:
        # A pass ends after so many, and the next one goes on where it ended.
        loops = 1 if job.use.region.endless else job.use.region.loops
        options["requests"], said = capped_requests(job.use.region, job.clones.requests * loops * _times(options))
        notes += said
    options |= contents(job.content)
    waiting = flush_holds(job.content, job.use.performer, options["queue_depth"])
    notes += waiting.notes
    if job.use.performer.waits and not job.content.direct and depth > 1:
        why = "libaio waits for each request that goes through the page cache; here they are outstanding together"
        notes.append(surprise("iodepth", why))
    return Translated(options | waiting.options, tuple(notes))


def _joins(job: Blocks) -> bool:
    """Whether the engine hands over several requests in one call, and some of them can touch."""
    return job.use.performer.batches and job.content.direct and not job.course.scattered


def _apart(options: Json) -> Json:
    """Threads of a stream that is partly sequential go on by themselves."""
    partly = 0 < options.get("random_percent", 0) < 100
    lines = any(line.get("random_percent", 100) < 100 for line in options.get("access", []))
    return {"sequential": "per_thread"} if (partly or lines) and "sequential" not in options else {}


def _mixed(options: Json, rates: Json, course: Course) -> Json:
    """The options with those of its pace; rates of reads and of writes decide their shares in an access list too."""
    reads = rates.get("read_percent")
    if reads is None or "access" not in options:
        return options | rates
    access = [
        {**line, "read_percent": reads}
        if course.by_place
        else {**line, "weight": reads if line["read_percent"] == 100 else rounded(100 - reads)}
        for line in options["access"]
    ]
    return {**options, "access": access, **{name: value for name, value in rates.items() if name != "read_percent"}}


def _round_notes(job: Blocks, options: Json, part: Extent) -> list[Note]:
    """Where a sequential mix goes round."""
    again = job.use.region.loops > 1 or (part.amount is not None and part.length is not None and part.amount.number > part.length.number)
    if not again or options.get("sequential") != "per_operation" or options.get("random_percent"):
        return []
    why = "when one operation has reached the end of the region fio begins anew with both; here each goes round by itself"
    return [surprise("rw", why)]


def _times(options: Json) -> int:
    """A block that is trimmed and then written counts twice."""
    return 2 if options.get("trim_first") else 1


def _whole_requests(job: Blocks, options: Json, files: tuple[str, ...], part: Extent) -> Extent:
    """What a pass really transfers: whole requests only, of each file by itself; ``io_size`` is rounded up by both.

    With a stride a pass over a device is over at the end of the region; in a file that is no longer than the region it wraps and goes on.
    """
    length, region = part.length, job.use.region
    if part.amount is not None:
        part = replace(part, amount=replace(part.amount, number=part.amount.number * _times(options)))
    if part.amount is None or region.io_size is not None or length is None or not length.is_bytes or len(job.requests.lengths) > 1:
        return part
    size = next(iter(job.requests.lengths))
    if not size.fixed or (region.filesize is not None and region.size is not None):
        return part
    requests = length.number // size.least
    if "stride" in options and any(path.startswith("/dev/") for path in files):
        stride = Numbers().size(str(options["stride"]).removesuffix("iB")).number
        requests = -(-length.number // stride)
    return replace(part, amount=Quantity(max(1, requests) * size.least * max(1, len(files)) * region.loops * _times(options)))


def stream_name(name: str) -> str:
    """A job's name in the letters that a stream's name may have."""
    word = re.sub(r"[^A-Za-z0-9_-]+", "-", name).strip("-")
    return word[:56] or "job"
