"""What fio reports of one job, computed once for all of its forms, and its "job options".

Model: a job is a stream of a point, its threads together (``group_reporting``). Bandwidth and rate samples are windows of at least 500
ms, as fio takes them. Percentages of latencies count service times of reads, writes and trims together, as fio counts completions.
Job options are what fio would need to issue the same load, as far as it has a word for it. Sizes are written as people write them
(``8k``), in steps of 1024. A stream of several sizes becomes ``bssplit``. Every address is drawn independently, which fio calls
``norandommap``.
Limits: CPU time is that of all workers of the point, in percent of their time; the engine does not count it by stream.
Strides, access specifications of several mixes, schedules and flow between streams have no faithful word in job options and are left out.

    figures = jobs(recorded, group=0)[0]
    figures.moves["read"].iops
"""

from __future__ import annotations

import errno
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from plimsoll.errors import InputError
from plimsoll.formats.fio.results.bins import PERCENTILES, binned, percentile, value_of
from plimsoll.formats.mix import is_open, random_percent, shares
from plimsoll.formats.stored_point import MOVES, Course, Recorded
from plimsoll.histogram import Histogram
from plimsoll.result import LatencySummary, OpTotals
from plimsoll.stored import Json

#: Our backends by the engine of fio that issues requests in the same way.
ENGINES = {"uring": "io_uring", "sync": "psync", "mmap": "mmap", "null": "null"}
_UNITS = ((1 << 40, "t"), (1 << 30, "g"), (1 << 20, "m"), (1 << 10, "k"))


def job_options(stream: Json, course: Course) -> dict[str, str]:
    """The options of one stream, in the order in which people write them."""
    job = course.result.job
    options = {"rw": direction(stream), **_mix(stream), **_sizes(stream)}
    options["iodepth"] = str(int(stream.get("queue_depth", job.queue_depth or 1)))
    options["numjobs"] = str(int(stream.get("threads", job.threads or 1)))
    options["ioengine"] = ENGINES.get(str((course.result.engine.get("backend") or {}).get("used")), "psync")
    options["direct"] = "1" if stream.get("direct", True) else "0"
    if job.target:
        options["filename"] = job.target
    if course.result.modelled:
        # The only option that fio repeats in all its forms.
        options["description"] = job.target
    size = (course.result.host.get("target") or {}).get("size_bytes")
    if size:
        options["size"] = str(stream.get("region_length") or size)
    options |= {"time_based": "1", "runtime": _seconds(job.duration_s)}
    if job.warmup_s:
        options["ramp_time"] = _seconds(job.warmup_s)
    return {**options, **_pace(stream), **_addresses(stream, job.seed), "group_reporting": "1"}


def direction(stream: Json) -> str:
    """fio's ``rw``: what is done, and whether at random places."""
    read, write, trim = shares(stream)
    word = "trim" if trim and not read and not write else "rw" if read and write else "write" if write or not read else "read"
    return f"rand{word}" if random_percent(stream) > 0 else word


def size_text(value: Any) -> str:
    """A size as it stands in a job file: ``8k``; other texts unchanged."""
    if not isinstance(value, int):
        return str(value)
    return next((f"{value // unit}{letter}" for unit, letter in _UNITS if value and value % unit == 0), str(value))


def block_size(stream: Json) -> str:
    """The usual size of a request as fio writes it."""
    return _sizes(stream).get("bs", "4k")


def _mix(stream: Json) -> dict[str, str]:
    read, write, _ = shares(stream)
    options = {"rwmixread": f"{100 * read / (read + write):.0f}"} if read and write else {}
    if 0 < random_percent(stream) < 100:
        options["percentage_random"] = f"{random_percent(stream):.0f}"
    return options


def _sizes(stream: Json) -> dict[str, str]:
    if stream.get("access"):
        return _split([(entry["size"], float(entry.get("weight", 1))) for entry in stream["access"]])
    whole = stream.get("block_size", 4096)
    if isinstance(whole, dict):
        return _split([(size, float(share)) for size, share in whole.items()])
    if isinstance(whole, str) and "-" in whole:
        first, _, last = whole.partition("-")
        return {"bs": size_text(_number(last)), "bsrange": f"{size_text(_number(first))}-{size_text(_number(last))}"}
    each = [stream.get(f"{op}_block_size") or whole for op in ("read", "write", "trim")]
    return {"bs": size_text(whole) if set(map(str, each)) == {str(whole)} else ",".join(size_text(size) for size in each)}


