"""The commands of tutorial and how-tos do what these say.

Where a guide shows output (``console``), its commands are carried out and every line shown is found in theirs, in this order. Of all other
commands of `plimsoll` those that measure are planned (``--dry-run``), with sparse files in place of devices, and the rest are explained.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from support.sessions import BLOCK, missing_line, sessions_of

DOCS = Path(__file__).resolve().parents[2] / "docs"
GUIDES = sorted([DOCS / "tutorial.md", *(DOCS / "how-to").glob("*.md")])
DEVICE = re.compile(r"/dev/sd[a-z]")
MEASURING = {"check", "run", "ramp", "scale", "suite", "matrix"}
FILE_BYTES = 1 << 30

Plimsoll = Callable[..., subprocess.CompletedProcess[str]]


def commands_of(guide: Path) -> list[str]:
    """Each command of `plimsoll` that is not shown with its output, on one line and without its remark."""
    text = "\n".join(block for language, block in BLOCK.findall(guide.read_text()) if language == "sh")
    lines = text.replace("\\\n", " ").splitlines()
    return [shlex.join(shlex.split(line, comments=True)) for line in lines if line.startswith("plimsoll ")]


def with_files(command: str, folder: Path) -> str:
    """The command with a sparse file for each device; what is made of several devices has its own file for each."""

    def file_for(device: re.Match[str]) -> str:
        path = folder / device[0].rsplit("/", 1)[1]
        if not path.exists():
            path.touch()
            os.truncate(path, FILE_BYTES)
        return str(path)

    return DEVICE.sub(file_for, command)


@pytest.mark.parametrize(
    ("guide", "command"),
    [pytest.param(guide, command, id=f"{guide.stem}: {command[9:60]}") for guide in GUIDES for command in commands_of(guide)],
)
def test_a_command_of_a_guide_is_one_that_plimsoll_takes(guide: Path, command: str, plimsoll: Plimsoll, tmp_path: Path) -> None:
    verb, *words = shlex.split(with_files(command, tmp_path))[1:]
    if verb not in MEASURING or "--" in words or any(word.endswith(".vdb") for word in words):
        assert plimsoll(verb, "--help").returncode == 0
        return
    # Where the guide has an array this test has a disk, with room for little.
    smaller = {"/mnt/saswork": str(tmp_path), "64GiB": "1GiB", "10GiB": "1GiB", "rows=40M": "rows=40k"}
    for there, here in smaller.items():
        words = [word.replace(there, here) for word in words if word != "…"]
    planned = plimsoll(verb, *words, *([] if "--dry-run" in words else ["--dry-run"]))
    assert planned.returncode == 0, planned.stderr
    assert "plan " in planned.stdout


@pytest.mark.parametrize("guide", [guide for guide in GUIDES if sessions_of(guide.read_text())], ids=lambda guide: guide.stem)
def test_what_a_guide_shows_is_what_comes(guide: Path, plimsoll: Plimsoll, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    for command, shown in sessions_of(guide.read_text()):
        ended = plimsoll(*shlex.split(command)[1:])
        assert ended.returncode == 0, ended.stderr
        missing = missing_line(shown, ended.stdout)
        assert missing is None, f"{command}: {missing!r} is not in, or not in this order:\n{ended.stdout}"
