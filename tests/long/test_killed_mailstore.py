"""SIGKILL while a mail store runs on a file: the next recovery finds every commit that was acknowledged, and says so when it does not."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from random import Random
from typing import Any

from long.settings import Scale
from long.tally import Tally
from support.patience import wait_until
from system.conftest import COMMAND

KILLS = 20
SIZE_BYTES = 192 << 20
#: A checkpoint that moves every second and a ring that goes round within a few.
STORE = """
driver = "mailstore"
generation = "2003"
databases = 2
threads = 6
cache_size = "4MiB"
checkpoint_depth = "4MiB"
log_file_size = "1MiB"
lazy_commit_percent = 60
acknowledged = "commits"
"""


def test_a_store_killed_at_any_moment_has_every_commit_that_it_acknowledged(
    tmp_path: Path, draws: Random, scale: Scale, tally: Tally
) -> None:
    redone = 0
    with (tmp_path / "store").open("wb") as file:
        file.truncate(SIZE_BYTES)
    (tmp_path / "store.toml").write_text(STORE)
    for _ in range(scale.times(KILLS, least=2)):
        acknowledged = _killed(tmp_path, draws.randrange(200, 20_000))
        found = _recovered(tmp_path)
        for database, commits in zip(found, acknowledged, strict=True):
            assert database["commits_acknowledged"] == commits
            faults = {key: database[key] for key in ("commits_lost", "pages_lost", "pages_ahead", "pages_damaged", "gaps")}
            assert not any(faults.values()), database
            redone += database["pages_redone"]
        tally.count("a mail store killed and recovered", survived=True, named=None)
    assert redone > 0, "there was something to redo"


def _killed(folder: Path, commits: int) -> list[int]:
    """Kills a store that has acknowledged so many commits; what it had acknowledged of each database in the end."""
    (folder / "commits").unlink(missing_ok=True)
    words = ["run", "store.toml", "-t", str(folder / "store"), "--destroy-data", "-d", "10m", "-w", "0", "--quiet"]
    with (folder / "run.log").open("wb") as log:
        process = subprocess.Popen([COMMAND, *words], cwd=folder, stdout=log, stderr=log)
        try:
            wait_until(lambda: sum(_acknowledged(folder)) >= commits or process.poll() is not None, f"{commits} commits")
            assert process.poll() is None, (folder / "run.log").read_text()
        finally:
            process.kill()
            process.wait()
    return _acknowledged(folder)


def _acknowledged(folder: Path) -> list[int]:
    path = folder / "commits"
    numbers = path.read_bytes()[32:] if path.exists() else b""
    return [int.from_bytes(numbers[place : place + 8], "little") for place in range(0, len(numbers), 8)]


def _recovered(folder: Path) -> list[dict[str, Any]]:
    words = ["run", "store.toml", "-t", str(folder / "store"), "--destroy-data", "--set", "test=recovery", "--json"]
    ran = subprocess.run([COMMAND, *words], cwd=folder, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr + ran.stdout
    found: list[dict[str, Any]] = json.loads(ran.stdout)["stores"][0]["recovered"]
    return found
