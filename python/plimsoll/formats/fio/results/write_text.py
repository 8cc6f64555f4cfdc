"""fio's normal text, the block that people know and scripts search for ``IOPS=`` and ``BW=``; and its terse output, version 3.

Model: in the normal text numbers are shortened as fio shortens them, to four digits with a prefix (10.8k, 42.0MiB); latencies stand in the
largest unit that keeps them above a thousand. Terse output is one line of 130 fields per job, separated by semicolons, for scripts that
read it by position: microseconds, KiB and KiB per second; percentiles as ``p%=usec``, padded to twenty with ``0%=0``. Reads, then writes;
trims have no place in version 3. After the jobs' own fields come those of each disk.
Limits: a job's process id is not known and stands as 0.

    normal_text([Recorded(result, intervals, monitor)])
    terse_text([Recorded(result, intervals, monitor)])
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from plimsoll.displayed import displayed_in_line
from plimsoll.formats.fio.results.bins import PERCENTILES
from plimsoll.formats.fio.results.figures import DEPTHS, LATENCY_STEPS, SUBMIT_ROWS, Figures, Move, Spread, disk_use, jobs
from plimsoll.formats.fio.results.write_json import version
from plimsoll.formats.stored_point import Recorded

#: Fields of one job before those of the disks.
FIELDS = 121
_PERCENTILES = 20


def terse_text(points: Sequence[Recorded]) -> str:
    """A line per job."""
    lines: list[str] = []
    for group, point in enumerate(points):
        disks = [_disk(disk) for disk in disk_use([point])]
        program = version(point.result)
        lines += [";".join([*_fields(figures, program), *disks, *_description(figures)]) for figures in jobs(point, group)]
    return "\n".join(lines) + "\n"


def _fields(figures: Figures, program: str) -> Iterator[str]:
    yield from ("3", program, _field(figures.name), str(figures.group), str(figures.error))
    for op in ("read", "write"):
        yield from _terse_fields(figures.moves[op], figures.share[op])
    yield from (f"{figures.usr_cpu:.6f}%", f"{figures.sys_cpu:.6f}%", "0", "0", "0")
    yield from (f"{share:.1f}%" for share in figures.depths)
    # Version 3 has no rows below a microsecond; what is faster stands in the first.
    below = list(figures.latency_us)
    below[0] += sum(figures.latency_ns)
    yield from (f"{share:.2f}%" for share in (*below, *figures.latency_ms))


def _terse_fields(move: Move, share: float) -> Iterator[str]:
    total = move.total
    yield from (str(total.bytes // 1024), str(int(total.bytes_per_s) // 1024), str(int(total.iops)), str(move.runtime_ms))
    yield from ("0", "0", "0.000000", "0.000000")
    yield from _microseconds(move.completion)
    values = move.completion.percentiles or dict.fromkeys(PERCENTILES, 0)
    yield from (f"{percent:.6f}%={value // 1000}" for percent, value in values.items())
    yield from ["0%=0"] * (_PERCENTILES - len(values))
    yield from _microseconds(move.latency)
    samples = move.kib_per_s
    yield from (str(int(samples.min)), str(int(samples.max)), f"{share:.6f}%", f"{samples.mean:.6f}", f"{samples.dev:.6f}")


def _microseconds(spread: Spread) -> tuple[str, ...]:
    return (str(spread.min // 1000), str(spread.max // 1000), f"{spread.mean / 1000:.6f}", f"{spread.stddev / 1000:.6f}")


def _description(figures: Figures) -> list[str]:
    """At the very end, as fio has it; only of jobs that have one."""
    return [_field(figures.options["description"])] if "description" in figures.options else []


def _field(text: str) -> str:
    """A name within a line of fields that semicolons separate."""
    return displayed_in_line(text).replace(";", ",")


def _disk(disk: dict[str, object]) -> str:
    names = ("name", "read_ios", "write_ios", "read_merges", "write_merges", "read_ticks", "write_ticks", "in_queue")
    return ";".join([*(_field(str(disk[name])) for name in names), f"{disk['util']:.2f}%"])


_PREFIXES = ("", "k", "M", "G", "T", "P")
_BINARY = ("", "Ki", "Mi", "Gi", "Ti", "Pi")
_UNITS = (("nsec", 1), ("usec", 1_000), ("msec", 1_000_000))
_ROWS = 5
_PERCENTILES_PER_LINE = 4


def normal_text(points: Sequence[Recorded]) -> str:
    """The whole text: what runs, each job, each group, the disks."""
    figures = [(point, jobs(point, group)) for group, point in enumerate(points)]
    lines = [_announcement(job) for _, group in figures for job in group]
    lines += [version(points[-1].result), _starting(sum(len(group) for _, group in figures)), ""]
    for point, group in figures:
        for job in group:
            lines += _job(job, point.result.started)
    for number, (_, group) in enumerate(figures):
        lines += ["", f"Run status group {number} (all jobs):", *_group(group)]
    disks = disk_use(points)
    if disks:
        lines += ["", "Disk stats (read/write):"]
    for disk in disks:
        pairs = ", ".join(f"{word}={disk[f'read_{key}']}/{disk[f'write_{key}']}" for word, key in _DISK_PAIRS)
        lines.append(f"  {disk['name']}: {pairs}, in_queue={disk['in_queue']}, util={disk['util']:.2f}%")
    return "\n".join(lines) + "\n"


_DISK_PAIRS = (("ios", "ios"), ("merge", "merges"), ("ticks", "ticks"))


def _starting(count: int) -> str:
    return "Starting 1 process" if count == 1 else f"Starting {count} processes"


def short(value: float, digits: int = 4, *, binary: bool = False) -> str:
    """A number in at most ``digits`` digits, with the prefix that makes it fit: ``10.8k``."""
    step = 1024 if binary else 1000
    names = _BINARY if binary else _PREFIXES
    power = 0
    while len(str(int(value))) > digits and power < len(names) - 1:
        value /= step
        power += 1
    decimals = max(0, digits - 1 - len(str(int(value)))) if power else 0
    return f"{value:.{decimals}f}{names[power]}"


def _announcement(job: Figures) -> str:
    sizes = job.options["bs"]
    ranges = ", ".join(f"({letter}) {sizes}" for letter in "RWT")
    return f"{job.name}: (g={job.group}): rw={job.options['rw']}, bs={ranges}, ioengine={job.options['ioengine']}, iodepth={job.depth}"


def _job(job: Figures, started: str) -> Iterator[str]:
    when = datetime.fromisoformat(started).strftime("%a %b %d %H:%M:%S %Y") if started else "unknown"
    yield f"{job.name}: (groupid={job.group}, jobs={job.options['numjobs']}): err={job.error:2d}: pid=0: {when}"
    if "description" in job.options:
        yield f"  Description  : [{job.options['description']}]"
    for op, move in job.moves.items():
        if move.total.count:
            yield from _move(op, move, job)
    for unit, shares in (("nsec", job.latency_ns), ("usec", job.latency_us), ("msec", job.latency_ms)):
        yield from _latency_rows(unit, shares)
    if job.sync.n:
        unit, divisor = _unit(job.sync)
        yield "  fsync/fdatasync/sync_file_range:"
        yield f"    sync ({unit}): {_extent(job.sync, divisor)}"
        yield from _percentiles("sync", job.sync)
    yield f"  cpu          : usr={job.usr_cpu:.2f}%, sys={job.sys_cpu:.2f}%, ctx=0, majf=0, minf=0"
    rows = (*map(str, DEPTHS), ">=64")
    yield "  IO depths    : " + ", ".join(f"{row}={share:.1f}%" for row, share in zip(rows, job.depths, strict=True))
    for word in ("submit", "complete"):
        yield f"     {word:<10}: " + ", ".join(f"{row}=0.0%" for row in SUBMIT_ROWS)
    issued = ",".join(str(job.moves[op].total.count) for op in ("read", "write", "trim"))
    yield f"     issued rwts: total={issued},{job.sync.n} short=0,0,0,0 dropped=0,0,0,0"
    yield f"     latency   : target=0, window=0, percentile=100.00%, depth={job.depth}"


def _move(op: str, move: Move, job: Figures) -> Iterator[str]:
    total = move.total
    resets = "; 0 zone resets" if op == "write" else ""
    moved = f"({short(total.bytes, binary=True)}B/{move.runtime_ms}msec)"
    yield f"  {op}: IOPS={short(total.iops)}, BW={_bandwidth(total.bytes_per_s)}{moved}{resets}"
    for name, spread in (("clat", move.completion), (" lat", move.latency)):
        unit, divisor = _unit(spread)
        if spread.n:
            yield f"    {name} ({unit}): {_extent(spread, divisor)}"
    yield from _percentiles("clat", move.completion)
    if job.is_open:
        yield from _percentiles("lat", move.latency)
    bandwidth, rate = move.kib_per_s, move.iops
    yield (
        f"   bw (  KiB/s): min={bandwidth.min:5.0f}, max={bandwidth.max:5.0f}, per={job.share[op]:.2f}%, "
        f"avg={bandwidth.mean:5.2f}, stdev={bandwidth.dev:5.2f}, samples={bandwidth.n}"
    )
    yield f"   iops        : min={rate.min:5.0f}, max={rate.max:5.0f}, avg={rate.mean:5.2f}, stdev={rate.dev:5.2f}, samples={rate.n}"


def _bandwidth(bytes_per_s: float) -> str:
    return f"{short(bytes_per_s, binary=True)}B/s ({short(bytes_per_s)}B/s)"


def _unit(spread: Spread) -> tuple[str, int]:
    """The largest unit in which all four figures stay above a thousand of the one before."""
    least = min(spread.min, spread.max, spread.mean, spread.stddev)
    return next((name, divisor) for name, divisor in reversed(_UNITS) if least > divisor or divisor == 1)


def _extent(spread: Spread, divisor: int) -> str:
    low, high = (short(value / divisor, 5) for value in (spread.min, spread.max))
    return f"min={low}, max={high}, avg={spread.mean / divisor:5.2f}, stdev={spread.stddev / divisor:5.2f}"


def _percentiles(name: str, spread: Spread) -> Iterator[str]:
    values = list(spread.percentiles.items())
    if not values:
        return
    low, high = values[0][1], values[-1][1]
    unit, divisor = next((n, d) for n, d in reversed(_UNITS) if d == 1 or (low > 2 * d and high > 99 * d))
    yield f"    {name} percentiles ({unit}):"
    cells = [f"{percent:5.2f}th=[{-(-value // divisor):5d}]" for percent, value in values]
    for start in range(0, len(cells), _PERCENTILES_PER_LINE):
        ending = "," if start + _PERCENTILES_PER_LINE < len(cells) else ""
        yield f"     | {', '.join(cells[start : start + _PERCENTILES_PER_LINE])}{ending}"


def _latency_rows(unit: str, shares: Sequence[float]) -> Iterator[str]:
    names = (*map(str, LATENCY_STEPS), "2000", ">=2000")
    cells = [f"{name}={share:.2f}%" for name, share in zip(names, shares, strict=False) if share]
    for start in range(0, len(cells), _ROWS):
        yield f"  lat ({unit})   : {', '.join(cells[start : start + _ROWS])}"


def _group(group: Sequence[Figures]) -> Iterator[str]:
    for op in ("read", "write", "trim"):
        moves = [job.moves[op] for job in group if job.moves[op].total.count]
        if not moves:
            continue
        rates = [move.total.bytes_per_s for move in moves]
        moved = sum(move.total.bytes for move in moves)
        times = [move.runtime_ms for move in moves]
        low, high = min(rates), max(rates)
        each = f"{short(low, binary=True)}B/s-{short(high, binary=True)}B/s ({short(low)}B/s-{short(high)}B/s)"
        whole = f"{_bandwidth(sum(rates))}, {each}, io={short(moved, binary=True)}B ({short(moved)}B), run={min(times)}-{max(times)}msec"
        yield f"  {op.upper():>5}: bw={whole}"
