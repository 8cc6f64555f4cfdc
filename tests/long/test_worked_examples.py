"""The worked examples of docs/choosing.md: every line that is shown comes, to the digit."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from support.said import Said
from support.sessions import missing_line, sessions_of

CHOOSING = Path(__file__).resolve().parents[2] / "docs" / "choosing.md"
_TEXT = CHOOSING.read_text()
EXAMPLES = sessions_of(_TEXT[_TEXT.index("## Worked examples") : _TEXT.index("## The page")])

Plimsoll = Callable[..., Said]


@pytest.mark.parametrize(("command", "shown"), EXAMPLES, ids=[command.split("--among ")[1] for command, _ in EXAMPLES])
def test_what_an_example_shows_is_what_comes(command: str, shown: list[str], plimsoll: Plimsoll, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "250")
    ended = plimsoll(*shlex.split(command)[1:])
    assert ended.code == 0, ended.err
    missing = missing_line(shown, ended.out)
    assert missing is None, f"{missing!r} is not in, or not in this order:\n{ended.out}"


def test_each_owner_of_a_report_has_an_example_that_shows_its_figures() -> None:
    assert len(EXAMPLES) >= 5
    assert all(any(" carries " in line for line in shown) and len(shown) >= 4 for _, shown in EXAMPLES)
