"""How long a group of jobs runs: duration, warm-up, starts and ends of a point, and the interval of its record.

Model: a point ends when all its streams have ended by themselves, or when its duration is over. Where the jobs of a group end at different
times, each of their streams has an end of its own; ``exitall`` makes the earliest of their times that of all, and has no effect where a
stream ends by its amount.
Limits: fio counts ``startdelay`` from its own start, not from that of the group; what is left of it follows where the groups before end by
time.

    times, notes = times_of(values, requests)
    timing([times], [Stream(job=0, ends=False)], elapsed_ns=0, remedy="give --size").settings     # {"duration": "60s", "warmup": "0s"}
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from plimsoll.formats.fio.notes import Note, ignored, native, surprise, unsupported
from plimsoll.formats.fio.quantity import time_ns, time_text
from plimsoll.formats.fio.requests import Requests, Values
from plimsoll.stored import Json

#: A point that ends by its amounts; only the limit for a target that takes nothing any more.
_LIMIT = "30d"
_LIMIT_INTERVAL = "1s"
SHORTEST_NS = 1_000_000
_LONGEST_NS = time_ns("1d", "d")
_WINDOWS = ("log_avg_msec", "log_hist_msec", "bwavgtime", "iopsavgtime")


@dataclass(frozen=True)
class Times:
    """When a job starts and ends; 0 where it does not say."""

    runtime_ns: int
    #: Ends by its time only.
    endless: bool
    warmup_ns: int
    delay_ns: int
    #: Ends the jobs beside it when it ends.
    ends_all: bool
    #: Windows in which its numbers are to be seen, by option.
    windows_ns: Mapping[str, int]


def times_of(values: Values, requests: Requests) -> tuple[Times, tuple[Note, ...]]:
    """The times of a job."""
    times = Times(
        runtime_ns=values.get("runtime", 0),
        endless=requests.time_based,
        warmup_ns=values.get("ramp_time", 0),
        delay_ns=values.get("startdelay", (0, 0))[0],
        ends_all=bool(values.get("exitall")),
        windows_ns={name: values[name] for name in _WINDOWS if name in values},
    )
    notes = []
    if values.get("time_based") and not times.runtime_ns:
        notes.append(ignored("time_based", "there is no runtime, without which it has no effect with fio either"))
    if times.warmup_ns and not times.endless:
        notes.append(native("ramp_time", "warmup; what is transferred meanwhile counts towards the amount, as with fio"))
    least, most = values.get("startdelay", (0, 0))
    if most > least:
        notes.append(native("startdelay", f"start_after is the lower end, {time_text(least)}; fio draws a time from the range"))
    return times, tuple(notes)


@dataclass(frozen=True)
class Stream:
    """A stream of the job of that number; whether it ends by itself."""

    job: int
    ends: bool


@dataclass(frozen=True)
class Timing:
    """Settings of a point, how long it lasts when that is known, options of each stream, and notes on the jobs by their numbers."""

    settings: Json
    lasts_ns: int | None
    options: tuple[Json, ...]
    notes: tuple[tuple[int, Note], ...]


def timing(jobs: Mapping[int, Times], streams: Sequence[Stream], elapsed_ns: int | None, remedy: str) -> Timing:
    """The times of a group. ``elapsed_ns`` is when it starts, None when unknown; ``remedy`` what to do where a size is missing."""
    notes = [(number, note) for number, times in jobs.items() for note in _delay_notes(times, elapsed_ns)]
    notes += [(stream.job, note) for stream in streams for note in _end_notes(jobs[stream.job], stream, remedy)]
    delays = {number: _delay(times, elapsed_ns) for number, times in jobs.items()}
    ends = {number: delays[number] + times.warmup_ns + times.runtime_ns if times.runtime_ns else None for number, times in jobs.items()}
    end, own, more = _end(jobs, ends)
    notes += more
    options = tuple(
        {
            **({"start_after": time_text(delays[stream.job])} if delays[stream.job] else {}),
            **({"end_after": time_text(own[stream.job])} if stream.job in own else {}),
        }
        for stream in streams
    )
    warmup = max(times.warmup_ns for times in jobs.values())
    duration = None if end is None else max(SHORTEST_NS, end - warmup)
    longest = _LONGEST_NS if duration is None else min(duration, _LONGEST_NS)
    settings: Json = {"duration": _LIMIT if duration is None else time_text(duration), "warmup": time_text(warmup)}
    settings |= {"interval": _LIMIT_INTERVAL} if duration is None else {}
    settings |= _interval(jobs, longest)
    notes += [(number, note) for number, times in jobs.items() for note in _window_notes(times, longest)]
    known = end is not None and all(times.endless for times in jobs.values())
    return Timing(settings, end if known else None, options, tuple(notes))


def _delay(times: Times, elapsed_ns: int | None) -> int:
    """How long after the start of the group a job starts."""
    if elapsed_ns is None:
        return 0
    return max(0, times.delay_ns - elapsed_ns)


def _delay_notes(times: Times, elapsed_ns: int | None) -> list[Note]:
    if not times.delay_ns or elapsed_ns == 0:
        return []
    if elapsed_ns is None:
        why = "fio counts it from its own start, and how long the groups before take is not known; the job starts at once"
        return [ignored("startdelay", why)]
    return [surprise("startdelay", "fio counts it from its own start, not from the start of the group")]


def _end_notes(times: Times, stream: Stream, remedy: str) -> list[Note]:
    """A stream without time, amount or number of requests would go on for ever."""
    if times.endless or stream.ends:
        return []
    if times.runtime_ns:
        why = "how much lies behind the offset is not known here, so the job goes on until its runtime is over"
        return [surprise("runtime", why)]
    why = f"how much lies behind it is not known here, so the job would not end; write size=, or {remedy}"
    return [unsupported("offset", why)]


def _end(jobs: Mapping[int, Times], ends: Mapping[int, int | None]) -> tuple[int | None, dict[int, int], list[tuple[int, Note]]]:
    """The instant at which the point is over, None when streams end by themselves; and the ends of jobs that end at another."""
    different = set(ends.values())
    known: list[int] = [end for end in different if end is not None]
    leaving = [number for number, times in jobs.items() if times.ends_all]
    notes: list[tuple[int, Note]] = []
    if leaving and None in different and len(jobs) > 1:
        why = "a stream that has transferred its amount does not end the others"
        notes += [(number, ignored("exitall", why)) for number in leaving]
    if len(different) == 1:
        return different.pop(), {}, notes
    if leaving:
        return min(known), {}, notes
    own = {number: end for number, end in ends.items() if end is not None and (None in different or end < max(known))}
    why = "end_after, because jobs beside it end at another time"
    notes += [(number, native("runtime", why)) for number in own]
    return None if None in different else max(known), own, notes


def _interval(jobs: Mapping[int, Times], longest: int) -> Json:
    """The shortest window that a job asks to see its numbers in is the interval of the record, where it fits into the run."""
    possible = [window for times in jobs.values() for window in times.windows_ns.values() if SHORTEST_NS <= window <= longest]
    return {"interval": time_text(min(possible))} if possible else {}


def _window_notes(times: Times, longest: int) -> list[Note]:
    notes = []
    for name, window in times.windows_ns.items():
        if longest < window <= _LONGEST_NS:
            why = f"an interval is no longer than the run, {time_text(longest)}; fio writes nothing down before it is over"
            notes.append(ignored(name, why))
        elif not SHORTEST_NS <= window <= longest:
            notes.append(ignored(name, "an interval lasts 1 ms to a day; requests are not written down one by one"))
    return notes
