"""fio's terse output, version 3: one line of 130 fields per job, separated by semicolons, for scripts that read it by position.

Model: microseconds, KiB and KiB per second; percentiles as ``p%=usec``, padded to twenty with ``0%=0``. Reads, then writes; trims have no
place in version 3. After the jobs' own fields come those of each disk.

    terse_text([Recorded(result, intervals, monitor)])
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from plimsoll.displayed import displayed_in_line
from plimsoll.formats.fio_output.bins import PERCENTILES
from plimsoll.formats.fio_output.figures import Figures, Move, Spread, disk_use, jobs
from plimsoll.formats.fio_output.json_form import version
from plimsoll.formats.recorded import Recorded

#: Fields of one job before those of the disks.
FIELDS = 121
_PERCENTILES = 20


def terse_text(points: Sequence[Recorded]) -> str:
    """A line per job."""
    lines: list[str] = []
    for group, point in enumerate(points):
        disks = [_disk(disk) for disk in disk_use([point])]
        program = version(point.result.versions)
        lines += [";".join([*_fields(figures, program), *disks, *_description(figures)]) for figures in jobs(point, group)]
    return "\n".join(lines) + "\n"


def _fields(figures: Figures, program: str) -> Iterator[str]:
    yield from ("3", program, _field(figures.name), str(figures.group), str(figures.error))
    for op in ("read", "write"):
        yield from _move(figures.moves[op], figures.share[op])
    yield from (f"{figures.usr_cpu:.6f}%", f"{figures.sys_cpu:.6f}%", "0", "0", "0")
    yield from (f"{share:.1f}%" for share in figures.depths)
    # Version 3 has no rows below a microsecond; what is faster stands in the first.
    below = list(figures.latency_us)
    below[0] += sum(figures.latency_ns)
    yield from (f"{share:.2f}%" for share in (*below, *figures.latency_ms))


def _move(move: Move, share: float) -> Iterator[str]:
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
