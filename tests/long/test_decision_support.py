"""Decision support under trouble, as whole runs on DuckDB: killed, stopped, and with a disk that becomes full. What was measured stays, what
happened is one sentence, and the same command again goes on where it stopped.

Model: sixty streams at a hundredth of scale 1 take some seconds, so that trouble finds them under way. A test waits until the stored
intervals say that queries of streams have ended, whatever the machine needs for that.
"""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from long.conftest import COMMAND
from plimsoll.store.reader import StoredRun, list_runs
from support.patience import HANGS_S, first_fair, wait_until

pytest.importorskip("duckdb", reason="skipped: DuckDB is not installed")

STREAMS = 60
#: Sixty streams at once pin more than the least memory, or do not: that is chance.
ASKED = ("decision-support", "--scale", "0.01", "--streams", str(STREAMS), "--set", "memory=1GiB")
SUITE = ("suite", *ASKED)
ALONE = ("run", *ASKED)


class Started:
    """The command in a process of its own, in a directory of its own."""

    def __init__(self, here: Path, *words: str) -> None:
        here.mkdir(exist_ok=True)
        self.here = here
        environment = {**os.environ, "XDG_CACHE_HOME": str(here / "cache")}
        self.process = subprocess.Popen(
            [COMMAND, *words], cwd=here, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def intervals(self, point: int) -> list[dict[str, Any]]:
        """Of a point, as far as they are stored."""
        found: list[dict[str, Any]] = []
        for path in (self.here / "results").glob(f"*/points/{point:04}-*/intervals.jsonl"):
            for line in path.read_text(encoding="utf-8").splitlines():
                with suppress(json.JSONDecodeError):  # the last line is being written
                    found.append(json.loads(line))
        return found

    def streams_work(self, point: int = 1) -> bool:
        """Whether a query of a stream has ended, or everything is over."""
        ended = [query for interval in self.intervals(point) for query in interval.get("queries") or ()]
        return self.process.poll() is not None or any(query["phase"] == "throughput" for query in ended)

    def ended(self) -> tuple[int, str, str]:
        """Its exit code and what it said."""
        out, err = self.process.communicate(timeout=HANGS_S)
        return self.process.returncode, out, err


def run_of(here: Path) -> StoredRun:
    (run,) = list_runs(str(here / "results"))
    assert isinstance(run, StoredRun)
    return run


def error_of(started: Started) -> str:
    (point,) = run_of(started.here).points
    return str(point.result.error)


def struck(here: Path, words: tuple[str, ...], point: int, sign: int) -> Started:
    """A command that got a signal while its streams asked."""
    places = iter(range(100))

    def attempt() -> tuple[Started, bool]:
        started = Started(here / str(next(places)), *words, "-t", "duckdb:db")
        wait_until(lambda: started.streams_work(point), "no query of a stream ended")
        in_time = started.process.poll() is None
        started.process.send_signal(sign)
        return started, in_time

    return first_fair(attempt, lambda found: found[1])[0]


def test_a_suite_that_is_killed_keeps_its_first_run_and_goes_on_with_its_second(tmp_path: Path) -> None:
    killed = struck(tmp_path, SUITE, 2, signal.SIGKILL)
    assert killed.ended()[0] == -signal.SIGKILL
    assert (killed.here / "db" / "duckdb" / "plimsoll.duckdb").exists()
    first = run_of(killed.here).points[0].result.engine["decision"]["metrics"]
    again = Started(killed.here, *SUITE, "-t", "duckdb:db", "--json")
    code, out, err = again.ended()
    assert code == 0, err
    assert "1 point is there" in err
    # The database is not loaded anew, and what the killed run had left is away in the end.
    assert not (killed.here / "db").exists()
    document = json.loads(out)
    assert document["sides"][0]["runs"][0]["composite"] == first["composite"]
    assert document["metrics"]["composite"] == min(run["composite"] for run in document["sides"][0]["runs"])
    loads = {result["engine"]["decision"]["load"]["load_s"] for result in document["results"]}
    assert len(loads) == 1


def test_what_a_killed_run_left_is_taken_away_by_the_next_and_refreshes_go_on_with_the_next_set(tmp_path: Path) -> None:
    killed = struck(tmp_path, (*ALONE, "--keep"), 1, signal.SIGKILL)
    killed.ended()
    again = Started(killed.here, *ALONE, "-t", "duckdb:db", "--keep", "--json")
    code, out, err = again.ended()
    assert code == 0, err
    (result,) = json.loads(out)["results"]
    assert result["status"] == "complete" and result["totals"]["rf1"]["errors"] == 0
    assert len(result["engine"]["decision"]["queries"]) == 22 * STREAMS


def test_ctrl_c_cancels_what_is_under_way_and_keeps_what_was_measured(tmp_path: Path) -> None:
    stopped = struck(tmp_path, ALONE, 1, signal.SIGINT)
    code, out, err = stopped.ended()
    assert code == 130, err
    assert "Traceback" not in err
    (point,) = run_of(stopped.here).points
    said = point.result.engine["decision"]
    assert point.result.status == "interrupted"
    assert 0 < len(said["queries"]) < 22 * STREAMS
    assert said["metrics"] == {"power": None, "throughput": None, "composite": None}
    assert "before every query was asked" in " ".join(out.split())
    assert not (stopped.here / "db").exists()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 200 MiB on a loop device."""
    if os.geteuid() != 0 or not shutil.which("losetup") or not shutil.which("mkfs.ext4"):
        pytest.skip("skipped: loop devices need root and mkfs.ext4")
    image, mounted = tmp_path / "disk.img", tmp_path / "disk"
    image.touch()
    os.truncate(image, 200 << 20)
    subprocess.run(["mkfs.ext4", "-q", "-F", str(image)], check=True)
    mounted.mkdir()
    attached = subprocess.run(["losetup", "--find", "--show", str(image)], capture_output=True, text=True, check=False)
    if attached.returncode:
        pytest.skip(f"skipped: no loop device ({attached.stderr.strip()})")
    device = attached.stdout.strip()
    try:
        subprocess.run(["mount", device, str(mounted)], check=True)
        yield mounted
        subprocess.run(["umount", str(mounted)], check=True)
    finally:
        subprocess.run(["losetup", "--detach", device], check=True)


def fill(disk: Path, leave_bytes: int) -> None:
    """Take the room of a disk, but for so many bytes, while somebody else may write there."""
    with open(disk / "ballast", "wb") as file:
        for left in reversed(range(10)):
            free = os.statvfs(disk)
            try:
                os.posix_fallocate(file.fileno(), 0, max(free.f_bavail * free.f_frsize - leave_bytes, 1))
            except OSError as problem:
                # What was free has been written to since.
                if problem.errno != errno.ENOSPC or not left:
                    raise
                file.truncate(0)
            else:
                return


def test_a_disk_that_is_too_small_is_told_before_anything_is_written(tmp_path: Path, small_disk: Path) -> None:
    code, _, err = Started(tmp_path / "run", "run", "decision-support", "--scale", "1", "-t", f"duckdb:{small_disk}/db").ended()
    assert code == 4, err
    assert "a database of scale 1 needs about" in err and "are free; name another directory, or a smaller --scale." in err
    assert not (small_disk / "db").exists() and not (tmp_path / "run" / "results").exists()


def test_a_disk_that_becomes_full_while_the_database_is_loaded_is_one_sentence(tmp_path: Path, small_disk: Path) -> None:
    words = ("run", "decision-support", "--scale", "0.1", "-t", f"duckdb:{small_disk}/db")
    started = Started(tmp_path / "run", *words)
    database = small_disk / "db" / "duckdb" / "plimsoll.duckdb"
    wait_until(lambda: database.exists() or started.process.poll() is not None, "no database was made")
    fill(small_disk, 3 << 20)
    code, _, err = started.ended()
    assert code == 4, err
    (point,) = run_of(started.here).points
    assert point.result.status == "failed"
    assert "there is no space left for the database or its temporary files" in str(point.result.error)
    assert "Traceback" not in err
    assert not (small_disk / "db").exists()
    os.remove(small_disk / "ballast")
    # The same command again does it.
    assert Started(started.here, *words).ended()[0] == 0


def test_a_disk_that_becomes_full_while_streams_ask_ends_the_point_with_the_query_and_keeps_the_others(
    tmp_path: Path, small_disk: Path
) -> None:
    words = ("run", "decision-support", "--scale", "0.1", "--streams", str(STREAMS), "-t", f"duckdb:{small_disk}/db")

    def attempt() -> tuple[Started, int, str]:
        shutil.rmtree(tmp_path / "run", ignore_errors=True)
        (small_disk / "ballast").unlink(missing_ok=True)
        started = Started(tmp_path / "run", *words)
        wait_until(started.streams_work, "no query of a stream ended")
        fill(small_disk, 0)
        code, _, err = started.ended()
        return started, code, err

    # Not the scene where no query that was left needed room, or where sixty streams pinned all the memory first.
    started, code, err = first_fair(attempt, lambda found: found[1] != 0 and "raise memory" not in error_of(found[0]))
    assert code == 4, err
    (point,) = run_of(started.here).points
    assert "there is no space left for the database or its temporary files" in str(point.result.error)
    assert re.match(r"(query [0-9]+ of stream [0-9]+|RF[12] of the refresh stream|throughput): ", str(point.result.error))
    assert len(point.result.engine["decision"]["queries"]) > 0
    assert point.result.engine["decision"]["metrics"]["throughput"] is None
    assert "Traceback" not in err
