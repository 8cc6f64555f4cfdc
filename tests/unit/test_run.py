"""``plimsoll run`` from typed words to files, over a scripted engine."""

from __future__ import annotations

import errno
import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from plimsoll.engine.protocol import Permission
from plimsoll.errors import Interrupted, SafetyRefusal, TargetError
from plimsoll.store.reader import StoredRun, list_runs
from support.said import Plimsoll, Said
from support.scripted_engine import Script, ScriptedEngine


def only_run() -> StoredRun:
    (run,) = list_runs("results")
    assert isinstance(run, StoredRun)
    return run


def test_a_run_stores_shows_and_reports(plimsoll: Plimsoll, here: Path) -> None:
    said = plimsoll("run", "small.toml", "-t", "null:")
    assert said.code == 0
    run = only_run()
    assert run.status == "complete"
    assert run.name.endswith("_small")
    assert run.points[0].result.totals["read"].count == 1000
    assert os.path.join("results", run.name, "report.html") in said.out
    assert (here / "results" / run.name / "report.html").stat().st_size > 10_000
    assert "small" in said.out and "1,000" in said.out


@pytest.mark.parametrize("words", [("run", "small.toml"), ("steps", "small.toml", "--over", "queue_depth=1,2")], ids=" ".join)
def test_a_quiet_run_shows_its_results_and_no_progress(plimsoll: Plimsoll, words: tuple[str, ...]) -> None:
    said = plimsoll(*words, "--quiet", "--json")
    assert said.code == 0 and said.json
    assert [line.split()[0] for line in said.err.split("\n") if line] == ["results", "report"]


def test_a_quiet_run_still_says_what_failed(plimsoll: Plimsoll, engine: ScriptedEngine) -> None:
    engine.scripts = [Script(raises=TargetError("/dev/x: device gone."), raises_at=2)]
    said = plimsoll("run", "small.toml", "-q")
    assert said.code != 0
    assert [line for line in said.err.splitlines() if line] == ["[1/1] small  failed: /dev/x: device gone."]


def test_data_goes_to_stdout_and_progress_to_stderr(plimsoll: Plimsoll) -> None:
    said = plimsoll("run", "small.toml", "-t", "null:")
    assert "[1/1] small" not in said.out
    assert "plan: " not in said.out and said.err.startswith("plan: 1 point, ")
    assert [line.split("  ")[1] for line in said.err.splitlines()[1:]] == ["on null:", "warmup"]
    assert "workload" not in said.err.splitlines()[0]


def test_json_on_stdout_is_one_document_and_nothing_else(plimsoll: Plimsoll) -> None:
    said = plimsoll("run", "small.toml", "-t", "null:", "--json")
    document = said.json
    assert document["schema"] == "plimsoll.run/1"
    (result,) = document["results"]
    assert result["job"]["workload"] == "small"
    read = result["totals"]["read"]
    assert {"count", "iops", "bytes_per_s", "errors", "latency_ns", "service_ns"} <= read.keys()
    assert {"mean", "p50", "p90", "p95", "p99", "p999", "max"} <= read["latency_ns"].keys()
    assert all({"name", "advice"} <= flag.keys() for flag in result["flags"])


def test_a_tag_stands_for_its_workloads_in_the_order_of_reports(plimsoll: Plimsoll, engine: ScriptedEngine) -> None:
    said = plimsoll("run", "proliant", "-t", "null:", "--json")
    groups = [result["job"]["group"] for result in said.json["results"]]
    assert len(groups) == 12
    assert groups == sorted(groups, key=["sequential", "random", "combined"].index)
    assert all(result["job"]["duration_s"] == 10.0 and result["job"]["warmup_s"] == 2.0 for result in said.json["results"])


TWO = ("run", "small.toml", "other.toml", "-t", "null:", "-t", "null:?size=1g", "--repeat", "2", "--json")


def jobs(said: Said) -> list[tuple[str, str, int]]:
    """Workload, target and repeat of each point, in the order measured."""
    return [(job["workload"], job["target"], job["repeat"]) for job in (result["job"] for result in said.json["results"])]


