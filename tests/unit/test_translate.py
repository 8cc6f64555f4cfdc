"""``plimsoll translate`` and ``plimsoll run`` on other tools' files, over a scripted engine."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from formats.iometer.made import DEFAULT, simple, worker
from support.said import Plimsoll
from support.scripted_engine import ScriptedEngine

FIO = """
[reader]
rw=randread
bs=8k
iodepth=4
direct=1
ioengine=libaio
filename=data.bin
size=64k
runtime=2
time_based
nice=5
"""


@pytest.fixture
def job(here: Path) -> Path:
    path = here / "job.fio"
    path.write_text(FIO)
    return path


def test_the_translation_is_toml_on_stdout_and_remarks_on_stderr(plimsoll: Plimsoll, job: Path) -> None:
    said = plimsoll("translate", "job.fio")
    assert said.code == 0
    document = tomllib.loads(said.out)
    assert document["workload"][0]["stream"][0]["queue_depth"] == 4
    assert "job.fio:12: 'nice=5' is ignored" in said.err
    assert "1 ignored" in said.err.splitlines()[-1]


def test_what_is_printed_runs_as_a_file_of_experiments(plimsoll: Plimsoll, job: Path, engine: ScriptedEngine, here: Path) -> None:
    (here / "ours.toml").write_text(plimsoll("translate", "job.fio").out)
    assert plimsoll("suite", "ours.toml").code == 0
    assert engine.jobs[0]["workload"]["stream"][0]["block_size"] == 8192


def test_json_has_every_remark(plimsoll: Plimsoll, job: Path) -> None:
    translation = json.loads(plimsoll("translate", "--json", "job.fio").out)
    assert translation["format"] == "fio"
    assert {"line": 12, "text": "nice=5", "kind": "ignored"}.items() <= translation["remarks"][-1].items()
    assert {remark["kind"] for remark in translation["remarks"]} == {"native", "ignored"}


def test_options_may_stand_behind_the_file(plimsoll: Plimsoll, job: Path) -> None:
    ahead = plimsoll("translate", "--json", "-t", "other.bin", "--size", "64MiB", "job.fio")
    assert ahead.code == 0
    assert plimsoll("translate", "job.fio", "-t", "other.bin", "--size", "64MiB", "--json") == ahead
    unknown = plimsoll("translate", "job.fio", "--sizes", "64MiB")
    assert (unknown.code, "there is no option '--sizes'" in unknown.err) == (2, True)


def test_options_behind_a_tool_are_the_tool_s(plimsoll: Plimsoll) -> None:
    words = ("fio", "--name=x", "--rw=randread", "--bs=8k", "--size=1m", "--filename=x.bin", "--direct=1")
    said = plimsoll("translate", "--strict", *words)
    assert (said.code, 'block_size = "8KiB"' in said.out) == (0, True), said.err


def test_strict_takes_only_what_is_native(plimsoll: Plimsoll, job: Path) -> None:
    said = plimsoll("translate", "--strict", "job.fio")
    assert said.code == 2
    assert said.err.rstrip().endswith("--strict takes only what is native.")


def test_what_cannot_be_run_is_refused_by_both_commands(plimsoll: Plimsoll, job: Path, engine: ScriptedEngine) -> None:
    job.write_text(FIO.replace("libaio", "rados"))
    for verb in ("translate", "run"):
        said = plimsoll(verb, "job.fio")
        assert said.code == 2
        assert "job.fio:7: 'ioengine=rados' is not supported" in said.err
    assert engine.jobs == []


def test_a_job_file_runs_and_a_typed_target_takes_the_place_of_its_own(plimsoll: Plimsoll, job: Path, engine: ScriptedEngine) -> None:
    said = plimsoll("run", "job.fio", "-t", "null:", "-d", "1s", "--json")
    assert said.code == 0
    assert "job.fio:12: 'nice=5' is ignored" in said.err
    (result,) = said.json["results"]
    assert (result["job"]["target"], result["job"]["duration_s"]) == ("null:", 1.0)


@pytest.mark.parametrize(("target", "backend"), [("array:nvme", "auto"), ("queue:", "auto"), ("data.bin", "sync")])
def test_models_are_not_asked_through_the_calls_of_the_tool(
    plimsoll: Plimsoll, here: Path, engine: ScriptedEngine, target: str, backend: str
) -> None:
    # fio's own default, psync, became the backend sync, which no model has: such files ran on none.
    (here / "plain.fio").write_text(FIO.replace("ioengine=libaio\n", ""))
    assert plimsoll("run", "plain.fio", "--target", target).code == 0
    assert engine.jobs[0]["job"].get("backend") == backend


def test_a_command_line_is_translated_without_a_file(plimsoll: Plimsoll) -> None:
    said = plimsoll("translate", "fio", "--name=x", "--rw=read", "--bs=128k", "--filename=/dev/sdb", "--direct=1", "--runtime=5")
    assert tomllib.loads(said.out)["workload"][0]["stream"][0]["block_size"] == "128KiB"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["small.toml"], "small.toml: a .toml file is one of ours already"),
        (["nothing.fio"], "'nothing.fio' is neither a file nor one of fio, vdbench, orion, diskspd"),
        (["job.fio", "more"], "job.fio: a file is translated alone; leave 'more' out"),
        (["unknown.txt"], "unknown.txt: neither TOML nor a file of iometer, diskspd, orion, vdbench or fio"),
        (["iometer", "/c", "x.icf"], "'iometer' is neither a file nor one of"),
    ],
)
def test_what_is_no_job_file_is_named(plimsoll: Plimsoll, job: Path, here: Path, words: list[str], sentence: str) -> None:
    (here / "unknown.txt").write_text("Dear Sir or Madam,\n")
    said = plimsoll("translate", *words)
    assert (said.code, len(said.err.splitlines())) == (2, 1)
    assert sentence in said.err


def test_a_job_file_runs_alone(plimsoll: Plimsoll, job: Path) -> None:
    said = plimsoll("run", "job.fio", "small.toml")
    assert said.code == 2
    assert "runs alone" in said.err
    assert "leave it out" in plimsoll("run", "job.fio", "--objective", "p99 <= 5ms").err


COMMAND = ("fio", "--name=x", "--rw=randread", "--bs=8k", "--runtime=1", "--time_based", "--filename=/dev/null-x", "--size=1m")


@pytest.mark.parametrize("words", [("run", "-t", "null:", "--json", *COMMAND), ("run", "-t", "null:", "--json", "--", *COMMAND)])
def test_a_command_line_runs_and_options_of_ours_stand_before_it(
    plimsoll: Plimsoll, engine: ScriptedEngine, words: tuple[str, ...]
) -> None:
    said = plimsoll(*words)
    assert said.code == 0, said.err
    (result,) = said.json["results"]
    assert (result["job"]["workload"], result["job"]["target"], result["job"]["duration_s"]) == ("x", "null:", 1.0)


def test_a_command_line_that_is_wrong_names_its_tool(plimsoll: Plimsoll) -> None:
    said = plimsoll("run", "fio", "--name=x", "--rw=sideways", "--filename=/dev/sdb")
    assert (said.code, len(said.err.splitlines())) == (2, 1)
    assert said.err.startswith("plimsoll: fio command line") or "fio command line" in said.err


def test_a_missing_lun_file_is_named_with_what_to_do(plimsoll: Plimsoll) -> None:
    said = plimsoll("translate", "orion", "-run", "simple", "-testname", "night")
    assert (said.code, len(said.err.splitlines())) == (2, 1)
    assert "night.lun" in said.err and "put it beside the command line, one path per line" in said.err


DEVICES = """
[one]
filename=/dev/sdx1
rw=randread
size=50%
loops=3
[two]
filename=/dev/sdx2
rw=read
offset=10%
"""


def test_devices_that_are_not_here_have_the_assumed_size(plimsoll: Plimsoll, here: Path) -> None:
    # 99 of 263 public files of fio could not be shown on a host without their devices.
    (here / "job.fio").write_text(DEVICES)
    refused = plimsoll("translate", "job.fio")
    assert refused.code == 2 and "give --assume-size" in refused.err
    document = tomllib.loads(plimsoll("translate", "--assume-size", "100GiB", "job.fio").out)
    assert [stream["amount"] for stream in document["workload"][0]["stream"]] == ["150GiB", "90GiB"]
    assert document["experiment"][0]["configurations"][0]["target"] == "concat:/dev/sdx1,/dev/sdx2"


def test_a_typed_target_and_its_size_stand_in_the_translation_and_run(plimsoll: Plimsoll, here: Path, engine: ScriptedEngine) -> None:
    (here / "job.fio").write_text(DEVICES)
    said = plimsoll("translate", "-t", "data.bin", "--size", "64KiB", "job.fio")
    document = tomllib.loads(said.out)
    assert (said.code, document["experiment"][0]["set"]["size"]) == (0, "64KiB")
    assert document["experiment"][0]["configurations"] == [{"name": "one", "target": "data.bin"}]
    assert "this job and those beside it would use 2 files or devices; --target data.bin takes the place of all of them" in said.err
    assert plimsoll("run", "job.fio", "-t", "data.bin", "--size", "64KiB", "-d", "1s").code == 0
    assert engine.prepared[0][:2] == ("data.bin", 65536)


def test_a_region_beyond_the_typed_size_is_refused_before_the_file_is_made(plimsoll: Plimsoll, here: Path, engine: ScriptedEngine) -> None:
    (here / "job.fio").write_text("[one]\nfilename=/dev/sdx\nsize=1g\n")
    said = plimsoll("run", "job.fio", "-t", "data.bin", "--size", "64MiB")
    assert said.code == 2
    assert "its region ends at 1GiB, and --target data.bin has 64MiB; give --size 1GiB or smaller sizes in the file" in said.err
    assert engine.prepared == []


def test_several_targets_are_configurations_of_the_translation(plimsoll: Plimsoll, job: Path) -> None:
    document = tomllib.loads(plimsoll("translate", "-t", "a.bin", "-t", "b.bin", "job.fio").out)
    assert document["experiment"][0]["configurations"] == [{"name": "a.bin", "target": "a.bin"}, {"name": "b.bin", "target": "b.bin"}]


def test_several_targets_of_different_sizes_are_refused_where_the_size_decides(plimsoll: Plimsoll, here: Path) -> None:
    (here / "job.fio").write_text(DEVICES)
    for name, length in (("a.bin", 1 << 20), ("b.bin", 2 << 20)):
        with open(here / name, "wb") as file:
            file.truncate(length)
    said = plimsoll("translate", "-t", "a.bin", "-t", "b.bin", "job.fio")
    assert said.code == 2
    assert "depends on the size of its target, and a.bin and b.bin differ; give one --target at a time" in said.err


def test_a_size_is_given_once(plimsoll: Plimsoll, job: Path) -> None:
    said = plimsoll("translate", "--size", "1GiB", "--assume-size", "1GiB", "job.fio")
    assert said.code == 2
    assert "--size and --assume-size are both the size of what is not there" in said.err


def test_a_log_of_requests_is_looked_for_where_fio_looks_and_then_beside_the_job(
    plimsoll: Plimsoll, here: Path, engine: ScriptedEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    # translate looked beside the job file, run below the working directory: what the one showed, the other could not find.
    jobs, work = here / "jobs", here / "work"
    jobs.mkdir()
    work.mkdir()
    log = "fio version 3 iolog\n0 data.bin add\n0 data.bin open\n0 data.bin read 0 4096\n9 data.bin read 4096 4096\n"
    (jobs / "replay.fio").write_text("[replay]\nread_iolog=load.log\n")
    (jobs / "load.log").write_text(log)
    monkeypatch.chdir(work)

    def trace() -> tuple[str, str]:
        said = plimsoll("translate", "../jobs/replay.fio")
        assert said.code == 0, said.err
        return tomllib.loads(said.out)["workload"][0]["stream"][0]["trace"], said.err

    path, told = trace()
    assert path == str(jobs / "load.log") and f"{path} beside the job file is taken" in told
    assert plimsoll("run", "../jobs/replay.fio", "-t", "null:", "-d", "1s").code == 0
    (work / "load.log").write_text(log)
    path, told = trace()
    assert path == str(work / "load.log") and "there is one beside the job file, too" in told
    (work / "load.log").unlink()
    (jobs / "load.log").unlink()
    for verb in ("translate", "run"):
        said = plimsoll(verb, "../jobs/replay.fio")
        assert said.code == 2 and "name a log that is there" in said.err


def test_a_window_of_logs_that_is_longer_than_the_run_is_left_out_by_both_commands(
    plimsoll: Plimsoll, here: Path, engine: ScriptedEngine
) -> None:
    # translate said yes, run failed: "interval 10s is longer than duration 2s".
    for window in ("10000", "1500"):
        (here / "job.fio").write_text(f"{FIO}log_avg_msec={window}\n")
        document = tomllib.loads(plimsoll("translate", "job.fio").out)
        assert document["experiment"][0]["set"].get("interval") == {"10000": None, "1500": "1500ms"}[window]
        assert plimsoll("run", "job.fio", "-t", "null:").code == 0
    said = plimsoll("run", "job.fio", "-t", "null:", "-d", "1s")
    assert said.code == 0 and "interval=1500ms is longer than --duration 1s" in said.err
    assert [job["job"].get("interval") for job in engine.jobs][-1] != 1.5


def test_configurations_of_a_file_are_measured_once_on_each_of_several_targets(
    plimsoll: Plimsoll, here: Path, engine: ScriptedEngine
) -> None:
    cycle = {"Test Type": "CYCLE_TARGETS", "Disk Cycling": "1 1 LINEAR"}
    (here / "cycling.icf").write_text(simple(cycle, worker(targets=["sdb", "sdc"], region="64,0"), lines=[DEFAULT]))
    configurations = len(tomllib.loads(plimsoll("translate", "-t", "a.bin", "cycling.icf").out)["experiment"][0]["configurations"])
    document = tomllib.loads(plimsoll("translate", "-t", "a.bin", "-t", "b.bin", "cycling.icf").out)
    assert len(document["experiment"][0]["configurations"]) == 2 * configurations > 2
    assert plimsoll("run", "cycling.icf", "-t", "a.bin", "-t", "b.bin", "-d", "1s").code == 0
    assert sorted(job["target"] for job in engine.jobs) == ["a.bin"] * configurations + ["b.bin"] * configurations


def test_an_included_file_is_taken_where_fio_takes_it(plimsoll: Plimsoll, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # fio opens it from the working directory, and only where it is not there from beside the file that includes it.
    jobs, work = here / "jobs", here / "work"
    jobs.mkdir()
    work.mkdir()
    (jobs / "job.fio").write_text("[a]\nfilename=data\nsize=1m\ninclude common.inc\n")
    (jobs / "common.inc").write_text("bs=8k\n")
    monkeypatch.chdir(work)

    def block_size() -> str:
        document = tomllib.loads(plimsoll("translate", "../jobs/job.fio").out)
        return str(document["workload"][0]["stream"][0]["block_size"])

    assert block_size() == "8KiB"
    (work / "common.inc").write_text("bs=16k\n")
    assert block_size() == "16KiB"


def test_a_size_that_is_too_small_for_the_files_of_the_job_is_refused_before_they_are_made(
    plimsoll: Plimsoll, here: Path, engine: ScriptedEngine
) -> None:
    (here / "job.fio").write_text("[one]\nfilename=data.bin\nsize=1g\nruntime=1\ntime_based\n")
    said = plimsoll("run", "job.fio", "--size", "64MiB")
    assert said.code == 2 and "it is made 1GiB long, and --size is 64MiB; give --size 1GiB, or leave it out" in said.err
    assert engine.prepared == []
    assert plimsoll("translate", "--assume-size", "64MiB", "job.fio").code == 0
    assert plimsoll("run", "job.fio", "--size", "2GiB").code == 0
