"""The engine's counters at both ends of the measured time, read beside the terminals.

Model: a thread looks now and then whether the measured time goes on: that of a course on this host, or of terminals on several hosts,
which began at an instant of this host's clock.

    course.run(CountedTerminals(terminals, working.watch))
    section |= watched_section(working.watch.watched())
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from plimsoll.apps.course import Course
from plimsoll.apps.order_entry.store import AtWork, Watch, Watched
from plimsoll.errors import PlimsollError

_LOOK_S = 0.02


class Follower:
    """A thread that watches for as long as ``measuring`` says so; it asks again until it is ended."""

    def __init__(self, watch: Watch, measuring: Callable[[], bool]) -> None:
        self._watch = watch
        self._measuring = measuring
        self._done = threading.Event()
        self._mistakes: list[BaseException] = []
        self._thread = threading.Thread(target=self._follow, name="plimsoll-watch", daemon=True)
        self._thread.start()

    def end(self) -> None:
        """Watch no more."""
        self._done.set()
        self._thread.join()

    def check(self) -> None:
        """Raise what went wrong while it watched, other than a server that is gone."""
        if self._mistakes:
            raise self._mistakes[0]

    def _follow(self) -> None:
        began = False
        try:
            while not self._done.wait(_LOOK_S):
                if self._measuring():
                    if not began:
                        self._watch.begin()
                    began = True
                    self._watch.look()
                elif began:
                    break
            if began:
                self._watch.end()
        except PlimsollError:
            # A server that is gone tells nothing more; the terminals say so.
            return
        except BaseException as mistake:
            self._mistakes.append(mistake)


class CountedTerminals:
    """`plimsoll.apps.course.Load`: the terminals, and beside them what reads the engine's counters."""

    def __init__(self, terminals: AtWork, watch: Watch) -> None:
        self.terminals = terminals
        self._watch = watch

    def carry_out(self, course: Course) -> None:
        """Both until the terminals have ended."""
        follower = Follower(self._watch, lambda: course.recorder.phase == "measure" and not course.stopped)
        try:
            self.terminals.carry_out(course)
        finally:
            follower.end()
        follower.check()

    def interrupt(self) -> None:
        """The terminals are told."""
        self.terminals.interrupt()


def watched_section(found: Watched) -> dict[str, Any]:
    """What the engine counted, as it is stored."""
    return {
        "watched_s": found.seconds,
        "wal_bytes": found.wal_bytes,
        "flush_ns": found.flush,
        "waits": found.waits,
        "events": found.events,
        "counters": found.counters,
        "own_share": found.own_share,
    }
