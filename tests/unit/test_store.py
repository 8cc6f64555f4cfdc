"""The store: layout, atomicity, torn lines, unknown schemas, a full disk."""

from __future__ import annotations

import errno
import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from plimsoll.errors import InputError, StoreError
from plimsoll.measure import Job, measure, unfinished
from plimsoll.result import Result
from plimsoll.store.reader import DamagedRun, StoredRun, list_runs, open_run
from plimsoll.store.writer import RunInfo, RunWriter
from plimsoll.target import Target
from support.scripted_engine import Script, ScriptedEngine, interval

INFO = RunInfo("small", ["plimsoll", "run", "small"], 1, host={"machine": {"name": "here"}}, versions={"plimsoll": "0"})


def job(identity: str = "0001-small") -> Job:
    engine = ScriptedEngine()
    workload = engine.check_workload({"stream": [{"name": "main"}]}, "small.toml")
    return Job(identity, workload, engine.check_job({"duration": 1, "warmup": 0.2}), Target("file:/x"), {"target": {}})


def store_point(run: RunWriter, script: Script | None = None) -> Result:
    """One point from its beginning to its end."""
    one, engine = job(run.next_point_id("small")), ScriptedEngine(script or Script())
    with run.begin_point(unfinished(one)) as point:
        result = measure(one, engine, point, engine.control())
        point.finish(result)
    return result


def abandoned(tmp_path: Path) -> Path:
    """A run whose process ended in the middle of its second point, five intervals in."""
    run = RunWriter.create(str(tmp_path), INFO)
    store_point(run)
    point = run.begin_point(unfinished(job(run.next_point_id("small"))))
    for index in range(5):
        point.interval(interval(Script(warmup_intervals=1), index, ["main"]))
    meta = json.loads(Path(run.path, "run.json").read_text())
    meta["process"]["pid"] = 2**22 + 1
    Path(run.path, "run.json").write_text(json.dumps(meta))
    return Path(run.path)


def test_a_run_reads_back_as_it_was_written(here: Path) -> None:
    run = RunWriter.create("results", INFO)
    result = store_point(run)
    run.finish("complete")
    stored = open_run(run.path)
    assert stored.status == "complete"
    assert [point.id for point in stored.points] == ["0001-small"]
    assert stored.points[0].result == result
    intervals = stored.points[0].intervals()
    assert len(list(intervals)) == len(list(intervals)) == 12, "they can be gone through again"
    assert len(list(stored.points[0].monitor())) == 12
    assert sorted(os.listdir(stored.points[0].path)) == ["intervals.jsonl", "job.json", "monitor.jsonl", "result.json"]


def test_points_are_in_their_order_also_beyond_9999(here: Path) -> None:
    # As text, 10000 stands before 9999.
    run = RunWriter.create("results", INFO)
    run = RunWriter(run.path, {}, points=9_997)
    for _ in range(4):
        run.begin_point(unfinished(job(run.next_point_id("small"))))
    assert [point.id for point in open_run(run.path).points] == ["9998-small", "9999-small", "10000-small", "10001-small"]


def test_runs_of_the_same_second_have_different_names(here: Path) -> None:
    names = {RunWriter.create("results", INFO).path for _ in range(5)}
    assert len(names) == 5
    assert len(list_runs("results")) == 5


def test_a_run_is_found_by_path_and_by_name(here: Path) -> None:
    run = RunWriter.create("results", INFO)
    name = os.path.basename(run.path)
    assert open_run(name).path == os.path.join("results", name)
    assert open_run(os.path.abspath(run.path)).name == name


def test_an_unknown_run_is_answered_with_the_nearest(here: Path) -> None:
    with pytest.raises(InputError, match="there is no run in 'results' yet"):
        open_run("x")
    run = RunWriter.create("results", INFO)
    with pytest.raises(InputError, match=f"did you mean '{os.path.basename(run.path)}'"):
        open_run(f"{os.path.basename(run.path)[:-2]}xx")


def test_a_run_that_goes_on_is_running_and_its_points_can_be_read(here: Path) -> None:
    run = RunWriter.create("results", INFO)
    store_point(run)
    stored = open_run(run.path)
    assert stored.status == "running"
    assert stored.points[0].result.status == "complete"


def test_an_abandoned_run_is_incomplete_and_shows_what_was_measured(here: Path) -> None:
    stored = open_run(str(abandoned(here)))
    assert stored.status == "incomplete"
    finished, cut = (point.result for point in stored.points)
    assert finished.status == "complete"
    assert cut.status == "incomplete"
    # Five intervals of 0.1 s with 100 requests each, the first of them warm-up.
    assert cut.totals["read"].count == 400
    assert cut.totals["read"].iops == pytest.approx(1000.0)
    assert cut.flags[0].name == "incomplete"
    assert cut.job.workload == "small"


@pytest.mark.parametrize("kept", [1, 10, -1])
def test_a_torn_last_line_is_left_out_and_noted(here: Path, kept: int) -> None:
    path = abandoned(here)
    lines = path / "points" / "0002-small" / "intervals.jsonl"
    text = lines.read_text()
    last = text.rstrip("\n").rindex("\n") + 1
    lines.write_text(text[:last] + text[last:][:kept])
    point = open_run(str(path)).points[1]
    assert point.result.totals["read"].count == 300
    assert point.notes == [f"{lines}, line 5: the process ended while writing it, so it is left out."]


