"""While a report is drawn a terminal counts its points, and the line is gone at the end; elsewhere nothing is said."""

from __future__ import annotations

import io
import sys

import pytest

from plimsoll.cli import report_progress
from plimsoll.cli.report_progress import DrawnPoints


class Terminal(io.StringIO):
    """A stream that says it is a terminal, or not."""

    def __init__(self, *, is_terminal: bool) -> None:
        super().__init__()
        self._is_terminal = is_terminal

    def isatty(self) -> bool:
        return self._is_terminal


@pytest.mark.parametrize("is_terminal", [True, False])
def test_points_are_counted_on_a_terminal_alone_and_the_line_is_removed(monkeypatch: pytest.MonkeyPatch, is_terminal: bool) -> None:
    # 18.6 s passed in silence after the table.
    stream, clock = Terminal(is_terminal=is_terminal), iter(range(100))
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(report_progress.time, "monotonic", lambda: float(next(clock)))
    with DrawnPoints() as heard:
        for number in range(1, 4):
            heard(number, 316)
    last = "drawing the report: 3 of 316 points"
    assert stream.getvalue().endswith(f"\r{last}\r{' ' * len(last)}\r") if is_terminal else stream.getvalue() == ""
