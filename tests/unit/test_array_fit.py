"""An array is fitted to measured rows: planted unknowns are found again, and what is held out has no part in it."""

from __future__ import annotations

import csv
import json
import math
import random
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from plimsoll.analysis.array_fit.figure import demerit, of_part, quantiles
from plimsoll.analysis.array_fit.outcome import FoldOutcome, Outcome, Predicted, fit_unknowns, folds, mean_error, power_law
from plimsoll.analysis.array_fit.row import Row, condition, read_rows
from plimsoll.analysis.array_fit.unknown import Position, grid, parse_unknown, parse_unknowns, run_search, simplex
from plimsoll.catalog.arrays import described
from plimsoll.catalog.composition.key_units import with_unit
from plimsoll.cli.program import main
from plimsoll.engine.block import native
from plimsoll.errors import InputError
from plimsoll.points.array_fit import FitArguments
from plimsoll.points.array_runs import Load, Trial, fill_bytes, modelled
from plimsoll.points.measured_rows import RowChoice, _load
from plimsoll.points.measured_trace import measured_parts
from plimsoll.reports.terminal.fit import outcome_lines, range_lines
from plimsoll.target import target_of

Json = dict[str, Any]

KIB, MIB = 1024, 1 << 20
#: A host with a small page cache before four disks, so that runs are short.
SMALL = (
    'like = "dl580-local"\n[host]\nrequest_ns = 50000\n[host.page_cache]\nsize_bytes = 8388608\nmoved_page_ns = 50000\n'
    '[[volumes]]\nname = "lun"\nsize_bytes = 268435456\n'
)
PLANTED = {"host.request_ns": 700_000, "host.page_cache.moved_page_ns": 300_000}
UNKNOWNS = (
    "--unknown",
    "host.request_ns=100000..2000000:log",
    "--unknown",
    "host.page_cache.moved_page_ns=50000..1000000:log",
)


def row(iops: float, **values: float | str) -> Row:
    return Row("here", {name: float(value) if isinstance(value, int) else value for name, value in values.items()}, iops)


def measured_here(folder: Path, changed: dict[int, float] | None = None) -> Path:
    """Twelve rows that the small array itself gave with the planted values."""
    (folder / "small.toml").write_text(SMALL)
    planted = "&".join(f"{key}={value}" for key, value in PLANTED.items())
    lines = ["# from the model itself", "access,size_mb,block_kb,threads,iops"]
    engine = native()
    for size in (16, 32, 64):
        for block in (8, 16, 32, 64):
            stream = {"random_percent": 100, "block_size": block * KIB, "threads": 8, "region_length": f"{size}MiB"}
            load = Load(engine.check_workload({"stream": [stream]}, "x"), 500.0, block * KIB, size * MIB, "uniform")
            iops = modelled(Trial(f"array:{folder / 'small.toml'}?{planted}", load, 2000, 5))["iops"]
            lines.append(f"random,{size},{block},8,{(changed or {}).get(size, 1.0) * iops:.3f}")
    file = folder / "rows.csv"
    file.write_text("\n".join(lines) + "\n")
    return file


def fitted(capsys: pytest.CaptureFixture[str], folder: Path, *arguments: str) -> Json:
    asked = ["fit", f"array:{folder / 'small.toml'}", "--measured", str(folder / "rows.csv"), *UNKNOWNS, "--requests", "500", "--json"]
    assert main([*asked, *(arguments or ("--hold-out", "size=64M", "--processes", "1"))]) == 0
    document: Json = json.loads(capsys.readouterr().out)
    return document


def test_planted_unknowns_are_found_again_and_predict_what_was_held_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    measured_here(tmp_path)
    found = fitted(capsys, tmp_path, "--hold-out", "size=64M", "--processes", "1", "--requests", "4000")
    for key, planted in PLANTED.items():
        assert found["values"][key] == pytest.approx(planted, rel=0.05), key
    (fold,) = found["folds"]
    assert fold["held_out"] == "size=64M" and sum(one["held_out"] for one in fold["rows"]) == 4
    # Requests of other draws; what is right is met within their noise.
    assert fold["error"]["held_out"] < 0.05 and fold["error"]["training"] < 0.05
    assert fold["null_error"]["held_out"] > fold["error"]["held_out"]
    assert found["modelled"] is True


