"""A run on several workers of this machine, as a test starts it: with a state of its own, and the carrier that the test is about.

gang = Gang(tmp_path, carrier="direct")
done = gang.run("random-read-4k", "--hosts", "local:3", "--target", "null:")
gang.left()                          # what still runs or lies about
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from plimsoll.gang.nest import marked
from support.patience import HANGS_S, wait_until

COMMAND = os.path.join(os.path.dirname(sys.executable), "plimsoll")


class Gang:
    """Commands whose gangs keep their things below ``place``."""

    def __init__(self, place: Path, carrier: str = "direct") -> None:
        self.place = place
        self.results = place / "results"
        self.state = place / "state"
        # Ray and workers make their sockets below a short path.
        self._environment = {
            **os.environ,
            "XDG_STATE_HOME": str(self.state),
            "XDG_CACHE_HOME": _cache(),
            "PLIMSOLL_GANG_CARRIER": carrier,
        }

    def start(self, *words: str) -> subprocess.Popen[str]:
        """The command, running."""
        return subprocess.Popen(
            [COMMAND, *words, *([] if words[:2] == ("hosts", "check") else ["--out", str(self.results)])],
            cwd=self.place,
            env=self._environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        """The command, ended."""
        process = self.start(*words)
        out, err = process.communicate(timeout=HANGS_S)
        return subprocess.CompletedProcess(words, process.returncode, out, err)

    def point(self) -> Any:
        """The stored result of the only point of the only run."""
        (path,) = self.results.glob("*/points/*/result.json")
        return json.loads(path.read_text())

    def notes(self) -> list[Any]:
        """What each gang has noted of itself."""
        return [json.loads(path.read_text()) for path in self.state.glob("plimsoll/gangs/*/gang.json")]

    def note(self, process: subprocess.Popen[str]) -> Any:
        """The note of the only gang, once it is there."""
        wait_until(lambda: bool(self.notes()) or process.poll() is not None, "a gang has begun")
        assert process.poll() is None, process.communicate()
        return self.notes()[0]

    def begun(self, hosts: int, process: subprocess.Popen[str]) -> list[Path]:
        """The first intervals that each worker has stored, once all have; fewer when the command has ended before."""

        def found() -> list[Path]:
            paths = self.state.glob("plimsoll/gangs/*/*/*/points/*/intervals.jsonl")
            return [path for path in paths if path.stat().st_size > 0]

        wait_until(lambda: len(found()) == hosts or process.poll() is not None, "every worker measures")
        return found()


@cache
def _cache() -> str:
    """What Plimsoll keeps of this machine, which is measured once."""
    return tempfile.mkdtemp(prefix="plimsoll-test-")


def worker_of(nest: str, host: str) -> int:
    """The process of a worker."""
    for process in marked(nest):
        words = Path(f"/proc/{process}/cmdline").read_bytes().split(b"\0")
        if b"plimsoll.worker" in words and os.path.join(nest, host).encode() in words:
            return process
    raise AssertionError(f"{host} has no worker")


def is_down(nest: str) -> bool:
    """Whether nothing of a gang runs any more, and its directory is gone."""
    return not list(marked(nest)) and not os.path.exists(nest)
