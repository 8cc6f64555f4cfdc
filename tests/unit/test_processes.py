"""What the load used is the time of this process and of the servers that work for it, however these come and go."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from plimsoll.monitor.listeners import listeners
from plimsoll.monitor.processes import TICKS_PER_S, Family, UserTime, process
from plimsoll.monitor.sampler import Sampler
from support.patience import wait_until

#: Burns processor time for good, in a process that a process of its own has started.
_GRANDCHILD = """
import subprocess, sys
with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as child:
    print(child.pid, flush=True)
    sys.stdin.read()
    child.kill()
"""


class Host:
    """A /proc of files."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._started = 0

    def has(self, pid: int, parent: int, user_s: float = 0.0, *, ended_s: float = 0.0) -> None:
        """A process, now or from now on; ``ended_s`` is what its children used that have ended."""
        self._started += 1
        place = self.folder / str(pid)
        started = int((place / "stat").read_text().split()[-1]) if place.exists() else self._started
        place.mkdir(exist_ok=True)
        user, ended = round(user_s * TICKS_PER_S), round(ended_s * TICKS_PER_S)
        (place / "stat").write_text(f"{pid} (some ) name) S {parent} 0 0 0 0 0 0 0 0 0 {user} 7 {ended} 0 20 0 1 0 {started}")

    def lacks(self, pid: int) -> None:
        """It has ended, and its parent has waited for it."""
        (self.folder / str(pid) / "stat").unlink()
        (self.folder / str(pid)).rmdir()


@pytest.fixture
def host(tmp_path: Path) -> Host:
    """This process is 10, which started 20; 30 is a server of somebody's with a child 31; the rest are strangers."""
    made = Host(tmp_path)
    for pid, parent in ((1, 0), (2, 1), (10, 1), (20, 10), (21, 20), (30, 1), (31, 30), (40, 1), (41, 40)):
        made.has(pid, parent)
    return made


def pids(family: Family) -> list[int]:
    return [one.pid for one in family.look()]


def test_a_family_is_the_roots_and_all_that_descends_from_them(host: Host) -> None:
    family = Family([30, 10], str(host.folder))
    assert pids(family) == [10, 30, 20, 21, 31]
    host.has(22, 21)
    host.has(42, 41)
    assert pids(family) == [10, 30, 20, 21, 22, 31], "who comes later belongs to it, too"


def test_who_outlives_its_parent_stays_in_the_family(host: Host) -> None:
    family = Family([10], str(host.folder))
    assert pids(family) == [10, 20, 21]
    host.lacks(20)
    host.has(21, 1)
    assert pids(family) == [10, 21]
    host.has(23, 21)
    assert pids(family) == [10, 21, 23]


def test_a_number_that_is_given_to_another_process_is_a_strangers(host: Host) -> None:
    family = Family([10], str(host.folder))
    assert 21 in pids(family)
    host.lacks(21)
    host.has(21, 40)
    assert 21 not in pids(family)


def user_time(host: Host) -> UserTime:
    """The time of the family of 10 and 30, whose looks take no time."""
    return UserTime([10, 30], str(host.folder), now=lambda: 0.0)


def test_what_servers_used_is_ours_and_what_they_had_used_before_is_not(host: Host) -> None:
    host.has(30, 1, 500.0)
    used = user_time(host)
    assert used.seconds() == 0.0
    host.has(10, 1, 0.5)
    host.has(31, 30, 2.0)
    host.has(21, 20, 1.0)
    host.has(41, 40, 9.0)
    assert used.seconds() == pytest.approx(3.5)


def test_a_child_that_ended_is_counted_once_with_its_parent(host: Host) -> None:
    used = user_time(host)
    host.has(31, 30, 2.0)
    assert used.seconds() == pytest.approx(2.0)
    host.lacks(31)
    host.has(30, 1, 0.0, ended_s=2.5)
    assert used.seconds() == pytest.approx(2.5)


def test_what_a_killed_server_had_used_stays_counted_although_nobody_waited_for_it(host: Host) -> None:
    used = user_time(host)
    host.has(31, 30, 4.0)
    assert used.seconds() == pytest.approx(4.0)
    host.lacks(31)
    assert used.seconds() == pytest.approx(4.0)
    host.has(32, 30, 1.0)
    assert used.seconds() == pytest.approx(5.0)


def test_looks_take_a_hundredth_of_the_time_at_most(host: Host) -> None:
    clock = iter([10.0, 10.02, 11.9, 12.03, 12.05]).__next__
    used = UserTime([10], str(host.folder), now=clock)
    host.has(21, 20, 1.0)
    assert used.seconds() == pytest.approx(1.0), "a look that took 0.02 s"
    host.has(21, 20, 3.0)
    assert used.seconds() == pytest.approx(1.0), "the next is due 2 s later"
    assert used.seconds() == pytest.approx(3.0)


def test_what_a_process_of_a_server_of_ours_computes_is_the_loads() -> None:
    command = [sys.executable, "-c", _GRANDCHILD]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child, Sampler(sources=()) as sampler:
        assert child.stdout is not None and child.stdin is not None
        busy = int(child.stdout.readline())
        alone = sampler.snapshot().own_user_s
        sampler.include(())
        wait_until(lambda: _user_s(busy) > 0.5, "it computes")
        before = sampler.snapshot().own_user_s
        assert alone is not None and before is not None
        # A look that took long, since others have the processors, is told again for a hundred times as long.
        wait_until(lambda: (sampler.snapshot().own_user_s or 0.0) >= before + 0.4, "what it computes is the load's")
        child.stdin.close()


def _user_s(pid: int) -> float:
    found = process(pid)
    assert found is not None
    return found.user_s


def test_who_listens_at_a_port_of_this_host_is_found() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        assert listeners("127.0.0.1", server.getsockname()[1]) == [os.getpid()]
        port = server.getsockname()[1]
    assert listeners("127.0.0.1", port) == []