def test_held_out_rows_have_no_part_in_the_fit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    measured_here(tmp_path)
    searched = ("--hold-out", "size=64M", "--search", "grid", "--levels", "3", "--processes", "1")
    once = fitted(capsys, tmp_path, *searched)
    measured_here(tmp_path, changed={64: 3.0})
    again = fitted(capsys, tmp_path, *searched)
    assert again["values"] == once["values"]
    assert again["folds"][0]["error"]["training"] == once["folds"][0]["error"]["training"]
    assert again["folds"][0]["null_error"]["training"] == once["folds"][0]["null_error"]["training"]
    assert again["folds"][0]["error"]["held_out"] > 0.5, "three times as fast is nothing that the model says"


def test_two_processes_find_what_one_finds_and_a_grid_tries_every_combination(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    measured_here(tmp_path)
    searched = ("--hold-out", "size=64M", "--search", "grid", "--levels", "3")
    assert fitted(capsys, tmp_path, *searched, "--processes", "1") == fitted(capsys, tmp_path, *searched, "--processes", "2")


def test_the_fitted_array_can_be_written_and_is_what_was_fitted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    measured_here(tmp_path)
    out = tmp_path / "fitted.toml"
    searched = ("--hold-out", "size=64M", "--search", "grid", "--levels", "2", "--processes", "1", "-o", str(out))
    found = fitted(capsys, tmp_path, *searched)
    written, meant = described(f"array:{out}"), described(found["target"])
    assert written["host"]["request_ns"] == meant["host"]["request_ns"] == found["values"]["host.request_ns"]
    assert written["host"]["page_cache"]["size_bytes"] == 8 * MIB
    assert written["host"]["sources"]["request_ns"] == "fitted to rows.csv by 'plimsoll fit', size=64M held out"


def test_each_value_of_a_column_is_held_out_in_turn_and_the_answer_is_fitted_to_all(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    measured_here(tmp_path)
    found = fitted(capsys, tmp_path, "--hold-out", "size", "--search", "grid", "--levels", "2", "--processes", "1")
    assert [fold["held_out"] for fold in found["folds"]] == ["size=16MiB", "size=32MiB", "size=64MiB"]
    assert not any(one["held_out"] for one in found["rows"])
    assert sorted(one["place"] for fold in found["folds"] for one in fold["rows"] if one["held_out"]) == sorted(
        one["place"] for one in found["rows"]
    )


def test_published_figures_and_their_workloads_can_be_fitted_to(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["fit", "array:dl580-local", "--measured", "published:se6920", "--where", "label=DL580 local disks, RAID 5"]
    searched = ["--unknown", "host.page_cache.size_bytes=900000000..1100000000", "--search", "grid", "--levels", "2", "--requests", "100"]
    assert main([*asked, "--where", "block_size=8K", "--hold-out", "size=8G", *searched]) == 0
    said = capsys.readouterr().out
    assert "8G" in said and "958" in said and "held out" in said
    assert "held-out error" in said and "null model's" in said
    assert said.rstrip().splitlines()[-1].startswith("array:dl580-local?host.page_cache.size_bytes=")


@pytest.mark.parametrize(
    ("modelled", "null", "told"), [(600.0, 110.8, True), (130.0, 110.0, True), (115.0, 110.0, False), (101.0, 110.0, False)]
)
def test_a_model_far_worse_than_a_power_law_is_said_to_give_no_such_rows(modelled: float, null: float, told: bool) -> None:
    predicted = (Predicted(0, 100.0, 100.0, held_out=False), Predicted(1, modelled, null, held_out=True))
    rows = [row(100.0, block_size=8), row(100.0, block_size=16)]
    lines = list(outcome_lines(rows, Outcome({}, (), predicted, (FoldOutcome("block_size=16", {}, predicted),))))
    said = f"The model does not give these rows: held out it misses by {modelled - 100:.1f} %, a power law by {null - 100:.1f} %; "
    assert any(line.startswith(said) for line in lines) is told


def test_the_null_model_is_the_power_law_worked_out_by_hand() -> None:
    # log2: block 3, 4 with rates 8, 6 (size 1) and 7, 5 (size 2): slope -2 per block, -1 per size, all on one plane.
    rows = [
        row(2.0**rate, block_size=2**block, region_length=2**size) for block, size, rate in ((3, 1, 8), (4, 1, 6), (3, 2, 7), (4, 2, 5))
    ]
    law = power_law(rows)
    constant, exponents = law.laws[""]
    assert exponents == pytest.approx({"block_size": -2.0, "region_length": -1.0})
    assert constant / math.log(2) == pytest.approx(8 + 3 * 2 + 1)
    assert law.said(row(1, block_size=2**5, region_length=2**3)) == pytest.approx(2.0 ** (15 - 10 - 3))
    # Three rates over one factor, not on a line: the mean of log2 is 5, the slope is that of the outer two.
    bent = power_law([row(2.0**rate, block_size=2**block) for block, rate in ((1, 6), (2, 6), (3, 3))])
    assert bent.said(row(1, block_size=4)) == pytest.approx(2.0**5)
    assert bent.laws[""][1]["block_size"] == pytest.approx(-1.5)


def test_the_null_model_leaves_out_what_does_not_vary_or_varies_with_another_and_keeps_kinds_apart() -> None:
    rows = [row(100.0 * size, block_size=8, region_length=size, level=size) for size in (1, 2, 4)]
    assert power_law(rows).laws[""][1] == pytest.approx({"region_length": 1.0})
    two = power_law([row(10.0, access="random", block_size=8), row(90.0, access="sequential", block_size=8)])
    assert two.said(row(1, access="sequential", block_size=8)) == pytest.approx(90.0)
    assert two.said(row(1, access="other", block_size=8)) is None


def test_an_error_is_the_mean_of_the_relative_ones_of_its_own_rows() -> None:
    rows = [row(100.0, region_length=1), row(100.0, region_length=2), row(200.0, region_length=3)]
    found = fit_unknowns(
        rows,
        folds(rows, [condition("size=3", "--hold-out")]),
        [parse_unknown("x=0..100", with_unit)],
        lambda: grid(1, 11),
        lambda asked: [100.0 * place[0] for place, _ in asked],
    )
    assert found.values == {"x": 100}
    assert mean_error(rows, found.rows, held_out=False) == 0
    assert mean_error(rows, found.rows, held_out=True) == pytest.approx(0.5)


@pytest.mark.parametrize("least", [(0.31, 0.77), (0.0, 1.0), (0.5, 0.02)])
def test_a_simplex_finds_the_least_place_of_a_bowl_and_asks_for_each_place_once(least: Position) -> None:
    asked: list[Position] = []

    def errors_of(places: list[Position]) -> list[float]:
        asked.extend(places)
        return [sum((one - best) ** 2 for one, best in zip(place, least, strict=True)) for place in places]

    assert run_search(simplex(2), errors_of) == pytest.approx(least, abs=0.01)
    assert len(asked) == len(set(asked)) < 200
    assert all(0 <= number <= 1 for place in asked for number in place)


def test_a_value_at_an_end_of_its_range_is_told() -> None:
    unknowns = parse_unknowns(["host.request_ns=1..100", "host.cores=1..8", "host.page_bytes=1..9"], with_unit)
    assert list(range_lines(unknowns, (0.0, 0.5, 0.995))) == [
        "host.request_ns stands at the low end of its range: look beyond it, or for another cause.",
        "host.page_bytes stands at the high end of its range: look beyond it, or for another cause.",
    ]


def test_values_lie_evenly_in_their_range_or_evenly_in_ratios() -> None:
    assert [parse_unknown("x=10..30", with_unit).value(place) for place in (0, 0.5, 1)] == [10, 20, 30]
    assert parse_unknown("x=100..10000:log", with_unit).value(0.5) == 1000
    assert parse_unknown("x=0.5..2.0:log", with_unit).value(0.5) == 1.0
    assert parse_unknown("x=1e6..1e8:log", with_unit).typed(0.5) == "x=10000000"


@pytest.mark.parametrize(
    ("with_units", "bare"),
    [
        ("host.request_ns=10us..0.2ms:log", "host.request_ns=10000..200000:log"),
        ("host.request_ns=0..200us", "host.request_ns=0..200000"),
        ("host.page_cache.size_bytes=512MiB..2GB", "host.page_cache.size_bytes=536870912..2000000000"),
        ("link.fc.rate_bytes_per_s=100MB/s .. 400MB/s", "link.fc.rate_bytes_per_s=100000000..400000000"),
        ("group.raid.raid.strip_sectors=16KiB..1MiB:log", "group.raid.raid.strip_sectors=32..2048:log"),
        ("controller.raid.cache.high_percent=50%..90%", "controller.raid.cache.high_percent=50..90"),
        ("group.raid.failures.rate.replaced_after_hours=90m..4h", "group.raid.failures.rate.replaced_after_hours=1.5..4"),
    ],
)
def test_the_ends_of_a_range_may_have_units_and_come_out_in_that_of_the_key(with_units: str, bare: str) -> None:
    """`host.request_ns=10us..200us` was "not a number"."""
    assert parse_unknown(with_units, with_unit) == parse_unknown(bare, with_unit)


def test_what_was_asked_for_with_units_is_found_as_without(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    measured_here(tmp_path)
    told = []
    for span in ("100us..2ms:log", "100000..2000000:log"):
        unknown = ("--unknown", f"host.request_ns={span}", "--search", "grid", "--levels", "3", "--requests", "300", "--processes", "1")
        asked = ["fit", f"array:{tmp_path / 'small.toml'}", "--measured", str(tmp_path / "rows.csv"), "--hold-out", "size=64M"]
        assert main([*asked, *unknown, "--json"]) == 0
        told.append(json.loads(capsys.readouterr().out))
    assert told[0] == told[1]
    assert told[0]["target"].endswith(f"?host.request_ns={told[0]['values']['host.request_ns']}"), "in the key's unit, without one"


def test_caches_are_filled_by_what_uniform_requests_touch() -> None:
    # Over W bytes, -W ln(1 - 1/2) touch half of it; a third more is asked for.
    assert fill_bytes(1 << 30, 2 << 30) == pytest.approx(1.33 * math.log(2) * (2 << 30))


UNKNOWN = ["--unknown", "host.request_ns=1000..2000"]
FIT = ["fit", "array:dl580-local", "--measured", "rows.csv"]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "rows.csv:1: the file is empty; write a line of columns"),
        ("size_mb,block_kb\n", "rows.csv:1: there is no column iops with requests per second"),
        ("iops,\n", "rows.csv:1: a column has no name"),
        ("iops,iops\n1,2\n", "rows.csv:1: the column iops is there twice"),
        ("# rows\niops\n", "rows.csv:2: there is no row below the columns"),
        ("size_mb,iops\n2048\n", "rows.csv:2: the line has 1 cells and the first one 2 columns"),
        ("size_mb,iops\n\n2048,1,2\n", "rows.csv:3: the line has 3 cells and the first one 2 columns"),
        ('size_mb,iops\n"2048,1\n', "rows.csv:2: not CSV (unexpected end of data)"),
        ("size_mb,iops\n2048,fast\n", "rows.csv:2: iops: 'fast' is not a rate"),
        ("size_mb,iops\n2048,0\n", "rows.csv:2: iops: '0' is not a rate"),
        ("size_mb,iops\n2048,\n", "rows.csv:2: iops: '' is not a rate"),
        ("size_mb,iops\nbig,5\n", "rows.csv:2: size_mb: 'big' is not a number"),
        ("block_size,iops\n0,5\n", "rows.csv:2: block_size: '0' is not a size"),
        ("threads,iops\n1.5,5\n", "rows.csv:2: threads: '1.5' is not a number of them"),
        ("read_percent,iops\n101,5\n", "rows.csv:2: read_percent: '101' is not a percentage"),
        ("access,iops\nzigzag,5\n", "rows.csv:2: access: 'zigzag' is unknown; write random or sequential"),
        ("size_mb,size,iops\n2048,2G,5\n", "rows.csv:2: size says again what another column says"),
        ("size,iops\n2G,5\n", "rows.csv:2: it has no workload, and no block_size and access to make one of"),
        ("workload,iops\nse6920-randon,5\n", "rows.csv:2: workload 'se6920-randon' is unknown; did you mean 'se6920-random'?"),
        ("access,block_kb,threads,iops\nrandom,8,99999999,5\n", "rows.csv:2: "),
    ],
)
def test_a_file_that_cannot_be_read_is_one_sentence_with_its_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], text: str, sentence: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rows.csv").write_text(text)
    assert main([*FIT, *UNKNOWN, "--hold-out", "size=2G"]) == 2
    said = capsys.readouterr()
    assert said.out == "" and said.err.count("\n") == 1
    assert said.err.startswith(f"plimsoll: {sentence}")


