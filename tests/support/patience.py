"""How tests wait on a machine that is slow or stands still for seconds: for a condition, not for a time, and again where the machine failed.

Model: what must happen is waited for; only what has not happened after ten minutes hangs. A scene that chance can spoil (a kill that has to
come before the end) is set up again; what a program did too little is for `fairness` to judge.

    wait_until(lambda: not os.path.ismount("place"), "the guard takes the mount away")
    pid = seen(lambda: pid_of("spark"), "Spark starts")
    run = first_fair(lambda: killed_after_a_point("oltp-db"), lambda run: run.status == "incomplete")
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

Outcome = TypeVar("Outcome")

#: A process that has not answered or ended by then hangs.
HANGS_S = 600.0
TRIES = 5
_POLL_S = 0.05


def wait_until(condition: Callable[[], bool], what: str) -> None:
    """Wait for a condition; ``what`` says what has not happened if it never holds."""
    deadline = time.monotonic() + HANGS_S
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(_POLL_S)


def seen(look: Callable[[], Outcome | None], what: str) -> Outcome:
    """What a look shows first; the next one may show nothing again."""
    shown: list[Outcome] = []

    def looked() -> bool:
        shown.extend(one for one in [look()] if one is not None)
        return bool(shown)

    wait_until(looked, what)
    return shown[0]


def first_fair(attempt: Callable[[], Outcome], fair: Callable[[Outcome], object]) -> Outcome:
    """The first outcome that is the scene which a test is about."""
    for _ in range(TRIES):
        outcome = attempt()
        if fair(outcome):
            return outcome
    raise AssertionError(f"not once in {TRIES} attempts; the last one: {str(outcome)[:2000]}")
