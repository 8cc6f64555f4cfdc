"""Results as DiskSpd's text and XML, both with the profile that our job ran.

Model: the lines, columns and widths of the text are those of DiskSpd 2.0 with -L and -D; names, units and order of the XML are DiskSpd's.
MiB are 1024 × 1024 bytes, latencies milliseconds, with three decimals in XML, rates per second with two. A column of percentiles without
requests says N/A in text and is left out of XML. Every stream stands as a target with what DiskSpd has a word for; the rest of our
options are not in it. Times are whole seconds, as DiskSpd counts them.
Limits: see `measured`: each stream is one row. A stream with a range of sizes shows the first. The tool's version names Plimsoll, since
DiskSpd did not measure this.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from xml.etree import ElementTree

from plimsoll.formats.diskspd.span import TEXT, XML, Counter, Measured, TargetCounters, place_of, value_ms
from plimsoll.result import Result
from plimsoll.stored import Options, Stream
from plimsoll.units import TIMES, time_ns

Xml = ElementTree.Element


def add(parent: Xml, tag: str, text: object = None) -> Xml:
    """A child with text."""
    child = ElementTree.SubElement(parent, tag)
    if text is not None:
        child.text = str(text).lower() if isinstance(text, bool) else str(text)
    return child


def profile_element(result: Result) -> Xml:
    """The ``Profile`` of one time span."""
    profile = ElementTree.Element("Profile")
    for tag, text in (("Progress", 0), ("ResultFormat", "xml"), ("Verbose", False)):
        add(profile, tag, text)
    span = add(add(profile, "TimeSpans"), "TimeSpan")
    job = result.job
    values: tuple[tuple[str, object], ...] = (
        ("CompletionRoutines", False),
        ("MeasureLatency", True),
        ("CalculateIopsStdDev", True),
        ("DisableAffinity", True),
        ("Duration", max(1, round(job.duration_s))),
        ("Warmup", round(job.warmup_s)),
        ("Cooldown", 0),
        ("ThreadCount", 0),
        ("RequestCount", 0),
        ("IoBucketDuration", max(1, _asked_interval_ms(job.options))),
        ("RandSeed", job.seed),
    )
    for tag, value in values:
        add(span, tag, value)
    targets = add(span, "Targets")
    for stream in job.definition.get("stream", []):
        _target_element(add(targets, "Target"), stream, result)
    return profile


def _target_element(element: Xml, stream: Stream, result: Result) -> None:
    block, random = _block(stream), float(stream.get("random_percent", 100) or 0)
    direct = stream.get("direct", True) is not False
    place = place_of(result, stream)
    values: list[tuple[str, object]] = [
        ("Path", place.path),
        ("BlockSize", block),
        ("BaseFileOffset", _whole(stream.get("region_start"), 0) - place.begin_bytes),
        ("SequentialScan", False),
        ("RandomAccess", False),
        ("TemporaryFile", False),
        ("UseLargePages", False),
        ("DisableOSCache", direct),
        ("WriteThrough", bool(stream.get("dsync"))),
        ("ParallelAsyncIO", False),
    ]
    for tag, value in values:
        add(element, tag, value)
    if random >= 100:
        add(element, "Random", _whole(stream.get("align"), block))
    else:
        add(element, "StrideSize", _whole(stream.get("stride"), block))
        add(element, "InterlockedSequential", stream.get("sequential") == "shared" and int(stream.get("threads") or 1) > 1)
        if random:
            add(element, "RandomRatio", round(random))
    rest: list[tuple[str, object]] = [
        ("ThreadStride", 0),
        ("MaxFileSize", 0),
        ("RequestCount", stream.get("queue_depth") or 1),
        ("WriteRatio", round(_writes(stream))),
        ("ThreadsPerFile", stream.get("threads") or 1),
        ("IOPriority", 3),
        ("Weight", 1),
    ]
    for tag, value in rest:
        add(element, tag, value)
    rate: Any = stream.get("rate")
    if rate:
        add(element, "Throughput", round(float(rate) / int(stream.get("threads") or 1))).set("unit", "IOPS")


def _block(stream: Stream) -> int:
    size = stream.get("block_size")
    if isinstance(size, dict):
        size = next(iter(size), 4096)
    if size is None and stream.get("access"):
        size = stream["access"][0].get("size")
    return _whole(size, 4096)


def _writes(stream: Stream) -> float:
    if stream.get("write_percent") is not None:
        return float(stream["write_percent"])
    read = stream.get("read_percent")
    return 0.0 if read is None else 100.0 - float(read)


def _asked_interval_ms(options: Options) -> int:
    """The length of an interval, 1000 ms when it was chosen by the engine."""
    value = options.get("interval", "auto")
    if isinstance(value, (int, float)):
        return round(value * 1000)
    return 1000 if value == "auto" else round(time_ns(str(value)) / TIMES["ms"])


def _whole(value: Any, otherwise: int) -> int:
    """A number of bytes, where the canonical definition has one; a share of the target has no words in DiskSpd."""
    return value if isinstance(value, int) else int(value) if isinstance(value, str) and value.isdigit() else otherwise


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
        lines += _target_lines(measured, stream)
    return [*lines, ""]


def _target_lines(measured: Measured, stream: Stream) -> list[str]:
    random = float(stream.get("random_percent", 100) or 0)
    targets = list(profile_element(measured.result).iter("Target"))
    names = [item.get("name") for item in measured.result.job.definition.get("stream", [])]
    element = targets[names.index(stream["name"])]
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
    lines += [f"thread count:\t\t{measured.result.job.threads}", "proc count:\t\t1", "", *_cpu_lines(measured)]
    for title, ops in _SECTIONS:
        lines += [title, _COLUMNS, _LINE, *_rows(measured, ops), _LINE, _total(measured, ops), ""]
    return [*lines, "", *_percentiles(measured), ""]


def _cpu_lines(measured: Measured) -> list[str]:
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


#: DiskSpd's name for the reads, the writes and both, and the operations these are.
SIDES = (("Read", ("read",)), ("Write", ("write",)), ("Total", ("read", "write")))


def write_xml(spans: Sequence[Measured], version: str) -> str:
    """The text of the file; the profile is that of all time spans."""
    root = ElementTree.Element("Results")
    _system(root, spans, version)
    profile: Xml | None = None
    for measured in spans:
        made = profile_element(measured.result)
        if profile is None:
            profile = made
            root.append(profile)
        else:
            inside = profile.find("TimeSpans")
            for span in made.iter("TimeSpan"):
                if inside is not None:
                    inside.append(span)
    for measured in spans:
        _span(add(root, "TimeSpan"), measured)
    ElementTree.indent(root, " ")
    return ElementTree.tostring(root, encoding="unicode") + "\n"


def _system(root: Xml, spans: Sequence[Measured], version: str) -> None:
    system = add(root, "System")
    host = spans[0].result.host if spans else {}
    add(system, "ComputerName", (host.get("machine") or {}).get("name") or "unknown")
    tool = add(system, "Tool")
    add(tool, "Version", f"Plimsoll {version}")
    add(tool, "VersionDate", "")
    add(system, "RunTime", spans[0].result.started if spans else "")


def _span(element: Xml, measured: Measured) -> None:
    add(element, "TestTimeSeconds", f"{measured.seconds:.2f}")
    add(element, "ThreadCount", measured.result.job.threads)
    add(element, "RequestCount", 0)
    add(element, "ProcCount", 1)
    _cpu_element(element, measured)
    _latency(element, measured)
    _iops(element, measured)
    for number, target in enumerate(measured.threads.values()):
        _thread(element, number, target)


def _cpu_element(element: Xml, measured: Measured) -> None:
    shares = measured.cpu()
    if shares is None:
        return
    utilization = add(element, "CpuUtilization")
    for tag in ("CPU", "Average"):
        part = add(utilization, tag)
        if tag == "CPU":
            add(part, "Group", 0)
            add(part, "Id", 0)
        for name, value in zip(("UsagePercent", "UserPercent", "KernelPercent", "IdlePercent"), shares, strict=True):
            add(part, name, f"{value:.2f}")


def _latency(element: Xml, measured: Measured) -> None:
    latency = add(element, "Latency")
    found = [(side, histogram) for side, ops in SIDES if (histogram := measured.total(*ops).latency) is not None and histogram.count]
    for side, histogram in found:
        add(latency, f"Average{side}Milliseconds", f"{histogram.mean / 1e6:.3f}")
        add(latency, "LatencyStdev" if side == "Total" else f"{side}LatencyStdev", f"{histogram.stddev / 1e6:.3f}")
    for percent in XML if found else ():
        bucket = add(latency, "Bucket")
        add(bucket, "Percentile", f"{percent:.7f}".rstrip("0").rstrip("."))
        for side, histogram in found:
            add(bucket, f"{side}Milliseconds", f"{value_ms(histogram, percent):.3f}")


def _iops(element: Xml, measured: Measured) -> None:
    iops = add(element, "Iops")
    for side, ops in SIDES:
        count = measured.total(*ops).count
        add(iops, f"{side}Iops", f"{count / measured.seconds if measured.seconds else 0:.2f}")
        add(iops, "IopsStdDev" if side == "Total" else f"{side}IopsStdDev", f"{measured.deviation(*ops):.2f}")
    for bucket in measured.buckets:
        made = add(iops, "Bucket")
        made.set("SampleMillisecond", str(bucket.end_ms))
        for side, ops in SIDES:
            made.set(side, f"{sum(bucket.counts[op] for op in ops) / bucket.seconds:.2f}")


def _thread(element: Xml, number: int, target: TargetCounters) -> None:
    made = add(element, "Thread")
    add(made, "Id", number)
    inside = add(made, "Target")
    read, write, whole = target.total("read"), target.total("write"), target.total("read", "write")
    counts: tuple[tuple[str, object], ...] = (
        ("Path", target.path),
        ("BytesCount", whole.bytes),
        ("FileSize", target.size_bytes),
        ("IOCount", whole.count),
        ("ReadBytes", read.bytes),
        ("ReadCount", read.count),
        ("WriteBytes", write.bytes),
        ("WriteCount", write.count),
    )
    for tag, value in counts:
        add(inside, tag, value)
    for side, counter in (("Read", read), ("Write", write), ("", whole)):
        if counter.latency is not None and counter.latency.count:
            add(inside, f"Average{side}LatencyMilliseconds", f"{counter.latency.mean / 1e6:.3f}")
            add(inside, f"{side}LatencyStdev", f"{counter.latency.stddev / 1e6:.3f}")