GOOD = "access,size_mb,block_kb,threads,iops\nrandom,2048,8,16,1587\nrandom,4096,8,16,1092\n"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([*FIT[:2], *UNKNOWN], "--measured: say what to compare the array with"),
        ([*FIT, "--hold-out", "size=2G"], "--unknown: say what is to be found"),
        ([*FIT, *UNKNOWN], "--hold-out: say what is held out"),
        ([*FIT, *UNKNOWN * 2, "--hold-out", "size"], "--unknown host.request_ns: it is given twice"),
        (
            [*FIT, *(word for key in "abcd" for word in ("--unknown", f"{key}=1..2")), "--hold-out", "size"],
            "--unknown: 4 are given; 3 are the most",
        ),
        ([*FIT, "--unknown", "host.request_ns"], "--unknown host.request_ns: write a key with its range"),
        ([*FIT, "--unknown", "host.cores=1..x"], "--unknown host.cores=1..x: 'x' is not a number"),
        ([*FIT, "--unknown", "host.request_ns=1.."], "--unknown host.request_ns=1..: 'nothing' is not a number"),
        (
            [*FIT, "--unknown", "host.request_ns=1us..1MiB"],
            "--unknown host.request_ns=1us..1MiB: '1MiB' is not a time in whole nanoseconds; write a whole number of nanoseconds",
        ),
        (
            [*FIT, "--unknown", "host.request_ns=10..200us"],
            "--unknown host.request_ns=10..200us: one end has a unit and the other has not",
        ),
        ([*FIT, "--unknown", "host.request_ns=5..1"], "--unknown host.request_ns=5..1: the range goes from its lower"),
        (
            [*FIT, "--unknown", "host.request_ns=0..1:log"],
            "--unknown host.request_ns=0..1:log: a range on a scale of ratios begins above 0",
        ),
        ([*FIT, "--unknown", "host.request_ns=1..2:lin"], "--unknown host.request_ns=1..2:lin: write a key with its range"),
        (
            [*FIT, "--unknown", "hosts.cores=1..2", "--hold-out", "size"],
            "target `array:dl580-local?hosts.cores=1`: `hosts.cores` leads nowhere",
        ),
        ([*FIT, "--unknown", "host.cores=0..2", "--hold-out", "size"], "target `array:dl580-local`"),
        ([*FIT, *UNKNOWN, "--hold-out", "size=3G"], "--hold-out size=3G: no row has this value; there are 2GiB, 4GiB"),
        ([*FIT, *UNKNOWN, "--hold-out", "area=3G"], "--hold-out area=3G: there is no such column; there are access, block_size"),
        ([*FIT, *UNKNOWN, "--hold-out", "block=8K"], "--hold-out block=8K: all rows have this value"),
        ([*FIT, *UNKNOWN, "--hold-out", "=8K"], "--hold-out =8K: write a column and a value"),
        ([*FIT, *UNKNOWN, "--hold-out", "size", "--where", "size=9G"], "--where size=9G: no row has this value"),
        ([*FIT, *UNKNOWN, "--hold-out", "size", "--where", "size"], "--where size: write a value as well"),
        ([*FIT, *UNKNOWN, "--hold-out", "size", "--levels", "3"], "--levels: a simplex has none"),
        ([*FIT, *UNKNOWN, "--hold-out", "size", "--set", "depth"], "rows.csv:2: --set depth: not a setting"),
        ([*FIT, *UNKNOWN, "--hold-out", "size", "-o", "a.txt"], "a.txt: a target takes files that end in .toml"),
        ([*FIT, *UNKNOWN, "--hold-out", "size", "-o", "no/a.toml"], "no/a.toml: there is no directory 'no'"),
        ([*FIT, *UNKNOWN, "--hold-out", "size", "--device", "a"], "--device is for traces; leave it out"),
        (["fit", "a.trace", *UNKNOWN], "--unknown is for arrays, such as array:se6920-raid1; leave it out"),
        (["fit", "array:se6920", *FIT[2:], *UNKNOWN], "array 'se6920' is a family of 8 arrays"),
        (["fit", "array:dl580-local", "--measured", "no.csv", *UNKNOWN, "--hold-out", "size"], "no.csv: cannot be read"),
        (["fit", "array:dl580-local", "--measured", "norun", *UNKNOWN, "--hold-out", "size"], "norun"),
        (["fit", "array:dl580-local", "--measured", "published:no", *UNKNOWN, "--hold-out", "size"], "published figures 'no' is unknown"),
    ],
)
def test_what_cannot_be_fitted_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], arguments: list[str], sentence: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rows.csv").write_text(GOOD)
    assert main(arguments) == 2
    said = capsys.readouterr()
    assert said.out == "" and said.err.count("\n") == 1
    assert sentence in said.err


