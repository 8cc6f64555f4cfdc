"""What is made again because the machine was at fault, and what is not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.fairness import Machine, excused


class Scripted:
    """A machine that lost so much of its time during each attempt."""

    def __init__(self, shares: Iterator[float]) -> None:
        self.lost_share = next(shares)

    def __enter__(self) -> Scripted:
        return self

    def __exit__(self, *_: object) -> None: ...


def tried(outcomes: list[int], shares: list[float]) -> tuple[int, int]:
    """The outcome with more than ten, and how many attempts it took."""
    made, lost = iter(outcomes), iter(shares)
    found = excused(Path("."), lambda: next(made), lambda outcome: outcome > 10, lambda _: Scripted(lost))
    return found, len(outcomes) - len(list(made))


def test_an_attempt_that_falls_short_is_made_again_while_the_machine_stood_still() -> None:
    assert tried([3, 5, 20, 30], [0.5, 0.06, 0.0]) == (20, 3)


def test_on_a_machine_in_time_the_first_attempt_that_falls_short_fails() -> None:
    with pytest.raises(AssertionError, match=r"too little, and the machine lost 1\.5% of its time only: 3"):
        tried([3, 20], [0.015, 0.0])


def test_a_program_that_never_does_enough_fails_however_slow_the_machine() -> None:
    with pytest.raises(AssertionError, match="not once in 5 attempts"):
        tried([3] * 6, [0.9] * 6)


def test_a_machine_says_how_much_of_a_moment_it_lost(tmp_path: Path) -> None:
    with Machine(tmp_path) as machine:
        pass
    assert 0.0 <= machine.lost_share <= 1.0 and list(tmp_path.iterdir()) == []
