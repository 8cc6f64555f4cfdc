"""Results in Iometer's form: the columns of each version, what rows mean, and that what is written is read back."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from plimsoll.errors import InputError
from plimsoll.formats.iometer import read_results_csv, results_csv
from plimsoll.formats.iometer.model import Version
from plimsoll.formats.iometer.results import read_iometer
from plimsoll.formats.iometer.write_results import BINS, VERSIONS, columns
from plimsoll.histogram import Histogram
from plimsoll.result import LatencySummary, OpTotals, Result
from support.made_results import Load, made

OLD, NEW = VERSIONS
MIB = 1 << 20


def _op(count: int, size: int, mean_ns: float, max_ns: int, errors: int = 0) -> OpTotals:
    """``count`` requests of ``size`` bytes in 10 s."""
    latency = LatencySummary(mean_ns, 1, 1, 1, 1, 1, 1, max_ns, 0.0)
    return OpTotals(count, count / 10, count * size, count * size / 10, errors, latency, latency)


def _result(**changes: Any) -> Result:
    """Two thirds of the requests read in 2 ms, a third writes in 5 ms."""
    base = made(Load(iops=300, mean_ns=3e6))
    read, write = _op(2000, 8192, 2e6, 30_000_000, 1), _op(1000, 8192, 5e6, 80_000_000)
    definition = {
        "name": "oltp",
        "stream": [
            {
                "name": "data",
                "threads": 3,
                "queue_depth": 8,
                "region_start": 1 << 20,
                "region_length": 1 << 30,
                "access": [
                    {"weight": 60, "size": 8192, "read_percent": 67, "random_percent": 100, "align": 8192, "burst": 4, "delay": 0.02},
                    {"weight": 20, "size": 512, "read_percent": 0, "random_percent": 25, "align": 512, "burst": 1, "delay": 0},
                ],
            },
            {
                "name": "log",
                "threads": 1,
                "queue_depth": 1,
                "block_size": {"4096": 50, "65536": 50},
                "write_percent": 100,
                "random_percent": 0,
            },
        ],
    }
    job = replace(base.job, title="OLTP, mixed", definition=definition, duration_s=10.0, target="stripe:/dev/sdb,/dev/sdc", threads=4)
    result = replace(
        base,
        id="one",
        started="2008-06-18T10:20:30+00:00",
        job=job,
        totals={"read": read, "write": write, "flush": _op(5, 0, 1e6, 1)},
        streams={"data": {"read": read, "write": write}, "log": {"write": _op(100, 4096, 1e6, 2_000_000)}},
        parts={"/dev/sdb": {"read": _op(1000, 8192, 2e6, 30_000_000)}, "/dev/sdc": {"read": _op(1000, 8192, 2e6, 9_000_000)}},
        monitor={"cpu": {"user_percent": 10.0, "system_percent": 15.0, "idle_percent": 70.0, "iowait_percent": 5.0}},
    )
    return replace(result, **changes)


def _histogram(*latencies_ns: int) -> Histogram:
    histogram = Histogram()
    for latency_ns in latencies_ns:
        histogram.record(latency_ns)
    return histogram


def _rows(version: str, *results: Result, **histograms: Histogram) -> list[Any]:
    return read_results_csv(results_csv(results or [_result()], histograms, version), "r.csv")


def test_a_file_without_a_row_for_all_holds_no_result() -> None:
    # A header without any row raised ValueError.
    header = "'Results\n'Target Type,Target Name,Access Specification Name,IOps\n"
    assert read_iometer(header, "a.csv") == []
    assert read_iometer(header + "WORKER,Worker 1,4K,5\n", "a.csv") == []


def test_the_columns_are_those_of_the_version() -> None:
    old, new = columns(Version(OLD)), columns(Version(NEW))
    assert old[:12] == (
        "Target Type",
        "Target Name",
        "Access Specification Name",
        "# Managers",
        "# Workers",
        "# Disks",
        "IOps",
        "Read IOps",
        "Write IOps",
        "MBps",
        "Read MBps",
        "Write MBps",
    )
    assert old[-1] == "Segments Retransmitted/Second"
    assert len(old) == 56
    assert len(new) == len(old) + 3 + len(BINS) and len(BINS) == 21
    assert new[9:15] == (
        "MiBps (Binary)",
        "Read MiBps (Binary)",
        "Write MiBps (Binary)",
        "MBps (Decimal)",
        "Read MBps (Decimal)",
        "Write MBps (Decimal)",
    )


def test_the_blocks_stand_in_the_order_of_iometer() -> None:
    text = results_csv([_result()], {}, OLD)
    keys = [line.split(",")[0] for line in text.splitlines() if line.startswith("'")]
    assert keys == [
        "'Test Type",
        "'Version",
        "'Time Stamp",
        "'Access specifications",
        "'Access specification name",
        "'size",
        "'End access specifications",
        "'Results",
        "'Target Type",
        "'Time Stamp",
    ]
    assert "2008-06-18 10:20:30:000" in text


def test_every_row_has_as_many_values_as_there_are_columns() -> None:
    for version in VERSIONS:
        lines = results_csv([_result()], {}, version).splitlines()
        start = next(number for number, line in enumerate(lines) if line.startswith("'Target Type"))
        counts = {line.count(",") for line in lines[start:-2]}
        assert counts == {len(columns(Version(version))) - 1}


def test_rows_are_of_all_the_host_each_stream_and_each_part() -> None:
    assert [(row.kind, row.name) for row in _rows(NEW)] == [
        ("ALL", "All"),
        ("MANAGER", "bench"),
        ("WORKER", "data"),
        ("WORKER", "log"),
        ("DISK", "/dev/sdb"),
        ("DISK", "/dev/sdc"),
    ]


def test_a_target_of_one_part_is_one_disk() -> None:
    result = _result(parts={})
    assert [row.name for row in _rows(NEW, result) if row.kind == "DISK"] == ["stripe:/dev/sdb;/dev/sdc"]


def test_rates_add_up_means_are_weighted_and_maxima_are_the_larger() -> None:
    figures = _rows(OLD)[0].figures
    assert (figures["IOps"], figures["Read IOps"], figures["Write IOps"]) == (300, 200, 100)
    assert figures["Average Response Time"] == pytest.approx((2000 * 2 + 1000 * 5) / 3000)
    assert (figures["Average Read Response Time"], figures["Average Write Response Time"]) == (2, 5)
    assert (figures["Maximum Response Time"], figures["Maximum Read Response Time"]) == (80, 30)
    assert (figures["Errors"], figures["Read I/Os"], figures["Bytes Written"]) == (1, 2000, 1000 * 8192)
    assert (figures["# Workers"], figures["# Disks"]) == (4, 2)


def test_megabytes_are_binary_in_2008_and_both_in_1_1_0() -> None:
    rate = 300 * 8192
    assert _rows(OLD)[0].figures["MBps"] == pytest.approx(rate / MIB, abs=1e-6)
    new = _rows(NEW)[0].figures
    assert new["MiBps (Binary)"] == pytest.approx(rate / MIB, abs=1e-6)
    assert new["MBps (Decimal)"] == pytest.approx(rate / 1e6, abs=1e-6)
    assert _rows(OLD)[0].bytes_per_s == pytest.approx(rate, rel=1e-6) == pytest.approx(_rows(NEW)[0].bytes_per_s, rel=1e-6)


def test_processors_are_busy_when_they_neither_idle_nor_wait() -> None:
    figures = _rows(NEW)[0].figures
    assert (figures["% CPU Utilization"], figures["% User Time"], figures["% Privileged Time"]) == (25, 10, 15)
    assert figures["CPU Effectiveness"] == pytest.approx(300 / 25)


def test_workers_say_their_queue_depth_and_sectors() -> None:
    data = next(row for row in _rows(NEW) if row.name == "data").figures
    assert (data["Queue Depth"], data["Starting Sector"], data["Maximum Size"]) == (8, 2048, 2097152)
    assert "Queue Depth" not in _rows(NEW)[0].figures


def test_raw_times_are_in_ticks_of_the_processor_speed() -> None:
    figures = _rows(NEW)[0].figures
    assert figures["Total Raw Run Time"] / figures["Processor Speed"] == 10
    assert figures["Total Raw Read Response Time"] / figures["Processor Speed"] == pytest.approx(2000 * 0.002)


@pytest.mark.parametrize(
    ("latency_ns", "name"),
    [
        (0, "0 to 50 uS"),
        (49_000, "0 to 50 uS"),
        (50_000, "50 to 100 uS"),
        (1_000_000, "1 to 2 mS"),
        (3_900_000_000, "2 to 4.7 s"),
        (4_500_000_000, "4.7 to 5 s"),
        (9_900_000_000, "5 to 10 s"),
        (10_000_000_000, ">= 10 s"),
    ],
)
def test_a_latency_is_counted_in_the_bin_whose_lower_edge_it_reaches(latency_ns: int, name: str) -> None:
    figures = _rows(NEW, one=_histogram(latency_ns))[0].figures
    counted = {bin_name.strip(): figures[bin_name.strip()] for bin_name, _ in BINS}
    assert counted == {**dict.fromkeys(counted, 0), name: 1}


def test_bins_are_written_for_the_whole_only_and_sum_to_the_requests() -> None:
    rows = _rows(NEW, one=_histogram(*range(10_000, 40_000_000, 100_000)))
    names = [name.strip() for name, _ in BINS]
    assert sum(rows[0].figures[name] for name in names) == 400
    assert not set(names) & set(rows[2].figures)
    assert not set(names) & set(_rows(OLD, one=_histogram(1))[0].figures)


def test_the_specification_has_the_lines_of_all_streams_with_the_share_of_their_threads() -> None:
    lines = results_csv([_result()], {}, NEW).splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("'size"))
    assert lines[start - 1] == "OLTP; mixed,0"
    assert lines[start + 1 : start + 5] == [
        "8192,56.25,67,100,20,4,8192,0",
        "512,18.75,0,25,0,1,512,0",
        "4096,12.5,0,0,0,1,4096,0",
        "65536,12.5,0,0,0,1,65536,0",
    ]


def test_several_results_are_tests_of_one_file() -> None:
    other = _result(id="two", started="2008-06-18T11:00:00+00:00")
    rows = _rows(OLD, _result(), replace(other, job=replace(other.job, title="Log")))
    assert [(row.spec, row.started) for row in rows if row.kind == "ALL"] == [
        ("OLTP; mixed", "2008-06-18 10:20:30:000"),
        ("Log", "2008-06-18 11:00:00:000"),
    ]
    assert {row.version for row in rows} == {OLD}


def test_a_point_that_failed_has_rows_of_zeros() -> None:
    result = _result(totals={}, streams={}, parts={}, monitor={})
    row = _rows(NEW, result)[0]
    assert (row.iops, row.mean_ms, row.bytes_per_s) == (0, 0, 0)


def test_a_result_file_of_iometer_itself_is_read() -> None:
    text = (
        "'Test Type,Test Description\n0,Baseline\n'Version\n2004.07.30 \n'Time Stamp\n2005-01-02 03:04:05:678\n'Access specifications\n"
        "'Access specification name,default assignment\n4K,1\n'size,% of size,% reads,% random,delay,burst,align,reply\n"
        "4096,100,67,100,0,1,0,0\n'End access specifications\n'Results\n"
        "'Target Type,Target Name,Access Specification Name,# Managers,# Workers,# Disks,IOps,Read IOps,Write IOps,MBps\n"
        "ALL,All,4K,1,1,1,1000.5,670.1,330.4,3.908203\nMANAGER,HOST,,,1,1,1000.5,670.1,330.4,3.908203\nPROCESSOR,CPU 0,,,,,,,,\n"
        "WORKER,Worker 1,4K,,,1,1000.5,670.1,330.4,3.908203\nDISK,C:,,,,1,1000.5,670.1,330.4,3.908203\n'Time Stamp\n2005-01-02 03:05:05:678\n"
    ).replace("\n", "\r\n")
    rows = read_results_csv(text, "r.csv")
    assert [(row.line, row.kind, row.name, row.spec) for row in rows] == [
        (15, "ALL", "All", "4K"),
        (16, "MANAGER", "HOST", "4K"),
        (17, "PROCESSOR", "CPU 0", "4K"),
        (18, "WORKER", "Worker 1", "4K"),
        (19, "DISK", "C:", "4K"),
    ]
    assert (rows[0].iops, rows[0].description, rows[0].started) == (1000.5, "Baseline", "2005-01-02 03:04:05:678")
    assert rows[0].bytes_per_s == pytest.approx(3.908203 * MIB)


def test_columns_of_an_unknown_version_are_refused() -> None:
    with pytest.raises(InputError, match=r"version '9' .* is not known; choose 2008.06.18 or 1.1.0"):
        results_csv([], {}, "9")