def test_sizes_of_rows_and_conditions_mean_what_they_mean_everywhere() -> None:
    # 8GB was 8 GiB here and 8·10⁹ bytes in every option.
    (read,) = read_rows("a:2", {"size": "8GB", "block": "8KiB", "rotation": "10k rpm", "iops": "5"})
    assert read.values["region_length"] == 8e9 and read.values["block_size"] == 8192.0 and read.values["rotation"] == "10k rpm"
    assert condition("size=8GB", "--where").holds(read) and not condition("size=8G", "--where").holds(read)
    with pytest.raises(InputError, match="a:2: block: '64KB' is not a clear size; write KiB for steps of 1024 or kB for steps of 1000"):
        read_rows("a:2", {"block": "64KB", "iops": "5"})
    with pytest.raises(InputError, match="--where block=64KB: '64KB' is not a clear size"):
        condition("block=64KB", "--where")


def test_a_row_has_one_name_per_column_and_one_unit_per_size() -> None:
    (read,) = read_rows("a:2", {"size_mb": "2048", "block": "16k", "threads": "4", "queue_depth": "8", "resp_ms": "4.7", "iops": "3340"})
    assert read.values == {
        "region_length": 2.0**31,
        "block_size": 2.0**14,
        "threads": 4.0,
        "queue_depth": 8.0,
        "resp_ms": 4.7,
        "level": 32.0,
    }
    assert condition("size=2GiB", "--hold-out").holds(read) and not condition("size=2G", "--hold-out").holds(row(1, region_length=1))
    with pytest.raises(InputError, match="given twice"):
        parse_unknowns(["a=1..2", "a=2..3"], with_unit)


