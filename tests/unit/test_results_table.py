"""The table of results: a row per point and operation, in typed columns that say their unit, for CSV, Parquet and data frames."""

from __future__ import annotations

import csv
import io
import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from plimsoll.errors import InputError
from plimsoll.result import Result
from plimsoll.store.reader import StoredPoint, StoredRun
from plimsoll.tables.column import Column
from plimsoll.tables.page import results_table_page
from plimsoll.tables.points import COLUMNS, IDENTITY, points_table
from plimsoll.tables.split import By
from plimsoll.tables.table import Table
from support.made_results import Load, Setting, failed, made
from support.made_workflows import Workflows, ran
from support.said import Plimsoll
from support.scripted_engine import Script, ScriptedEngine

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "results-table.md"


def run_of(*results: Result, **meta: object) -> StoredRun:
    """A stored run whose points are ``results``."""
    run = StoredRun("results/r1", {"status": "complete", **meta})
    run.__dict__["points"] = [_point(result) for result in results]
    return run


def _point(result: Result) -> StoredPoint:
    point = StoredPoint(f"results/r1/points/{result.id}")
    point.__dict__["result"] = result
    return point


def test_the_reference_page_is_up_to_date() -> None:
    if os.environ.get("PLIMSOLL_RENEW"):
        PAGE.write_text(results_table_page(), encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == results_table_page()


def test_every_column_has_a_meaning_and_a_name_of_its_own() -> None:
    assert len({column.name for column in COLUMNS}) == len(COLUMNS)
    assert all(column.meaning for column in COLUMNS)
    # Units stand in names, so that nobody has to look them up.
    endings = {"s": "_s", "ms": "_ms", "%": "_percent", "KiB": "_kib"}
    for column in COLUMNS:
        assert column.unit not in endings or column.name.endswith(endings[column.unit]), column.name


def test_a_point_has_a_row_for_each_operation_and_one_for_all(plimsoll: Plimsoll, engine: ScriptedEngine) -> None:
    engine.scripts = [Script(ops=("read", "write"), errors={"EIO": 1})]
    plimsoll("steps", "small.toml", "-t", "null:", "--over", "queue_depth=1,4", "--label", "mine", "--report", "x.csv")
    rows = list(csv.DictReader(io.StringIO(Path("x.csv").read_text())))
    assert [(row["set_queue_depth"], row["operation"]) for row in rows] == [
        (depth, op) for depth in "14" for op in ("all", "read", "write")
    ]
    every, read, write = rows[:3]
    # 100 requests of 4 KiB in 100 ms, of each operation; 100 µs each.
    assert [float(row["iops"]) for row in (every, read, write)] == [2000, 1000, 1000]
    assert [float(row["mb_per_s"]) for row in (every, read)] == [8.192, 4.096]
    assert float(every["request_kib"]) == 4
    assert float(read["latency_p99_ms"]) == pytest.approx(0.1, rel=2e-3)
    assert float(read["service_mean_ms"]) == pytest.approx(0.1, rel=2e-3)
    assert [int(row["errors"]) for row in (every, read, write)] == [20, 10, 10]
    assert (every["label"], every["workload"], every["target"], every["side"], every["status"]) == (
        "mine",
        "small",
        "null:",
        "null:",
        "complete",
    )
    assert float(every["measured_s"]) == pytest.approx(1.0)
    counted = sum(int(every[f"flags_{severity}"]) for severity in ("invalid", "doubt", "note"))
    assert counted and set(every["flags"].split())


def test_a_failed_point_has_one_row_with_its_error() -> None:
    (row,) = points_table([run_of(failed(4))]).to_dicts()
    assert (row["operation"], row["status"], row["error"], row["iops"]) == ("all", "failed", "no space left on device", None)


def test_verdict_and_mark_stand_beside_the_points() -> None:
    results = [made(Load(iops=100.0 * level, mean_ns=5e6 * level), level) for level in (1, 2, 4)]
    subject = {"subject": "oltp-db", "configuration": "slow"}
    results = [replace(result, place={**result.place, **subject}) for result in results]
    run = run_of(
        *results,
        experiments=[{"name": "steps", "objective": "mean <= 10ms", "configurations": []}],
        conclusions=[{"experiment": "steps", "workload": "oltp-db", "configuration": "slow", "mark": {"level": 2.0}}],
    )
    rows = [row for row in points_table([run]).to_dicts() if row["operation"] == "all"]
    assert [(row["level"], row["verdict"], row["is_mark"], row["side"]) for row in rows] == [
        (1, "held", False, "slow"),
        (2, "held", True, "slow"),
        (4, "failed", False, "slow"),
    ]


def test_published_figures_are_counted_where_they_stand_beside_a_point() -> None:
    figures = {"rows": [{"match": {"workload": "oltp-db", "settings": {"queue_depth": 2}}}, {"match": None}]}
    results = [made(Load(100.0, 1e6), level, setting=Setting(workload="oltp-db")) for level in (1, 2)]
    rows = points_table([run_of(*results, suite={"published": [figures]})]).to_dicts()
    assert [row["published_figures"] for row in rows if row["operation"] == "all"] == [0, 1]


def test_settings_of_words_and_numbers_make_a_column_of_text() -> None:
    results = [made(Load(100.0, 1e6), level) for level in (1, 2)]
    places = ({"settings": {"block_size": 4096, "direct": True}}, {"settings": {"block_size": "8k"}})
    table = points_table([run_of(*(replace(one, place={**one.place, **place}) for one, place in zip(results, places, strict=True)))])
    holds = {column.name: column.holds for column in table.columns}
    assert (holds["set_block_size"], holds["set_direct"]) == ("text", "text")
    assert [(row["set_block_size"], row["set_direct"]) for row in table.to_dicts()[::2]] == [("4096", "true"), ("8k", None)]
    assert table.to_arrow().num_rows == 4


def test_bounds_of_intervals_are_in_the_unit_of_their_value() -> None:
    row = points_table([run_of(made(Load(iops=1000.0, mean_ns=2e6, spread=0.1), 1))]).to_dicts()[0]
    assert (row["iops_low"], row["iops"], row["iops_high"]) == pytest.approx((900, 1000, 1100))
    assert (row["latency_mean_low_ms"], row["latency_mean_ms"], row["latency_mean_high_ms"]) == pytest.approx((1.8, 2, 2.2))
    assert row["mb_per_s"] == pytest.approx(row["mb_per_s_low"] / 0.9)


TABLE = Table(
    (
        Column("name", "text", "", "a name"),
        Column("x_ms", "number", "ms", "a time"),
        Column("n", "whole", "", ""),
        Column("ok", "truth", "", ""),
    ),
    (("a", 1, 2, True), (None, None, None, None), ("=b", 0.5, 3, False)),
)
ROWS = [
    {"name": "a", "x_ms": 1.0, "n": 2, "ok": True},
    dict.fromkeys(("name", "x_ms", "n", "ok")),
    {"name": "=b", "x_ms": 0.5, "n": 3, "ok": False},
]


def test_a_table_becomes_arrow_with_types_and_units() -> None:
    table = TABLE.to_arrow()
    assert table.to_pylist() == ROWS
    assert [str(field.type) for field in table.schema] == ["string", "double", "int64", "bool"]
    assert table.schema.field("x_ms").metadata == {b"unit": b"ms", b"meaning": b"a time"}


def test_a_table_becomes_a_data_frame_of_polars() -> None:
    frame = TABLE.to_polars()
    assert frame.to_dicts() == ROWS
    assert [str(kind) for kind in frame.dtypes] == ["String", "Float64", "Int64", "Boolean"]


def test_a_table_becomes_a_data_frame_of_pandas() -> None:
    frame = TABLE.to_pandas()
    assert [str(kind) for kind in frame.dtypes[1:]] == ["Float64", "Int64", "boolean"]
    assert frame["x_ms"].sum() == 1.5 and frame.isna().sum().to_list() == [1, 1, 1, 1]
    assert frame["name"].dropna().to_list() == ["a", "=b"]


def test_a_table_becomes_csv_that_spreadsheets_take_for_what_it_is() -> None:
    assert TABLE.csv().decode() == "name,x_ms,n,ok\na,1,2,true\n,,,\n'=b,0.5,3,false\n"


def test_an_empty_table_has_its_columns_everywhere() -> None:
    empty = Table(TABLE.columns, ())
    assert empty.to_arrow().schema.names == list(empty.to_pandas().columns) == empty.to_polars().columns == ["name", "x_ms", "n", "ok"]


@pytest.mark.parametrize(("package", "make"), [("pandas", Table.to_pandas), ("polars", Table.to_polars), ("pyarrow", Table.to_arrow)])
def test_a_package_that_is_missing_is_named_with_how_to_get_it(package: str, make: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(InputError, match=rf"to_\w+\(\) needs the package {package}, which is not installed here; install it"):
        make(TABLE)  # type: ignore[operator]


def test_tables_of_several_runs_are_joined_column_by_column() -> None:
    first = run_of(made(Load(100.0, 1e6), 1))
    other = run_of(replace(made(Load(100.0, 1e6), 1), place={"settings": {"threads": 3}}))
    joined = points_table([first]) + points_table([other])
    assert [(row["set_queue_depth"], row["set_threads"]) for row in joined.to_dicts()[::2]] == [(1, None), (None, 3)]


def test_long_is_for_tables(plimsoll: Plimsoll) -> None:
    plimsoll("run", "small.toml", "-t", "null:")
    name = next(Path("results").iterdir()).name
    for output in ([], ["-o", "x.html"]):
        said = plimsoll("report", name, "--long", *output)
        assert (said.code, "--long is for tables; add -o FILE.csv" in said.err) == (2, True)


def test_a_table_in_either_form_may_replace_the_other_and_no_other_file(plimsoll: Plimsoll) -> None:
    plimsoll("run", "small.toml", "-t", "null:")
    name = next(Path("results").iterdir()).name
    for ending in ("csv", "parquet"):
        for form in ([], ["--long"], []):
            assert plimsoll("report", name, "-o", f"x.{ending}", *form).code == 0
        Path(f"mine.{ending}").write_text("a,b\n1,2\n")
        assert plimsoll("report", name, "-o", f"mine.{ending}").code == 2


def _of_two_streams() -> Result:
    """Reads of 4 KiB and writes of 8 KiB by one stream each, on two parts."""
    point = made(Load(iops=1000, mean_ns=1e6), 4)
    read = point.totals["read"]
    write = replace(read, count=500, iops=50.0, bytes=500 * 8192, bytes_per_s=50.0 * 8192)
    return replace(
        point,
        totals={"read": read, "write": write},
        streams={"reader": {"read": read}, "writer": {"write": write}},
        parts={"/dev/sdb": {"read": read}, "/dev/sdc": {"write": write}},
    )


@pytest.mark.parametrize(("by", "names"), [("stream", ("reader", "writer")), ("part", ("/dev/sdb", "/dev/sdc"))])
def test_each_stream_or_part_has_rows_of_its_own(by: By, names: tuple[str, str]) -> None:
    point = _of_two_streams()
    table = points_table([run_of(point)], by=by)
    assert [column.name for column in table.columns].index(by) == len(IDENTITY)
    rows = table.to_dicts()
    assert [(row[by], row["operation"]) for row in rows] == [(names[0], "all"), (names[0], "read"), (names[1], "all"), (names[1], "write")]
    assert [row["iops"] for row in rows] == [point.totals["read"].iops] * 2 + [50.0] * 2
    assert rows[2]["request_kib"] == 8 and rows[2]["mb_per_s"] == pytest.approx(0.4096)
    assert rows[1]["latency_p99_ms"] == pytest.approx(4.605)
    # Intervals are of the whole point; what was asked is in every row.
    assert {row["iops_low"] for row in rows} == {None} and {row["level"] for row in rows} == {4}
    assert len(table.csv().splitlines()) == 5


def test_what_has_no_parts_is_one_part_and_what_failed_has_its_row() -> None:
    whole = made(Load(iops=1000, mean_ns=1e6), 4)
    rows = points_table([run_of(whole)], by="part").to_dicts()
    assert [(row["part"], row["operation"]) for row in rows] == [("/dev/sdb", "all"), ("/dev/sdb", "read")]
    (row,) = points_table([run_of(failed(4))], by="stream").to_dicts()
    assert (row["stream"], row["operation"], row["status"]) == (None, "all", "failed")


def test_the_table_by_stream_is_written_by_report_and_export(plimsoll: Plimsoll, engine: ScriptedEngine) -> None:
    run = "latest"
    plimsoll("run", "small.toml", "-t", "null:")
    assert plimsoll("report", run, "-o", "x.csv", "--by", "stream").code == 0
    rows = list(csv.DictReader(io.StringIO(Path("x.csv").read_text())))
    assert {row["stream"] for row in rows} == {"main"}
    assert plimsoll("export", run, "--as", "csv", "--by", "stream").out == Path("x.csv").read_text()
    # Written by Plimsoll, so it is replaced.
    assert plimsoll("report", run, "-o", "x.csv").code == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("report", "-o", "x.html", "--by", "part"), "--by is for tables; add -o FILE.csv or -o FILE.parquet, or leave it out."),
        (("report", "-o", "x.csv", "--by", "part", "--long"), "--by: the long form has rows for streams and parts as well"),
        (("export", "--as", "vdbench", "--by", "part"), "--by is for csv and parquet; leave it out."),
    ],
)
def test_a_split_that_is_not_possible_is_refused(plimsoll: Plimsoll, engine: ScriptedEngine, words: tuple[str, ...], said: str) -> None:
    plimsoll("run", "small.toml", "-t", "null:")
    found = plimsoll(words[0], "latest", *words[1:])
    assert found.code == 2 and said in found.err


def test_workflows_have_report_002s_figures_in_columns_of_their_own() -> None:
    results = [ran("/mnt/a", 1, Workflows(real_s=20.0)), ran("/mnt/a", 8, Workflows(5.0, 40.0, 160.0, 120.0))]
    rows = [row for row in points_table([run_of(*results)]).to_dicts() if row["operation"] == "all"]
    assert [(row["workflows"], row["stretch"]) for row in rows] == [(1, 1.0), (8, 2.0)]
    eight = rows[1]
    assert (eight["workflow_cpu_s"], eight["total_cpu_s"], eight["workflow_real_s"], eight["total_real_s"]) == (5.0, 40.0, 40.0, 40.0)
    assert (eight["blocks_in_per_2s"], eight["blocks_out_per_2s"]) == (78_125.0, 58_593.75)
    assert (eight["mb_per_s_per_core"], eight["limited_by"], eight["workflows_failed"]) == (70.0, "storage", 0)
    (other,) = [row for row in points_table([run_of(made(Load(100.0, 1e6)))]).to_dicts() if row["operation"] == "all"]
    assert other["workflows"] is None and other["stretch"] is None
