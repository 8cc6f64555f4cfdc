"""Vdbench's files: layouts that its readers rely on, and its flatfile read back, driven by the header."""

from __future__ import annotations

from dataclasses import replace

import pytest

from plimsoll.errors import InputError
from plimsoll.formats.stored_point import Recorded
from plimsoll.formats.vdbench.results import files, is_flatfile, read_flatfile
from plimsoll.formats.vdbench.results.histogram import EDGES_US, counted
from support.recorded_point import Load, drawn, recorded_point

MIXED = Load(latencies_ns={"read": drawn(1), "write": drawn(2, 200, 300_000)})

#: In the layout of 2016: no timestamp, no maxima of reads and writes, CPU not known.
OLD = """\
* A comment.
<pre>
         tod    Run Interval reqrate    rate  MB/sec bytes/io  read%   resp read_resp write_resp resp_max resp_std xfersize threads rdpct seekpct cpu_used
10:00:05.052 rd1_(50)     1  999977  100.00    0.39     4096  70.00  9.000     9.000      9.000   50.000    1.000     4096       8    70     100      n/a
10:00:10.049 rd1_(50)     2  999977 1000.00    3.91     4096  70.00  8.000     6.000     12.667   20.000    1.000     4096       8    70     100      n/a
10:00:15.050 rd1_(50)     3  999977 1200.00    4.69     4096  70.00  6.000     5.000      8.333   30.000    1.000     4096       8    70     100      n/a
10:00:15.051 rd1_(50) avg_2-3  999977 1100.00    4.30     4096  70.00  7.000     5.500     10.500   30.000    1.000     4096       8    70     100      n/a
10:01:00.000 rd2     1     500  500.00    1.95     4096 100.00  2.000     2.000      0.000    9.000    1.000     4096       8   100       0      n/a
10:01:05.000 rd2     2     500  500.00    1.95     4096 100.00  1.000     1.000      0.000    4.000    1.000     4096       8   100       0      n/a
10:01:05.001 rd2 avg_2-2     500  500.00    1.95     4096 100.00  1.000     1.000      0.000    4.000    1.000     4096       8   100       0      n/a
"""


@pytest.fixture(scope="module")
def written():
    return files([recorded_point(MIXED), recorded_point(Load(latencies_ns={"read": (1_000_000,) * 100}))])


def table(text: str) -> list[dict[str, str]]:
    lines = [line.split() for line in text.splitlines() if line and not line.startswith(("*", "<"))]
    return [dict(zip(lines[0], words, strict=True)) for words in lines[1:]]


def test_the_flatfile_is_one_header_of_words_and_a_row_for_each_interval_and_average(written):
    rows = table(written["flatfile.html"])
    assert [row["Interval"] for row in rows] == ["1", "2", "3", "avg_1-3"] * 2
    assert [row["Run"] for row in rows] == ["oltp-db"] * 4 + ["oltp-db_2"] * 4
    average = rows[3]
    assert (average["rate"], average["MB/sec"], average["bytes/io"]) == ("1400.0000", "10.9375", "8192")
    assert (average["reqrate"], average["read%"], average["threads"], average["rdpct"]) == ("999977", "71.4286", "4", "71")
    assert average["cpu_used"] == "15.0000"
    assert rows[0]["timestamp"] == "11/21/2026-10:00:01-UTC"


def test_mean_and_deviation_of_reads_and_writes_together_are_those_of_the_mixture(written):
    average = table(written["flatfile.html"])[3]
    values = [value / 1e6 for value in (*MIXED.latencies_ns["read"], *MIXED.latencies_ns["write"])]
    mean = sum(values) / len(values)
    deviation = (sum((value - mean) ** 2 for value in values) / len(values)) ** 0.5
    assert float(average["resp"]) == pytest.approx(mean, rel=0.01)
    assert float(average["resp_std"]) == pytest.approx(deviation, rel=0.01)
    assert float(average["queue_depth"]) == pytest.approx(1400 * mean / 1000, rel=0.01)