def test_the_seed_zero_is_a_seed_like_any_other() -> None:
    assert [FitArguments.of({"measured": "rows.csv", "unknown": (), "seed": seed}).seed for seed in (0, 7, None)] == [0, 7, 1]


def test_an_array_without_a_cache_is_fitted_like_any_other(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    swept = (
        "--over",
        "queue_depth=1,2,4",
        "-t",
        "array:nvme?host.request_ns=9us",
        "-d",
        "0.1s",
        "-w",
        "0.01s",
        "--out",
        str(tmp_path),
        "-q",
    )
    assert main(["run", "random-read-4k", *swept]) == 0
    asked = ("--unknown", "host.request_ns=2us..50us:log", "--hold-out", "queue_depth=2", "--requests", "2000", "--processes", "1")
    capsys.readouterr()
    (run,) = tmp_path.iterdir()
    assert main(["fit", "array:nvme", "--measured", str(run), *asked, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["values"]["host.request_ns"] == pytest.approx(9_000, rel=0.1)


#: Reads and writes per second that are due at random instants.
MIXED = ((20_000, 1_000), (60_000, 1_000), (20_000, 3_000), (60_000, 3_000), (100_000, 1_000))
OF_FLASH = {"page_read_us": 82, "write_overhead_us": 37}


def planted_latencies(file: Path, planted: Mapping[str, int]) -> None:
    """Rows of mixed open loads with the percentiles that the drive itself gave with planted values."""
    figures = ("read p50", "read p95", "read p99", "write mean", "iops")
    target = "array:nvme?" + "&".join(f"devices.nvme.model.{key}={value}" for key, value in planted.items())
    lines = ["read_rate,read_block_kb,write_rate,write_block_kb,read_p50_us,read_p95_us,read_p99_us,write_mean_us"]
    for reads, writes in MIXED:
        rows = read_rows(
            "here", {"read_rate": str(reads), "read_block_kb": "4", "write_rate": str(writes), "write_block_kb": "64", "iops": "1"}
        )
        (one,) = loads_of(rows, target)
        found = modelled(Trial(target, one, 20_000, 7, figures))
        assert found["iops"] == pytest.approx(reads + writes, rel=0.03), "requests are due at these rates"
        # Writes end in the drive's buffer, before any read of a page could.
        assert found["write mean"] < planted["page_read_us"] * 1e3 < found["read p50"]
        lines.append(f"{reads},4,{writes},64," + ",".join(f"{found[name] / 1000:.2f}" for name in figures[:4]))
    file.write_text("\n".join(lines) + "\n")


def loads_of(rows: list[Row], target: str) -> list[Load]:
    return [_load([one], RowChoice(), float(native().inspect_target(target_of(target))["size_bytes"])) for one in rows]


def test_percentiles_of_mixed_open_loads_are_fitted_to_and_predicted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    planted_latencies(tmp_path / "rows.csv", OF_FLASH)
    asked = ["fit", "array:nvme", "--measured", str(tmp_path / "rows.csv"), "--hold-out", "read_rate=100000", "--requests", "4000"]
    unknowns = [word for key in OF_FLASH for word in ("--unknown", f"devices.nvme.model.{key}=10..150")]
    assert main([*asked, *unknowns, "--processes", "1", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    for key, value in OF_FLASH.items():
        assert found["values"][f"devices.nvme.model.{key}"] == pytest.approx(value, abs=2), key
    (fold,) = found["folds"]
    assert fold["error"]["held_out"] < 0.06 and fold["error"]["held_out"] < fold["null_error"]["held_out"]
    assert [one["figure"] for one in found["rows"][:4]] == ["read p50", "read p95", "read p99", "write mean"]


def test_a_row_has_as_many_figures_as_columns_with_one() -> None:
    cells = {"rate": "500", "block": "4k", "access": "random", "iops": "480", "p99_9_ms": "1.5", "read_mean_us": "80", "note_us": "3"}
    read = read_rows("a:2", cells)
    assert [(one.figure, one.measured) for one in read] == [("iops", 480.0), ("p99.9", 1.5e6), ("read mean", 80e3)]
    assert read[0].values["note_us"] == 3.0, "any other column tells rows apart"
    for column, text, sentence in (
        ("p99_us", "0", "a:2: p99_us: '0' is not a time; write a number above 0"),
        ("read_rate", "none", "a:2: read_rate: 'none' is not a rate; write requests per second above 0"),
        ("write_access", "some", "a:2: write_access: 'some' is unknown; write random or sequential"),
        ("write_arrival", "even", "a:2: write_arrival: 'even' is unknown; write poisson or constant"),
    ):
        with pytest.raises(InputError, match=re.escape(sentence)):
            read_rows("a:2", {"iops": "5", **cells, column: text})


def test_requests_of_a_row_are_due_at_random_instants_unless_it_says_at_equal_gaps() -> None:
    cells = {"read_rate": "500", "write_rate": "20", "block": "4k", "write_arrival": "constant", "read_mean_us": "80"}
    (load,) = loads_of(read_rows("a:2", cells), "array:nvme")
    assert [(one["name"], one["arrival"]) for one in load.workload["stream"]] == [("reads", "poisson"), ("writes", "constant")]
    (load,) = loads_of(
        read_rows("a:2", {"rate": "500", "block": "4k", "access": "random", "arrival": "constant", "p50_us": "80"}), "array:nvme"
    )
    assert load.workload["stream"][0]["arrival"] == "constant"


def test_the_demerit_is_the_distance_between_two_distributions_over_the_measured_mean() -> None:
    # Half of the responses 2 too long: the root of (0 + 4) / 2, over a mean of 2.
    assert demerit([1.0, 3.0], [1.0, 5.0]) == pytest.approx(math.sqrt(2) / 2)
    assert demerit([1.0, 3.0], [1.0, 3.0]) == 0
    assert quantiles([5.0, 1.0])[:1] == (1.0,) and quantiles([5.0, 1.0])[-1] == 5.0


def test_the_null_model_of_a_distribution_has_not_seen_what_is_held_out() -> None:
    parts = [Row("here", {"part": float(part)}, 2.0, of_part(part), (1.0, 1.0 + part)) for part in (1, 2)]
    held_out = folds(parts, [condition("part=2", "--hold-out")])
    found = fit_unknowns(parts, held_out, [parse_unknown("x=0..100", with_unit)], lambda: grid(1, 2), lambda asked: [0.3 for _ in asked])
    assert mean_error(parts, found.rows, held_out=True) == 0.3
    assert mean_error(parts, found.rows, held_out=True, null=True) == demerit((1.0, 3.0), (1.0, 2.0))


def trace_of(target: str, file: Path, report: Path) -> None:
    """An MSR trace of reads whose response times are those of a target: reads come ever more often."""
    draws, at_ns, lines = random.Random(3), 0, []
    for number in range(4_000):
        at_ns += int(draws.expovariate(1.0) * (400_000, 100_000, 40_000, 20_000)[number // 1_000])
        lines.append((at_ns // 100 * 100, draws.randrange(100_000) * 4096))
    write_msr(file, [(*line, 1_000) for line in lines])
    (_, load), *_ = measured_parts(str(file), target)
    options = native().check_job({"duration": "60s", "warmup": "0s", "interval": "1s", "lateness_report": str(report)})
    job: Any = {"workload": load.workload, "job": options, "target": target_of(target), "permission": None}
    native().run_job(job, lambda *_: None, native().control())
    told = list(csv.DictReader(report.read_text().splitlines()))
    assert len(told) == len(lines)
    responses = [int(one["completed_ns"]) - int(one["due_ns"]) for one in sorted(told, key=lambda one: int(one["due_ns"]))]
    write_msr(file, [(*line, response) for line, response in zip(lines, responses, strict=True)])


def write_msr(file: Path, lines: list[tuple[int, int, int]]) -> None:
    begin = 128_166_372_000_000_000
    file.write_text("".join(f"{begin + at_ns // 100},host,0,Read,{offset},4096,{took_ns // 100}\n" for at_ns, offset, took_ns in lines))


def test_a_trace_is_fitted_to_by_the_demerit_of_its_responses(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trace_of("array:sata-ssd?devices.ssd.model.page_read_us=95", tmp_path / "a.csv", tmp_path / "late.csv")
    asked = ["fit", "array:sata-ssd", "--measured", f"trace:{tmp_path / 'a.csv'}", "--hold-out", "part=4", "--processes", "1"]
    assert main([*asked, "--unknown", "devices.ssd.model.page_read_us=40..200", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["values"]["devices.ssd.model.page_read_us"] == pytest.approx(95, abs=2)
    (fold,) = found["folds"]
    assert fold["error"]["held_out"] < 0.03 < fold["null_error"]["held_out"]
    assert main([*asked, "--unknown", "devices.ssd.model.page_read_us=94..96"]) == 0
    said = capsys.readouterr().out
    assert "An error is the demerit" in said and "responses" in said


def test_a_trace_without_responses_cannot_be_fitted_to(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_msr(tmp_path / "a.csv", [(number * 1_000_000, 0, 0) for number in range(200)])
    asked = ["fit", "array:nvme", "--measured", f"trace:{tmp_path / 'a.csv'}", "--hold-out", "part=4", *UNKNOWN]
    assert main(asked) == 2
    assert "part 1 of 4 has fewer than 20 responses; give a trace that says when requests were answered" in capsys.readouterr().err
    assert main([*asked, "--workload", "oltp-db"]) == 2
    assert "--workload: a trace says itself what was asked for; leave it out" in capsys.readouterr().err