def test_a_damaged_line_in_the_middle_is_an_error_not_a_loss(here: Path) -> None:
    path = abandoned(here)
    lines = path / "points" / "0002-small" / "intervals.jsonl"
    lines.write_text("{}}\n" + lines.read_text())
    with pytest.raises(StoreError, match=r"intervals.jsonl, line 1: not JSON"):
        open_run(str(path)).points[1].result  # noqa: B018


def test_leftovers_of_a_killed_process_are_not_runs_or_points(here: Path) -> None:
    run = RunWriter.create("results", INFO)
    Path("results/.2026_x.1.part/points").mkdir(parents=True)
    Path(run.path, "points", ".0001-small.part").mkdir()
    assert len(list_runs("results")) == 1
    assert open_run(run.path).points == []


def test_a_run_of_a_newer_schema_is_listed_with_the_reason(here: Path) -> None:
    run = RunWriter.create("results", INFO)
    file = Path(run.path, "run.json")
    file.write_text(file.read_text().replace("plimsoll.run/1", "plimsoll.run/2"))
    (only,) = list_runs("results")
    assert isinstance(only, DamagedRun) and "a newer Plimsoll wrote it" in str(only.problem)


def test_a_reused_process_id_does_not_keep_a_run_alive(here: Path) -> None:
    run = RunWriter.create("results", INFO)
    file = Path(run.path, "run.json")
    meta = json.loads(file.read_text())
    meta["process"]["start_ticks"] -= 1
    file.write_text(json.dumps(meta))
    assert open_run(run.path).status == "incomplete"


def test_a_run_of_an_earlier_boot_is_not_alive(here: Path) -> None:
    run = RunWriter.create("results", INFO)
    file = Path(run.path, "run.json")
    meta = json.loads(file.read_text())
    meta["process"]["boot_id"] = "another"
    file.write_text(json.dumps(meta))
    assert open_run(run.path).status == "incomplete"


class FullDisk:
    """`os.write` on a disk with ``room`` bytes left."""

    def __init__(self, room: int) -> None:
        self.room = room
        self.real = os.write

    def write(self, file: int, content: bytes) -> int:
        if self.room <= 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        fitting = content[: self.room]
        self.room -= len(fitting)
        return self.real(file, fitting)


@pytest.mark.parametrize("room", [0, 1, 100, 2000])
def test_a_full_disk_is_one_sentence_and_spoils_nothing(here: Path, monkeypatch: pytest.MonkeyPatch, room: int) -> None:
    run = RunWriter.create("results", INFO)
    earlier = store_point(run)
    with monkeypatch.context() as patched:
        one, engine = job(run.next_point_id("small")), ScriptedEngine()
        point = run.begin_point(unfinished(one))
        patched.setattr(os, "write", FullDisk(room).write)
        with pytest.raises(StoreError, match=r"no space left on device\); free some space .* earlier results are intact"):
            measure(one, engine, point, engine.control())
        assert engine.last_control.aborted
        point.close()
    stored = open_run(run.path)
    assert stored.points[0].result == earlier
    assert stored.points[1].result.status == "incomplete"
    assert stored.points[1].notes == [], "a line that did not fit is taken back whole"


def test_no_temporary_file_stays_when_a_final_file_does_not_fit(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = RunWriter.create("results", INFO)
    one, engine = job(run.next_point_id("small")), ScriptedEngine()
    with run.begin_point(unfinished(one)) as point:
        result = measure(one, engine, point, engine.control())
        with monkeypatch.context() as patched, pytest.raises(StoreError, match="cannot be written"):
            patched.setattr(os, "write", FullDisk(100).write)
            point.finish(result)
    assert not [name for _, _, names in os.walk(run.path) for name in names if name.endswith(".part")]
    assert open_run(run.path).points[0].result.totals == result.totals


def test_a_directory_that_may_not_be_written_is_one_sentence(here: Path) -> None:
    Path("results").write_text("not a directory")
    with pytest.raises(StoreError, match="results: cannot be written"):
        RunWriter.create("results", INFO)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A real file system of 64 KiB."""
    folder = tmp_path / "small"
    folder.mkdir()
    if os.geteuid() != 0:
        pytest.skip("mounting a tmpfs needs root")
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)], capture_output=True, check=False)
    if mounted.returncode:
        pytest.skip(f"mounting a tmpfs is not possible here: {mounted.stderr.decode().strip()}")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_disk_that_really_fills_up_keeps_what_was_measured_before(here: Path, small_disk: Path) -> None:
    run = RunWriter.create(str(small_disk), INFO)
    kept = 0
    with pytest.raises(StoreError, match="no space left"):
        for _ in range(50):
            store_point(run)
            kept += 1
    assert kept >= 1
    (stored,) = list_runs(str(small_disk))
    assert isinstance(stored, StoredRun)
    assert [point.result.status for point in stored.points[:kept]] == ["complete"] * kept
