"""Vdbench's files of workloads on file systems: a column of its own for every operation, and the flatfile read back."""

from __future__ import annotations

import random

import pytest

from plimsoll.errors import InputError
from plimsoll.formats.vdbench.results import files, is_flatfile, read_flatfile
from support.recorded_point import Load, drawn, recorded_point

#: `tests/fuzz` goes on with others of the kind.
MUTATED = 3000
READS = Load(
    name="readers",
    latencies_ns={"read": drawn(1, 100), "write": drawn(2, 50), "open": drawn(3, 10), "close": drawn(4, 10)},
    options={"operation": {"read": 67, "write": 33}, "threads": 4, "queue_depth": 1},
)
STATS = Load(name="stats", latencies_ns={"stat": drawn(5, 30)}, options={"operation": "stat", "threads": 2, "queue_depth": 1})

#: In the layout that Vdbench's own flatfiles explain at their heads; operations that follow are left out.
THEIRS = """\
* Run             : Run name
<pre>
         tod Run Interval Xfersize Threads Reqrate    Rate Rate_std Rate_max   Resp MB/sec MB_read MB_write Read_rate Read_resp Read_resp_max Write_rate Write_resp Write_resp_max Open_rate Open_resp Getattr_rate Getattr_resp
18:47:10.000 format_for_rd1 1 131072 8 999977 57.6 0 0 6.244 7.20 0.00 7.20 0 0 0 57.6 6.244 9 1.8 1 0 0
18:48:47.000 rd1        1  1048576       2  999977   9.000    0.000    9.000  1.000   9.00    0.00     9.00     0.000     0.000         0.000      9.000      1.000          5.000     2.000    47.864        0.000        0.000
18:48:52.000 rd1        2  1048576       2  999977   6.000    0.000    6.000  1.000   6.00    2.00     4.00     2.000     0.500         0.900      4.000      1.250          4.000     1.000    40.000        3.000        0.100
18:48:57.000 rd1        3  1048576       2  999977   6.000    0.000    6.000  1.000   6.00    2.00     4.00     2.000     0.500         0.800      4.000      1.250          6.000     2.000    43.000        1.000        0.300
18:48:57.005 rd1  avg_2-3  1048576       2  999977   6.000    0.000    6.000  1.000   6.00    2.00     4.00     2.000     0.500         0.900      4.000      1.250          6.000     1.500    42.000        2.000        0.150
"""


@pytest.fixture(scope="module")
def written():
    return files([recorded_point(READS, STATS, workload="tree"), recorded_point(STATS, workload="stats")])


def table(text: str) -> list[dict[str, str]]:
    lines = [line.split() for line in text.splitlines() if line and not line.startswith(("*", "<"))]
    return [dict(zip(lines[0], words, strict=True)) for words in lines[1:]]


def test_the_flatfile_has_six_columns_for_every_operation(written):
    average = table(written["flatfile.html"])[3]
    assert (average["Run"], average["Interval"], average["Threads"]) == ("tree", "avg_1-3", "6")
    for word, rate in (("Read", 200), ("Write", 100), ("Open", 20), ("Close", 20), ("Getattr", 60), ("Mkdir", 0)):
        assert float(average[f"{word}_rate"]) == pytest.approx(rate)
    assert {f"Setattr_{name}" for name in ("rate", "rate_std", "rate_max", "resp", "resp_std", "resp_max")} <= average.keys()
    assert float(average["MB_read"]) == pytest.approx(200 * 8192 / (1 << 20), abs=1e-4)
    assert float(average["MB/sec"]) == pytest.approx(300 * 8192 / (1 << 20), abs=1e-4)
    assert average["Xfersize"] == "8192"


def test_requested_operations_leave_out_what_reads_and_writes_imply(written):
    rows = table(written["flatfile.html"])
    assert [float(row["Rate"]) for row in rows] == [pytest.approx(360)] * 4 + [pytest.approx(60)] * 4
    read, write, stat = (sum(drawn(seed, count)) for seed, count in ((1, 100), (2, 50), (5, 30)))
    assert float(rows[3]["Resp"]) == pytest.approx((read + write + stat) / 180 / 1e6, rel=0.01)


def test_how_rates_vary_is_over_the_intervals(written):
    average = table(written["flatfile.html"])[3]
    assert (float(average["Rate_std"]), float(average["Rate_max"])) == (0, pytest.approx(360))


def test_copies_and_moves_have_columns_only_where_they_occur(written):
    assert "Copy_rate" not in table(written["flatfile.html"])[0]
    copies = files([recorded_point(Load(latencies_ns={"copy": (10**6,) * 5}, options={"operation": "copy"}))])
    assert float(table(copies["flatfile.html"])[-1]["Copy_rate"]) == 10


