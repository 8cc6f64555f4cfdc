"""fio's JSON and JSON+ as points of ours: what ran at the same time (one group) is a point, each job name in it a stream.

Model: JSON+ holds every bin, so the point holds a histogram and its percentiles follow from it; JSON holds percentiles, which are taken
as they stand. fio states percentiles of completion latency, so that is what both our latencies are, unless ``lat_percentiles`` was set.
Jobs of one name are added up; their percentiles can only be added up in JSON+. In fio's client/server mode each client's job is a stream of
its own. Text before the document, which fio mixes in, is skipped. Job options say mix, sizes, concurrency and pace in the words that were
typed, so sizes are read with fio's suffixes (1024 per step) and options that are absent have fio's defaults.
Limits: results of versions before 3, whose units differ, and ``unified_rw_reporting=mixed``, which does not tell reads from writes, are
refused. Job options that cannot be read are left out: a result that is read in is described, not run again.

    points = read_json(text, "randread.json")
    known_options({"rw": "randrw", "rwmixread": "70", "bs": "8k"})      # {"read_percent": 70, "random_percent": 100, "block_size": 8192, …}
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from plimsoll.displayed import quoted
from plimsoll.errors import InputError
from plimsoll.formats.fio.results.bins import histogram_of
from plimsoll.formats.foreign_point import Imported, Known, summary_of
from plimsoll.formats.stored_point import MOVES, Recorded
from plimsoll.histogram import Histogram
from plimsoll.result import LatencySummary
from plimsoll.stored import Json, Sample

_STEPS = {"k": 10, "m": 20, "g": 30, "t": 40}


def known_options(options: Mapping[str, str]) -> Json:
    """Our options of the stream."""
    word = options.get("rw") or options.get("readwrite") or "read"
    known: Json = {**_mix(word.partition(":")[0], options), "random_percent": 100 if word.startswith("rand") else 0}
    sizes = _bytes(options.get("bs") or options.get("blocksize") or "4k")
    if sizes is not None and "bssplit" not in options and "bsrange" not in options:
        known["block_size"] = sizes
    if "percentage_random" in options:
        known["random_percent"] = _integer(options["percentage_random"], 100)
    known["threads"] = _integer(options.get("numjobs", "1"), 1)
    known["queue_depth"] = _integer(options.get("iodepth", "1"), 1)
    known["direct"] = options.get("direct", "0") == "1"
    rate = _integer(options.get("rate_iops", "").split(",")[0], 0)
    if rate:
        known |= {"arrival": "poisson" if options.get("rate_process") == "poisson" else "constant", "rate": rate * known["threads"]}
    return known


def _mix(word: str, options: Mapping[str, str]) -> Json:
    word = word.removeprefix("rand")
    if word in ("rw", "readwrite"):
        writes = _integer(options["rwmixwrite"], 50) if "rwmixwrite" in options else 100 - _integer(options.get("rwmixread", "50"), 50)
        return {"read_percent": 100 - writes}
    return {
        "write": {"read_percent": 0},
        "trim": {"read_percent": 0, "write_percent": 0, "trim_percent": 100},
        "trimwrite": {"read_percent": 0, "write_percent": 50, "trim_percent": 50},
    }.get(word, {"read_percent": 100})


def _integer(text: str, default: int) -> int:
    return int(text) if text.isdecimal() and len(text) < 16 else default


def _bytes(text: str) -> int | None:
    """A plain size; None for lists and ranges."""
    lowered = text.lower().removesuffix("b")
    step = _STEPS.get(lowered[-1:], 0)
    digits = lowered[:-1] if step else lowered
    return int(digits) << step if digits.isdecimal() and len(digits) < 16 else None


_SUMMARY = {"p50": 50.0, "p90": 90.0, "p95": 95.0, "p99": 99.0, "p999": 99.9}
#: No counter of a real run comes near; sums of many stay within 64 bits.
_LARGEST = 1e15
#: The key under which a job that several clients did has its own client.
CLIENT = "plimsoll client"
_EXTENT = ("min", "max", "mean", "stddev")


class Node:
    """An object of the document with its place, so that whatever is wrong can be named."""

    def __init__(self, value: Any, place: str) -> None:
        if not isinstance(value, dict):
            raise InputError(f"{place} is not an object, which fio writes there; give the file as fio wrote it.")
        self.value: Json = value
        self.place = place

    def child(self, key: str) -> Node:
        """The object under ``key``; an empty one where it is absent."""
        return Node(self.value.get(key, {}), f"{self.place}, {quoted(key)}")

    def number(self, key: str, default: float | None = None) -> float:
        """The number under ``key``."""
        value = self.value.get(key, default)
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= _LARGEST:
            raise InputError(
                f"{self.place}: {quoted(key)} is {quoted(value)}, where fio writes a number of at least 0; give the file as fio wrote it."
            )
        return value

    def children(self, key: str) -> list[Node]:
        """The objects of the list under ``key``."""
        value = self.value.get(key, [])
        if not isinstance(value, list):
            raise InputError(f"{self.place}: {quoted(key)} is not a list, which fio writes there; give the file as fio wrote it.")
        return [Node(entry, f"{self.place}, {key}[{position}]") for position, entry in enumerate(value)]

    def text(self, key: str) -> str:
        """The text under ``key``; empty where it is absent."""
        return str(self.value.get(key, ""))


def read_json(text: str, source: str) -> list[Recorded]:
    """A point for each group of jobs. Raises `InputError` that names file and place."""
    root = Node(_document(text, source), source)
    origin = root.text("fio version") or "fio"
    jobs = root.children("jobs") or _of_clients(root)
    if not jobs:
        raise InputError(
            f"{source}: there are neither 'jobs' nor 'client_stats' in it, so it holds no result of fio's; give its JSON output."
        )
    shared = _options(root.value.get("global options"))
    groups: dict[int, list[Node]] = {}
    for job in jobs:
        groups.setdefault(int(job.number("groupid", 0)), []).append(job)
    return [_point(members, (origin, source, root, shared)) for members in groups.values()]


def _of_clients(root: Node) -> list[Node]:
    """The jobs of all clients without their sum; a job that several clients did is one of each, as percentiles cannot be added up."""
    jobs = [job for job in root.children("client_stats") if job.text("jobname") != "All clients"]
    clients: dict[tuple[str, int], set[tuple[str, str]]] = {}
    for job in jobs:
        clients.setdefault(_job_and_group(job), set()).add((job.text("hostname"), job.text("port")))
    for job in jobs:
        of_job = clients[_job_and_group(job)]
        if len(of_job) > 1:
            host = job.text("hostname")
            alone = sum(1 for name, _ in of_job if name == host) == 1
            job.value = {**job.value, CLIENT: host if alone else f"{host}:{job.text('port')}"}
    return jobs


def _job_and_group(job: Node) -> tuple[str, int]:
    return job.text("jobname"), int(job.number("groupid", 0))


def _name(job: Node) -> str:
    """What a job is called: by its name, and by its client where several did it."""
    client = job.text(CLIENT)
    return f"{job.text('jobname') or 'job'}{f'@{client}' if client else ''}"


def _document(text: str, source: str) -> Any:
    start = 0 if text.lstrip().startswith("{") else text.find("\n{") + 1
    if start == 0 and not text.lstrip().startswith("{"):
        raise InputError(f"{source}: no JSON document begins in it; give what fio wrote with --output-format=json.")
    try:
        return json.JSONDecoder().raw_decode(text[start:].lstrip())[0]
    except json.JSONDecodeError as problem:
        line = text.count("\n", 0, start) + problem.lineno
        raise InputError(f"{source}:{line}: not JSON ({problem.msg.lower()}); fio may have been ended while writing it.") from None
    except ValueError:
        raise InputError(f"{source}: a number in it has thousands of digits; give the file as fio wrote it.") from None
    except RecursionError:
        raise InputError(f"{source}: nested too deeply for a result of fio's; give the file as fio wrote it.") from None


def _point(jobs: Sequence[Node], about: tuple[str, str, Node, Mapping[str, str]]) -> Recorded:
    origin, source, root, shared = about
    _check_directions(jobs)
    names = list(dict.fromkeys(_name(job) for job in jobs))
    runtime_ms = max(job.child(op).number("runtime", 0) for job in jobs for op in MOVES)
    options = [{**shared, **_options(job.value.get("job options"))} for job in jobs]
    first = {name: next(one for job, one in zip(jobs, options, strict=True) if _name(job) == name) for name in names}
    timestamp = root.number("timestamp", 0)
    point = Imported(
        workload=_workload(list(dict.fromkeys(job.text("jobname") or "job" for job in jobs))),
        origin=origin,
        source=source,
        seconds=runtime_ms / 1000,
        streams=[known_options(first[name]) for name in names],
        target=":".join(dict.fromkeys(one["filename"] for one in options if one.get("filename"))),
        started=_iso(timestamp - runtime_ms / 1000) if timestamp else "",
        error=_error(jobs),
        monitor=_disks(root, runtime_ms / 1000),
    )
    for name in names:
        members = [job for job in jobs if _name(job) == name]
        stream = "stream-1" if len(names) == 1 else name.removeprefix(f"{point.workload}.")
        for op in MOVES:
            point.add(stream, op, _together([job.child(op) for job in members]))
        point.add(stream, "flush", _flushes([job.child("sync") for job in members], runtime_ms / 1000))
    return point.recorded()


def _check_directions(jobs: Sequence[Node]) -> None:
    """Refuse jobs that state no direction, or all of them as one."""
    for job in jobs:
        if not any(op in job.value for op in (*MOVES, "mixed")):
            raise InputError(
                f"{job.place}: it has none of 'read', 'write' and 'trim', so it says nothing of what was measured; "
                "give the whole file as fio wrote it."
            )
        if "mixed" in job.value and not any(op in job.value for op in MOVES):
            raise InputError(
                f"{job.place}: reads and writes are stated as one (unified_rw_reporting=mixed), so they cannot be told apart; "
                "run it without that option."
            )


def _workload(names: Sequence[str]) -> str:
    heads = {name.partition(".")[0] for name in names}
    return heads.pop() if len(heads) == 1 and len(names) > 1 else "+".join(names)


def _together(moves: Sequence[Node]) -> Known:
    """One direction of all jobs of a name."""
    for move in moves:
        if move.value and "clat_ns" not in move.value:
            raise InputError(
                f"{move.place}: there is no 'clat_ns'; fio before version 3 wrote other units, so run it again with a newer one."
            )
    count = sum(int(move.number("total_ios", 0)) for move in moves)
    latency, service, histogram = _latencies([move for move in moves if move.number("total_ios", 0)])
    return Known(
        count=count,
        bytes=sum(int(move.number("io_bytes", 0)) for move in moves),
        iops=sum(float(move.number("iops", 0)) for move in moves),
        bytes_per_s=float(sum(move.number("bw_bytes", 0) for move in moves)),
        errors=0,
        latency=latency,
        service=service,
        histogram=histogram,
        partial=_partial([move.child("clat_ns") for move in moves]) if latency is None and count else {},
    )


def _flushes(syncs: Sequence[Node], seconds: float) -> Known:
    spreads = [sync.child("lat_ns") for sync in syncs if sync.number("total_ios", 0)]
    count = sum(int(sync.number("total_ios", 0)) for sync in syncs)
    summary, histogram = _summary(spreads)
    return Known(
        count, 0, iops=count / seconds if seconds else 0.0, bytes_per_s=0.0, latency=summary, histogram=histogram, partial=_partial(spreads)
    )


def _latencies(moves: Sequence[Node]) -> tuple[LatencySummary | None, LatencySummary | None, Histogram | None]:
    """Latency, service time, and the histogram of the former."""
    completion = _summary([move.child("clat_ns") for move in moves])
    whole = _summary([move.child("lat_ns") for move in moves])
    if whole[0] is not None:
        return whole[0], completion[0], whole[1]
    return completion[0], completion[0], completion[1]


def _summary(spreads: Sequence[Node]) -> tuple[LatencySummary | None, Histogram | None]:
    """Of several distributions together: from their bins, or, of a single one, from its percentiles."""
    if not spreads:
        return None, None
    if all(spread.value.get("bins") for spread in spreads):
        histogram = histogram_of(_bins(spreads))
        extent = {name: spreads[0].number(name) for name in _EXTENT} if len(spreads) == 1 else {}
        return summary_of(histogram, extent), histogram
    if len(spreads) > 1:
        return None, None
    percentiles = {float(name): spreads[0].child("percentile").number(name) for name in _percentile_names(spreads[0])}
    if not set(_SUMMARY.values()) <= percentiles.keys():
        return None, None
    known = {name: int(percentiles[percent]) for name, percent in _SUMMARY.items()}
    extent = {name: spreads[0].number(name) for name in _EXTENT}
    return LatencySummary(
        mean=float(extent["mean"]), min=int(extent["min"]), max=int(extent["max"]), stddev=float(extent["stddev"]), **known
    ), None


def _percentile_names(spread: Node) -> Iterator[str]:
    for name in spread.child("percentile").value:
        try:
            float(name)
        except ValueError:
            raise InputError(f"{spread.place}, 'percentile': {quoted(name)} is no percentage; give the file as fio wrote it.") from None
        yield name


def _bins(spreads: Sequence[Node]) -> dict[int, int]:
    values: dict[int, int] = {}
    for spread in spreads:
        bins = spread.child("bins")
        for name in bins.value:
            if not name.isdecimal() or len(name) > 15:
                raise InputError(f"{bins.place}: {quoted(name)} is no number of nanoseconds; give the file as fio wrote it.")
            values[int(name)] = values.get(int(name), 0) + int(bins.number(name))
    return values


def _partial(spreads: Sequence[Node]) -> dict[str, float]:
    """Mean and maximum over several jobs, and percentiles of a single one."""
    count = sum(spread.number("N", 0) for spread in spreads)
    if not count:
        return {}
    found = {
        "mean": sum(spread.number("N") * spread.number("mean") for spread in spreads) / count,
        "max": max(spread.number("max") for spread in spreads),
    }
    if len(spreads) == 1:
        stated = {float(name): spreads[0].child("percentile").number(name) for name in _percentile_names(spreads[0])}
        found |= {name: stated[percent] for name, percent in _SUMMARY.items() if percent in stated}
    return found


def _error(jobs: Sequence[Node]) -> str | None:
    for job in jobs:
        number = int(job.number("error", 0))
        if number:
            return f"fio ended {job.text('jobname') or 'the job'} with error {number}."
    return None


def _options(value: Any) -> dict[str, str]:
    """Options by name; fio writes them as one object or as a list with one."""
    if isinstance(value, list):
        value = value[0] if value else {}
    return {str(name): str(text) for name, text in value.items()} if isinstance(value, dict) else {}


def _disks(root: Node, seconds: float) -> Sample:
    """The host's devices as our monitor states them."""
    devices: Json = {}
    for disk in root.children("disk_util"):
        reads, writes = (disk.number(f"{op}_ios", 0) for op in ("read", "write"))
        if not seconds or not disk.text("name"):
            continue
        devices[disk.text("name")] = {
            "r_per_s": reads / seconds,
            "w_per_s": writes / seconds,
            "r_await_ms": disk.number("read_ticks", 0) / reads if reads else 0.0,
            "w_await_ms": disk.number("write_ticks", 0) / writes if writes else 0.0,
            "queue_mean": disk.number("in_queue", 0) / (seconds * 1000),
            "util_percent": disk.number("util", 0),
        }
    return {"seconds": seconds, "devices": devices} if devices else {}


def _iso(seconds: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S+00:00", time.gmtime(min(max(seconds, 0), 1 << 34)))