def test_workloads_and_targets_are_measured_one_after_the_other_with_all_their_repeats(plimsoll: Plimsoll, here: Path) -> None:
    (here / "other.toml").write_text((here / "small.toml").read_text())
    targets = ("null:", "null:?size=1g")
    assert jobs(plimsoll(*TWO)) == [(name, target, repeat) for name in ("small", "other") for target in targets for repeat in (1, 2)]


def test_interleaved_workloads_and_targets_take_turns_repeat_by_repeat(plimsoll: Plimsoll, here: Path) -> None:
    (here / "other.toml").write_text((here / "small.toml").read_text())
    targets = ("null:", "null:?size=1g")
    expected = [(name, target, repeat) for repeat in (1, 2) for name in ("small", "other") for target in targets]
    assert jobs(plimsoll(*TWO, "--interleave")) == expected


def test_settings_reach_the_job(plimsoll: Plimsoll, engine: ScriptedEngine) -> None:
    plimsoll(
        "run", "small.toml", "-t", "null:", "-s", "queue_depth=32", "-s", "main.block_size=8k", "-d", "30s", "-w", "1m", "--set", "seed=9"
    )
    (job,) = engine.jobs
    assert (job["workload"]["stream"][0]["queue_depth"], job["workload"]["stream"][0]["block_size"]) == (32, 8192)
    assert (job["job"]["duration"], job["job"]["warmup"], job["job"]["seed"]) == (30, 60, 9)


def test_the_default_target_is_made_filled_and_removed(plimsoll: Plimsoll, engine: ScriptedEngine, here: Path) -> None:
    seen: list[bool] = []
    engine.scripts[0].on_interval = lambda index: seen.append((here / "plimsoll-scratch.dat").exists())
    assert plimsoll("run", "small.toml", "--size", "1MiB").code == 0
    assert all(seen)
    assert engine.prepared == [("./plimsoll-scratch.dat", 1 << 20, None)]
    assert not (here / "plimsoll-scratch.dat").exists()


def test_a_scratch_file_is_kept_when_asked(plimsoll: Plimsoll, here: Path) -> None:
    plimsoll("run", "small.toml", "--keep")
    assert (here / "plimsoll-scratch.dat").exists()


def test_a_file_that_was_there_before_is_never_removed(plimsoll: Plimsoll, here: Path) -> None:
    (here / "precious").write_bytes(b"x" * 4096)
    plimsoll("run", "small.toml", "-t", "precious")
    assert (here / "precious").read_bytes() == b"x" * 4096


@pytest.mark.parametrize(
    ("words", "permission"),
    [
        ([], None),
        (["--destroy-data"], Permission()),
        (["--destroy-data=WD-123"], Permission("WD-123")),
        (["--destroy-data=/dev/sdb"], Permission("/dev/sdb")),
    ],
)
def test_permission_is_passed_on_and_never_taken_from_the_next_word(
    plimsoll: Plimsoll, engine: ScriptedEngine, words: list[str], permission: object
) -> None:
    assert plimsoll("run", *words, "small.toml", "-t", "null:").code == 0
    assert engine.jobs[0]["permission"] == permission
    assert engine.prepared[0][2] == permission


def test_a_failing_point_is_stored_and_the_next_one_runs(plimsoll: Plimsoll, engine: ScriptedEngine) -> None:
    engine.scripts = [Script(raises=TargetError("/dev/x: device gone."), raises_at=2), Script()]
    said = plimsoll("run", "small.toml", "-t", "null:", "--repeat", "2")
    assert said.code == 4
    results = [point.result for point in only_run().points]
    assert [result.status for result in results] == ["failed", "complete"]
    assert results[0].error == "/dev/x: device gone."
    assert only_run().status == "failed"
    assert "✗ small: /dev/x: device gone." in said.out