def test_the_summary_has_a_pair_of_columns_for_each_operation_that_occurred(written):
    first, second = written["summary.html"].split("Starting RD=")[1:]
    assert first.startswith("tree; elapsed=3; fwdrate=max. For loops: None\n")
    heading, below, *rows = [line for line in first.splitlines()[1:] if line][:6]
    assert heading.startswith("Nov 21, 2026 .Interval. .ReqstdOps... ...cpu%...  read ....read..... ....write....")
    assert [word.strip(".") for word in heading.split()[-3:]] == ["open", "close", "getattr"]
    assert (
        below.split()
        == ["rate", "resp", "total", "sys", "pct", "rate", "resp", "rate", "resp", "read", "write", "total", "size"] + ["rate", "resp"] * 3
    )
    assert {len(row) for row in rows} == {len(below)}
    columns = rows[-1].split()
    assert (columns[1], columns[2], columns[6], columns[7], columns[9]) == ("avg_1-3", "360.0", "66.7", "200.0", "100.0")
    assert ".open." not in second and "getattr" in second


def test_numbers_lose_decimals_before_they_widen_a_column():
    text = files([recorded_point(Load(latencies_ns={"stat": (2_000_000_000,) * 10_000}, options={"operation": "stat"}))])["totals.html"]
    rate, response = text.splitlines()[-1].split()[2:4]
    assert (rate, len(response), float(response)) == ("20000", 6, pytest.approx(2000, rel=1e-3))


def test_the_histogram_has_a_table_for_every_operation(written):
    text = written["histogram.html"]
    assert "Operation getattr for stats" in text and "Operation open for tree" in text and "Operation mkdir" not in text
    rows = text.split("Operation open for tree\n")[1].split("\n\n")[0].splitlines()[1:]
    assert sum(int(line.split()[3]) for line in rows) == 60


def test_devices_and_file_systems_in_one_run_have_a_table_each():
    text = files([recorded_point(Load()), recorded_point(STATS, workload="stats")])["flatfile.html"]
    assert [line.split()[2] for line in text.splitlines() if "Interval" in line] == ["Run", "Run"]
    devices, trees = read_flatfile(text, "flatfile.html")
    assert (list(devices.result.totals), list(trees.result.totals)) == (["read"], ["stat"])


def test_what_is_written_reads_back(written):
    point = recorded_point(READS, STATS, workload="tree")
    read = read_flatfile(written["flatfile.html"], "flatfile.html")[0]
    assert list(read.result.totals) == list(point.result.totals)
    for op, theirs in point.result.totals.items():
        assert read.result.totals[op].count == theirs.count
        assert read.result.totals[op].bytes == pytest.approx(theirs.bytes, rel=1e-3)
        assert read.result.estimates[op]["mean"].value == pytest.approx(theirs.service_ns.mean, rel=1e-2)
    assert len(read.intervals) == 3 and read.result.versions["origin"].startswith("plimsoll")
    # And it is written as one on file systems again.
    assert table(files([read])["flatfile.html"])[-1]["Getattr_rate"] == "60.0000"


def test_vdbenchs_own_flatfile_becomes_a_point_for_each_run_that_measured():
    assert is_flatfile(THEIRS)
    (point,) = read_flatfile(THEIRS, "flatfile.html")
    totals = point.result.totals
    assert {op: total.iops for op, total in totals.items()} == {"read": 2, "write": 4, "open": 1.5, "stat": 2}
    assert (totals["write"].count, totals["write"].bytes) == (40, 40 << 20)
    assert point.result.estimates["open"]["mean"].value == pytest.approx(42e6)
    assert point.result.estimates["write"]["max"].value == 6_000_000
    assert point.result.job.definition["stream"] == [{"name": "stream-1", "threads": 2}]
    assert (point.result.versions["origin"], point.result.job.duration_s, len(point.intervals)) == ("Vdbench", 10.0, 2)


def test_a_run_without_an_average_leaves_its_first_interval_out():
    text = "\n".join(line for line in THEIRS.splitlines() if "avg_" not in line)
    (point,) = read_flatfile(text, "f")
    assert {op: total.iops for op, total in point.result.totals.items()} == {"read": 2, "write": 4, "open": 1.5, "stat": 2}
    assert point.result.estimates["stat"]["mean"].value == pytest.approx((3 * 0.1 + 1 * 0.3) / 4 * 1e6)


def test_mutated_flatfiles_are_read_or_refused_in_a_sentence():
    source = random.Random(7)
    for _ in range(MUTATED):
        words = THEIRS.split(" ")
        for _ in range(source.randint(1, 5)):
            words[source.randrange(len(words))] = source.choice(
                ("", "x", "-1", "1e300", "nan", "avg_2-3", "avg_9-1", "\n", "Run", "9" * 40, "é")
            )
        try:
            files(read_flatfile(" ".join(words), "f"))
        except InputError as problem:
            assert "\n" not in str(problem)
