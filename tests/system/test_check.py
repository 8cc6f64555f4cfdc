"""``plimsoll check`` with the real engine: known answers on models, and the report."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

Command = Callable[..., CompletedProcess[str]]


def test_a_server_of_1_ms_carries_its_whole_rate_until_five_wait_for_it(plimsoll: Command) -> None:
    """With n requests in a closed loop around one server each waits for all others: the mean is n times 1 ms (Little's law)."""
    done = plimsoll("check", "queue:?service=const:1ms", "-d", "5s", "-w", "1s", "-q", "--json")
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["mark"]["iops"] == pytest.approx(1000, rel=0.01)
    # At 5 the mean is the limit itself.
    assert said["mark"]["level"] in (4, 5)
    assert said["answer"].startswith(
        "queue:?service=const:1ms (modelled) carries 1,000 OLTP requests per second before their mean passes 5 ms ("
    )
    assert {corner["name"] for corner in said["targets"][0]["corners"]} == {
        "random reads",
        "sequential reads",
        "random writes",
        "sequential writes",
    }


def test_a_file_of_somebody_is_read_and_stays_as_it_is(plimsoll: Command, tmp_path: Path) -> None:
    file = tmp_path / "theirs.dat"
    content = bytes(range(256)) * 4096
    file.write_bytes(content)
    done = plimsoll("check", str(file), "--quick", "-d", "50ms", "-w", "0s", "-q")
    # Its load line is too short to have a mark on a machine that is busy; its corners are there, and of both nothing but reads.
    assert re.search(r"(OLTP|random) reads (of 4 KiB )?per second", done.stdout.replace("\n", " ")), done.stderr
    assert "writes per second" not in done.stdout
    assert file.read_bytes() == content
    assert len(list((tmp_path / "results").glob("*_check-quick/report.html"))) == 1


def test_a_scratch_file_in_a_directory_is_gone_afterwards(plimsoll: Command, tmp_path: Path) -> None:
    (tmp_path / "mnt").mkdir()
    done = plimsoll("check", "mnt", "--quick", "--size", "16MiB", "-d", "50ms", "-w", "0s", "-q", "--json")
    said = json.loads(done.stdout)
    assert said["targets"][0]["target"] == "mnt/plimsoll-scratch.dat"
    assert re.search(r"OLTP requests|random reads", said["answer"])
    assert list((tmp_path / "mnt").iterdir()) == []
