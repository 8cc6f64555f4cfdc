"""What ``plimsoll replay`` and its kin write, and what they leave alone; how refusals come before anything is made."""

from __future__ import annotations

import gzip
import json
import os
import resource
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from plimsoll.cli import main

TRACE = "fio version 3 iolog\n1 a write 0 4096\n5 a read 8388608 4096\n9 a read 4096 4096\n"
MODEL = "queue:?service=const:100us&servers=64&size=1GiB"


@pytest.fixture
def trace(here: Path) -> Path:
    path = here / "t.iolog"
    path.write_text(TRACE)
    return path


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(list(arguments)) == 2
    return capsys.readouterr().err


@pytest.mark.parametrize("option", ["--lateness", "--convert"])
def test_a_trace_is_never_replaced_by_what_is_made_of_it(trace: Path, capsys: pytest.CaptureFixture[str], option: str) -> None:
    os.link("t.iolog", "same.iolog")
    for name in ("t.iolog", "same.iolog"):
        assert "this is what the command reads" in refused(capsys, "replay", "t.iolog", "-t", MODEL, option, name)
    assert trace.read_text() == TRACE


@pytest.mark.parametrize("option", ["--lateness", "--convert", "--report"])
def test_a_file_of_others_is_not_replaced(trace: Path, capsys: pytest.CaptureFixture[str], option: str) -> None:
    Path("ml.csv").write_text("1,2,3\n")
    said = refused(capsys, "replay", "t.iolog", "-t", MODEL, option, "ml.csv")
    assert "there is a file that Plimsoll did not write as this; remove it, or name another" in said
    assert Path("ml.csv").read_text() == "1,2,3\n" and not os.path.exists("results")


