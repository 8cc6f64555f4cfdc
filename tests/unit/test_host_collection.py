"""What hosts of a killed command stored is made one point only where all of them have it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from plimsoll.gang.collection import collect
from plimsoll.store.reader import StoredRun, open_run
from support.said import Plimsoll


class Collected:
    """A host that has nothing left to hand over."""

    def runs(self) -> list[str]:
        return []

    def forget(self) -> None:
        """It has been told."""


@pytest.fixture
def killed(plimsoll: Plimsoll, tmp_path: Path) -> Path:
    """A run of two hosts whose command was killed in its point, and both hosts' copies."""
    assert plimsoll("run", "random-read-4k", "-t", "null:", "-d", "100ms", "-w", "0s", "--out", str(tmp_path / "kept"), "--quiet").code == 0
    (run,) = (tmp_path / "kept").iterdir()
    for host in ("h1", "h2"):
        shutil.copytree(run, tmp_path / "copies" / host)
    (tmp_path / "copies").rename(run / "hosts")
    meta = json.loads((run / "run.json").read_text())
    (run / "run.json").write_text(json.dumps({**meta, "status": "interrupted", "gang": {"stores": {"h1": "/x", "h2": "/y"}}}))
    (result,) = run.glob("points/*/result.json")
    result.unlink()
    return run


def _collected(run: Path) -> int:
    stored = open_run(str(run))
    assert isinstance(stored, StoredRun)
    return collect(stored, {"h1": Collected(), "h2": Collected()}).made


def test_a_point_that_all_hosts_have_is_made_of_theirs(killed: Path) -> None:
    assert _collected(killed) == 1
    (result,) = (json.loads(path.read_text()) for path in killed.glob("points/*/result.json"))
    each = [json.loads(path.read_text()) for path in killed.glob("hosts/*/points/*/result.json")]
    assert result["totals"]["read"]["count"] == sum(one["totals"]["read"]["count"] for one in each) > 0


def test_a_point_that_a_host_never_began_is_left_to_whoever_goes_on(killed: Path) -> None:
    (point,) = killed.glob("hosts/h2/points/*")
    shutil.rmtree(point)
    assert _collected(killed) == 0
    assert not list(killed.glob("points/*/result.json"))