def _split(parts: Sequence[tuple[Any, float]]) -> dict[str, str]:
    """Several sizes with their shares; ``bs`` names the most frequent, for readers that look for nothing else."""
    whole = sum(share for _, share in parts)
    text = ":".join(f"{size_text(_number(size))}/{100 * share / whole:.0f}" for size, share in parts)
    return {"bs": size_text(_number(max(parts, key=lambda part: part[1])[0])), "bssplit": text}


def _number(size: Any) -> Any:
    return int(size) if str(size).isdigit() else size


def _seconds(value: float) -> str:
    return f"{value:.0f}" if math.isclose(value, round(value)) else f"{value * 1000:.0f}ms"


def _pace(stream: Json) -> dict[str, str]:
    options: dict[str, str] = {}
    if is_open(stream) and stream.get("rate"):
        threads = max(1, int(stream.get("threads", 1)))
        options["rate_iops"] = f"{float(stream['rate']) / threads:.0f}"
        options |= {"rate_process": "poisson"} if stream["arrival"] == "poisson" else {}
        options["lat_percentiles"] = "1"
    if stream.get("think_time"):
        options["thinktime"] = f"{float(stream['think_time']) * 1e6:.0f}"
    if stream.get("flush_every"):
        options["fsync"] = str(stream["flush_every"])
    return options


def _addresses(stream: Json, seed: int) -> dict[str, str]:
    options = {"randseed": str(seed)}
    kind = stream.get("distribution", "uniform")
    if random_percent(stream) and kind != "permutation":
        options["norandommap"] = "1"
    if isinstance(kind, str) and kind.partition(":")[0] in ("zipf", "pareto", "normal"):
        options["random_distribution"] = kind
    return options


SAMPLE_MS = 500
#: Upper ends of the rows ``IO depths``; the last one is open.
DEPTHS = (1, 2, 4, 8, 16, 32)
#: Rows of ``submit`` and ``complete``, which are not recorded.
SUBMIT_ROWS = ("0", "4", "8", "16", "32", "64", ">=64")
#: Upper ends of latency rows, in units of each.
LATENCY_STEPS = (2, 4, 10, 20, 50, 100, 250, 500, 750, 1000)
_KNOWN = {50.0: "p50", 90.0: "p90", 95.0: "p95", 99.0: "p99", 99.9: "p999"}


