"""A file copy as a driver: it copies, records what it did, obeys the brake, and harms nothing."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from plimsoll import apps, catalog
from plimsoll.apps import copy_loop
from plimsoll.apps.copy_loop import Copier, Task
from plimsoll.apps.destination import destination, marker_of
from plimsoll.apps.recorder import Cell, Recorder, Slice
from plimsoll.errors import InputError, TargetError
from plimsoll.measure import Job, measure
from plimsoll.scratch import Hearer, Wanted, prepared
from plimsoll.target import Target
from support.scripted_engine import ScriptedEngine

BLOCK = 4096
MS = 1_000_000


class Ticking:
    """A clock that goes on by a step at each look."""

    def __init__(self, step_ns: int = MS) -> None:
        self.step_ns = step_ns
        self.now_ns = 0

    def __call__(self) -> int:
        self.now_ns += self.step_ns
        return self.now_ns


@dataclass
class Kept:
    intervals: list[dict[str, Any]] = field(default_factory=list)

    def interval(self, interval: dict[str, Any]) -> None:
        self.intervals.append(interval)

    def monitor(self, sample: dict[str, Any]) -> None:
        pass


class Brake:
    stopped = False

    def stop(self) -> None:
        self.stopped = True

    abort = stop


@dataclass
class Way:
    """What a copy needs of the course of its job."""

    recorder: Recorder
    hand_over: Callable[[Slice], None]
    brake: Any

    @property
    def stopped(self) -> bool:
        return bool(self.brake.stopped)


def by_op(measured: Slice) -> dict[str, Cell]:
    """The cells of an interval of a copy, which has one stream."""
    assert {stream for stream, _ in measured.cells} <= {"copy"}
    return {op: cell for (_, op), cell in measured.cells.items()}


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "source.dat"
    path.write_bytes(os.urandom(10 * BLOCK + 100))
    return path


def copied(source: Path, brake: Any = None, **how: Any) -> tuple[Copier, list[Slice], bytes]:
    """Copy by the clock that ticks; what became of it, the slices, and the bytes of the copy."""
    task = {"size_bytes": source.stat().st_size, "block_bytes": BLOCK, "passes": 1, "warmup_ns": 0, "duration_ns": 10**12, **how}
    slices: list[Slice] = []
    file = os.open(source, os.O_RDONLY)
    with destination(str(source), source.stat().st_size, direct=False) as copy:
        recorder = Recorder(Ticking(), "warmup" if task["warmup_ns"] else "measure")
        copier = Copier(Task(file, copy.file, **task), "copy", Way(recorder, slices.append, brake or Brake()))
        copier.run()
        content = Path(copy.path).read_bytes()
    os.close(file)
    return copier, slices, content


def definition(engine: ScriptedEngine, **stream: Any) -> dict[str, Any]:
    return apps.check_workload({"driver": "filecopy", "title": "Copy", "stream": [stream]}, "copy.toml", engine)


def job(engine: ScriptedEngine, target: Path | str, stream: dict[str, Any] | None = None, **options: Any) -> Job:
    timing = {"duration": 3600, "warmup": 0, **options}
    return Job(
        "0001-copy", definition(engine, **(stream or {"passes": 2, "block_size": BLOCK})), engine.check_job(timing), Target(str(target)), {}
    )


def test_the_copy_holds_the_bytes_of_the_source_also_those_after_the_last_block(source: Path) -> None:
    copier, _, content = copied(source)
    assert content == source.read_bytes()
    assert (copier.ending.stopped_by, copier.ending.passes, copier.ending.first_error) == ("amount", 1, None)


def test_every_pass_writes_the_whole_file_and_is_flushed(source: Path) -> None:
    _, (measured,), content = copied(source, passes=3)
    assert {op: cell.latency.count for op, cell in by_op(measured).items()} == {"read": 30, "write": 30, "flush": 3}
    assert by_op(measured)["write"].bytes == 30 * BLOCK and by_op(measured)["flush"].bytes == 0
    assert content == source.read_bytes()


def test_the_time_under_way_is_shared_out_over_the_intervals(source: Path) -> None:
    # Each call lasts one step of the clock and each gap between two calls another.
    _, (measured,), _ = copied(source)
    assert measured.busy_ns == 21 * MS
    assert measured.end_ns - measured.start_ns == 43 * MS


def test_the_measured_time_ends_between_two_calls_and_an_unfinished_pass_is_flushed_in_the_drain(source: Path) -> None:
    copier, (measured, drain), _ = copied(source, passes=0, duration_ns=11 * MS)
    # Calls complete at 2, 4, 6 … ms: the sixth is the first at or after 11 ms.
    assert sum(cell.latency.count for cell in measured.cells.values()) == 6
    assert (measured.phase, drain.phase, list(by_op(drain))) == ("measure", "drain", ["flush"])
    assert copier.ending.stopped_by == "duration"


def test_the_warm_up_ends_between_two_calls(source: Path) -> None:
    _, (warmup, measured, _), _ = copied(source, passes=0, warmup_ns=8 * MS, duration_ns=10 * MS)
    assert (warmup.phase, measured.phase) == ("warmup", "measure")
    assert sum(cell.latency.count for cell in warmup.cells.values()) == 4
    assert measured.start_ns == warmup.end_ns


def test_the_warm_up_before_whole_passes_is_whole_passes(source: Path) -> None:
    _, (warmup, measured), _ = copied(source, passes=2, warmup_ns=50 * MS)
    assert {op: cell.latency.count for op, cell in by_op(warmup).items()} == {"read": 20, "write": 20, "flush": 2}
    assert {op: cell.latency.count for op, cell in by_op(measured).items()} == {"read": 20, "write": 20, "flush": 2}


def test_a_pulled_brake_ends_the_copy_without_a_flush(source: Path) -> None:
    brake = Brake()
    brake.stop()
    copier, slices, _ = copied(source, brake, passes=0)
    assert copier.ending.stopped_by == "signal"
    assert [list(by_op(part)) for part in slices] == [["read", "write"]]
    assert sum(cell.latency.count for cell in slices[0].cells.values()) == 2


def test_a_full_disk_ends_the_copy_with_a_sentence(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(copy_loop.os, "pwritev", full)
    copier, (measured,), _ = copied(source)
    assert copier.ending.stopped_by == "error"
    assert by_op(measured)["write"].errors == {"ENOSPC": 1} and by_op(measured)["read"].latency.count == 1
    failure = copy_loop.first_error(copier.ending)
    assert failure is not None
    assert failure["message"] == "write at byte 0 of the copy failed with ENOSPC (No space left on device)."


def test_a_source_that_shrinks_meanwhile_is_told(source: Path) -> None:
    copier, _, _ = copied(source, size_bytes=20 * BLOCK)
    failure = copy_loop.first_error(copier.ending)
    assert failure is not None and failure["errno"] == "SHORT"


def halved(call: Any) -> Any:
    """A transfer that moves half of what it is asked for."""

    def half(file: int, buffers: list[memoryview], offset: int) -> int:
        return int(call(file, [buffers[0][: max(1, len(buffers[0]) // 2)]], offset))

    return half


@pytest.mark.parametrize("op", ["preadv", "pwritev"])
def test_what_a_short_transfer_left_is_asked_for_again_and_counted(source: Path, monkeypatch: pytest.MonkeyPatch, op: str) -> None:
    monkeypatch.setattr(copy_loop.os, op, halved(getattr(os, op)))
    copier, (measured,), content = copied(source)
    assert content == source.read_bytes(), "the bytes after the last block as well"
    # 4096 bytes in halves of what is left: 2048, 1024, …, 2, 1, 1.
    assert copier.ending.short == 10 * 12
    assert by_op(measured)[{"preadv": "read", "pwritev": "write"}[op]].latency.count == 10 * 13


def test_the_remainder_of_a_direct_transfer_that_is_not_aligned_fails_the_copy(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copy_loop.os, "preadv", lambda file, buffers, offset: 100)
    monkeypatch.setattr(copy_loop.fcntl, "fcntl", lambda *_: os.O_DIRECT)
    copier, _, _ = copied(source)
    failure = copy_loop.first_error(copier.ending)
    assert failure is not None
    assert failure["message"] == "read at byte 0 of the copy transferred less than was asked for; is the file shorter than it was?"


def test_a_source_that_ends_within_its_last_bytes_is_told(source: Path) -> None:
    copier, _, _ = copied(source, size_bytes=10 * BLOCK + 200)
    assert copier.ending.first_error == ("read", 10 * BLOCK + 100, 0)


def test_a_copy_that_something_cut_short_is_told(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def cut(file: int, buffers: list[memoryview], offset: int) -> int:
        written = os.pwrite(file, buffers[0], offset)
        os.ftruncate(file, 7)
        return written

    monkeypatch.setattr(copy_loop.os, "pwritev", cut)
    copier, _, _ = copied(source)
    assert copier.ending.first_error == ("write", 7, 0)


def test_a_copy_that_cannot_be_removed_keeps_its_marker_and_is_told(here: Path, source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def read_only(*_: Any) -> None:
        raise OSError(30, "Read-only file system")

    driver, path = apps.FileCopy(ScriptedEngine()), f"{source}.copy"
    left: list[str] = []
    hearer = Hearer(lambda done, total: None, on_left=left.append)
    with monkeypatch.context() as patched:
        with prepared(driver, Wanted(Target(str(source))), hearer, driver.control()), destination(str(source), 1, direct=False):
            patched.setattr(os, "unlink", read_only)
        assert left == [
            f"{path} was made for this run and is left behind: it cannot be deleted (read-only file system); delete it yourself."
        ]
        assert os.path.exists(path) and os.path.exists(marker_of(path))
    driver.clear_target(str(source))
    assert not os.path.exists(path) and not os.path.exists(marker_of(path))


def test_what_somebody_put_in_place_of_the_copy_is_not_removed(source: Path) -> None:
    with destination(str(source), 1, direct=False) as copy:
        os.unlink(copy.path)
        Path(copy.path).write_text("precious")
    assert Path(copy.path).read_text() == "precious"


def test_nothing_is_left_behind(source: Path) -> None:
    copied(source)
    assert [path.name for path in source.parent.iterdir()] == ["source.dat"]


def test_a_file_that_has_the_name_of_the_copy_is_not_touched(source: Path) -> None:
    precious = Path(f"{source}.copy")
    precious.write_text("precious")
    with pytest.raises(TargetError, match="Plimsoll did not make it"):
        copied(source)
    assert precious.read_text() == "precious"


def killed_copy(source: Path) -> Path:
    """A copy whose process was killed: its files are there, its lock is not."""
    child = os.fork()
    if child == 0:
        manager = destination(str(source), 1, direct=False)
        manager.__enter__()
        os._exit(0)
    os.waitpid(child, 0)
    left = Path(f"{source}.copy")
    assert left.exists() and os.path.exists(marker_of(str(left)))
    return left


def test_what_a_killed_copy_left_is_removed_by_the_next(source: Path) -> None:
    killed_copy(source)
    _, _, content = copied(source)
    assert content == source.read_bytes()
    assert [path.name for path in source.parent.iterdir()] == ["source.dat"]


def test_what_a_killed_copy_left_makes_room_for_the_next_target(here: Path, source: Path) -> None:
    left = killed_copy(source)
    engine = ScriptedEngine()
    apps.FileCopy(engine).prepare_target(Target(str(source)), None, None, lambda done, total: None, engine.control())
    assert not left.exists() and source.exists()


def test_what_a_killed_copy_left_goes_with_its_source(here: Path, source: Path) -> None:
    left = killed_copy(source)
    assert apps.FileCopy(ScriptedEngine()).remove_target(Target(str(source))) == [str(left), str(source)]
    assert not left.exists()


def test_a_file_of_somebody_else_does_not_go_with_the_source(here: Path, source: Path) -> None:
    precious = Path(f"{source}.copy")
    precious.write_text("precious")
    assert apps.FileCopy(ScriptedEngine()).remove_target(Target(str(source))) == [str(source)]
    assert precious.read_text() == "precious"


def test_a_copy_in_use_is_left_alone(source: Path) -> None:
    with destination(str(source), 1, direct=False) as first, pytest.raises(TargetError, match="another Plimsoll"):
        copied(source)
    assert not os.path.exists(first.path)


def test_a_marker_of_another_file_proves_nothing(source: Path) -> None:
    path = f"{source}.copy"
    Path(path).write_text("mine")
    Path(marker_of(path)).write_text(json.dumps({"schema": "plimsoll.copy/1", "device": 0, "inode": 1}))
    with pytest.raises(TargetError, match="did not make it"):
        copied(source)


def test_a_copy_that_does_not_fit_is_refused_before_it_begins(source: Path) -> None:
    with pytest.raises(TargetError, match="make room"), destination(str(source), 1 << 60, direct=False):
        pass
    assert not os.path.exists(f"{source}.copy")


def test_a_job_is_measured_like_any_other(here: Path, source: Path) -> None:
    engine, sink = ScriptedEngine(), Kept()
    asked = job(engine, source)
    result = measure(asked, apps.driver_of(asked.workload, engine), sink, engine.control())
    assert (result.status, result.error) == ("complete", None)
    assert {op: total.count for op, total in result.totals.items()} == {"read": 20, "write": 20, "flush": 2}
    assert result.totals["write"].bytes == 20 * BLOCK
    assert (result.job.threads, result.job.queue_depth) == (1, 1)
    assert result.engine["backend"]["used"] == "filecopy" and result.engine["engine"]["facts"]["passes"] == "2"
    assert {interval["phase"] for interval in sink.intervals} == {"measure"}
    assert [interval["index"] for interval in sink.intervals] == list(range(len(sink.intervals)))
    assert json.loads(json.dumps(sink.intervals)) == sink.intervals


def test_little_s_law_holds_for_a_copy(here: Path, source: Path) -> None:
    engine, sink = ScriptedEngine(), Kept()
    result = measure(job(engine, source), apps.FileCopy(engine), sink, engine.control())
    assert not {"littles_law", "bandwidth_identity"} & {flag.name for flag in result.flags}


def test_a_copy_that_cannot_be_made_is_a_failed_point(here: Path, source: Path) -> None:
    Path(f"{source}.copy").write_text("precious")
    engine = ScriptedEngine()
    result = measure(job(engine, source), apps.FileCopy(engine), Kept(), engine.control())
    assert result.status == "failed" and "not overwritten" in str(result.error)


def test_a_stopped_job_is_interrupted(here: Path, source: Path) -> None:
    engine = ScriptedEngine()
    control = engine.control()
    control.stop()
    result = measure(job(engine, source), apps.FileCopy(engine), Kept(), control)
    assert result.status == "interrupted"


@pytest.mark.parametrize("target", ["null:", "queue:?service=const:1ms"])
def test_only_files_are_copied(here: Path, target: str) -> None:
    engine = ScriptedEngine()
    with pytest.raises(InputError, match="needs a file as its target"):
        measure(job(engine, target), apps.FileCopy(engine), Kept(), engine.control())


def test_a_file_without_one_whole_block_is_refused(here: Path, tmp_path: Path) -> None:
    small = tmp_path / "small.dat"
    small.write_bytes(b"x" * 100)
    engine = ScriptedEngine()
    with pytest.raises(InputError, match="do not fill one block"):
        measure(job(engine, small), apps.FileCopy(engine), Kept(), engine.control())


def test_direct_blocks_must_be_whole_sectors(here: Path, source: Path) -> None:
    engine = ScriptedEngine()
    with pytest.raises(InputError, match="no multiple of the 512"):
        measure(job(engine, source, {"block_size": 1000, "direct": True}), apps.FileCopy(engine), Kept(), engine.control())


def test_the_shipped_copy_has_the_blocks_of_cp(here: Path) -> None:
    engine = ScriptedEngine()
    canonical = apps.check_workload(catalog.document("file-copy"), "file-copy.toml", engine)
    (stream,) = canonical["stream"]
    assert (canonical["driver"], stream["block_size"], stream["direct"], stream["passes"]) == ("filecopy", 128 << 10, False, 0)


def test_a_canonical_definition_is_its_own_canonical_form(here: Path) -> None:
    engine = ScriptedEngine()
    canonical = definition(engine, passes=3)
    assert apps.check_workload(canonical, "again", engine) == canonical


@pytest.mark.parametrize(
    ("key", "value", "found"),
    [("passes", "2", ("passes", 2)), ("copy.block_size", "1MiB", ("block_size", 1 << 20)), ("direct", True, ("direct", True))],
)
def test_options_of_a_copy_can_be_set(here: Path, key: str, value: Any, found: tuple[str, Any]) -> None:
    engine = ScriptedEngine()
    changed, options = apps.FileCopy(engine).set_option(definition(engine), engine.check_job({}), key, value)
    assert changed["stream"][0][found[0]] == found[1] and changed["driver"] == "filecopy"
    assert options == engine.check_job({})


def test_options_of_a_job_can_be_set(here: Path) -> None:
    engine = ScriptedEngine()
    before = definition(engine, passes=2)
    changed, options = apps.FileCopy(engine).set_option(before, engine.check_job({}), "duration", "7s")
    assert (changed, options["duration"]) == (before, 7)


@pytest.mark.parametrize(("key", "value"), [("queue_depth", 8), ("read_percent", 50), ("copy.threads", 2)])
def test_options_of_block_i_o_are_refused(here: Path, key: str, value: Any) -> None:
    engine = ScriptedEngine()
    with pytest.raises(InputError, match="a file copy has no such option"):
        apps.FileCopy(engine).set_option(definition(engine), engine.check_job({}), key, value)


@pytest.mark.parametrize("value", ["-1", "x", True, 1.5, "10000000"])
def test_passes_are_a_whole_number(here: Path, value: Any) -> None:
    engine = ScriptedEngine()
    with pytest.raises(InputError, match=r"passes is .* whole number"):
        apps.FileCopy(engine).set_option(definition(engine), engine.check_job({}), "passes", value)


@pytest.mark.parametrize(
    ("document", "sentence"),
    [
        ({"driver": "filecopy", "stream": [{}, {}]}, r"x.toml: a file copy has one stream"),
        ({"driver": "filecopy", "stream": [{"threads": 2}]}, r"x.toml: stream: a file copy has no option 'threads'"),
        ({"driver": "filecop"}, r"x.toml: driver 'filecop' is unknown; did you mean 'filecopy'\?"),
        ({"driver": "filecopy", "stream": [{"block_size": "8KB"}]}, "x.toml"),
    ],
)
def test_a_wrong_workload_gets_one_sentence(here: Path, document: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        apps.check_workload(document, "x.toml", ScriptedEngine())


def test_a_workload_without_a_driver_is_the_engine_s(here: Path) -> None:
    engine = ScriptedEngine()
    assert apps.driver_of({"stream": []}, engine) is engine
    assert apps.check_workload({"stream": [{}]}, "x.toml", engine)["name"] == "x"
