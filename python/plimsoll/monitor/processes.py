"""Processes of this host that belong together: some, what they started, and what that started; and the processor time that they used.

Model: /proc/PID/stat says who started a process and what it used, with what its children used that it has waited for. Who is once in a
`Family` stays in it, also when its parent dies first. A stranger stays one for as long as it runs, so that a look reads the family, and
whoever is new. `UserTime` adds up what the family gained from look to look, so that what a killed process had used stays counted.
Limits: a process that comes and goes between two looks counts only if its parent waited for it. What a family used between the last look
and the kill of one of it is lost. Time is counted in clock ticks (10 ms).

    family = Family([server])
    [process.pid for process in family.look()]
    used = UserTime([os.getpid(), server])
    used.seconds()
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

TICKS_PER_S = os.sysconf("SC_CLK_TCK")
#: Of its time, what a `UserTime` that is asked all the time spends on looks.
_LOOKING_SHARE = 0.01


@dataclass(frozen=True, slots=True)
class Process:
    """One process at one instant. Times are seconds, and have in them what its children used that have ended; ``started`` is in clock
    ticks from when the host started."""

    pid: int
    parent: int
    user_s: float
    cpu_s: float
    started: int


def process(pid: int, proc: str = "/proc") -> Process | None:
    """The process now; None when it is gone. Format: proc(5), fields 4, 14 to 17 and 22."""
    try:
        file = os.open(f"{proc}/{pid}/stat", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        words = os.read(file, 1024).rpartition(b")")[2].split()
        user, system, ended_user, ended_system = map(int, words[11:15])
        return Process(
            pid, int(words[1]), (user + ended_user) / TICKS_PER_S, (user + system + ended_user + ended_system) / TICKS_PER_S, int(words[19])
        )
    except (OSError, ValueError, IndexError):
        return None
    finally:
        os.close(file)


class Family:
    """The processes ``roots`` and their descendants; any thread may look."""

    def __init__(self, roots: Iterable[int], proc: str = "/proc") -> None:
        self._proc = proc
        self._lock = threading.Lock()
        self._roots = frozenset(roots)
        #: The members, by when they started: a number that is given to another process is a stranger's.
        self._started: dict[int, int] = {}
        self._strangers: set[int] = set()

    def look(self) -> list[Process]:
        """Those that run now, the roots first."""
        with self._lock:
            listed = self._listed()
            self._strangers &= listed
            found = {pid: one for pid in listed - self._strangers if (one := process(pid, self._proc)) is not None}
            members = [pid for pid in found if self._belongs(pid, found)]
            self._started = {pid: found[pid].started for pid in members}
            self._strangers |= found.keys() - self._started.keys()
            return [found[pid] for pid in sorted(members, key=lambda pid: (pid not in self._roots, pid))]

    def _listed(self) -> set[int]:
        try:
            return {int(name) for name in os.listdir(self._proc) if name.isdigit()}
        except OSError:
            return set()

    def _belongs(self, pid: int, found: dict[int, Process]) -> bool:
        """Whether a process, or one that it descends from, is a root or was a member at the last look."""
        while pid in found:
            if pid in self._roots or self._started.get(pid) == found[pid].started:
                return True
            pid = found[pid].parent
        return False


class UserTime:
    """What a family used in user mode since the first look, in seconds. Looks cost little of the time: between two that come at once, what
    the last one found is told again."""

    def __init__(self, roots: Iterable[int], proc: str = "/proc", now: Callable[[], float] = time.monotonic) -> None:
        self._family = Family(roots, proc)
        self._now = now
        self._gained = 0.0
        self._level = self._sum()
        self._again = 0.0

    def seconds(self) -> float:
        """So much until now, or until just before."""
        begun = self._now()
        if begun >= self._again:
            level = self._sum()
            self._gained += max(level - self._level, 0.0)
            self._level = level
            ended = self._now()
            self._again = ended + (ended - begun) / _LOOKING_SHARE
        return self._gained

    def _sum(self) -> float:
        return sum(one.user_s for one in self._family.look())