def test_the_engine_itself_replaces_no_file_of_others(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "a file is there that no replay wrote" in refused(capsys, "replay", "t.iolog", "-t", MODEL, "-s", "lateness_report=t.iolog")
    assert trace.read_text() == TRACE


def test_what_plimsoll_wrote_is_written_again(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("empty.html").touch()
    for ending in ("html", "csv", "json"):
        for _ in range(2):
            name = "empty.html" if ending == "html" else f"r.{ending}"
            assert main(["replay", "t.iolog", "-t", MODEL, "--lateness", "late.csv", "--report", name]) == 0
    (run, *_) = sorted(os.listdir("results"))
    for form, output in (("fio-json", "fio.json"), ("fio-text", "fio.txt"), ("csv", "table.csv"), ("vdbench", "out/")):
        for _ in range(2):
            assert main(["export", run, "--as", form, "-o", output]) == 0
    for _ in range(2):
        assert main(["replay", "t.iolog", "--convert", "t.trace"]) == 0
        assert main(["fit", "t.iolog", "-o", "fitted.toml"]) == 0
    capsys.readouterr()


@pytest.mark.parametrize(
    "words", [["report", "RUN", "-o"], ["export", "RUN", "--as", "csv", "-o"], ["export", "RUN", "--as", "fio-json", "-o"]]
)
def test_a_stored_run_replaces_no_file_of_others(trace: Path, capsys: pytest.CaptureFixture[str], words: list[str]) -> None:
    assert main(["replay", "t.iolog", "-t", MODEL]) == 0
    (run,) = os.listdir("results")
    Path("other.csv").write_text("1,2,3\n")
    assert "did not write" in refused(capsys, *[run if word == "RUN" else word for word in words], "other.csv")
    assert Path("other.csv").read_text() == "1,2,3\n"


def test_a_fit_replaces_no_workload_of_others(trace: Path, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = (here / "small.toml").read_text()
    assert "did not write" in refused(capsys, "fit", "t.iolog", "-o", "small.toml")
    assert (here / "small.toml").read_text() == before


def test_a_directory_to_convert_into_is_told_as_such(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "no such directory" in refused(capsys, "replay", "t.iolog", "--convert", "folder/")
    os.mkdir("folder")
    for name in ("folder", "folder/"):
        said = refused(capsys, "replay", "t.iolog", "--convert", name)
        assert "this is a directory; name a file in it" in said and "XDG_CACHE_HOME" not in said


@pytest.fixture
def small_disk() -> Iterator[None]:
    """No file may become longer than 1 MiB, as on a disk that is nearly full."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, limits[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def test_a_lateness_report_that_could_not_be_written_counts_every_missing_request(
    here: Path, capsys: pytest.CaptureFixture[str], small_disk: None
) -> None:
    (here / "big.mqsim").write_text("".join(f"{at * 1000} 0 {at % 100} 8 1\n" for at in range(30_000)))
    assert main(["replay", "big.mqsim", "-t", MODEL, "--lateness", "late.csv", "--json"]) == 0
    (result,) = json.loads(capsys.readouterr().out)["results"]
    report = result["replay"][0]["report"]
    lines = Path("late.csv").read_text().splitlines()
    assert 0 < report["written"] == len(lines) - 1 < 30_000
    assert report["dropped"] == 30_000 - report["written"]
    flag = next(flag for flag in result["flags"] if flag["name"] == "report_incomplete")
    assert flag["severity"] == "doubt" and f"{report['dropped']:,} requests are missing in" in flag["message"]


def test_fewer_requests_than_slots_wait_for_none(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "burst.mqsim").write_text("".join(f"{at * 500} 0 {at * 8} 8 1\n" for at in range(600)))
    assert main(["replay", "burst.mqsim", "-t", "null:", "--json"]) == 0
    (result,) = json.loads(capsys.readouterr().out)["results"]
    assert result["replay"][0]["waited"] == 0
    assert not [flag for flag in result["flags"] if "waited for a free slot" in flag["message"]]


def test_a_trace_beyond_a_file_that_is_not_there_is_refused_before_it_is_made(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = refused(capsys, "replay", "t.iolog", "-t", "scratch", "--size", "1MiB")
    assert said == (
        "plimsoll: --map refuse: the trace reaches to 8.004 MiB, and scratch has 1 MiB for it; write --map wrap, scale or squeeze, "
        "or give a larger target or --size.\n"
    )
    said = refused(capsys, "replay", "t.iolog", "-t", "scratch", "--size", "1MiB", "--map", "squeeze")
    assert said.startswith("plimsoll: --map squeeze: the trace touches places of 2 MiB, and scratch has 1 MiB")
    assert sorted(os.listdir()) == ["cache", "small.toml", "t.iolog"]
    for mapping in ("wrap", "scale"):
        assert main(["replay", "t.iolog", "-t", "scratch", "--size", "1MiB", "--map", mapping]) == 0
    assert main(["replay", "t.iolog", "-t", "scratch", "--size", "2MiB", "--map", "squeeze"]) == 0
    capsys.readouterr()


def test_an_option_that_the_trace_decides_is_refused_before_anything_is_made(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = refused(capsys, "replay", "t.iolog", "-t", "scratch", "--set", "block_size=4KiB")
    assert said.startswith("plimsoll: --set: ") and "trace and block_size exclude each other" in said
    assert sorted(os.listdir()) == ["cache", "small.toml", "t.iolog"]


def test_what_gzip_compressed_is_replayed_like_what_is_in_it(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("t.gz").write_bytes(gzip.compress(TRACE.encode()))
    rows = []
    for name in ("t.iolog", "t.gz"):
        assert main(["replay", name, "-t", MODEL, "--lateness", "late.csv"]) == 0
        rows.append(Path("late.csv").read_text())
    assert rows[0] == rows[1] and rows[0].count("\n") == 4
    assert main(["fit", "t.gz"]) == 0
    capsys.readouterr()


def test_one_of_a_kind_is_said_without_a_plural(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "two.mqsim").write_text("0 0 8 8 1\n30 0 16 8 1\n")
    assert main(["replay", "two.mqsim", "-t", "queue:?service=const:100us&size=1MiB", "--map", "refuse"]) == 0
    said = capsys.readouterr().out
    assert "as recorded: 2 requests\n" in said and "lasted    asked 30.0 ns; achieved" in said
    assert main(["replay", "two.mqsim", "-t", MODEL, "--limit", "1", "--lateness", "late.csv"]) == 0
    said = capsys.readouterr().out
    assert "as recorded: 1 request\n" in said and "late.csv: 1 request\n" in said and "on 1 request;" in said
    assert main(["replay", "two.mqsim", "--convert", "two.trace", "--limit", "1"]) == 0
    assert capsys.readouterr().out == "two.trace: 1 request of 1 device, 0 ns\n"


LOGS: dict[str, Any] = {
    "v2": "fio version 2 iolog\n{0} add\n{0} open\n{0} read 4096 8192\n{0} write 16384 4096\n{0} sync 0 0\n{0} close\n",
    "v3": "fio version 3 iolog\n0 {0} add\n0 {0} open\n100 {0} read 4096 8192\n20000 {0} write 16384 4096\n30000 {0} sync 0 0\n40000 {0} close\n",
}


@pytest.mark.parametrize("version", LOGS)
def test_a_job_of_fio_that_reads_a_log_is_replayed_on_a_scratch_file(here: Path, capsys: pytest.CaptureFixture[str], version: str) -> None:
    (here / "log").write_text(LOGS[version].format(here / "scratch"))
    (here / "job.fio").write_text("[again]\nread_iolog=log\nioengine=libaio\niodepth=4\nsize=1m\n")
    assert main(["run", "job.fio", "--json"]) == 0, capsys.readouterr().err
    (result,) = json.loads(capsys.readouterr().out)["results"]
    totals = {op: (total["count"], total["bytes"]) for op, total in result["totals"].items()}
    assert totals == {"read": (1, 8192), "write": (1, 4096), "flush": (1, 0)}
    (found,) = result["replay"]
    assert found["requests"] == {"asked": 3, "issued": 3, "completed": 3, "failed": 0}
    assert found["pace"] == ("as recorded" if version == "v3" else "as fast as possible")
    assert version == "v2" or found["seconds"]["asked"] == pytest.approx(0.0299)


def test_a_job_of_fio_whose_log_is_not_there_is_refused_at_its_line(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "job.fio").write_text("[again]\nread_iolog=/nonexist\nfilename=/tmp/x\n")
    for words in (["translate", "job.fio"], ["run", "job.fio"]):
        said = refused(capsys, *words)
        assert said.startswith("plimsoll: job.fio:2: ") and "/nonexist" in said and "no such file" in said


def test_repeats_do_not_write_one_lateness_report_over_the_other(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = refused(capsys, "replay", "t.iolog", "-t", "null:", "--lateness", "late.csv", "--repeat", "2")
    assert said == "plimsoll: --lateness: every repeat would write the same file; leave --repeat out.\n"
