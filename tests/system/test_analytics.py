"""Analytics workflows through the installed command: processes of their own, started together, counted, checked, and cleared away."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from plimsoll import catalog
from plimsoll.analysis.point import workflows as found_in
from plimsoll.apps import driver_of
from plimsoll.apps.analytics.options import STEPS
from plimsoll.engine.block import native
from plimsoll.engine.claims import holding
from plimsoll.target import Target
from support.patience import HANGS_S, wait_until
from system.test_safety import attached

Run = Callable[..., CompletedProcess[str]]
COMMAND = str(Path(sys.executable).with_name("plimsoll"))
SMALL = ("--set", "rows=4000", "--set", "loops=10", "--set", "memory=48MiB")


def results_of(ended: CompletedProcess[str]) -> list[dict[str, Any]]:
    document = json.loads(ended.stdout)
    return list(document.get("results", [document]))


def test_workflows_are_processes_that_start_together_and_account_for_every_byte(plimsoll: Run, tmp_path: Path) -> None:
    ended = plimsoll("run", "sas-analytics", "-t", "sas", *SMALL, "--set", "workflows=3", "--set", "iterations=2", "--json")
    assert ended.returncode == 0, ended.stderr
    (result,) = results_of(ended)
    found = result["engine"]["analytics"]
    assert found["banner"].endswith("not a SAS benchmark")
    assert (found["failed"], found["wrong_data"], found["whole"], len(found["iterations"])) == (0, 0, True, 2)
    assert [(one["iteration"], one["number"]) for one in found["workflows"]] == [(i, n) for i in (1, 2) for n in (1, 2, 3)]
    for one in found["workflows"]:
        assert (one["status"], one["check"], one["failure"]) == ("complete", "ok", None)
        assert [step["name"] for step in one["steps"]] == list(STEPS)
        assert one["user_s"] + one["system_s"] > 0
        assert 0 < one["max_rss_bytes"] <= 1.1 * one["memory_bytes"]
        for step in one["steps"]:
            assert (step["read_bytes"], step["written_bytes"]) == (step["needed_read_bytes"], step["needed_written_bytes"]), step["name"]
        assert all(before["end_s"] <= after["start_s"] for before, after in zip(one["steps"], one["steps"][1:], strict=False))
    # No workflow of an iteration has ended its first step before the last one has begun it, unless the machine stood still in between;
    # no workflow of the second begins before all of the first have ended.
    first, second = ([one for one in found["workflows"] if one["iteration"] == number] for number in (1, 2))
    assert max(one["end_s"] for one in first) <= min(one["start_s"] for one in second)
    moved = [sum(step[name] for one in found["workflows"] for step in one["steps"]) for name in ("read_bytes", "written_bytes")]
    assert [result["totals"][op]["bytes"] for op in ("read", "write")] == moved
    assert result["totals"]["workflow"]["count"] == result["totals"]["sort"]["count"] == 6
    assert result["totals"]["sort"]["bytes"] == 0
    assert not (tmp_path / "sas").exists()


def test_a_sort_beyond_the_memory_of_a_workflow_spills_and_its_process_stays_below_its_cap(plimsoll: Run) -> None:
    words = ("--set", "rows=300k", "--set", "memory=48MiB", "--set", "loops=1", "--set", "input=generated", "--json")
    ended = plimsoll("run", "sas-analytics", "-t", "sas", *words)
    assert ended.returncode == 0, ended.stderr
    (result,) = results_of(ended)
    (one,) = result["engine"]["analytics"]["workflows"]
    sort = next(step for step in one["steps"] if step["name"] == "sort")
    # 60 MB of rows, and 48 MiB less what a process takes: each row goes to a run file once.
    assert (sort["passes"], sort["read_bytes"], sort["written_bytes"]) == (1, 120_000_000, 120_000_000)
    assert 24 << 20 < one["max_rss_bytes"] <= 1.1 * (48 << 20)
    assert "over_memory" not in {flag["name"] for flag in result["flags"]}


def test_duckdb_does_the_same_steps_on_the_same_rows_and_spills(plimsoll: Run, tmp_path: Path) -> None:
    pytest.importorskip("duckdb", reason="skipped: DuckDB is not installed")
    words = ("--set", "rows=20k", "--set", "loops=10", "--set", "workflows=2", "--set", "engine=duckdb", "--json")
    ended = plimsoll("run", "sas-analytics", "-t", "sas", *words)
    assert ended.returncode == 0, ended.stderr
    (result,) = results_of(ended)
    found = result["engine"]["analytics"]
    assert (found["engine"], found["failed"], found["wrong_data"]) == ("duckdb", 0, 0)
    for one in found["workflows"]:
        assert [step["name"] for step in one["steps"]] == list(STEPS)
        assert one["check"] == "ok"
        written = {step["name"]: step["written_bytes"] for step in one["steps"]}
        # Uncompressed: no step that makes a copy of 4 MB of rows writes less.
        assert min(written[name] for name in ("data-step", "format", "sort")) >= 4_000_000
    assert result["totals"]["write"]["bytes"] > 0
    assert not (tmp_path / "sas").exists()


def test_duckdb_finds_rows_that_changed(tmp_path: Path) -> None:
    pytest.importorskip("duckdb", reason="skipped: DuckDB is not installed")
    with holding():
        driver, workload, options = prepared(tmp_path / "sas", memory="256MiB", engine="duckdb")
        path = tmp_path / "sas" / "input" / "1.csv"
        lines = path.read_text().splitlines(keepends=True)
        path.write_text("".join([*lines[:-1], lines[0]]))
        job = {"workload": workload, "job": options, "target": Target(str(tmp_path / "sas")), "permission": None}
        outcome = driver.run_job(job, lambda *_: None, driver.control())
    # The last row, 3,999, is gone, and row 0 is there twice: 3,999 less.
    assert found_in.wrong_rows(outcome) == (
        "wrong data was read by 1 of 1 workflows; workflow 1: a: the sum of the row numbers is 7994001, and was 7998000 when they were written."
    )


def test_levels_of_workflows_are_a_ramp_and_inputs_are_written_once(plimsoll: Run, tmp_path: Path) -> None:
    words = ("-t", "sas", *SMALL, "--keep", "--json")
    ended = plimsoll("steps", "sas-analytics", "--over", "workflows=1,2", *words)
    assert ended.returncode == 0, ended.stderr
    results = results_of(ended)
    assert [len(result["engine"]["analytics"]["workflows"]) for result in results] == [1, 2]
    before = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "sas" / "input").glob("*.rows")}
    assert sorted(before) == ["1.rows", "2.rows"]
    assert not list((tmp_path / "sas" / "work").iterdir())
    again = plimsoll("run", "sas-analytics", "--fresh", "--set", "workflows=2", *words)
    assert again.returncode == 0, again.stderr
    assert {path.name: path.stat().st_mtime_ns for path in (tmp_path / "sas" / "input").glob("*.rows")} == before


@pytest.mark.parametrize(("kind", "read"), [("shared", 4000 * 200), ("generated", 0)])
def test_inputs_may_be_shared_or_none_and_lie_apart_from_the_work(tmp_path: Path, kind: str, read: int) -> None:
    target = f"concat:{tmp_path}/data,{tmp_path}/flows"
    outcome = carried_out(target, workflows=2, input=kind)
    assert [one["steps"][0]["read_bytes"] for one in outcome["analytics"]["workflows"]] == [read, read]
    assert [path.name for path in (tmp_path / "data" / "input").glob("*.rows")] == (["1.rows"] if read else [])
    assert (tmp_path / "flows" / "work").is_dir()
    driver_of({"driver": "analytics"}, native()).remove_target(Target(target))
    assert not list(tmp_path.iterdir())


def test_a_dry_run_says_what_is_written_and_writes_nothing(plimsoll: Run, tmp_path: Path) -> None:
    ended = plimsoll("run", "sas-analytics", "-t", "sas", "--set", "rows=4000", "--set", "workflows=2", "--dry-run")
    assert ended.returncode == 0, ended.stderr
    said = " ".join(ended.stdout.split())
    assert "rows are written (2 × 781.2 KiB)" in said and "2 workflows write about" in said
    assert not (tmp_path / "sas").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("-t", "null:1GiB"), "need a directory"),
        (("-t", "concat:a,b,c"), "one for inputs and one for work"),
        (("--set", "rows=100G", "--set", "workflows=64"), "need about"),
        (("--over", "workflows=64,128"), "from 1 to 64"),
    ],
)
def test_what_cannot_be_is_one_sentence_before_anything_is_written(
    plimsoll: Run, tmp_path: Path, words: tuple[str, ...], said: str
) -> None:
    ended = plimsoll("run", "sas-analytics", *words)
    assert ended.returncode != 0
    assert said in ended.stderr and "Traceback" not in ended.stderr
    assert not list(tmp_path.glob("*scratch*"))


def workflow_processes(folder: Path) -> list[int]:
    """Processes whose directory is below a folder."""
    found = []
    for entry in Path("/proc").iterdir():
        with suppress(OSError):
            if entry.name.isdigit() and str((entry / "cwd").readlink()).startswith(str(folder)):
                found.append(int(entry.name))
    return sorted(found)


def prepared(folder: Path | str, **stream: Any) -> tuple[Any, Any, Any]:
    """A driver whose inputs are written, its workload and options."""
    written = {"rows": 4000, "loops": 10, "memory": "48MiB", **stream}
    document = {**catalog.load("sas-analytics"), "name": "mine", "stream": [written]}
    driver: Any = driver_of(document, native())
    workload = driver.check_workload(document, "mine.toml")
    driver = driver_of(workload, native())
    driver.prepare_target(Target(str(folder)), None, None, lambda *_: None, driver.control())
    return driver, workload, driver.check_job({"duration": "1h", "warmup": "0s"})


def carried_out(folder: Path | str, harm: Callable[[dict[str, str]], None] = lambda _: None, **stream: Any) -> dict[str, Any]:
    """The outcome of a point; ``harm`` hears with every interval which workflow is in which step."""
    with holding():
        driver, workload, options = prepared(folder, **stream)
        options = {**options, "interval": 0.02}

        def hear(kind: str, event: Any) -> None:
            if kind == "interval":
                harm(event["steps"])

        job = {"workload": workload, "job": options, "target": Target(str(folder)), "permission": None}
        return dict(driver.run_job(job, hear, driver.control()))


def test_a_workflow_that_is_killed_is_reported_failed_and_the_others_go_on(tmp_path: Path) -> None:
    killed: list[int] = []

    def harm(steps: dict[str, str]) -> None:
        # Its loops take an hour: it is in that step until it is killed; then the others' may end.
        if not killed and steps.get("2") == "iterate":
            (pid,) = workflow_processes(tmp_path / "sas" / "work" / "2")
            os.kill(pid, signal.SIGKILL)
            killed.append(pid)

    outcome = carried_out(tmp_path / "sas", harm, workflows=3, loops=1100)
    one, two, three = outcome["analytics"]["workflows"]
    assert (one["status"], two["status"], three["status"]) == ("complete", "failed", "complete")
    assert two["failure"].startswith("its process was killed by SIGKILL in step iterate")
    assert [step["name"] for step in two["steps"]] == ["data-step", "iterate"]
    assert (two["steps"][-1]["check"], two["check"]) == (None, "ok")
    assert outcome["analytics"]["failed"] == 1
    assert outcome["stopped_by"] == "amount"
    assert not list((tmp_path / "sas" / "work").iterdir())


def test_an_input_that_cannot_be_read_fails_its_workflow_alone(tmp_path: Path) -> None:
    with holding():
        driver, workload, options = prepared(tmp_path / "sas", workflows=2)
        (tmp_path / "sas" / "input" / "2.rows").unlink()
        (tmp_path / "sas" / "input" / "2.rows").mkdir()
        job = {"workload": workload, "job": options, "target": Target(str(tmp_path / "sas")), "permission": None}
        outcome = driver.run_job(job, lambda *_: None, driver.control())
    one, two = outcome["analytics"]["workflows"]
    assert (one["status"], two["status"]) == ("complete", "failed")
    assert "2.rows: cannot read it (is a directory)" in two["failure"]
    assert outcome["first_error"] is None


def test_rows_that_changed_after_they_were_written_are_wrong_data(tmp_path: Path) -> None:
    with holding():
        driver, workload, options = prepared(tmp_path / "sas", workflows=2)
        path = tmp_path / "sas" / "input" / "1.rows"
        bytes_ = bytearray(path.read_bytes())
        bytes_[100_000] ^= 1
        path.write_bytes(bytes_)
        job = {"workload": workload, "job": options, "target": Target(str(tmp_path / "sas")), "permission": None}
        outcome = driver.run_job(job, lambda *_: None, driver.control())
    said = found_in.wrong_rows(outcome)
    # Byte 100,000 is of row 501.
    assert said is not None
    assert said.startswith("wrong data was read by 1 of 2 workflows; workflow 1: ")
    assert said.endswith("1.rows: row 501 does not have its checksum.")
    assert outcome["analytics"]["wrong_data"] == 1


@contextmanager
def small_disk(at: Path, size: int) -> Iterator[Path]:
    """A file system of its own on a loop device."""
    if os.geteuid() != 0:
        pytest.skip("skipped: loop devices need root")
    image = at / "disk"
    with image.open("wb") as file:
        file.truncate(size)
    with attached(image) as device:
        mount = at / "mnt"
        mount.mkdir()
        made = subprocess.run(["mkfs.ext4", "-q", device], capture_output=True, check=False)
        if made.returncode:
            pytest.skip("skipped: no ext4 can be made here")
        subprocess.run(["mount", device, str(mount)], check=True)
        try:
            yield mount
        finally:
            subprocess.run(["umount", str(mount)], check=True)


def test_a_disk_that_is_full_fails_the_workflows_that_meet_it_with_a_sentence_and_leaves_no_work(tmp_path: Path) -> None:
    with small_disk(tmp_path, 64 << 20) as disk, holding():
        driver, workload, options = prepared(disk / "sas", workflows=2, rows=20_000)
        # Room for the rows of one step, and not for the next.
        free = os.statvfs(disk).f_bavail * os.statvfs(disk).f_frsize
        with (disk / "other").open("wb") as file:
            os.posix_fallocate(file.fileno(), 0, free - (10 << 20))
        job = {"workload": workload, "job": options, "target": Target(str(disk / "sas")), "permission": None}
        outcome = driver.run_job(job, lambda *_: None, driver.control())
        failed = found_in.failed(outcome)
        assert failed
        assert all("no space left on device); make room, or ask for fewer rows." in one["failure"] for one in failed)
        assert not list((disk / "sas" / "work").iterdir())


def test_what_a_killed_run_left_of_its_work_is_removed_by_the_next_command_and_nothing_else(tmp_path: Path) -> None:
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    words = [
        "run",
        "sas-analytics",
        "-t",
        "sas",
        "--set",
        "rows=4000",
        "--set",
        "loops=90000",
        "--set",
        "memory=48MiB",
        "--set",
        "workflows=2",
    ]
    work = tmp_path / "sas" / "work"
    run = subprocess.Popen([COMMAND, *words], cwd=tmp_path, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_until(lambda: (work / "1" / "a.rows").exists() and (work / "2" / "a.rows").exists(), "both have begun")
        (tmp_path / "sas" / "mine.txt").write_text("not Plimsoll's")
        processes = workflow_processes(work)
        assert len(processes) == 2
    finally:
        run.kill()
        run.wait()
    wait_until(lambda: not any(Path(f"/proc/{pid}/cwd").exists() for pid in processes), "their processes ended with it")
    assert (work / "1" / "a.rows").exists()
    following = subprocess.run(
        [COMMAND, "list"], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False, timeout=HANGS_S
    )
    assert "that workflows of a killed run had left in" in following.stderr
    assert not list(work.iterdir())
    assert (tmp_path / "sas" / "mine.txt").read_text() == "not Plimsoll's"
    assert (tmp_path / "sas" / "input" / "1.rows").exists()


def test_a_run_that_is_stopped_kills_its_workflows_and_keeps_what_they_did(tmp_path: Path) -> None:
    with holding():
        driver, workload, options = prepared(tmp_path / "sas", workflows=2, loops=90_000)
        options, control = {**options, "interval": 0.05}, driver.control()

        def hear(kind: str, event: Any) -> None:
            if kind == "interval" and set(event["steps"].values()) == {"iterate"} and len(event["steps"]) == 2:
                threading.Thread(target=control.stop).start()

        job = {"workload": workload, "job": options, "target": Target(str(tmp_path / "sas")), "permission": None}
        outcome = driver.run_job(job, hear, control)
    assert outcome["stopped_by"] == "signal"
    assert [(one["status"], len(one["steps"])) for one in outcome["analytics"]["workflows"]] == [("stopped", 2)] * 2
    assert outcome["analytics"]["failed"] == 0
    assert outcome["analytics"]["whole"] is False
    assert not workflow_processes(tmp_path / "sas")
