"""What goes wrong with several hosts, and what users find afterwards: through Ray, and without it."""

from __future__ import annotations

import json
import os
import signal
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from plimsoll.gang.exposure import listeners
from plimsoll.gang.nest import marked
from support.gang import Gang, is_down
from support.patience import HANGS_S, wait_until

WORDS = ("run", "random-read-4k", "--hosts", "local:2", "--target", "null:", "-w", "0s", "--set", "interval=100ms")
with_ray = pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed (pip install 'plimsoll[cluster]')")


def named(nest: str, title: str) -> list[int]:
    """The processes of a gang whose title or command has this in it."""
    found = []
    for process in marked(nest):
        try:
            words = Path(f"/proc/{process}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if title in words:
            found.append(process)
    return found


def listening(nest: str) -> list[str]:
    """Where processes of a gang listen."""
    inodes = set()
    for process in marked(nest):
        try:
            inodes |= {os.readlink(f"/proc/{process}/fd/{number}") for number in os.listdir(f"/proc/{process}/fd")}
        except OSError:
            continue
    return [address for address, inode in listeners() if f"socket:[{inode}]" in inodes]


@with_ray
def test_what_carries_the_calls_dies_and_the_workers_go_on(tmp_path: Path) -> None:
    """Ray's node is killed: every host is lost to the command, and each worker ends its point and stores it."""
    gang = Gang(tmp_path, carrier="ray")
    process = gang.start(*WORDS, "-d", "6s")
    nest = gang.note(process)["nest"]
    gang.begun(2, process)
    (raylet,) = named(nest, "raylet/raylet ")
    os.kill(raylet, signal.SIGKILL)
    process.communicate(timeout=HANGS_S)
    assert process.returncode == 4
    point = gang.point()
    assert {host["status"] for host in point["hosts"]} == {"lost"}
    assert "lost " in point["error"] and "s after the start" in point["error"]
    wait_until(lambda: is_down(nest), "the workers finish their point and leave")
    (run,) = gang.results.iterdir()
    assert gang.run("hosts", "collect", run.name).returncode == 0
    kept = sorted(run.glob("hosts/*/points/*/result.json"))
    assert len(kept) == 2, "what they measured after that is there"


@with_ray
def test_a_relay_dies_and_its_host_alone_is_lost(tmp_path: Path) -> None:
    gang = Gang(tmp_path, carrier="ray")
    process = gang.start(*WORDS, "-d", "6s")
    nest = gang.note(process)["nest"]
    gang.begun(2, process)
    relay = named(nest, "ray::Relay")[0]
    killed_s = time.monotonic()
    os.kill(relay, signal.SIGKILL)
    process.communicate(timeout=HANGS_S)
    assert time.monotonic() - killed_s < HANGS_S
    assert process.returncode == 4
    statuses = sorted(host["status"] for host in gang.point()["hosts"])
    assert statuses == ["complete", "lost"]
    assert "the relay on it has ended" in gang.point()["error"]


@with_ray
def test_no_port_stays_open_when_the_command_is_killed(tmp_path: Path) -> None:
    gang = Gang(tmp_path, carrier="ray")
    process = gang.start(*WORDS, "-d", "30s")
    nest = gang.note(process)["nest"]
    gang.begun(2, process)
    assert listening(nest)
    process.kill()
    killed_s = time.monotonic()
    process.communicate()
    wait_until(lambda: not listening(nest), "no port is open any more")
    assert time.monotonic() - killed_s < 30.0
    assert named(nest, "plimsoll.worker"), "the workers end their point"
    wait_until(lambda: is_down(nest), "then they leave, and the keeper with them")
    (run,) = gang.results.iterdir()
    assert gang.run("hosts", "collect", run.name).returncode == 0
    point: Any = gang.point()
    assert point["status"] == "complete"
    assert point["totals"]["read"]["count"] == sum(host["totals"]["read"]["count"] for host in point["hosts"])


@with_ray
def test_starts_lie_together(tmp_path: Path) -> None:
    """The skew of several starts on one machine, whose clock is one: printed, and held against what a common start is for."""
    gang = Gang(tmp_path, carrier="ray")
    done = gang.run(
        *WORDS[:-2], "-d", "300ms", "--repeat", "5", "--set", "rate=100", "--set", "arrival=constant", "--set", "interval=100ms"
    )
    assert done.returncode == 0, done.stderr
    points = [json.loads(path.read_text()) for path in sorted(gang.results.glob("*/points/*/result.json"))]
    assert len(points) == 5
    apart_us = []
    for point in points:
        begun = [host["skew_ns"] for host in point["hosts"]]
        apart_us.append((max(begun) - min(begun)) / 1e3)
    print(f"start skew of two workers: {', '.join(f'{one:.0f}' for one in sorted(apart_us))} µs")
    # Of five starts, most are as good as the machine's clock; one may meet a processor that others hold.
    assert sorted(apart_us)[0] < 1_000


def test_a_command_that_is_told_to_stop_keeps_what_every_host_measured(tmp_path: Path) -> None:
    gang = Gang(tmp_path)
    process = gang.start(
        "run", "random-read-4k", "--hosts", "local:2", "--target", "null:", "-d", "600s", "-w", "0s", "--set", "interval=100ms"
    )
    nest = gang.note(process)["nest"]
    gang.begun(2, process)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=HANGS_S)
    assert process.returncode == 130
    point = gang.point()
    assert point["status"] == "interrupted"
    assert [host["status"] for host in point["hosts"]] == ["interrupted", "interrupted"]
    assert point["totals"]["read"]["count"] == sum(host["totals"]["read"]["count"] for host in point["hosts"]) > 0
    assert is_down(nest)


def test_workers_whose_keeper_was_killed_too_are_stopped_by_the_next_command(tmp_path: Path) -> None:
    gang = Gang(tmp_path)
    process = gang.start(
        "run", "random-read-4k", "--hosts", "local:2", "--target", "null:", "-d", "600s", "-w", "0s", "--set", "interval=100ms"
    )
    note = gang.note(process)
    gang.begun(2, process)
    for killed in (process.pid, note["keeper"]["pid"]):
        os.kill(killed, signal.SIGKILL)
    process.communicate()
    assert list(marked(note["nest"]))
    done = gang.run("list", "--runs")
    assert "the workers of a run that was killed have been stopped" in done.stderr
    assert is_down(note["nest"])
