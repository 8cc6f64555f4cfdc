"""Vdbench files whose FSDs have nothing above their anchors in common: one run works in all of their directories, and only there."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from support.patience import HANGS_S, wait_until
from system.conftest import COMMAND

Run = Callable[..., CompletedProcess[str]]

_FILE = """\
fsd=default,depth=1,width=2,files=4,sizes=8k
fsd=fsd1,anchor={a}
fsd=fsd2,anchor={b}
fwd=fwd1,fsd=fsd*,operation=read,fileselect=random,fileio=random,xfersize=4k,threads=2
rd=rd1,fwd=fwd1,fwdrate=max,elapsed=2,interval=1
"""


@pytest.fixture
def anchors(tmp_path: Path) -> tuple[Path, Path]:
    """Two directories that are not there yet, beside somebody else's files."""
    for name in ("mnt", "srv"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "precious").write_text(name)
    return tmp_path / "mnt/a", tmp_path / "srv/b"


@pytest.fixture
def job(tmp_path: Path, anchors: tuple[Path, Path]) -> Path:
    path = tmp_path / "job.vdb"
    path.write_text(_FILE.format(a=anchors[0], b=anchors[1]))
    return path


def foreign(place: Path) -> list[str]:
    return sorted(str(path.relative_to(place)) for folder in ("mnt", "srv") for path in (place / folder).rglob("*"))


def test_two_anchors_are_run_stored_exported_and_reported_as_one_run(
    plimsoll: Run, results: Callable[..., list[dict[str, Any]]], tmp_path: Path, job: Path, anchors: tuple[Path, Path]
) -> None:
    told = plimsoll("run", str(job), "-d", "300ms", "-w", "0s", "-o", "store", "-q", "--keep")
    assert told.returncode == 0, told.stderr
    assert all((anchor / ".plimsoll-files").exists() and (anchor / "d0").is_dir() for anchor in anchors)
    (point,) = results(str(job), "-d", "300ms", "-w", "0s", "-o", "again", "-q")
    assert all(anchor.is_dir() for anchor in anchors), "they were to be kept"
    assert point["job"]["target"] == f"concat:{anchors[0]},{anchors[1]}"
    assert [part["path"] for part in point["host"]["target"]["parts"]] == [str(anchor) for anchor in anchors]
    assert point["totals"]["read"]["count"] > 0
    (stored,) = (tmp_path / "store").iterdir()
    exported = plimsoll("export", stored.name, "--out", "store", "--as", "vdbench", "-o", "out")
    assert exported.returncode == 0, exported.stderr
    assert plimsoll("report", stored.name, "--out", "store", "-o", "page.html").returncode == 0
    assert (tmp_path / "page.html").exists()


def test_a_killed_run_leaves_nothing_that_the_next_one_does_not_remove(
    plimsoll: Run, tmp_path: Path, job: Path, anchors: tuple[Path, Path]
) -> None:
    words = [COMMAND, "run", job, "-d", "600s", "-w", "0s", "-o", "store", "-q"]
    process = subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_until(lambda: all('"ready"' in text for text in markers(anchors)), "both trees are laid out")
    os.kill(process.pid, signal.SIGKILL)
    process.wait(HANGS_S)
    assert all(anchor.is_dir() for anchor in anchors)
    told = plimsoll("run", str(job), "-d", "300ms", "-w", "0s", "-o", "store", "-q")
    assert told.returncode == 0, told.stderr
    assert foreign(tmp_path) == ["mnt/precious", "srv/precious"]


def markers(anchors: tuple[Path, Path]) -> list[str]:
    paths = [anchor / ".plimsoll-files" for anchor in anchors]
    return [path.read_text() if path.exists() else "" for path in paths]


def test_an_anchor_with_somebody_else_s_files_is_refused_before_anything_is_made(
    plimsoll: Run, tmp_path: Path, job: Path, anchors: tuple[Path, Path]
) -> None:
    anchors[1].mkdir()
    (anchors[1] / "letter").write_text("dear")
    told = plimsoll("run", str(job), "-d", "300ms", "-w", "0s", "-o", "store", "-q")
    assert (told.returncode, f"{anchors[1]} will not be written to" in told.stderr) == (3, True), told.stderr
    assert foreign(tmp_path) == ["mnt/precious", "srv/b", "srv/b/letter", "srv/precious"]
    assert not (tmp_path / "store").exists()


def test_a_typed_target_takes_the_place_of_every_anchor(plimsoll: Run, tmp_path: Path, job: Path) -> None:
    told = plimsoll("run", str(job), "-t", "tree", "-d", "300ms", "-w", "0s", "-o", "store", "-q", "--keep")
    assert told.returncode == 0, told.stderr
    assert {path.name for path in (tmp_path / "tree").iterdir()} == {".plimsoll-files", "mnt", "srv"}
    assert foreign(tmp_path) == ["mnt/precious", "srv/precious"]