def test_the_summary_shows_every_interval_and_the_totals_only_averages(written):
    summary, totals = written["summary.html"], written["totals.html"]
    assert "Starting RD=oltp-db; I/O rate: Uncontrolled MAX; elapsed=3; For loops: None" in summary
    assert "Nov 21, 2026" in summary
    assert [line.split()[1] for line in summary.splitlines() if line.startswith("10:") and "Starting" not in line][:4] == [
        "1",
        "2",
        "3",
        "avg_1-3",
    ]
    assert [line.split()[1] for line in totals.splitlines() if line.startswith("10:") and "Starting" not in line] == ["avg_1-3", "avg_1-3"]
    assert totals.splitlines()[-1].split()[2:6] == ["200.00", "1.56", "8192", "100.00"]


def test_the_histogram_counts_every_request(written):
    text = written["histogram.html"]
    first = text.split("Reads and writes for oltp-db\n")[1].split("\n\n")[0]
    assert sum(int(line.split()[3]) for line in first.splitlines()[1:]) == 4200
    assert first.splitlines()[-1].split()[5] == "100.0000"
    assert "Writes for oltp-db_2" not in text


def test_requests_are_counted_between_the_edges_of_vdbench():
    point = recorded_point(Load(latencies_ns={"read": (1_000_000, 19_000, 21_000, 3_000_000_000)}), intervals=1)
    from plimsoll.formats.stored_point import Course

    counts = counted(Course(point).service(None, "read"))
    assert len(counts) == len(EDGES_US) + 1
    assert (counts[0], counts[1], counts[EDGES_US.index(1000) + 1], counts[-1]) == (1, 1, 1, 1)


def test_the_status_file_has_the_events_that_others_wait_for(written):
    events = [line.split("\t")[1] for line in written["status.html"].splitlines()[1:]]
    assert events[:4] == ["Starting", "Warmup done", "Workload done", "Slaves done"]
    assert events[-2:] == ["Shutting down slaves", "Vdbench complete"]


def test_a_point_without_intervals_has_an_average():
    rows = table(files([Recorded(recorded_point(MIXED).result)])["flatfile.html"])
    assert [row["Interval"] for row in rows] == ["avg_1-1"]
    assert rows[0]["rate"] == "1400.0000"


def test_what_is_written_reads_back(written):
    point = recorded_point(MIXED)
    read = read_flatfile(written["flatfile.html"], "flatfile.html")[0]
    for op in ("read", "write"):
        ours, theirs = read.result.totals[op], point.result.totals[op]
        assert ours.count == theirs.count
        assert ours.bytes == pytest.approx(theirs.bytes, rel=1e-4)
        assert read.result.estimates[op]["mean"].value == pytest.approx(theirs.service_ns.mean, rel=1e-3)
    assert len(read.intervals) == 3


def test_bytes_of_reads_and_writes_of_different_sizes_read_back_apart_with_their_counts():
    reads = Load("data", {"read": drawn(1, 40)}, size_bytes=8192)
    point = recorded_point(reads, Load("log", {"write": drawn(2, 20)}, size_bytes=65536), intervals=1)
    (read,) = read_flatfile(files([point])["flatfile.html"], "flatfile.html")
    for op in ("read", "write"):
        ours, theirs = read.result.totals[op], point.result.totals[op]
        assert (ours.count, ours.bytes) == (theirs.count, pytest.approx(theirs.bytes, rel=1e-4)), op
    assert (read.result.job.duration_s, read.intervals[0]["end_ns"]) == (0.5, 500_000_000)
    assert not any("so counts are" in flag.message for flag in read.result.flags)


def test_a_file_that_has_one_size_for_both_says_that_bytes_are_divided():
    first, second = read_flatfile(OLD, "flatfile.html")
    assert "divided as their requests are" in first.result.flags[0].message
    assert "divided" not in second.result.flags[0].message


def test_the_average_is_the_tools_own_and_leaves_the_first_interval_out():
    first, second = read_flatfile(OLD, "flatfile.html")
    assert (first.result.job.workload, first.result.job.duration_s) == ("rd1_(50)", 10.0)
    assert first.result.totals["read"].iops == pytest.approx(770)
    assert first.result.totals["write"].count == 3300
    assert first.result.estimates["write"]["mean"].value == 10_500_000
    assert "max" not in first.result.estimates["write"]
    assert first.result.job.definition["stream"] == [
        {"name": "stream-1", "read_percent": 70, "random_percent": 100, "block_size": 4096, "queue_depth": 8}
    ]
    assert first.result.versions["origin"] == "Vdbench"
    assert (second.result.job.arrival, second.result.estimates["read"]["max"].value) == ("open", 4_000_000)


