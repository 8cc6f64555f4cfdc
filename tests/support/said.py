"""What a command of the program answered, as the tests see it.

plimsoll = in_this_process(capsys)
assert plimsoll("list", "--json").json["workloads"]
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from plimsoll.cli import main


@dataclass(frozen=True)
class Said:
    """Exit code and both streams."""

    code: int
    out: str
    err: str

    @property
    def text(self) -> str:
        """What stdout says, wherever its lines are folded."""
        return " ".join(self.out.split())

    @property
    def json(self) -> Any:
        """The one document on stdout."""
        return json.loads(self.out)


Plimsoll = Callable[..., Said]


def in_this_process(capsys: pytest.CaptureFixture[str]) -> Plimsoll:
    """Runs a command where the test runs, so that it meets what the test put in place of something."""

    def run(*arguments: str) -> Said:
        code = main(arguments)
        captured = capsys.readouterr()
        return Said(code, captured.out, captured.err)

    return run
