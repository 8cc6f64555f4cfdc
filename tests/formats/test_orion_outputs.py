"""ORION's summary, tables and histograms: written as the reference lays them out, and read back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from plimsoll.errors import InputError
from plimsoll.formats.import_forms import read_results
from plimsoll.formats.orion.plane import Latency, Plane, Point, plane_of, where_of
from plimsoll.formats.orion.read import read_command
from plimsoll.formats.orion.results import Run, recorded
from plimsoll.formats.orion.table import joined, read_name, read_table, table_name, write_table
from plimsoll.formats.orion.write import About, LunSize, buckets, words_for, write_histograms, write_summary
from plimsoll.formats.place import Place
from plimsoll.formats.stored_point import Recorded
from plimsoll.histogram import Histogram
from plimsoll.result import Result
from support.made_results import Load, Setting, made

MIB = 1 << 20
PLANE = Plane(
    {
        (0, 1): Point(mbps=92.55),
        (0, 2): Point(mbps=131.8),
        (1, 0): Point(iops=108.4, latency=Latency(9230.0, 2100.0, 40000.0, 3000.0)),
        (2, 0): Point(iops=215.0, latency=Latency(9300.0)),
        (1, 1): Point(iops=96.0, mbps=80.0, latency=Latency(10400.0)),
    }
)


def point(small: int, large: int, iops: float = 100.0, mean_ns: float = 5e6) -> Recorded:
    """A measured point with streams as the translation makes them."""
    streams = {}
    if small:
        streams["small"] = made(Load(iops, mean_ns, block_bytes=8192)).totals
    if large:
        streams["large"] = made(Load(iops, mean_ns, block_bytes=MIB)).totals
    definition = {
        "name": "x",
        "stream": [{"name": name, "queue_depth": depth} for name, depth in (("small", small), ("large", large)) if depth],
    }
    place = {"settings": {"small.queue_depth": small, "large.queue_depth": large}}
    result = made(Load(iops, mean_ns), setting=Setting(place=place))
    return Recorded(replace(result, job=replace(result.job, definition=definition), streams=streams))


def test_a_table_has_a_row_for_each_number_of_large_requests_and_blanks_where_nothing_was_measured() -> None:
    # Widths and headings as the reference gives them: 'Large/Small,      0,      1', padded numbers.
    assert write_table(PLANE, "iops", "ms") == (
        "Large/Small,      1,      2\n"
        "          0,    108,    215\n"
        "          1,     96,       \n"
        "          2,       ,       \n"
    )  # fmt: skip
    assert write_table(PLANE, "mbps", "ms") == (
        "Large/Small,      0,      1,      2\n"
        "          1,  92.55,  80.00,       \n"
        "          2, 131.80,       ,       \n"
    )  # fmt: skip


def test_latencies_are_milliseconds_up_to_release_11_1_and_microseconds_later() -> None:
    assert write_table(PLANE, "lat", "ms").splitlines()[1] == "          0,   9.23,   9.30"
    later = write_table(PLANE, "lat").splitlines()
    assert "microseconds" in later[0] and later[3] == "          0,9230.00,9300.00"


@pytest.mark.parametrize("unit", ["ms", "us"])
def test_tables_read_back_are_the_plane_that_was_written(unit: str) -> None:
    tables = [read_table(write_table(PLANE, metric, unit), table_name("t", metric)) for metric in ("mbps", "iops", "lat")]
    found = joined(tables)
    assert found.points[(0, 2)] == Point(mbps=131.8)
    assert found.points[(1, 0)].iops == 108
    assert [round(found.points[where].latency.mean_us) for where in ((1, 0), (2, 0), (1, 1))] == [9230, 9300, 10400]
    assert (2, 1) not in found.points and set(found.points) == set(PLANE.points)


def test_the_unit_of_a_table_that_does_not_say_it_is_the_one_given() -> None:
    text = write_table(PLANE, "lat", "ms")
    assert read_table(text, "t_lat.csv").points[(1, 0)].latency == Latency(9230.0)
    assert read_table(text, "t_lat.csv", unit="us").points[(1, 0)].latency == Latency(9.23)


def test_names_are_read_with_and_without_a_date() -> None:
    dated, plain = read_name("results/my_test_20130722_0953_iops.csv"), read_name("my_test_mbps.csv")
    assert (dated.test, dated.moment, dated.metric) == ("my_test", "20130722_0953", "iops")
    assert (plain.test, plain.moment, plain.metric) == ("my_test", None, "mbps")
    assert table_name("my_test", "iops", "20130722_0953") == "my_test_20130722_0953_iops.csv"


def test_the_plane_of_results_follows_the_streams_that_were_asked() -> None:
    plane = plane_of([point(1, 0), point(0, 2), point(3, 1)])
    assert set(plane.points) == {(1, 0), (0, 2), (3, 1)}
    assert plane.points[(1, 0)] == Point(100.0, None, Latency(5000.0, 0.001, 60000.0, pytest.approx(5000.0)))
    assert plane.points[(0, 2)].mbps == pytest.approx(100.0) and plane.points[(0, 2)].iops is None


def test_repeats_are_averaged_and_a_failed_point_is_blank() -> None:
    failed = replace(point(2, 0).result, status="failed", totals={}, streams={})
    plane = plane_of([point(1, 0, 100.0, 4e6), point(1, 0, 300.0, 8e6), Recorded(failed)])
    assert plane.points[(1, 0)].iops == 200.0
    assert plane.points[(1, 0)].latency.mean_us == pytest.approx(7000.0)  # weighted by requests: (100 × 4 + 300 × 8) / 400 ms
    assert plane.points[(2, 0)] == Point()


def test_sequential_streams_count_as_their_threads() -> None:
    result = point(0, 1).result
    large = {"name": "large", "random_percent": 0, "threads": 3, "queue_depth": 4}
    streams: Result = replace(result, place={"settings": {"large.threads": 3}}, job=replace(result.job, definition={"stream": [large]}))
    assert where_of(streams) == (0, 3)


def test_a_point_without_such_streams_is_refused() -> None:
    with pytest.raises(InputError, match="no stream is called small or large"):
        plane_of([Recorded(made(Load(1, 1)))])


def summary(options: str, plane: Plane = PLANE, unit: str = "us") -> list[str]:
    command = read_command(options.split(), Place("x"))
    return write_summary(About(command, [LunSize("/dev/sdb", 21474836480)], "9.9", unit), plane).splitlines()


def test_the_summary_has_the_lines_of_the_tool_in_their_order() -> None:
    # A published summary of release 11.1 has these lines, with its own figures.
    assert summary("orion -run simple", unit="ms") == [
        "ORION VERSION Plimsoll 9.9",
        "",
        "Commandline:",
        "-run simple",
        "",
        "This maps to this test:",
        "Test: orion",
        "Small IO size: 8 KB",
        "Large IO size: 1024 KB",
        "IO Types: Small Random IOs, Large Random IOs",
        "Simulated Array Type: CONCAT",
        "Write: 0%",
        "Cache Size: Not Entered",
        "Duration for each Data Point: 60 seconds",
        "Small Columns:,      0,      1,      2",
        "Large Columns:,      0,      1,      2",
        "Total Data Points: 5",
        "",
        "Name: /dev/sdb  Size: 21474836480",
        "1 FILEs found.",
        "",
        "Maximum Large MBPS=131.80 @ Small=0 and Large=2",
        "Maximum Small IOPS=215 @ Small=2 and Large=0",
        "Minimum Small Latency=9.23 @ Small=1 and Large=0",
    ]


def test_the_summary_of_later_releases_has_microseconds_and_their_spread() -> None:
    lines = summary("-run advanced -type seq -simulate raid0 -stripe 64 -cache_size 0 -write 20")
    assert lines[8:14] == [
        "Large IO size: 1024 KB",
        "IO Types: Small Random IOs, Large Sequential Streams",
        "Number of Concurrent IOs Per Stream: 4",
        "Simulated Array Type: RAID 0",
        "Stripe Depth: 64 KB",
        "Write: 20%",
    ]
    assert "Cache Size: 0 MB" in lines
    assert lines[-2:] == [
        "Minimum Small Latency=9230.00 usecs @ Small=1 and Large=0",
        "Small Latency: avg=9230 us, min=2100 us, max=40000 us, std dev=3000 us @ Small=1 and Large=0",
    ]


def test_bests_are_looked_for_where_one_kind_runs_alone() -> None:
    busy = Plane({(5, 5): Point(iops=9000, mbps=9000, latency=Latency(1.0)), (1, 0): Point(iops=10, latency=Latency(5.0))})
    lines = summary("-run normal", busy)
    assert "Maximum Small IOPS=10 @ Small=1 and Large=0" in lines and not any("MBPS" in line for line in lines)


def histogram(values_us: Sequence[float]) -> Histogram:
    made_of = Histogram()
    for value in values_us:
        made_of.record(round(value * 1000))
    return made_of


def test_histograms_are_powers_of_two_from_32_microseconds_on() -> None:
    assert buckets(histogram([5, 20, 40, 100, 120])) == [(0, 32, 2), (32, 64, 1), (64, 128, 2)]
    text = write_histograms({(1, 0): {("small", "read"): histogram([5, 20, 40, 100])}, (2, 0): {("small", "read"): Histogram()}})
    label, _, title, _, first, _, last, *_ = text.splitlines()
    # Nobody shall take the layout for ORION's.
    assert label == "* In Plimsoll's own layout: how ORION lays out this file is not documented. Its buckets are ORION's."
    assert title == "Small Read Latency Histogram @ Small=1 and Large=0"
    assert first.split() == ["0", "-", "32", ":", "2", "50.00%"]
    assert last.split() == ["64", "-", "128", ":", "1", "100.00%"]
    assert "Small=2" not in text


def test_tables_of_another_run_become_results_with_their_origin() -> None:
    found = recorded(PLANE, Run("night", duration_s=60, target="/dev/sdb"))
    assert [item.result.id for item in found] == ["night-0-1", "night-0-2", "night-1-0", "night-1-1", "night-2-0"]
    small = found[2].result
    assert small.versions == {"origin": "ORION"} and small.status == "complete"
    assert small.totals["read"].iops == 108.4 and small.totals["read"].count == 6504
    assert small.estimates["read"]["mean"].value == 9_230_000
    assert plane_of(found).points[(0, 1)].mbps == pytest.approx(92.55)
    assert Result.from_json(small.to_json(), "x") == small


def test_writes_of_such_tables_are_told_by_the_percentage() -> None:
    (only,) = recorded(Plane({(4, 0): Point(iops=100.0, latency=Latency(10.0))}), Run("t", write_percent=20))
    assert {op: total.iops for op, total in only.result.totals.items()} == {"read": 80.0, "write": 20.0}
    assert list(only.result.estimates) == ["all"]


def test_the_command_line_of_a_summary_asks_for_the_points_that_stand_in_it() -> None:
    large = {"name": "large", "random_percent": 0, "queue_depth": 2, "block_size": 256 * 1024}
    small = {"name": "small", "queue_depth": 1, "block_size": 8192}

    def measured(few: int, many: int) -> Recorded:
        result = point(few, many).result
        definition = {"name": "x", "stream": [{**small, "queue_depth": few}] * bool(few) + [{**large, "threads": many}] * bool(many)}
        place = {"settings": {"small.queue_depth": few, "large.threads": many}}
        return Recorded(replace(result, place=place, job=replace(result.job, definition=definition)))

    basic = [measured(few, 0) for few in range(1, 6)] + [measured(0, many) for many in (1, 2)]
    words = " ".join(words_for(basic, plane_of(basic), "t"))
    assert words.startswith("-run advanced -matrix basic -testname t -num_disks 1 ")
    assert "-size_large 256" in words and words.endswith("-type seq -num_streamIO 2 -write 0")
    lines = write_summary(About(read_command(words.split(), Place("x")), [], "9.9"), plane_of(basic))
    assert "Number of Concurrent IOs Per Stream: 2" in lines
    column = [measured(3, many) for many in range(5)]
    assert "-matrix col -testname t -num_disks 2 -num_small 3" in " ".join(words_for(column, plane_of(column), "t"))
    alone = [measured(0, 4)]
    assert "-matrix point -testname t -num_disks 1 -num_small 0 -num_large 4" in " ".join(words_for(alone, plane_of(alone), "t"))


def test_the_duration_comes_from_the_summary_and_is_not_invented() -> None:
    tables = {f"t_20130722_0953_{metric}.csv": write_table(PLANE, metric) for metric in ("mbps", "iops", "lat")}
    (alone,) = [item.result for item in read_results(tables) if item.result.id == "t-2-0"]
    assert (alone.totals["read"].count, alone.job.duration_s) == (215, 1.0)
    assert "counts are those of one second" in alone.flags[0].message and "taken as reads" in alone.flags[0].message
    text = "\n".join(summary("-run simple -testname t -duration 5 -write 100 -size_small 4"))
    (told,) = [item.result for item in read_results({**tables, "t_20130722_0953_summary.txt": text}) if item.result.id == "t-2-0"]
    assert (told.totals["write"].count, told.totals["write"].bytes, told.job.duration_s) == (1075, 1075 * 4096, 5)
    assert (told.job.target, "one second" in told.flags[0].message) == ("/dev/sdb", False)
