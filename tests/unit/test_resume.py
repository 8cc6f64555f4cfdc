"""Resuming: the same command goes on where a killed or interrupted run stopped, and ends with the same points."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest

from plimsoll.errors import InputError
from plimsoll.store.reader import StoredRun, list_runs
from plimsoll.store.resumption import resume_run, unfinished_run
from support.said import Plimsoll
from support.scripted_engine import SCRATCH, Script, ScriptedEngine

STEPS = ("steps", "small.toml", "-t", "null:", "--over", "queue_depth=1,2,4,8", "-d", "1s", "-w", "0")


def runs(out: str = "results") -> list[StoredRun]:
    found = list_runs(out)
    assert all(isinstance(run, StoredRun) for run in found)
    return [run for run in found if isinstance(run, StoredRun)]


def stop_at(engine: ScriptedEngine, jobs: int) -> None:
    """A Ctrl-C in the middle of the ``jobs``-th point."""

    def pull(index: int) -> None:
        if len(engine.jobs) == jobs and index == 5:
            os.kill(os.getpid(), signal.SIGINT)
            while not engine.last_control.stopped:
                pass

    engine.scripts = [Script(on_interval=pull)]


def interrupted(plimsoll: Plimsoll, engine: ScriptedEngine, *words: str, at: int = 3) -> StoredRun:
    stop_at(engine, at)
    assert plimsoll(*(words or STEPS)).code == 130
    engine.scripts = [Script()]
    return runs()[-1]


def abandon(run: StoredRun) -> None:
    """Make it look as if its process had been killed in the last point."""
    path = Path(run.path, "run.json")
    meta = json.loads(path.read_text())
    meta.update(status="running", finished=None)
    meta["process"]["pid"] = 2**22 + 1
    path.write_text(json.dumps(meta))
    Path(run.points[-1].path, "result.json").unlink()


def points(run: StoredRun) -> list[tuple[str, str]]:
    return [(point.result.place["key"].split(" / ")[4], point.result.status) for point in run.points]


def test_the_same_command_goes_on_after_an_interruption(plimsoll: Plimsoll, engine: ScriptedEngine) -> None:
    run = interrupted(plimsoll, engine)
    assert run.status == "interrupted" and len(run.points) == 3
    said = plimsoll(*STEPS)
    assert said.code == 0
    assert said.err.splitlines()[1] == f"resuming {run.path}: 2 points are there (--fresh starts anew)"
    (only,) = runs()
    assert only.status == "complete"
    assert points(only) == [(f"queue_depth={level}", "complete") for level in (1, 2, 4, 8)]
    # Two before the stop, the one that was cut, then the two that were missing.
    assert [job["workload"]["stream"][0]["queue_depth"] for job in engine.jobs] == [1, 2, 4, 4, 8]
    assert "queue_depth 1 " in said.out and "[3/4] small" in said.err


def test_a_killed_run_goes_on_and_its_torn_point_is_kept_aside(plimsoll: Plimsoll, engine: ScriptedEngine) -> None:
    run = interrupted(plimsoll, engine)
    abandon(run)
    assert runs()[0].status == "incomplete"
    assert plimsoll(*STEPS).code == 0
    (only,) = runs()
    assert [status for _, status in points(only)] == ["complete"] * 4
    assert [point.id for point in only.points] == ["0001-small", "0002-small", "0003-small", "0004-small"]
    torn = Path(only.path, "superseded", "0003-small")
    assert sorted(path.name for path in torn.iterdir()) == ["intervals.jsonl", "job.json", "monitor.jsonl"]
    assert len(only.meta["resumed"]) == 1


def test_a_point_can_be_torn_more_than_once(plimsoll: Plimsoll, engine: ScriptedEngine) -> None:
    interrupted(plimsoll, engine)
    stop_at(engine, 4)
    assert plimsoll(*STEPS).code == 130
    engine.scripts = [Script()]
    assert plimsoll(*STEPS).code == 0
    (only,) = runs()
    assert sorted(os.listdir(os.path.join(only.path, "superseded"))) == ["0003-small", "0003-small-2"]
    assert len(only.points) == 4


def test_failed_points_are_not_measured_again(plimsoll: Plimsoll, engine: ScriptedEngine) -> None:
    from plimsoll.errors import TargetError

    def pull(index: int) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        while not engine.last_control.stopped:
            pass

    engine.scripts = [Script(raises=TargetError("gone."), raises_at=2), Script(on_interval=pull)]
    assert plimsoll(*STEPS).code == 130
    engine.scripts = [Script()]
    said = plimsoll(*STEPS)
    assert said.code == 4
    assert [status for _, status in points(runs()[0])] == ["failed", "complete", "complete", "complete"]
    assert "1 point is there" in said.err


def test_planners_are_fed_what_is_stored(plimsoll: Plimsoll, engine: ScriptedEngine) -> None:
    words = ("ramp", "small.toml", "-t", "null:", "--over", "queue_depth=1..64", "--objective", "read mean <= 1ms", "--json")
    whole = plimsoll(*words, "--fresh").json
    measured = len(engine.jobs)
    run = interrupted(plimsoll, engine, *words, at=measured + 3)
    said = plimsoll(*words)
    assert said.code == 0
    assert said.json["conclusions"] == whole["conclusions"]
    assert [result["place"] for result in said.json["results"]] == [result["place"] for result in whole["results"]]
    assert len(engine.jobs) == 2 * measured + 1
    assert runs()[-1].path == run.path


def test_what_has_come_to_its_end_since_does_not_go_on_where_an_older_run_stopped(plimsoll: Plimsoll, engine: ScriptedEngine) -> None:
    older = interrupted(plimsoll, engine)
    assert plimsoll(*STEPS, "--fresh").code == 0
    assert plimsoll(*STEPS).code == 0
    assert [run.status for run in runs()] == ["interrupted", "complete", "complete"]
    assert runs()[0].path == older.path and len(runs()[0].points) == 3


def test_fresh_starts_anew(plimsoll: Plimsoll, engine: ScriptedEngine) -> None:
    interrupted(plimsoll, engine)
    said = plimsoll(*STEPS, "--fresh")
    assert "resuming" not in said.err
    assert [run.status for run in runs()] == ["interrupted", "complete"]


def test_a_run_that_came_to_its_end_is_not_gone_on_with(plimsoll: Plimsoll) -> None:
    assert plimsoll(*STEPS).code == 0
    assert "resuming" not in plimsoll(*STEPS).err
    assert len(runs()) == 2


@pytest.mark.parametrize(
    "other",
    [
        (*STEPS[:5], "queue_depth=1,2,4", *STEPS[6:]),
        (*STEPS, "-s", "block_size=8k"),
        (*STEPS, "--repeat", "2"),
        (*STEPS[:3], "null:?size=1g", *STEPS[4:]),
        (*STEPS, "--cache", "warm"),
        (*STEPS, "-o", "elsewhere"),
    ],
    ids=["levels", "settings", "repeat", "target", "cache", "directory"],
)
def test_another_command_starts_its_own_run(plimsoll: Plimsoll, engine: ScriptedEngine, other: tuple[str, ...]) -> None:
    interrupted(plimsoll, engine)
    assert "resuming" not in plimsoll(*other).err
    assert runs()[0].status == "interrupted"


def test_a_workload_that_was_changed_in_between_starts_its_own_run(plimsoll: Plimsoll, engine: ScriptedEngine, here: Path) -> None:
    interrupted(plimsoll, engine)
    (here / "small.toml").write_text((here / "small.toml").read_text() + 'distribution = "zipf:1.1"\n')
    assert "resuming" not in plimsoll(*STEPS).err


@pytest.mark.parametrize("change", ["version", "machine"])
def test_a_run_of_another_version_or_machine_is_not_gone_on_with(
    plimsoll: Plimsoll, engine: ScriptedEngine, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    from plimsoll.points import execution, resumption

    interrupted(plimsoll, engine)
    if change == "version":
        monkeypatch.setattr(resumption, "versions", lambda: {"plimsoll": "99.0"})
    else:
        monkeypatch.setattr(execution, "host_facts", lambda: {"machine": {"name": "elsewhere"}})
    assert "resuming" not in plimsoll(*STEPS).err


def test_what_is_going_on_in_another_process_is_refused(plimsoll: Plimsoll, engine: ScriptedEngine) -> None:
    run = interrupted(plimsoll, engine)
    path = Path(run.path, "run.json")
    meta = json.loads(path.read_text())
    from plimsoll.store.writer import own_identity

    meta.update(status="running", process=own_identity())
    path.write_text(json.dumps(meta))
    said = plimsoll(*STEPS)
    assert (said.code, said.out) == (2, "")
    assert f"is the same and still going on in process {os.getpid()}; wait for it, or start another beside it with --fresh." in said.err


def test_of_two_that_found_the_same_run_only_one_takes_it_over(plimsoll: Plimsoll, engine: ScriptedEngine) -> None:
    run = interrupted(plimsoll, engine)
    mark = run.meta["fingerprint"]
    first, second = unfinished_run("results", mark), unfinished_run("results", mark)
    assert first is not None and second is not None
    writer, results = resume_run(first)
    assert len(results) == 2
    with pytest.raises(InputError, match="still going on"):
        resume_run(second)
    writer.finish("complete")
    assert unfinished_run("results", mark) is None


def test_scratch_files_of_a_killed_run_are_removed_by_the_one_that_goes_on(plimsoll: Plimsoll, engine: ScriptedEngine, here: Path) -> None:
    words = (*STEPS[:3], "mine.dat", *STEPS[4:])
    run = interrupted(plimsoll, engine, *words)
    assert not (here / "mine.dat").exists()
    abandon(run)
    # What a killed process leaves behind.
    (here / "mine.dat").write_bytes(SCRATCH)
    assert plimsoll(*words).code == 0
    assert not (here / "mine.dat").exists()


def test_another_file_under_the_same_name_is_another_run(plimsoll: Plimsoll, engine: ScriptedEngine, here: Path) -> None:
    # After a reboot /dev/sdb may be another disk; its points are not those of the first.
    words = (*STEPS[:3], "theirs.dat", *STEPS[4:])
    (here / "theirs.dat").write_bytes(b"data")
    (here / "kept.dat").write_bytes(b"data")
    interrupted(plimsoll, engine, *words)
    os.replace(here / "theirs.dat", here / "moved.dat")
    os.replace(here / "kept.dat", here / "theirs.dat")
    assert "resuming" not in plimsoll(*words).err
    assert [run.status for run in runs()] == ["interrupted", "complete"]


def test_the_same_file_goes_on_whatever_was_written_to_it(plimsoll: Plimsoll, engine: ScriptedEngine, here: Path) -> None:
    words = (*STEPS[:3], "theirs.dat", *STEPS[4:])
    (here / "theirs.dat").write_bytes(b"data")
    interrupted(plimsoll, engine, *words)
    (here / "theirs.dat").write_bytes(b"other data")
    assert "resuming" in plimsoll(*words).err


def test_a_label_given_later_is_the_one_that_holds(plimsoll: Plimsoll, engine: ScriptedEngine) -> None:
    interrupted(plimsoll, engine, *STEPS, "--label", "first")
    assert plimsoll(*STEPS).code == 0
    assert runs()[0].label == "first"


RUN = ("run", "small.toml", "other.toml", "-t", "null:", "-t", "null:?size=1g", "--repeat", "2", "-d", "1s", "-w", "0")


def test_run_goes_on_like_every_other_verb(plimsoll: Plimsoll, engine: ScriptedEngine, here: Path) -> None:
    (here / "other.toml").write_text((here / "small.toml").read_text())
    run = interrupted(plimsoll, engine, *RUN)
    said = plimsoll(*RUN)
    assert said.code == 0
    assert said.err.splitlines()[1] == f"resuming {run.path}: 2 points are there (--fresh starts anew)"
    (only,) = runs()
    assert (only.status, len(only.points), len(engine.jobs)) == ("complete", 8, 9)
    assert os.path.basename(only.path).endswith("_small-and-more")


def test_replay_goes_on_like_every_other_verb(plimsoll: Plimsoll, engine: ScriptedEngine, here: Path) -> None:
    (here / "hm.csv").write_text("".join(f"{10**17 + 2500 * at},hm,0,Read,{at * 4096},4096,40\n" for at in range(50)))
    words = ("replay", "hm.csv", "-t", "null:", "-t", "null:?size=1g")
    run = interrupted(plimsoll, engine, *words, at=2)
    said = plimsoll(*words)
    assert said.code == 0 and said.err.splitlines()[1] == f"resuming {run.path}: 1 point is there (--fresh starts anew)"
    (only,) = runs()
    assert [point.result.job.target for point in only.points] == ["null:", "null:?size=1g"]
    assert len(engine.jobs) == 3


@pytest.mark.parametrize("other", [(), ("--speed", "2x"), ("--limit", "10"), ("--map", "wrap")], ids=["trace", "speed", "limit", "map"])
def test_another_replay_starts_its_own_run(plimsoll: Plimsoll, engine: ScriptedEngine, here: Path, other: tuple[str, ...]) -> None:
    def write(requests: int) -> None:
        (here / "hm.csv").write_text("".join(f"{10**17 + 2500 * at},hm,0,Read,{at * 4096},4096,40\n" for at in range(requests)))

    write(50)
    words = ("replay", "hm.csv", "-t", "null:", "-t", "null:?size=1g")
    interrupted(plimsoll, engine, *words, at=2)
    write(50 if other else 51)
    assert "resuming" not in plimsoll(*words, *other).err
    assert [run.status for run in runs()] == ["interrupted", "complete"]


def test_another_trace_under_the_same_name_starts_its_own_run(plimsoll: Plimsoll, engine: ScriptedEngine, here: Path) -> None:
    # A compact trace is replayed as it lies there; its name says nothing of what is in it.
    def write(requests: int) -> None:
        (here / "hm.csv").write_text("".join(f"{10**17 + 2500 * at},hm,0,Read,{at * 4096},4096,40\n" for at in range(requests)))
        assert plimsoll("replay", "hm.csv", "--convert", "hm.trace").code == 0

    (here / "again.toml").write_text('[[stream]]\nname = "again"\ntrace = "hm.trace"\nqueue_depth = 16\n')
    words = ("run", "again.toml", "-t", "null:", "-t", "null:?size=1g", "-d", "1s", "-w", "0")
    write(50)
    interrupted(plimsoll, engine, *words, at=2)
    write(51)
    assert "resuming" not in plimsoll(*words).err
    interrupted(plimsoll, engine, *words, "--fresh", at=len(engine.jobs) + 2)
    assert "resuming" in plimsoll(*words).err


JOURNALS = {"found": (), "journal-check": ("--set", "journal=cut.journal"), "journal": ("--set", "journal=cut.journal")}


@pytest.mark.parametrize("verify", JOURNALS)
@pytest.mark.parametrize("verb", [("run", "log.toml"), ("steps", "log.toml", "--over", "queue_depth=1,2")], ids=["run", "steps"])
def test_what_the_medium_holds_is_looked_at_anew_every_time(
    plimsoll: Plimsoll, engine: ScriptedEngine, here: Path, verify: str, verb: tuple[str, ...]
) -> None:
    # Killed between its last point and its end, a check would answer for a medium that something has changed since.
    (here / "log.toml").write_text('[[stream]]\nname = "log"\nread_percent = 0\nflush_every = 8\nqueue_depth = 8\n')
    words = (*verb, "-t", "null:", "--set", f"verify={verify}", *JOURNALS[verify])
    if verify == "journal" and verb[0] == "steps":
        pytest.skip("a journal is of a single point")
    first = plimsoll(*words)
    assert first.code == 0, first.err
    jobs = len(engine.jobs)
    path = Path(runs()[-1].path, "run.json")
    meta = json.loads(path.read_text())
    meta.update(status="running", finished=None)
    meta["process"]["pid"] = 2**22 + 1
    path.write_text(json.dumps(meta))
    again = plimsoll(*words)
    assert again.code == 0 and "resuming" not in again.err
    assert len(engine.jobs) == 2 * jobs and len(runs()) == 2


@pytest.mark.parametrize(("words", "removed"), [((), True), (("--keep",), False)])
def test_a_scratch_file_is_removed_though_nothing_is_left_to_measure(
    plimsoll: Plimsoll, engine: ScriptedEngine, monkeypatch: pytest.MonkeyPatch, here: Path, words: tuple[str, ...], removed: bool
) -> None:
    # Killed after its last point and before the removal: no point prepares the target again.
    command, scratch = ("steps", "small.toml", "-t", "a.dat", *STEPS[4:], *words), here / "a.dat"
    assert plimsoll(*command).code == 0
    path = Path(runs()[-1].path, "run.json")
    meta = json.loads(path.read_text())
    meta.update(status="running", finished=None)
    meta["process"]["pid"] = 2**22 + 1
    path.write_text(json.dumps(meta))
    scratch.write_bytes(SCRATCH)
    inspect, jobs = engine.inspect_target, len(engine.jobs)
    monkeypatch.setattr(engine, "inspect_target", lambda spec: {**inspect(spec), "left_behind": True})
    said = plimsoll(*command)
    assert said.code == 0 and "resuming" in said.err and len(engine.jobs) == jobs
    assert scratch.exists() is not removed
    assert (str(scratch) in engine.released) is not removed


def test_a_scratch_file_that_another_run_has_made_since_is_left_to_it(plimsoll: Plimsoll, engine: ScriptedEngine, here: Path) -> None:
    command = ("steps", "small.toml", "-t", "a.dat", *STEPS[4:])
    assert plimsoll(*command).code == 0
    path = Path(runs()[-1].path, "run.json")
    meta = json.loads(path.read_text())
    meta.update(status="running", finished=None)
    meta["process"]["pid"] = 2**22 + 1
    path.write_text(json.dumps(meta))
    (here / "a.dat").write_bytes(SCRATCH)
    assert plimsoll(*command).code == 0
    assert (here / "a.dat").exists()
