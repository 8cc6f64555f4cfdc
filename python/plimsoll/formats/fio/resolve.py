"""A job of fio, decided once: what it asks of blocks, of logs or of trees, when it runs, and what it asks of its own numbers.

Model: values of options go in, records that nothing changes come out, with what there is to say of the options; each concern has its
record and its function beside what is made of it. Behind this file nobody asks a job for an option again, so that which option takes the
place of which is decided in one place for each.

    intent, notes = resolved(Source("reader", {"rw": read_mode("randread")}))
    intent.load.requests.shares          # {"r": 100.0}
"""

from __future__ import annotations

from dataclasses import dataclass, field

from plimsoll.formats.fio.addresses import course_of
from plimsoll.formats.fio.content import content_of
from plimsoll.formats.fio.files import NO_EXTENT, Files, file_notes, files_of, region_notes, region_of, target_notes
from plimsoll.formats.fio.flow import JOBS_MAX, Blocks, Clones, Use
from plimsoll.formats.fio.goal import Goal, goal_of
from plimsoll.formats.fio.notes import Note
from plimsoll.formats.fio.pace import pace_of
from plimsoll.formats.fio.performer import Performer, performer_of
from plimsoll.formats.fio.quantity import Numbers
from plimsoll.formats.fio.replay import Log, Replay, replay_of
from plimsoll.formats.fio.requests import Values, requests_of
from plimsoll.formats.fio.times import Times, times_of
from plimsoll.formats.fio.trees import Trees, trees_of
from plimsoll.formats.fio.zones import zones_of


@dataclass(frozen=True)
class Source:
    """What a job is decided from: its values, how the number behind its mode is read, the typed target, and the logs that it repeats."""

    name: str
    values: Values
    numbers: Numbers = field(default_factory=Numbers)
    target: str = ""
    logs: tuple[Log, ...] = ()
    #: Works on trees of files and not on blocks.
    in_trees: bool = False


@dataclass(frozen=True)
class Intent:
    """What a job asks for."""

    name: str
    load: Blocks | Replay | Trees
    files: Files
    performer: Performer
    clones: int
    times: Times
    goal: Goal
    #: Buffered requests begin with nothing in the page cache.
    cold: bool
    #: Goes on after an error.
    goes_on: bool
    seed: int | None


def resolved(job: Source) -> tuple[Intent, tuple[Note, ...]]:
    """What a job asks for, and what is to be said of its options; raises `Unfit` where fio would refuse the job."""
    values = job.values
    load, notes = _trees(job) if job.in_trees else _replay(job) if job.logs else _blocks(job)
    times, more = times_of(values, load.requests)
    goal, aims = goal_of(values)
    performer = Performer("", 1) if isinstance(load, Trees) else load.use.performer
    intent = Intent(
        name=job.name,
        load=load,
        files=load.files,
        performer=performer,
        clones=values.get("numjobs", 1),
        times=times,
        goal=goal,
        cold=not load.requests.direct and bool(values.get("invalidate", True)) and performer.has_target,
        goes_on=values.get("continue_on_error", "none") not in ("none", "0"),
        seed=values.get("randseed"),
    )
    return intent, (*notes, *more, *(() if job.in_trees else aims))


def _blocks(job: Source) -> tuple[Blocks, tuple[Note, ...]]:
    values = job.values
    requests, said = requests_of(values)
    performer, engine = performer_of(values)
    files, region = files_of(job.name, values, job.target), region_of(values, endless=requests.time_based)
    clones = Clones(values.get("numjobs", 1), values.get("number_ios", 0))
    notes = [*said, *engine, *file_notes(files, values, reached=performer.has_target)]
    notes += region_notes(region, values, min(clones.count, JOBS_MAX))
    course, said = course_of(values, requests, job.numbers)
    zones, more = zones_of(values)
    pace, further = pace_of(values, requests)
    content, last = content_of(values, requests, performer)
    use = Use(
        files=(),
        extent=NO_EXTENT,
        region=region,
        performer=performer,
        service=files.service,
        request_bytes=requests.length,
        random=requests.mode.random,
        zoned=zones.strided,
        stamped=content.is_stamped,
        stamped_from=content.verify_from,
    )
    load = Blocks(job.name, requests, files, use, course, zones, pace, content, clones)
    return load, (*notes, *said, *more, *further, *last)


def _replay(job: Source) -> tuple[Replay, tuple[Note, ...]]:
    values = job.values
    requests, said = requests_of(values)
    performer, engine = performer_of(values)
    files = files_of(job.name, values, job.target)
    use = Use(
        files=(),
        extent=NO_EXTENT,
        region=region_of(values, endless=requests.time_based),
        performer=performer,
        service=files.service,
        request_bytes=requests.length,
        random=requests.mode.random,
        zoned=values.get("zonemode") == "strided",
    )
    load, notes = replay_of(values, job.logs, files, use, requests)
    return load, (*said, *engine, *target_notes(files, values), *notes)


def _trees(job: Source) -> tuple[Trees, tuple[Note, ...]]:
    values = job.values
    requests, said = requests_of(values)
    pace, more = pace_of(values, requests)
    files, region = files_of(job.name, values, job.target), region_of(values, endless=requests.time_based)
    return trees_of(values, files, region, pace, requests), (*said, *more)
