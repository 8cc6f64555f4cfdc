"""Results as text, CSV and JSON, and the two forms of progress."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import pytest

from plimsoll.measure import Job, unfinished
from plimsoll.reports.live import LiveView
from plimsoll.reports.progress import PlainLines
from plimsoll.result import Result
from plimsoll.store.reader import StoredRun, list_runs
from plimsoll.target import Target
from plimsoll.units import binary, count, duration, megabytes, seconds
from support.said import Plimsoll
from support.scripted_engine import Script, ScriptedEngine, interval


@pytest.mark.parametrize(
    ("ns", "text"),
    [
        (0, "0 ns"),
        (7, "7.00 ns"),
        (999, "999 ns"),
        (999.9, "1.00 µs"),
        (1_234, "1.23 µs"),
        (99_960, "100 µs"),
        (1_500_000, "1.50 ms"),
        (12e9, "12.0 s"),
        (None, "–"),
    ],
)
def test_durations_have_three_digits_in_the_unit_that_fits(ns: float | None, text: str) -> None:
    assert duration(ns) == text


def test_other_figures_have_their_units() -> None:
    assert (binary(4096), binary(1536), binary(3 << 40)) == ("4 KiB", "1.5 KiB", "3 TiB")
    assert (megabytes(96_400_000), megabytes(1.2e9)) == ("96.4", "1,200")
    assert (count(12_345.6), count(12.34), count(0)) == ("12,346", "12.3", "0")
    assert (seconds(7), seconds(185), seconds(3723)) == ("7 s", "3:05", "1:02:03")


def skeleton() -> Result:
    engine = ScriptedEngine()
    workload = engine.check_workload({"title": "Small", "stream": [{"name": "main"}]}, "small.toml")
    return unfinished(Job("0001-small", workload, engine.check_job({"duration": 1, "warmup": 0}), Target("file:/x"), {"target": {}}))


class Clock:
    """A clock that stands still until it is set."""

    def __init__(self) -> None:
        self.now_s = 1000.0

    def __call__(self) -> float:
        return self.now_s


def test_plain_progress_is_a_line_per_point_and_one_for_an_interval() -> None:
    stream, clock = io.StringIO(), Clock()
    progress = PlainLines(stream, clock)
    progress.preparing("file:/x", 0, 1 << 20)
    progress.preparing("file:/x", 1 << 18, 1 << 20)
    progress.begin(3, 12, skeleton())
    script = Script(warmup_intervals=1, ops=("read", "write"), errors={"EIO": 1})
    for index in range(2):
        clock.now_s += 10
        progress.interval(interval(script, index, ["main"]))
    assert stream.getvalue().splitlines() == [
        "preparing file:/x: 0 B of 1 MiB",
        "preparing file:/x: 256 KiB of 1 MiB",
        "[ 3/12] small  on file:/x",
        *(
            f"[ 3/12] small  {phase}  {end} s  read 1,000/s 4.1 MB/s p50 100 µs p99 100 µs errors 1"
            "  write 1,000/s 4.1 MB/s p50 100 µs p99 100 µs errors 1"
            for phase, end in (("warmup", "0.1"), ("measure", "0.2"))
        ),
    ]


def test_plain_progress_is_at_most_one_interval_in_ten_seconds_of_real_time() -> None:
    """600 virtual seconds of a modelled array pass in a moment; they were 600 lines."""
    stream, clock = io.StringIO(), Clock()
    progress = PlainLines(stream, clock)
    script = Script(warmup_intervals=0)
    for place in (1, 2):
        progress.begin(place, 2, skeleton())
        for index in range(300):
            progress.interval(interval(script, index, ["main"]))
            clock.now_s += 0.0625  # exact in binary
    shown = [line.split("  ")[:3] for line in stream.getvalue().splitlines()]
    # 2 * 300 * 0.0625 s = 37.5 s: intervals at 0, 10, 20 and 30 s, wherever the points begin.
    assert shown == [
        ["[1/2] small", "on file:/x"],
        ["[1/2] small", "measure", "0.1 s"],
        ["[1/2] small", "measure", "16.1 s"],
        ["[2/2] small", "on file:/x"],
        ["[2/2] small", "measure", "2.1 s"],
        ["[2/2] small", "measure", "18.1 s"],
    ]


class Terminal(io.StringIO):
    """A stream that is drawn on."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("NO_COLOR", "1")
    return Terminal()


def test_the_live_view_shows_the_point_its_figures_and_the_time_left(terminal: Terminal) -> None:
    stream = terminal
    view = LiveView(stream)
    view.begin(1, 2, skeleton())
    view.interval(interval(Script(warmup_intervals=0, errors={"EIO": 1}), 4, ["main"]))
    view.close()
    drawn = stream.getvalue()
    for part in ("[1/2]", "Small", "on file:/x", "read", "1,000", "4.1", "100 µs", "1 error", "measure", "2 s left"):
        assert part in drawn, part


