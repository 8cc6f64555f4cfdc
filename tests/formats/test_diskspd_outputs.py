"""DiskSpd's text and XML results: written from a point and its intervals, and read back."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from plimsoll.formats.diskspd.results import read_results
from plimsoll.formats.diskspd.span import TEXT, XML, measured_of, value_ms
from plimsoll.formats.diskspd.write import write_text, write_xml
from plimsoll.formats.stored_point import Recorded
from plimsoll.histogram import Histogram
from plimsoll.result import Result
from support.made_results import Load, made

FOLDER = Path(__file__).parent / "diskspd"
Json = dict[str, Any]

STREAMS = [
    {"name": "data", "block_size": 4096, "read_percent": 70, "write_percent": 30, "random_percent": 100, "threads": 2, "queue_depth": 8},
    {"name": "log", "block_size": 65536, "read_percent": 0, "random_percent": 0, "threads": 1, "queue_depth": 1, "dsync": True},
]


def cell(stream: str, op: str, latencies_us: list[int], size: int) -> Json:
    histogram = Histogram()
    for value in latencies_us:
        histogram.record(value * 1000)
    return {
        "stream": stream,
        "op": op,
        "part": None,
        "count": len(latencies_us),
        "bytes": size * len(latencies_us),
        "latency": histogram.encode(),
    }


def interval(number: int, cells: list[Json], phase: str = "measure") -> Json:
    start = 5_000_000_000 + number * 1_000_000_000
    return {"index": number, "phase": phase, "start_ns": start, "end_ns": start + 1_000_000_000, "cells": cells}


def recorded() -> Recorded:
    """Two seconds: 100 and 300 reads, 50 writes each, 10 of the log; a warm-up and a flush that must not count."""
    reads = list(range(100, 200))
    intervals = [
        interval(-1, [cell("data", "read", [1] * 999, 4096)], "warmup"),
        interval(0, [cell("data", "read", reads, 4096), cell("data", "write", [1000] * 50, 4096), cell("log", "write", [2000] * 5, 65536)]),
        interval(
            1, [cell("data", "read", reads * 3, 4096), cell("data", "write", [1000] * 50, 4096), cell("log", "write", [4000] * 5, 65536)]
        ),
    ]
    intervals[1]["cells"].append(cell("log", "flush", [7], 0))
    result = made(Load(1.0, 1.0))
    job = replace(
        result.job, definition={"name": "x", "stream": STREAMS}, threads=3, duration_s=2.0, warmup_s=1.0, target="/dev/sdb", seed=42
    )
    monitor = {"cpu": {"user_percent": 10.0, "system_percent": 5.0, "idle_percent": 80.0, "iowait_percent": 5.0, "steal_percent": 0.0}}
    host = {"machine": {"name": "bench"}, "target": {"kind": "device", "size_bytes": 10 << 30}}
    return Recorded(replace(result, job=job, monitor=monitor, host=host, modelled=False), intervals)


def xml() -> ElementTree.Element:
    return ElementTree.fromstring(write_xml([measured_of(recorded())], version="9.9"))


def test_counters_are_those_of_the_measured_phase_by_stream() -> None:
    measured = measured_of(recorded())
    assert measured.seconds == 2.0 and list(measured.threads) == ["data", "log"]
    assert (measured.total("read").count, measured.total("write").count) == (400, 110)
    assert measured.deviation("read") == 100.0  # 100 and 300 per second around 200


def test_the_xml_has_the_elements_of_diskspd_in_their_order() -> None:
    root = xml()
    assert [child.tag for child in root] == ["System", "Profile", "TimeSpan"]
    span = root.find("TimeSpan")
    assert span is not None
    assert list(dict.fromkeys(child.tag for child in span)) == [
        "TestTimeSeconds",
        "ThreadCount",
        "RequestCount",
        "ProcCount",
        "CpuUtilization",
        "Latency",
        "Iops",
        "Thread",
    ]
    targets = span.findall("Thread/Target")
    assert [target.findtext("ReadCount") for target in targets] == ["400", "0"]
    assert [target.findtext("WriteBytes") for target in targets] == [str(100 * 4096), str(10 * 65536)]
    assert [child.tag for child in targets[0]][:8] == [
        "Path",
        "BytesCount",
        "FileSize",
        "IOCount",
        "ReadBytes",
        "ReadCount",
        "WriteBytes",
        "WriteCount",
    ]
    assert span.findtext("CpuUtilization/Average/UsagePercent") == "15.00"


def test_the_buckets_of_the_xml_are_intervals_in_requests_per_second() -> None:
    buckets = xml().findall("TimeSpan/Iops/Bucket")
    assert [bucket.attrib for bucket in buckets] == [
        {"SampleMillisecond": "1000", "Read": "100.00", "Write": "55.00", "Total": "155.00"},
        {"SampleMillisecond": "2000", "Read": "300.00", "Write": "55.00", "Total": "355.00"},
    ]


def test_percentiles_of_the_xml_reach_nine_nines() -> None:
    said = [bucket.findtext("Percentile") for bucket in xml().findall("TimeSpan/Latency/Bucket")]
    assert said[:3] == ["0", "1", "2"] and said[98:] == [
        "98",
        "99",
        "99.9",
        "99.99",
        "99.999",
        "99.9999",
        "99.99999",
        "99.999999",
        "99.9999999",
        "100",
    ]
    assert len(XML) == len(said)


def test_percentiles_are_those_of_the_histogram() -> None:
    total = measured_of(recorded()).total("read").latency
    assert total is not None
    assert value_ms(total, 0) == pytest.approx(0.1, rel=1 / 256) and value_ms(total, 100) == pytest.approx(0.199, rel=1 / 256)
    assert value_ms(total, 50) == total.percentile(50.0) / 1e6


def test_the_text_has_the_layout_of_diskspd() -> None:
    lines = write_text([measured_of(recorded())]).splitlines()
    # Heading and widths are those of a published result with -L and -D.
    heading = "thread |       bytes     |     I/Os     |    MiB/s   |  I/O per s |  AvgLat  | IopsStdDev | LatStdDev |  file"
    at = lines.index("Read IO")
    assert lines[at + 1] == heading and lines[at + 2] == "-" * len(heading)
    assert re.fullmatch(
        r"     0 \|         1638400 \|          400 \|       0\.78 \|     200\.00 \|    0\.1\d\d \|     100\.00 \|     0\.0\d\d \| /dev/sdb \(10240MiB\)",
        lines[at + 3],
    )
    assert re.match(r"total:           1638400 \|          400 \|       0\.78 \|     200\.00 \|", lines[at + 6])
    at = lines.index("  %-ile |  Read (ms) | Write (ms) | Total (ms)")
    assert lines[at - 1] == "total:" and lines[at + 1] == "-" * 46
    assert [line.split("|")[0].strip() for line in lines[at + 2 : at + 2 + len(TEXT)]] == [name for name, _ in TEXT]
    assert all(len(line) == 46 for line in lines[at + 2 : at + 2 + len(TEXT)])
    assert float(lines[at + 1 + len(TEXT)].split("|")[2]) == pytest.approx(4.0, rel=1 / 128)  # the slowest write, 4 ms


def test_a_side_without_requests_says_so() -> None:
    only = recorded()
    cells = [{**item, "cells": [one for one in item["cells"] if one["op"] == "write"]} for item in only.intervals]
    text = write_text([measured_of(Recorded(only.result, cells))])
    assert re.search(r"^   50th \|        N/A \|", text, re.MULTILINE)
    assert "ReadMilliseconds" not in write_xml([measured_of(Recorded(only.result, cells))], version="9.9")


def test_a_stream_within_one_part_of_a_concatenation_is_on_that_part() -> None:
    point = recorded()
    streams = [{**STREAMS[0], "region_length": 1 << 30}, {**STREAMS[1], "region_start": (1 << 30) + 4096, "region_length": 4096}]
    parts = [{"path": path, "size_bytes": 1 << 30} for path in ("/dev/sdb", "/dev/sdc")]
    host = {"target": {"kind": "concat", "size_bytes": 2 << 30, "parts": parts}}
    result = replace(
        point.result, host=host, job=replace(point.result.job, definition={"stream": streams}, target="concat:/dev/sdb,/dev/sdc")
    )
    seen = [
        {**cell("data", "read", [100] * 3, 4096), "stream": None, "part": f"{number}:{part['path']}"} for number, part in enumerate(parts)
    ]
    intervals = [{**item, "cells": [*item["cells"], *seen]} for item in point.intervals]
    measured = measured_of(Recorded(result, intervals))
    assert [(target.path, target.size_bytes) for target in measured.threads.values()] == [("/dev/sdb", 1 << 30), ("/dev/sdc", 1 << 30)]
    said = ElementTree.fromstring(write_xml([measured], version="9.9")).findall("Profile/TimeSpans/TimeSpan/Targets/Target")
    assert [(target.findtext("Path"), target.findtext("BaseFileOffset")) for target in said] == [("/dev/sdb", "0"), ("/dev/sdc", "4096")]
    assert measured.total("read").count == 400  # what the parts saw is not counted again


def test_the_deviation_of_a_row_is_its_own() -> None:
    measured = measured_of(recorded())
    assert measured.deviation("write", of=measured.threads["log"]) == 0.0
    assert measured.deviation("read", "write", of=measured.threads["data"]) == 100.0  # 150 and 350 per second


def test_xml_read_back_has_the_figures_that_were_written() -> None:
    text = write_xml([measured_of(recorded())], version="9.9")
    (found,) = read_results(text, "r.xml")
    result = found.result
    assert result.versions == {"origin": "DiskSpd", "diskspd": "Plimsoll 9.9"}
    assert (result.totals["read"].count, result.totals["read"].iops, result.totals["read"].bytes_per_s) == (400, 200.0, 819200.0)
    assert (result.totals["write"].count, result.totals["write"].bytes) == (110, 100 * 4096 + 10 * 65536)
    latency = result.totals["write"].latency_ns
    assert latency is not None
    assert (latency.p50, latency.max) == (pytest.approx(1e6, rel=1 / 128), pytest.approx(4e6, rel=1 / 128))
    assert result.job.seed == 42 and result.job.threads == 3 and result.host["machine"]["name"] == "bench"
    assert [stream["block_size"] for stream in result.job.definition["stream"]] == [4096, 65536]
    assert Result.from_json(result.to_json(), "x") == result


def test_several_time_spans_are_several_results() -> None:
    text = write_xml([measured_of(recorded()), measured_of(recorded())], version="9.9")
    assert [item.result.id for item in read_results(text, "r.xml")] == ["diskspd-1", "diskspd-2"]


def test_a_result_without_latencies_has_none() -> None:
    text = (
        "<Results><TimeSpan><TestTimeSeconds>10.00</TestTimeSeconds><ThreadCount>1</ThreadCount><Thread><Target>"
        "<ReadBytes>40960</ReadBytes><ReadCount>10</ReadCount><WriteBytes>0</WriteBytes><WriteCount>0</WriteCount>"
        "</Target></Thread></TimeSpan></Results>"
    )
    (found,) = read_results(text, "r.xml")
    assert list(found.result.totals) == ["read"] and found.result.totals["read"].iops == 1.0
    assert found.result.totals["read"].latency_ns is None


def test_the_result_that_the_fuzz_begins_with_is_up_to_date() -> None:
    text = write_xml([measured_of(recorded())], version="9.9")
    if os.environ.get("PLIMSOLL_RENEW"):
        (FOLDER / "result.txt").write_text(text, encoding="utf-8")
    assert (FOLDER / "result.txt").read_text(encoding="utf-8") == text