@pytest.mark.parametrize(("error", "code"), [(SafetyRefusal("/dev/sdb is mounted at /home."), 3), (TargetError("/x: gone."), 4)])
def test_when_every_point_is_refused_the_exit_code_is_the_refusals(
    plimsoll: Plimsoll, engine: ScriptedEngine, error: Any, code: int
) -> None:
    engine.scripts = [Script(raises=error)]
    assert plimsoll("run", "small.toml", "-t", "null:").code == code
    assert only_run().points[0].result.error == str(error)


def test_a_target_that_cannot_be_prepared_fails_its_points_only(plimsoll: Plimsoll, engine: ScriptedEngine) -> None:
    engine.prepare_raises = SafetyRefusal("/x was not made by Plimsoll; add --destroy-data to overwrite it.")
    assert plimsoll("run", "small.toml", "-t", "null:").code == 3
    assert "add --destroy-data" in str(only_run().points[0].result.error)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_keeps_what_was_measured_and_starts_no_further_point(
    plimsoll: Plimsoll, engine: ScriptedEngine, number: signal.Signals
) -> None:
    def pull(index: int) -> None:
        if index == 5:
            os.kill(os.getpid(), number)
            while not engine.last_control.stopped:
                pass

    before = signal.getsignal(signal.SIGINT)
    engine.scripts = [Script(intervals=10, warmup_intervals=2, on_interval=pull)]
    said = plimsoll("run", "small.toml", "-t", "null:", "--repeat", "3")
    assert said.code == 130
    run = only_run()
    assert run.status == "interrupted"
    (point,) = run.points
    assert point.result.status == "interrupted"
    assert point.result.totals["read"].count == 400
    assert "report   " in said.out
    assert signal.getsignal(signal.SIGINT) is before


def test_a_label_and_the_command_are_stored(plimsoll: Plimsoll) -> None:
    plimsoll("run", "small.toml", "-t", "null:", "--label", "before the change")
    assert only_run().label == "before the change"
    assert only_run().meta["points_planned"] == 1
    assert only_run().meta["host"]["kernel"]["release"]


@pytest.mark.parametrize("ending", ["html", "csv", "json"])
def test_the_report_goes_where_asked(plimsoll: Plimsoll, here: Path, ending: str) -> None:
    said = plimsoll("run", "small.toml", "-t", "null:", "--report", f"mine.{ending}")
    assert said.code == 0
    assert (here / f"mine.{ending}").stat().st_size > 0
    assert f"report   mine.{ending}" in said.out


def test_a_stored_run_is_reported_again_in_every_format(plimsoll: Plimsoll, here: Path) -> None:
    plimsoll("run", "small.toml", "-t", "null:")
    name = only_run().name
    for ending in ("html", "csv", "json"):
        assert plimsoll("report", name, "-o", f"again.{ending}").out == f"again.{ending}\n"
    document = json.loads((here / "again.json").read_text())
    assert document["runs"][0]["results"][0]["job"]["workload"] == "small"
    assert plimsoll("report", name).out == os.path.join("results", name, "report.html") + "\n"


def test_runs_are_listed_with_what_became_of_them(plimsoll: Plimsoll, engine: ScriptedEngine) -> None:
    assert "there is no run" in plimsoll("runs").err
    plimsoll("run", "small.toml", "-t", "null:", "--label", "one")
    said = plimsoll("runs")
    assert "complete" in said.out and "1/1" in said.out and "one" in said.out
    (entry,) = plimsoll("runs", "--json").json
    assert (entry["status"], entry["planned"], entry["points"]) == ("complete", 1, ["complete"])


