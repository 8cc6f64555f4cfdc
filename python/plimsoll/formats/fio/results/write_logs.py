"""fio's logs from stored intervals: bandwidth, rate, latencies and histograms over time, one file of each kind per job.

Model: a line is ``milliseconds, value, direction, block size, offset``; direction 0 reads, 1 writes, 2 discards. Lines are averages of a
window (``log_avg_msec``), the last two fields 0 as fio writes them for averages. Bandwidth is in KiB/s, rate in requests per second,
latency in nanoseconds. ``clat_hist`` lines end in 1,856 counts. Names are those bench-fio gives,
``randread-iodepth-4-numjobs-2_bw.1.log``.
Limits: submission latency is not recorded apart, so there is no ``slat`` log. A point without intervals has no logs.

    log_files([Recorded(result, intervals, monitor)])      # {"randread-iodepth-4-numjobs-2_bw.1.log": "500, 4096, 0, 0, 0\n…", …}
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from plimsoll.errors import InputError
from plimsoll.formats.fio.results.bins import BINS, binned
from plimsoll.formats.fio.results.figures import block_size, job_options
from plimsoll.formats.stored_point import MOVES, Amount, Course, Recorded, Window

KINDS = ("bw", "iops", "lat", "clat", "clat_hist")
#: Windows shorter than this say more about the clock than about the storage.
SHORTEST_MS = 100.0
_SUFFIXES = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30}


def log_files(points: Sequence[Recorded], window_ms: float = SHORTEST_MS) -> dict[str, str]:
    """Every log by its name; points whose names are equal are numbered on. Raises `InputError` where no interval is stored."""
    files: dict[str, str] = {}
    for point in points:
        course = Course(point)
        if not any(True for _ in course.windows()):
            raise InputError(f"{point.result.id}: no intervals are stored of it, so there is no course over time to write.")
        for stream in course.streams:
            options = job_options(stream, course)
            prefix = f"{options['rw']}-iodepth-{options['iodepth']}-numjobs-{options['numjobs']}"
            windows = list(course.windows(str(stream["name"]), window_ms, distributions=True))
            number = next(n for n in range(1, len(files) + 2) if f"{prefix}_bw.{n}.log" not in files)
            size_bytes = _bytes(block_size(stream))
            for kind in KINDS:
                files[f"{prefix}_{kind}.{number}.log"] = "".join(f"{line}\n" for line in _lines(kind, windows, size_bytes))
    return files


def job_name(point: Recorded) -> str:
    """What bench-fio calls the result of the point: its first stream's direction, depth and threads."""
    course = Course(point)
    options = job_options(course.streams[0], course)
    return f"{options['rw']}-{options['iodepth']}-{options['numjobs']}"


def _lines(kind: str, windows: Sequence[Window], size_bytes: int) -> Iterator[str]:
    for window in windows:
        for direction, op in enumerate(MOVES):
            amount = window.amounts.get(op)
            if amount is None or not amount.count or window.seconds <= 0:
                continue
            if kind == "clat_hist":
                counts = binned(amount.latency)
                row = ", ".join(str(counts.get(index, 0)) for index in range(BINS))
                yield f"{window.end_ms:.0f}, {direction}, {size_bytes}, {row}"
            else:
                yield f"{window.end_ms:.0f}, {_value(kind, amount, window.seconds):.0f}, {direction}, 0, 0"


def _value(kind: str, amount: Amount, seconds: float) -> float:
    if kind == "bw":
        return amount.bytes / 1024 / seconds
    if kind == "iops":
        return amount.count / seconds
    return (amount.latency_sum_ns if kind == "lat" else amount.service_sum_ns) / amount.count


def _bytes(text: str) -> int:
    """The number of bytes that a size of a job file names; the first of several."""
    first = text.split(",", maxsplit=1)[0]
    digits, letter = (first[:-1], first[-1]) if first and first[-1] in _SUFFIXES else (first, "")
    return int(digits) * _SUFFIXES.get(letter, 1) if digits.isdigit() else 0