def test_the_live_view_redraws_at_most_four_times_a_second(terminal: Terminal) -> None:
    stream = terminal
    view = LiveView(stream)
    view.begin(1, 1, skeleton())
    one = interval(Script(warmup_intervals=0), 0, ["main"])
    view.interval(one)
    drawn = len(stream.getvalue())
    for _ in range(100):
        view.interval(one)
    assert len(stream.getvalue()) == drawn
    view.close()


def test_the_table_marks_points_and_names_each_flag_once(plimsoll: Plimsoll, engine: ScriptedEngine) -> None:
    engine.scripts = [Script(errors={"EIO": 1})]
    said = plimsoll("run", "small.toml", "-t", "null:", "--repeat", "2")
    rows = [line for line in said.out.splitlines() if line.startswith("small")]
    assert len(rows) == 2 and re.search(r"!\??·$", rows[0]) and rows[1].startswith("small #2")
    assert said.out.count("I/O errors:") == 1
    assert said.out.index("I/O errors") < said.out.index("short run")
    assert "→ Check the kernel log" in said.out


def test_a_modelled_result_says_so_in_the_table(plimsoll: Plimsoll) -> None:
    said = plimsoll("run", "small.toml", "-t", "queue:")
    assert "(modelled)" in said.out


def test_the_long_form_holds_every_number_of_the_result(plimsoll: Plimsoll, engine: ScriptedEngine, here: Path) -> None:
    engine.scripts = [Script(ops=("read", "write"), parts=("0:/dev/a", "1:/dev/b"), errors={"EIO": 1})]
    plimsoll("run", "small.toml", "-t", "null:")
    assert plimsoll("report", next((here / "results").iterdir()).name, "-o", "x.csv", "--long").code == 0
    with (here / "x.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["run", "point", "workload", "target", "repeat", "scope", "name", "op", "metric", "unit", "value"]
    values = {(row["scope"], row["name"], row["op"], row["metric"]): row["value"] for row in rows}
    (run,) = list_runs("results")
    assert isinstance(run, StoredRun)
    result = run.points[0].result
    for scope, named in (("total", {"": result.totals}), ("stream", result.streams), ("part", result.parts)):
        for name, totals in named.items():
            for op, total in totals.items():
                assert float(values[scope, name, op, "iops"]) == total.iops
                assert total.latency_ns is not None and total.service_ns is not None
                assert float(values[scope, name, op, "latency_p99"]) == total.latency_ns.p99
                assert float(values[scope, name, op, "service_mean"]) == total.service_ns.mean
    assert values["error", "EIO", "read", "count"] == "10"
    assert values["interval", "5", "read", "count"] == "200"
    assert int(values["latency", "99", "write", "percentile"]) == result.totals["write"].latency_ns.p99  # type: ignore[union-attr]
    heat = [int(row["value"]) for row in rows if row["scope"] == "heat" and row["op"] == "read"]
    assert sum(heat) == 12 * 200, "every request of every interval is in the heat map"
    assert {"flag", "host_interval", "job"} <= {row["scope"] for row in rows}


def test_the_json_report_holds_the_results_as_stored(plimsoll: Plimsoll, here: Path) -> None:
    plimsoll("run", "small.toml", "-t", "null:", "--report", "x.json")
    document = json.loads((here / "x.json").read_text())
    (run,) = list_runs("results")
    assert isinstance(run, StoredRun)
    assert document["runs"][0]["results"] == [json.loads(Path(run.points[0].path, "result.json").read_text())]


def test_workloads_are_listed_and_shown(plimsoll: Plimsoll) -> None:
    listed = plimsoll("list", "--tag", "proliant")
    assert listed.code == 0 and len(listed.out.splitlines()) == 14
    assert [entry["name"] for entry in plimsoll("list", "--tag", "proliant", "--json").json]
    shown = plimsoll("show", "oltp-db").out
    for part in ("OLTP database", "purpose:", "source:", "rationale:", "expect:", "block_size", "8192", "queue_depth 1", "duration 10"):
        assert part in shown, part
    assert plimsoll("show", "oltp-db", "--json", "-s", "queue_depth=32").json["workload"]["stream"][0]["queue_depth"] == 32


def test_calibration_is_shown_stored_and_printed_as_json(plimsoll: Plimsoll, here: Path) -> None:
    said = plimsoll("calibrate")
    assert "null   40.00 million I/O per second of one core" in said.out
    assert "nop    ring 60.0 ns" in said.out
    figures = plimsoll("calibrate", "--json", "--seconds", "1").json
    assert figures["null"]["iops_per_core"] == 40e6 and figures["nop"]["iops_per_core"] == 10e6
    assert list((here / "cache" / "plimsoll").iterdir())
