"""``plimsoll export`` and ``plimsoll import``: a stored run in other tools' forms, and other tools' results as a stored run."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from plimsoll.cli.export import FORMS, TABLES
from plimsoll.cli.import_ import READERS
from plimsoll.errors import InputError
from plimsoll.formats.export_forms import FORMS as MADE
from plimsoll.formats.export_forms import Source, made, marked
from plimsoll.formats.import_forms import READERS as READ
from plimsoll.store.reader import open_run
from support.patience import HANGS_S
from support.recorded_point import Load, recorded_point
from support.said import Plimsoll
from support.scripted_engine import ScriptedEngine

SEVERAL = ("fio-logs", "vdbench", "orion")
READ_BACK = ("fio-json", "fio-json+", "fio-logs", "vdbench", "iometer-csv", "iometer-csv-1.1", "diskspd-xml")


@pytest.fixture
def run(plimsoll: Plimsoll, engine: ScriptedEngine) -> str:
    """The name of a run of two points."""
    assert plimsoll("run", "small.toml", "-t", "null:", "--repeat", "2").code == 0
    return next(Path("results").iterdir()).name


def test_the_command_offers_every_form_there_is():
    assert tuple(MADE) == FORMS
    assert tuple(READ) == READERS


@pytest.mark.parametrize("form", [form for form in (*FORMS, "csv") if form not in SEVERAL])
def test_data_alone_is_on_stdout(plimsoll: Plimsoll, run: str, form: str) -> None:
    said = plimsoll("export", run, "--as", form)
    assert (said.code, said.err) == (0, "")
    assert len(said.out) > 300
    if form.startswith("fio-json"):
        assert [job["groupid"] for job in said.json["jobs"]] == [0, 1]


@pytest.mark.parametrize("form", [form for form in FORMS if form != "orion"])
def test_files_appear_in_a_directory(plimsoll: Plimsoll, run: str, form: str) -> None:
    said = plimsoll("export", run, "--as", form, "-o", "out/")
    assert said.code == 0, said.err
    paths = said.out.split()
    assert paths and all(Path(path).stat().st_size for path in paths)
    if form.startswith("fio-json"):
        assert sorted(Path(path).name for path in paths) == ["randread-1-1-2.json", "randread-1-1.json"]


@pytest.mark.parametrize("form", ["fio-json", "fio-json+", "fio-logs", "vdbench"])
def test_a_new_path_without_suffix_is_a_directory_for_forms_of_several_files(plimsoll: Plimsoll, run: str, form: str) -> None:
    said = plimsoll("export", run, "--as", form, "-o", "plots")
    assert said.code == 0, said.err
    assert Path("plots").is_dir() and len(said.out.split()) > 1
    # Again into the same one.
    assert plimsoll("export", run, "--as", form, "-o", "plots").code == 0
    # What has a suffix, or exists, is the file that it is called.
    Path("taken").write_text("mine")
    assert plimsoll("export", run, "--as", form, "-o", "taken").code == 2 and Path("taken").read_text() == "mine"
    if form.startswith("fio-json"):
        assert plimsoll("export", run, "--as", form, "-o", "all.json").code == 0 and Path("all.json").is_file()


@pytest.mark.parametrize("form", ["fio-text", "prometheus", "csv"])
def test_a_form_of_one_file_is_a_file_whatever_it_is_called(plimsoll: Plimsoll, run: str, form: str) -> None:
    assert plimsoll("export", run, "--as", form, "-o", "plots").code == 0
    assert Path("plots").is_file()


@pytest.mark.skipif(shutil.which("fio-plot") is None, reason="fio-plot is not installed; the layout of its folder is checked alone")
def test_the_recipe_for_fio_plot_draws_a_chart(plimsoll: Plimsoll, tmp_path: Path) -> None:
    """As docs/exporting.md has it, with a run of three depths."""
    assert plimsoll("steps", "small.toml", "-t", "null:", "--over", "queue_depth=1,4,16").code == 0
    run = next(Path("results").iterdir()).name
    assert plimsoll("export", run, "--as", "fio-json+", "-o", "plots").code == 0
    assert plimsoll("export", run, "--as", "fio-logs", "-o", "plots").code == 0
    drawn = subprocess.run(
        ["fio-plot", "-i", "plots", "-r", "randread", "-d", "1", "4", "16", "-n", "1", "-T", "Load", "-l", "-o", "load.png"],
        capture_output=True,
        text=True,
        timeout=HANGS_S,
        check=False,
    )
    assert drawn.returncode == 0, drawn.stdout + drawn.stderr
    assert Path("load.png").read_bytes().startswith(b"\x89PNG")


def test_one_point_can_be_asked_for(plimsoll: Plimsoll, run: str) -> None:
    for name in ("2", "0002", "0002-small"):
        assert len(plimsoll("export", run, "--as", "fio-json", "--point", name).json["jobs"]) == 1
    said = plimsoll("export", run, "--as", "fio-json", "--point", "7")
    assert (said.code, "has no such point; there are 0001-small, 0002-small" in said.err) == (2, True)


@pytest.mark.parametrize("form", SEVERAL[:2])
def test_several_files_need_a_directory(plimsoll: Plimsoll, run: str, form: str) -> None:
    assert f"{form} is " in plimsoll("export", run, "--as", form).err
    said = plimsoll("export", run, "--as", form, "-o", "one.txt")
    assert (said.code, "give a directory, one.txt/" in said.err) == (2, True)
    assert not Path("one.txt").exists()


def test_a_run_that_is_no_grid_is_not_orions(plimsoll: Plimsoll, run: str) -> None:
    said = plimsoll("export", run, "--as", "orion", "-o", "out/")
    assert (said.code, said.out) == (2, "")
    assert "no stream is called small or large" in said.err


@pytest.mark.parametrize("form", [form for form in FORMS if not MADE[form].of_files])
def test_a_run_on_files_is_refused_by_forms_that_have_no_place_for_it(form: str) -> None:
    point = recorded_point(Load(latencies_ns={"read": (1000,) * 9, "stat": (1000,) * 9}), workload="mail-spool")
    with pytest.raises(InputError, match=r"mail-spool works on files.*use vdbench, prometheus, csv or parquet\.$"):
        made(MADE[form], Source("run", [point]))


def test_the_other_forms_take_a_run_on_files() -> None:
    point = recorded_point(Load(latencies_ns={"read": (1000,) * 9, "stat": (1000,) * 9}), workload="mail-spool")
    assert "Getattr_rate" in made(MADE["vdbench"], Source("run", [point]))["flatfile.html"]
    assert '"stat"' in made(MADE["prometheus"], Source("run", [point]))["run.prom"]


def test_parquet_without_its_package_is_one_sentence(plimsoll: Plimsoll, run: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    said = plimsoll("export", run, "--as", "parquet", "-o", "x.parquet")
    assert (said.code, said.out) == (2, "")
    assert "Parquet needs the package pyarrow" in said.err
    assert not Path("x.parquet").exists()


def test_parquet_holds_the_rows_of_the_csv(plimsoll: Plimsoll, run: str) -> None:
    pytest.importorskip("pyarrow", reason="pyarrow, an optional package, is not installed here")
    from pyarrow import parquet

    assert plimsoll("export", run, "--as", "parquet", "-o", "x.parquet").code == 0
    tidy = parquet.read_table("x.parquet").to_pylist()
    assert [(row["point"], row["operation"], row["iops"]) for row in tidy] == [
        (point, operation, 1000.0) for point in ("0001-small", "0002-small") for operation in ("all", "read")
    ]
    assert len(plimsoll("export", run, "--as", "csv").out.splitlines()) == 1 + len(tidy)
    assert plimsoll("export", run, "--as", "parquet", "--long", "-o", "x.parquet").code == 0
    rows = parquet.read_table("x.parquet").to_pylist()
    csv = plimsoll("export", run, "--as", "csv", "--long").out.splitlines()
    assert len(rows) == len(csv) - 1
    assert {row["value"] for row in rows if row["scope"] == "total" and row["metric"] == "iops"} == {1000.0}


def test_a_table_of_one_point_has_only_its_rows(plimsoll: Plimsoll, run: str) -> None:
    for form, column in (([], 2), (["--long"], 1)):
        rows = plimsoll("export", run, "--as", "csv", "--point", "1", *form).out.splitlines()
        assert {row.split(",")[column] for row in rows[1:]} == {"0001-small"}
    said = plimsoll("export", run, "--as", "fio-json", "--long")
    assert (said.code, said.err) == (2, "plimsoll: --long is for csv and parquet; leave it out.\n")
    assert set(TABLES) == {"csv", "parquet"}


@pytest.mark.parametrize("form", READ_BACK)
def test_what_is_exported_can_be_imported_reported_and_compared(plimsoll: Plimsoll, run: str, form: str) -> None:
    files = plimsoll("export", run, "--as", form, "--point", "1", "-o", "out/").out.split()
    flat = [path for path in files if path.endswith(("flatfile.html", ".log", ".json", ".csv", ".xml"))]
    said = plimsoll("import", *flat, "-o", "theirs", "--label", "old array")
    assert said.code == 0, said.err
    stored = open_run(said.out.strip())
    (point,) = stored.points
    result, original = point.result, open_run(run).points[0].result
    assert (stored.status, stored.label, stored.meta["host"]) == ("complete", "old array", {})
    assert "origin" in result.versions and "imported" in [flag.name for flag in result.flags]
    assert result.totals["read"].count == original.totals["read"].count
    assert result.totals["read"].iops == pytest.approx(original.totals["read"].iops, rel=1e-3)
    report = plimsoll("report", said.out.strip(), "-o", "theirs.html")
    assert report.code == 0 and "imported" in Path("theirs.html").read_text()
    assert plimsoll("report", said.out.strip(), "-o", "theirs.csv").code == 0
    again = plimsoll("import", *flat, "-o", "theirs").out.strip()
    compared = plimsoll("compare", said.out.strip(), again)
    assert compared.code == 0, compared.err


@pytest.mark.parametrize("form", [form for form in FORMS if form not in ("fio-logs", "orion")])
def test_exports_of_a_modelled_target_say_so(form: str) -> None:
    result = recorded_point(Load(latencies_ns={"read": (1000,) * 9})).result
    modelled = marked(replace(result, modelled=True, job=replace(result.job, target="array:nvme")))
    point = replace(recorded_point(Load(latencies_ns={"read": (1000,) * 9})), result=modelled)
    assert any("modelled" in text for text in made(MADE[form], Source("run", [point])).values())


@pytest.mark.parametrize("form", [form for form in READ_BACK if form != "fio-logs"])
def test_what_was_modelled_is_not_measured_after_the_detour(plimsoll: Plimsoll, form: str) -> None:
    # Imports were stored as measured, and compared with measured runs without a word.
    point = recorded_point(Load(latencies_ns={"read": (1000,) * 9}))
    result = marked(replace(point.result, modelled=True, job=replace(point.result.job, target="array:nvme")))
    files = made(MADE[form], Source("run", [replace(point, result=result)]))
    for name, text in files.items():
        Path(name).write_text(text)
    (path,) = [name for name in files if name.endswith(("flatfile.html", ".json", ".csv", ".xml"))]
    (stored,) = open_run(plimsoll("import", path).out.strip()).points
    assert (stored.result.modelled, stored.result.job.target) == (True, "array:nvme")


def test_equal_results_of_one_import_are_repeats(plimsoll: Plimsoll, run: str) -> None:
    (path,) = plimsoll("export", run, "--as", "fio-json", "-o", "a.json").out.split()
    stored = open_run(plimsoll("import", path).out.strip())
    assert [(point.id, point.result.job.repeat) for point in stored.points] == [("0001-small", 1), ("0002-small", 2)]


def test_the_path_of_the_run_is_alone_on_stdout(plimsoll: Plimsoll, run: str) -> None:
    (path,) = plimsoll("export", run, "--as", "fio-json", "-o", "a.json").out.split()
    said = plimsoll("import", path)
    assert len(said.out.splitlines()) == 1
    assert "small" in said.err


def test_a_file_that_is_wrong_stores_nothing(plimsoll: Plimsoll, here: Path) -> None:
    (here / "a.json").write_text('{"fio version": "fio-3.33", "jobs": [{"read": []}]}')
    (here / "b.txt").write_text("hello\n")
    (here / "c.json").write_bytes(b"\x80\x81")
    for name, part in (("a.json", "'read' is not an object"), ("b.txt", "not recognised"), ("c.json", "not text"), (".", "a directory")):
        said = plimsoll("import", name, "-o", "theirs")
        assert (said.code, said.out) == (2, "")
        assert part in said.err and len(said.err.splitlines()) == 1
    assert not Path("theirs").exists()


def test_the_form_can_be_said(plimsoll: Plimsoll, here: Path) -> None:
    (here / "flat.txt").write_text("nothing\n")
    assert "flat.txt:1: a row stands before the header" in plimsoll("import", "flat.txt", "--as", "vdbench").err


def test_json_of_an_unfinished_run_is_what_reached_the_disk(plimsoll: Plimsoll, run: str) -> None:
    for path in Path("results").glob("*/points/*/result.json"):
        path.unlink()
    document = json.loads(plimsoll("export", run, "--as", "fio-json").out)
    assert [job["read"]["total_ios"] for job in document["jobs"]] == [1000, 1000]