def test_stored_runs_fit_a_terminal_of_80_columns_however_long_their_targets_are_called(
    plimsoll: Plimsoll, engine: ScriptedEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = ["plimsoll", "run", "small.toml", "-t", "RAID 10=array:msa50-sas-10k-raid10-10-nocache", "--label", "ten disks or five"]
    monkeypatch.setattr("sys.argv", command)
    plimsoll("run", "small.toml", "-t", "null:", "--label", "ten disks or five")
    monkeypatch.setenv("COLUMNS", "80")
    said = plimsoll("list", "--runs")
    assert max(map(len, said.out.splitlines())) <= 80
    assert "plimsoll run small.toml -t 'RAID 10=array:msa50-sas-10k-raid10-10-nocache'" in said.text
    monkeypatch.setenv("COLUMNS", "200")
    assert "label              command" in plimsoll("list", "--runs").out


def test_the_command_of_a_run_is_listed_as_a_shell_takes_it(
    plimsoll: Plimsoll, engine: ScriptedEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", ["plimsoll", "run", "small.toml", "--objective", "mean <= 5ms"])
    monkeypatch.setenv("COLUMNS", "120")  # In a narrower one the command goes on in the next line.
    plimsoll("run", "small.toml", "-t", "null:")
    assert "plimsoll run small.toml --objective 'mean <= 5ms'" in plimsoll("runs").out


def test_a_stop_while_the_scratch_file_is_filled_starts_no_point(
    plimsoll: Plimsoll, engine: ScriptedEngine, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def prepare(*_: object) -> dict[str, Any]:
        (here / "plimsoll-scratch.dat").write_bytes(b"half")
        os.kill(os.getpid(), signal.SIGINT)
        while not engine.last_control.stopped:
            pass
        raise Interrupted("stopped while filling ./plimsoll-scratch.dat.")

    monkeypatch.setattr(engine, "prepare_target", prepare)
    said = plimsoll("run", "small.toml")
    assert said.code == 130
    assert only_run().status == "interrupted" and only_run().points == []
    assert not (here / "plimsoll-scratch.dat").exists()


def test_a_store_that_fails_ends_the_run_with_its_own_code(
    plimsoll: Plimsoll, engine: ScriptedEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    engine.scripts[0].on_interval = lambda index: monkeypatch.setattr(os, "write", full) if index == 3 else None
    said = plimsoll("run", "small.toml", "-t", "null:", "--repeat", "2")
    monkeypatch.undo()
    assert said.code == 5
    assert said.err.strip().splitlines()[-1].startswith("plimsoll: results/")
    assert "no space left on device" in said.err and "Traceback" not in said.err


def test_a_run_is_stored_as_the_experiment_that_it_is(plimsoll: Plimsoll) -> None:
    said = plimsoll("run", "small.toml", "-t", "null:", "--objective", "p99 <= 5ms", "--json")
    (definition,) = only_run().meta["experiments"]
    assert (definition["name"], definition["kind"], definition["objective"]) == ("run", "single", "p99 <= 5ms")
    assert said.json["objective"]["holds"] is True
    assert said.json["conclusions"][0]["figures"]["holds"] is True


@pytest.mark.parametrize("words", [("--set", "small.x=1"), ("--set", "queue_deep=1"), ("-t", "null:", "-t", "null:")])
def test_what_cannot_be_run_is_refused_before_a_run_is_made(plimsoll: Plimsoll, words: tuple[str, ...]) -> None:
    said = plimsoll("run", "small.toml", *words)
    assert said.code == 2 and said.err.startswith("plimsoll: ") and len(said.err.splitlines()) == 1
    assert list_runs("results") == []


def test_without_a_target_trees_go_to_a_directory_of_their_own_beside_the_file_of_others(plimsoll: Plimsoll, here: Path) -> None:
    # Both went to ./plimsoll-scratch.dat, which cannot be a file and a directory.
    (here / "trees.toml").write_text('driver = "files"\n[[tree]]\nfiles = 2\nsizes = "4KiB"\n[[stream]]\noperation = "read"\n')
    (here / "plimsoll-scratch.files").mkdir()
    (here / "plimsoll-scratch.files" / "theirs").write_bytes(b"data")
    for verb in (("run",), ("steps", "--over", "threads=1,2")):
        said = plimsoll(verb[0], "small.toml", "trees.toml", *verb[1:])
        assert said.code == 3 and "plimsoll-scratch.files" in said.err
    assert list_runs("results") == []
