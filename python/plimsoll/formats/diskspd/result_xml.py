"""Results as DiskSpd's XML: system, profile, and the time span with CPU time, latencies, requests per second and counters.

Model: element names, units and order are DiskSpd's; latencies are milliseconds with three decimals, rates per second with two. Latencies of
a kind of request that did not occur are left out.
Limits: see `measured`. The tool's version names Plimsoll, since DiskSpd did not measure this.

    write_xml([measured_of(recorded)], version="0.3.0")
"""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree

from plimsoll.formats.diskspd.echo import Xml, add, profile_element
from plimsoll.formats.diskspd.measured import Measured, TargetCounters
from plimsoll.formats.diskspd.percentile import XML, value_ms

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
    _cpu(element, measured)
    _latency(element, measured)
    _iops(element, measured)
    for number, target in enumerate(measured.threads.values()):
        _thread(element, number, target)


def _cpu(element: Xml, measured: Measured) -> None:
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