def test_columns_are_found_by_their_names():
    lines = OLD.splitlines()
    swapped = [" ".join(reversed(line.split())) if number > 1 else line for number, line in enumerate(lines)]
    ours, theirs = (read_flatfile("\n".join(text) + "\n", "f") for text in (swapped, lines))
    assert [point.result for point in ours] == [point.result for point in theirs]


def test_a_run_without_an_average_leaves_its_first_interval_out():
    text = "\n".join(line for line in OLD.splitlines() if "avg_" not in line)
    assert read_flatfile(text, "f")[0].result.totals["read"].iops == pytest.approx(770)


def test_the_beginning_of_a_flatfile_is_known():
    assert is_flatfile(OLD) and not is_flatfile("Run Interval\n")


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("", "no row of a run stands under its header"),
        ("10:00:05 rd1 1\n", "f:1: a row stands before the header"),
        ("tod Run Interval rate resp\n10:00:05 rd1 1 5\n", "f:2: 4 words under 5 columns"),
        ("tod Run Interval rate resp\n10:00:05 rd1 1 x 2\n", "f:2: rate is 'x'"),
        ("tod Run Interval rate resp\n10:00:05 rd1 1 -5 2\n", "f:2: rate is '-5'"),
        ("tod Run Interval rate resp\n10:00:05 rd1 1 nan 2\n", "f:2: rate is 'nan'"),
        ("tod Run Interval ops\n10:00:05 rd1 1 5\n", "f:1: the header has no column 'rate'"),
        ("tod Run Interval Read_rate Rate\n10:00:05 rd1 1 5 5\n", "f:1: the header has no column 'Resp'"),
        ("tod Run Interval Read_rate Rate Resp\n10:00:05 rd1 1 x 5 5\n", "f:2: Read_rate is 'x'"),
    ],
)
def test_a_wrong_flatfile_is_answered_in_one_sentence(text, part):
    with pytest.raises(InputError) as refused:
        read_flatfile(text, "f")
    assert part in str(refused.value)
    assert "\n" not in str(refused.value)


def test_the_maximum_of_reads_and_writes_together_is_kept_through_import_and_export():
    first = read_flatfile(OLD, "f.html")[0]
    assert first.result.estimates["all"]["max"].value == 30e6
    assert "of all together max 30 ms" in first.result.flags[0].message
    again = table(files([first])["flatfile.html"])[-1]
    assert (float(again["resp_max"]), float(again["resp"])) == (30.0, 7.0)
    assert (float(again["read_resp"]), float(again["write_resp"]), again["read_max"]) == (5.5, 10.5, "n/a")


def test_where_reads_and_writes_have_maxima_of_their_own_these_are_kept():
    own = OLD.replace("resp_max", "resp_max read_max write_max").replace(" 30.000    1.000", " 30.000 20.000 30.000 1.000")
    own = own.replace(" 50.000    1.000", " 50.000 0 0 1.000").replace(" 20.000    1.000", " 20.000 0 0 1.000")
    own = own.partition("10:01:00")[0]
    (point,) = read_flatfile(own, "f.html")
    assert (point.result.estimates["read"]["max"].value, point.result.estimates["write"]["max"].value) == (20e6, 30e6)
    assert point.result.estimates["all"]["max"].value == 30e6


def test_points_of_a_curve_are_called_as_vdbench_calls_them_and_keep_their_names():
    point = recorded_point(MIXED)
    places = [
        {"kind": "curve", "role": "maximum"},
        {"kind": "curve", "label": "10 %"},
        {"kind": "curve", "label": "12.5 %"},
        {"kind": "steps", "label": "10 %"},
    ]
    curve = [Recorded(replace(point.result, place=place), point.intervals, point.monitor) for place in places]
    text = files(curve)["flatfile.html"]
    expected = ["oltp-db", "oltp-db_(10%)", "oltp-db_(12.5%)", "oltp-db_2"]
    assert [read.result.job.workload for read in read_flatfile(text, "f.html")] == expected
    again = files(read_flatfile(text, "f.html"))["flatfile.html"]
    assert [read.result.job.workload for read in read_flatfile(again, "f.html")] == expected
