"""Results as DiskSpd's text: what was asked, CPU time, a table of all requests, of reads and of writes, and the percentiles.

Model: the lines, columns and widths are those of DiskSpd 2.0 with -L and -D; MiB are 1024 × 1024 bytes, latencies milliseconds. A column of
percentiles without requests says N/A.
Limits: see `measured`: each stream is one row.

    write_text([measured_of(recorded)])
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from plimsoll.formats.diskspd.echo import profile_element
from plimsoll.formats.diskspd.measured import Counter, Measured
from plimsoll.formats.diskspd.percentile import TEXT, value_ms

MIB = 1 << 20
_COLUMNS = "thread |       bytes     |     I/Os     |    MiB/s   |  I/O per s |  AvgLat  | IopsStdDev | LatStdDev |  file"
_LINE = "-" * len(_COLUMNS)
_CPU_LINE = "-" * 43
_SECTIONS: tuple[tuple[str, tuple[str, ...]], ...] = (("Total IO", ("read", "write")), ("Read IO", ("read",)), ("Write IO", ("write",)))


def write_text(spans: Sequence[Measured]) -> str:
    """The text of the file."""
    lines = ["", "Input parameters:", ""]
    for number, measured in enumerate(spans, start=1):
        lines += _parameters(number, measured)
    host = spans[0].result.host if spans else {}
    lines += ["System information:", "", f"\tcomputer name: {(host.get('machine') or {}).get('name') or 'unknown'}"]
    lines += [f"\tstart time: {spans[0].result.started if spans else ''}", ""]
    for number, measured in enumerate(spans, start=1):
        lines += _results(number, measured)
    return "\n".join(lines) + "\n"


def _parameters(number: int, measured: Measured) -> list[str]:
    job = measured.result.job
    lines = [f"\ttimespan:   {number}", "\t-------------", f"\tduration: {job.duration_s:.0f}s", f"\twarm up time: {job.warmup_s:.0f}s"]
    lines += [
        "\tcool down time: 0s",
        "\tmeasuring latency",
        f"\tgathering IOPS at intervals of {_interval_ms(measured)}ms",
        f"\trandom seed: {job.seed}",
    ]
    for stream in job.definition.get("stream", []):
        lines += _target(measured, stream)
    return [*lines, ""]


def _target(measured: Measured, stream: dict[str, Any]) -> list[str]:
    random = float(stream.get("random_percent", 100) or 0)
    targets = list(profile_element(measured.result).iter("Target"))
    names = [item.get("name") for item in measured.result.job.definition.get("stream", [])]
    element = targets[names.index(stream.get("name"))]
    said = {child.tag: child.text or "" for child in element}
    writes = int(said["WriteRatio"])
    mix = {0: "read test", 100: "write test"}.get(writes, f"mix test (read/write ratio: {100 - writes}/{writes})")
    access = (
        f"using random I/O (alignment: {said.get('Random')})"
        if random >= 100
        else f"using sequential I/O (stride: {said.get('StrideSize')})"
    )
    cache = "software cache disabled" if said["DisableOSCache"] == "true" else "using software cache"
    through = "using hardware write cache, writethrough off"
    if said["WriteThrough"] == "true":
        through = "hardware write cache disabled, writethrough on"
    inside = [
        "think time: 0ms",
        "burst size: 0",
        cache,
        through,
        f"performing {mix}",
        f"block size: {said['BlockSize']}",
        access,
        f"number of outstanding I/O operations: {said['RequestCount']}",
        f"thread stride size: {said['ThreadStride']}",
        f"threads per file: {said['ThreadsPerFile']}",
        "IO priority: normal",
    ]
    return [f"\tpath: '{said['Path']}'", *(f"\t\t{line}" for line in inside)]


def _interval_ms(measured: Measured) -> int:
    return round(measured.buckets[0].seconds * 1000) if measured.buckets else 1000


def _results(number: int, measured: Measured) -> list[str]:
    lines = [f"Results for timespan {number}:", "*" * 79, "", f"actual test time:\t{measured.seconds:.2f}s"]
    lines += [f"thread count:\t\t{measured.result.job.threads}", "proc count:\t\t1", "", *_cpu(measured)]
    for title, ops in _SECTIONS:
        lines += [title, _COLUMNS, _LINE, *_rows(measured, ops), _LINE, _total(measured, ops), ""]
    return [*lines, "", *_percentiles(measured), ""]


def _cpu(measured: Measured) -> list[str]:
    shares = measured.cpu()
    if shares is None:
        return []
    used, user, kernel, idle = shares
    figures = f"{used:6.2f}%| {user:6.2f}%|  {kernel:6.2f}%| {idle:6.2f}%"
    return ["CPU |  Usage |  User  |  Kernel |  Idle", _CPU_LINE, f"   0| {figures}", _CPU_LINE, f"avg.| {figures}", ""]


def _rows(measured: Measured, ops: Sequence[str]) -> list[str]:
    rows = []
    for number, target in enumerate(measured.threads.values()):
        figures = _figures(measured, target.total(*ops), measured.deviation(*ops, of=target))
        rows.append(f"{number:>6} | {figures} | {target.path} ({_size(target.size_bytes)})")
    return rows


def _total(measured: Measured, ops: Sequence[str]) -> str:
    return f"total:   {_figures(measured, measured.total(*ops), measured.deviation(*ops))}"


def _figures(measured: Measured, counter: Counter, deviation: float) -> str:
    seconds = measured.seconds or 1.0
    latency = counter.latency
    mean, spread = (latency.mean / 1e6, latency.stddev / 1e6) if latency is not None and latency.count else (0.0, 0.0)
    return (
        f"{counter.bytes:>15} | {counter.count:>12} | {counter.bytes / MIB / seconds:>10.2f} | {counter.count / seconds:>10.2f} | "
        f"{mean:>8.3f} | {deviation:>10.2f} | {spread:>9.3f}"
    )


def _size(size_bytes: int) -> str:
    return f"{size_bytes // MIB}MiB" if size_bytes >= MIB else f"{size_bytes // 1024}KiB"


def _percentiles(measured: Measured) -> list[str]:
    columns = [measured.total(*ops).latency for ops in (("read",), ("write",), ("read", "write"))]
    lines = ["total:", "  %-ile |  Read (ms) | Write (ms) | Total (ms)", "-" * 46]
    for name, percent in TEXT:
        cells = [f"{value_ms(column, percent):>10.3f}" if column is not None and column.count else f"{'N/A':>10}" for column in columns]
        lines.append(f"{name:>7} | {' | '.join(cells)}")
    return lines
