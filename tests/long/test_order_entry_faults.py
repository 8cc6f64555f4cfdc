"""Order entry under trouble, as whole runs on SQLite and on private PostgreSQL servers: servers that die, full disks, kills, Ctrl-C.

What was measured stays, what happened is one sentence, no server is left running, and the same command again goes on where it stopped.
A test waits until the stored intervals say that transactions were measured, whatever the machine needs for that.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from long.test_decision_support import Started, fill, run_of
from support.patience import wait_until
from support.private_server import is_alive, missing_server
from support.reachable import reachable_place

SMALL = ("--set", "warehouses=1", "--set", "customers=10", "--set", "items=100", "--warmup", "100ms", "--set", "interval=250ms")
TARGETS = pytest.mark.parametrize("engine", ["sqlite", "postgresql"])
#: Longer than any test waits: what ends such a run is trouble.
ENDLESS = ("-d", "1h")


@pytest.fixture
def place() -> Iterator[Path]:
    """Where a run works, open to a server's user."""
    with reachable_place() as made:
        yield made


@pytest.fixture
def disk(place: Path) -> Iterator[Path]:
    """A file system of 4 GiB on a loop device, of which little is ever written."""
    if os.geteuid() != 0 or not shutil.which("losetup") or not shutil.which("mkfs.ext4"):
        pytest.skip("skipped: loop devices need root and mkfs.ext4")
    image, mounted = place / "disk.img", place / "disk"
    image.touch()
    os.truncate(image, 4 << 30)
    subprocess.run(["mkfs.ext4", "-q", "-F", "-m", "0", str(image)], check=True)
    mounted.mkdir()
    attached = subprocess.run(["losetup", "--find", "--show", str(image)], capture_output=True, text=True, check=False)
    if attached.returncode:
        pytest.skip(f"skipped: no loop device ({attached.stderr.strip()})")
    device = attached.stdout.strip()
    try:
        subprocess.run(["mount", device, str(mounted)], check=True)
        mounted.chmod(0o755)
        yield mounted
        subprocess.run(["umount", str(mounted)], check=True)
    finally:
        subprocess.run(["losetup", "--detach", device], check=True)


def _target(engine: str, directory: Path) -> str:
    if engine == "postgresql" and (reason := missing_server()):
        pytest.skip(f"skipped: {reason}")
    return f"postgresql:new:{directory}" if engine == "postgresql" else f"sqlite:{directory}"


def measuring(started: Started, point: int = 1) -> Started:
    """Once transactions of a point were measured."""

    def measured() -> bool:
        return started.process.poll() is not None or any(
            cell["count"] for interval in started.intervals(point) if interval["phase"] == "measure" for cell in interval["cells"]
        )

    wait_until(measured, "no transaction was measured")
    return started


def _server(directory: Path) -> int:
    return int((directory / "postgresql" / "data" / "postmaster.pid").read_text().splitlines()[0])


def _failed(started: Started) -> str:
    """What the only point says of its failure; its transactions stay counted, and nothing of it is left."""
    code, _, err = started.ended()
    assert code == 4, err
    assert "Traceback" not in err
    (point,) = run_of(started.here).points
    assert point.result.status == "failed"
    assert sum(total.count for total in point.result.totals.values()) > 0
    return str(point.result.error)


@TARGETS
def test_a_disk_that_becomes_full_fails_the_point_in_a_sentence(place: Path, disk: Path, engine: str) -> None:
    words = ("run", "order-entry", *SMALL, "-t", _target(engine, disk / "db"))
    started = measuring(Started(place / "run", *words, *ENDLESS))
    fill(disk, 64 << 10)
    said = _failed(started)
    assert "full" in said or "no room left" in said or "No space left on device" in said, said
    assert not (disk / "db").exists()
    os.remove(disk / "ballast")
    # The same command again does it, once there is room.
    assert Started(place / "again", *words, "-d", "1s").ended()[0] == 0


@pytest.mark.parametrize("calls", ["functions", "statements"])
def test_a_server_that_is_killed_fails_the_point_in_a_sentence(place: Path, calls: str) -> None:
    words = ("run", "order-entry", *SMALL, "-t", _target("postgresql", place / "db"), "--set", f"calls={calls}")
    started = measuring(Started(place / "run", *words, *ENDLESS))
    os.kill(_server(place / "db"), signal.SIGQUIT)
    assert "the server died or was stopped (" in _failed(started)
    assert not (place / "db").exists()


@TARGETS
def test_ctrl_c_keeps_what_was_measured_and_leaves_nothing(place: Path, engine: str) -> None:
    started = measuring(Started(place / "run", "run", "order-entry", *SMALL, *ENDLESS, "-t", _target(engine, place / "db")))
    started.process.send_signal(signal.SIGINT)
    code, _, err = started.ended()
    assert code == 130, err
    assert "Traceback" not in err
    (point,) = run_of(started.here).points
    assert point.result.status == "interrupted"
    assert point.result.totals["new-order"].count > 0
    # The data are checked all the same.
    assert point.result.engine["orders"]["consistent"] is True
    assert not (place / "db").exists()


SUITE = """
title = "Terminals"

[[experiment]]
name = "entered"
kind = "steps"
workloads = ["order-entry"]
over = { terminals = [1, 2] }
objective = "p90 of new-order <= 60s"
"""


@pytest.mark.parametrize("engine", ["sqlite", "postgresql"])
@pytest.mark.parametrize("verb", ["ramp", "steps", "suite"])
def test_levels_that_are_killed_go_on_with_the_second(place: Path, engine: str, verb: str) -> None:
    levels = ("order-entry", "--over", "terminals=1..2" if verb == "ramp" else "terminals=1,2", "--objective", "p90 of new-order <= 60s")
    (place / "run").mkdir()
    (place / "run" / "terminals.toml").write_text(SUITE)
    words = (verb, *(("terminals.toml",) if verb == "suite" else levels), *SMALL, "-t", _target(engine, place / "db"), "-d", "3s")
    killed = measuring(Started(place / "run", *words), point=2)
    server = _server(place / "db") if engine == "postgresql" else None
    killed.process.kill()
    assert killed.ended()[0] == -signal.SIGKILL
    if server is not None:
        wait_until(lambda: not is_alive(server), "the server ends with the run that started it")
    first = run_of(killed.here).points[0].result
    again = Started(killed.here, *words)
    code, out, err = again.ended()
    assert code == 0, err
    run = run_of(killed.here)
    assert [(point.result.status, point.result.place["level"]) for point in run.points] == [("complete", 1), ("complete", 2)]
    assert run.points[0].result.totals == first.totals
    # The conclusion is that of both levels, of which one was measured before the kill.
    assert run.meta["conclusions"][0]["mark"]["level"] == 2
    assert "2 terminals" in out or "terminals 2" in out
    assert not (place / "db").exists()