@dataclass(frozen=True)
class Spread:
    """A distribution as fio states it; ``counts`` are its bins, empty where only ``percentiles`` are known."""

    n: int = 0
    min: int = 0
    max: int = 0
    mean: float = 0.0
    stddev: float = 0.0
    percentiles: Mapping[float, int] = field(default_factory=dict)
    counts: Mapping[int, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Samples:
    """Minimum, maximum, mean and standard deviation of samples over time."""

    min: float = 0
    max: float = 0
    mean: float = 0.0
    dev: float = 0.0
    n: int = 0


@dataclass(frozen=True)
class Move:
    """One direction of a job."""

    total: OpTotals
    runtime_ms: int
    completion: Spread
    latency: Spread
    kib_per_s: Samples
    iops: Samples


@dataclass(frozen=True)
class Figures:
    """One job."""

    name: str
    group: int
    options: Mapping[str, str]
    error: int
    elapsed_s: int
    runtime_ms: int
    moves: Mapping[str, Move]
    sync: Spread
    usr_cpu: float
    sys_cpu: float
    depths: Sequence[float]
    latency_ns: Sequence[float]
    latency_us: Sequence[float]
    latency_ms: Sequence[float]

    @property
    def is_open(self) -> bool:
        """Whether latency from the intended instant is stated beside the service time."""
        return "lat_percentiles" in self.options

    @property
    def depth(self) -> int:
        """Requests outstanding per thread at most."""
        return int(self.options["iodepth"])

    @property
    def share(self) -> Mapping[str, float]:
        """Percent of the group's mean bandwidth; of a job whose samples are its group's, all of it."""
        return {op: 100.0 if move.kib_per_s.n else 0.0 for op, move in self.moves.items()}


def jobs(recorded: Recorded, group: int) -> list[Figures]:
    """One job for each stream."""
    course = Course(recorded)
    return [_job(course, stream, group) for stream in course.streams]


def require_bins(all_jobs: Sequence[Figures]) -> None:
    """Raise `InputError` where a distribution is not known as such."""
    for job in all_jobs:
        for op, move in job.moves.items():
            if move.total.count and not move.completion.counts:
                raise InputError(
                    f"{job.name}: no distribution of its {op} latencies is stored, so its bins cannot be written; "
                    "export it with --as fio-json, which does without."
                )


def disk_use(recorded: Sequence[Recorded]) -> list[Json]:
    """What the target's devices did in the measured phases; merges are not recorded and stand as 0."""
    found: dict[str, Json] = {}
    seconds: dict[str, float] = {}
    for one in recorded:
        monitor = one.result.monitor
        names = {device["name"] for device in (one.result.host.get("target") or {}).get("devices") or ()}
        for name, rates in (monitor.get("devices") or {}).items():
            if name in names:
                _add_device(found.setdefault(name, _idle(name)), rates, monitor["seconds"])
                seconds[name] = seconds.get(name, 0.0) + monitor["seconds"]
    return [{**disk, "util": disk["util"] / seconds[name]} for name, disk in found.items() if seconds[name]]


def _idle(name: str) -> Json:
    counters = ("read_ios", "write_ios", "read_merges", "write_merges", "read_ticks", "write_ticks", "in_queue")
    return {"name": name, **dict.fromkeys(counters, 0), "util": 0.0}


def _add_device(disk: Json, rates: Mapping[str, Any], seconds: float) -> None:
    for ours, theirs in (("r", "read"), ("w", "write")):
        ios = rates[f"{ours}_per_s"] * seconds
        disk[f"{theirs}_ios"] += round(ios)
        disk[f"{theirs}_ticks"] += round(rates[f"{ours}_await_ms"] * ios)
    disk["in_queue"] += round(rates["queue_mean"] * seconds * 1000)
    disk["util"] += rates["util_percent"] * seconds


def _job(course: Course, stream: Json, group: int) -> Figures:
    result, name = course.result, str(stream["name"])
    runtime_ms = round(course.seconds * 1000)
    several = len(course.streams) > 1
    moves = {op: _move(course, name, op, runtime_ms) for op in MOVES}
    options = job_options(stream, course)
    usr_cpu, sys_cpu = _cpu(course)
    completions: dict[int, int] = {}
    for move in moves.values():
        for index, count in move.completion.counts.items():
            completions[index] = completions.get(index, 0) + count
    return Figures(
        name=f"{result.job.workload}.{name}" if several else result.job.workload,
        group=group,
        options=options,
        error=_errno(result.errors, failed=result.status == "failed"),
        elapsed_s=math.ceil(course.total_seconds),
        runtime_ms=runtime_ms,
        moves=moves,
        sync=_spread(course.total(name, "flush").latency_ns, course.latency(name, "flush"), course.total(name, "flush").count),
        usr_cpu=usr_cpu,
        sys_cpu=sys_cpu,
        depths=_depths(course, int(options["iodepth"]), int(options["numjobs"])),
        latency_ns=_latency_shares(completions, 1),
        latency_us=_latency_shares(completions, 1_000),
        latency_ms=_latency_shares(completions, 1_000_000),
    )


def _move(course: Course, stream: str, op: str, runtime_ms: int) -> Move:
    total = course.total(stream, op)
    windows = list(course.windows(stream, SAMPLE_MS)) if total.count else []
    amounts = [(window.seconds, window.amounts.get(op)) for window in windows if window.seconds > 0]
    return Move(
        total=total,
        runtime_ms=runtime_ms if total.count else 0,
        completion=_spread(total.service_ns, course.service(stream, op), total.count) if total.service_ns else _outline(course, op),
        latency=_spread(total.latency_ns, course.latency(stream, op), total.count) if total.latency_ns else _outline(course, op),
        kib_per_s=_samples([(amount.bytes / 1024 / seconds if amount else 0.0) for seconds, amount in amounts]),
        iops=_samples([(amount.count / seconds if amount else 0.0) for seconds, amount in amounts]),
    )


def _spread(summary: LatencySummary | None, histogram: Histogram | None, count: int) -> Spread:
    if summary is None or not count:
        return Spread()
    counts = binned(histogram)
    known = {percent: percentile(counts, percent) for percent in PERCENTILES} if counts else {}
    return Spread(
        n=count,
        min=summary.min,
        max=summary.max,
        mean=summary.mean,
        stddev=summary.stddev,
        percentiles=known or {percent: getattr(summary, name) for percent, name in _KNOWN.items()},
        counts=counts,
    )


def _outline(course: Course, op: str) -> Spread:
    """What is known of an operation without a distribution: its mean, and its maximum if that is; of a point read from another tool."""
    known = course.result.estimates.get(op, {})
    if "mean" not in known or len(course.streams) > 1:
        return Spread()
    highest = round(known["max"].value) if "max" in known else 0
    return Spread(n=course.total(None, op).count, max=highest, mean=known["mean"].value)


def _samples(values: Sequence[float]) -> Samples:
    if not values:
        return Samples()
    mean = sum(values) / len(values)
    # fio states the deviation of a sample, which has one degree of freedom less.
    dev = math.sqrt(sum((value - mean) ** 2 for value in values) / (len(values) - 1)) if len(values) > 1 else 0.0
    return Samples(min=min(values), max=max(values), mean=mean, dev=dev, n=len(values))


def _errno(errors: Mapping[str, Mapping[str, int]], *, failed: bool) -> int:
    """The number of the first error, as fio's ``error`` says it; EIO where a point failed without one."""
    names = [name for by_name in errors.values() for name in by_name]
    number = next((getattr(errno, name, errno.EIO) for name in names), 0)
    return number or (errno.EIO if failed else 0)


def _cpu(course: Course) -> tuple[float, float]:
    """CPU time in percent of the time of all workers."""
    engine = course.result.engine
    spent, lasted = engine.get("cpu_ns") or {}, engine.get("end_ns") or 0
    workers = max(1, (engine.get("engine") or {}).get("workers") or 1)
    if not lasted:
        return 0.0, 0.0
    return 100.0 * spent.get("user", 0) / (lasted * workers), 100.0 * spent.get("system", 0) / (lasted * workers)


def _depths(course: Course, depth: int, threads: int) -> list[float]:
    """Percent of requests issued at each depth: of a stream alone from the requests outstanding, else from what it may have outstanding."""
    weights = [0.0] * (len(DEPTHS) + 1)
    for interval in course.recorded.intervals:
        count = sum(cell["count"] for cell in interval["cells"] if cell.get("part") is None)
        if interval["phase"] == "measure" and count:
            inflight = interval.get("inflight_mean") if len(course.streams) == 1 else None
            outstanding = depth if inflight is None else min(depth, max(1, round(inflight / threads)))
            weights[_depth_row(outstanding)] += count
    if not any(weights):
        weights[_depth_row(depth)] = float(bool(course.totals(None)))
    whole = sum(weights) or 1.0
    return [100.0 * weight / whole for weight in weights]


def _depth_row(outstanding: int) -> int:
    return next((row for row, upper in reversed(list(enumerate(DEPTHS))) if upper <= outstanding), 0) + (outstanding >= 64)


def _latency_shares(counts: Mapping[int, int], unit_ns: int) -> list[float]:
    """Percent of requests in each row of one unit; a row counts what lies from the row before up to below its end."""
    whole = sum(counts.values())
    ends = [step * unit_ns for step in LATENCY_STEPS]
    if unit_ns == 1_000_000:
        ends += [2000 * unit_ns, 1 << 62]
    starts = [0 if unit_ns == 1 else unit_ns, *ends]
    rows = []
    for start, end in zip(starts, ends, strict=False):
        count = sum(number for index, number in counts.items() if start <= value_of(index) < end)
        # Like fio: what happened at all is not rounded down to nothing.
        rows.append(max(0.01, 100.0 * count / whole) if count else 0.0)
    return rows
