"""A journal as its users meet it: told by a run, to a file or another host, and read when the power is back."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from support.patience import HANGS_S
from system.conftest import COMMAND

DURABLE = (
    '[[stream]]\nname = "log"\nread_percent = 0\nqueue_depth = 8\nflush_every = 8\ndirect = false\nflush_at_end = true\nrequests = 400\n'
)
RECORD_BYTES = 64
Ended = subprocess.CompletedProcess[str]


@pytest.fixture
def in_memory(tmp_path: Path) -> Iterator[Path]:
    """A directory on another file system than the journal's."""
    place = Path(f"/dev/shm/plimsoll-test-{os.getpid()}")
    if not Path("/dev/shm").is_dir() or os.stat("/dev/shm").st_dev == tmp_path.stat().st_dev:
        pytest.skip("no second file system: /dev/shm is needed")
    place.mkdir()
    try:
        yield place
    finally:
        for file in place.iterdir():
            file.unlink()
        place.rmdir()


def test_a_host_keeps_the_journal_of_another_and_every_broken_promise_is_named(
    plimsoll: Callable[..., Ended], tmp_path: Path, in_memory: Path
) -> None:
    (tmp_path / "log.toml").write_text(DURABLE)
    target = str(in_memory / "t.dat")
    words = [COMMAND, "journal", "cut.journal", "--listen", "127.0.0.1:0"]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as host:
        assert host.stderr is not None
        found = re.search(r"port (\d+)", host.stderr.readline())
        assert found is not None
        place = f"journal=tcp://127.0.0.1:{found[1]}"
        # The run ends by its amount long before its duration.
        wrote = plimsoll(
            *("run", "log.toml", "-t", target, "--size", "4MiB", "-d", "1h", "-w", "0s", "--keep", "--json"),
            *("--set", "verify=journal", "--set", place),
        )
        assert wrote.returncode == 0, wrote.stderr
        assert "records kept" in host.communicate(timeout=HANGS_S)[1]
    (result,) = json.loads(wrote.stdout)["results"]
    kept = result["engine"]["journal"]
    assert kept["begun"] == kept["durable"] > 0, "the last flush promises what is left"
    assert (tmp_path / "cut.journal").stat().st_size == RECORD_BYTES * (1 + kept["begun"] + kept["durable"])

    check = ("run", "log.toml", "-t", target, "--set", "verify=journal-check", "--set", "journal=cut.journal")
    clean = plimsoll(*check)
    assert clean.returncode == 0, clean.stderr
    assert f"all {kept['durable']:,} acknowledged writes are there" in clean.stdout
    # As if it had been killed before it could say that it ended: the next one looks again all the same.
    (checked,) = (path for path in tmp_path.glob("results/*/run.json") if "journal-check" in path.read_text())
    checked.write_text(json.dumps({**json.loads(checked.read_text()), "status": "running", "finished": None, "process": None}))
    with open(target, "r+b") as file:
        file.write(bytes(1 << 20))
    broken = plimsoll(*check)
    assert broken.returncode == 6
    assert re.search(r"the target broke its word: .* of \d+ acknowledged writes", " ".join(broken.stdout.split()))
    assert Path(target).exists(), "the evidence is kept"


def test_without_a_host_nothing_is_written(plimsoll: Callable[..., Ended], tmp_path: Path) -> None:
    (tmp_path / "log.toml").write_text(DURABLE)
    words = ("run", "log.toml", "-t", "queue:?service=exp:1ms&size=4MiB", "-d", "1s", "-w", "0s", "--set", "verify=journal")
    ended = plimsoll(*words, "--set", "journal=tcp://127.0.0.1:1")
    assert ended.returncode == 2
    assert "nobody answers there" in ended.stdout + ended.stderr
    assert "Traceback" not in ended.stderr
