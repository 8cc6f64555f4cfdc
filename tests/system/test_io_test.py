"""The published I/O test on a directory: both phases are measured on the same files, and nothing is left behind."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

#: Small enough for a disk that others use, and two streams so that files are told apart.
SMALL = ("--quick", "--size", "8MiB", "--set", "streams=2")


def test_both_phases_are_measured_on_the_same_files_which_are_removed_again(plimsoll, tmp_path):
    ended = plimsoll("suite", "sas-iotest", *SMALL, "-t", "io", "--json")
    assert ended.returncode == 0, ended.stderr
    document = json.loads(ended.stdout)
    write, read = document["results"]
    assert [result["status"] for result in (write, read)] == ["complete", "complete"]
    assert (write["totals"]["write"]["bytes"], write["totals"]["flush"]["count"]) == (8 << 20, 2)
    assert read["totals"].keys() == {"read"} and read["totals"]["read"]["bytes"] == 8 << 20
    # A stream has a file for itself, and its own flush alone.
    assert all(len(totals) == 2 and totals["flush"]["count"] == 1 for totals in write["parts"].values())
    (found,) = document["io_test"]
    assert (found["streams"], found["file_bytes"], found["total_bytes"]) == (2, 4 << 20, 8 << 20)
    for phase, result in ((found["write"], write), (found["read"], read)):
        seconds = result["engine"]["io_test"]["stream_s"]
        assert phase["stream_s"] == seconds and len(seconds) == 2
        mean_s = sum(seconds) / 2
        assert phase["per_core"]["value"] == pytest.approx((4 << 20) / mean_s * 2 / found["cores"])
    assert document["answer"].startswith("io: writing ")
    assert plimsoll("report", "latest", "-o", "x.csv").returncode == 0
    rows = [row for row in csv.DictReader(io.StringIO(Path("x.csv").read_text())) if row["operation"] == "all"]
    told = [found[phase]["per_core"]["value"] / 1e6 for phase in ("write", "read")]
    assert [float(row["mb_per_s_per_core"]) for row in rows] == pytest.approx(told)
    assert not Path("io").exists()


def test_a_phase_that_reads_writes_its_files_first_where_nobody_did(plimsoll):
    ended = plimsoll("run", "sas-iotest-read", "--size", "4MiB", "--set", "streams=2", "-t", "io", "--keep", "--json")
    assert ended.returncode == 0, ended.stderr
    assert json.loads(ended.stdout)["results"][0]["totals"]["read"]["bytes"] == 4 << 20
    files = sorted(Path("io/io-test").glob("f*[0-9]"))
    assert [file.stat().st_size for file in files] == [2 << 20, 2 << 20]
    assert all(len(set(file.read_bytes())) > 200 for file in files), "data are random"


def test_the_plan_says_how_many_files_of_which_size_there_will_be(plimsoll):
    ended = plimsoll("suite", "sas-iotest", "--set", "streams=3", "--size", "8MiB", "-t", "io", "--dry-run")
    assert ended.returncode == 0 and "3 files are made, 8MiB together or as there is room, written and read" in ended.stdout
    assert not Path("io").exists()


def test_two_directories_are_told_beside_each_other(plimsoll):
    ended = plimsoll("suite", "sas-iotest", *SMALL, "-t", "a", "-t", "b", "--json")
    assert ended.returncode == 0, ended.stderr
    document = json.loads(ended.stdout)
    assert document["answer"].startswith("a: writing ") and ". b: writing " in document["answer"]
    assert [(one["side"], one["write"]["repeats"], one["read"]["repeats"]) for one in document["io_test"]] == [("a", 1, 1), ("b", 1, 1)]
    assert not Path("a").exists() and not Path("b").exists()


def test_zeros_are_written_only_when_they_are_asked_for(plimsoll):
    ended = plimsoll(
        "run", "sas-iotest-write", "--size", "1MiB", "--set", "streams=1", "--set", "content=zeros", "-t", "io", "--keep", "--json"
    )
    assert ended.returncode == 0, ended.stderr
    assert Path("io/io-test/f0").read_bytes() == bytes(1 << 20)


@pytest.mark.parametrize("target", ["null:", "array:nvme", "concat:a,b"])
def test_a_target_that_is_no_directory_is_refused_in_a_sentence(plimsoll, target):
    ended = plimsoll("run", "sas-iotest-write", "-t", target)
    assert ended.returncode == 2 and "the I/O test makes files; name a directory, for example -t /mnt/array/iotest." in ended.stderr


def test_a_directory_of_somebody_else_is_refused_without_a_word(plimsoll, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("years of work")
    ended = plimsoll("run", "sas-iotest-write", "--size", "1MiB", "-t", "mine")
    assert ended.returncode == 3 and "--destroy-data" in ended.stderr
    assert (tmp_path / "mine" / "thesis.tex").read_text() == "years of work"
