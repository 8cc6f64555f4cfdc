"""Goal for traces as text: a million lines of fio's iolog are read, put in order and replayed to a target of nothing within a second.

Each round converts anew (a cache of its own). fio replays the same log to its engine ``null``, which has no verb for a conversion. What is
counted is processor time, since a replay as fast as possible takes one processor.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

from speed import process
from speed.process import Finished
from speed.row import Row
from speed.setting import Setting

GOAL_S = 1.0
LINES = 1_000_000
_WHAT = "a million lines of iolog to null"


def rows(setting: Setting) -> list[Row]:
    """All goals of this group."""
    lines = LINES // 10 if setting.quick else LINES
    with tempfile.TemporaryDirectory(prefix="plimsoll-bench-") as folder:
        log = Path(folder) / "reads.log"
        _write(log, lines)
        found = setting.interleaved("traces", _contestants(setting, log, Path(folder)), setting.long_rounds)
    cpu_s = {name: median(done.cpu_ns for done in runs) / 1e9 for name, runs in found.items()}
    beside = f", fio {cpu_s['fio']:.2f} s" if "fio" in cpu_s else ""
    detail = f"CPU time of the command with its start, {lines:,} lines{beside}"
    return [Row(_WHAT, "at most", GOAL_S * lines / LINES, "s", cpu_s["plimsoll"], detail)]


def _write(log: Path, lines: int) -> None:
    with log.open("w", encoding="ascii") as out:
        out.write("fio version 3 iolog\n1 /bench add\n1 /bench open\n")
        out.writelines(f"{10 * number} /bench read {(number * 2_654_435_761) % (1 << 18) << 12} 4096\n" for number in range(lines))


def _contestants(setting: Setting, log: Path, folder: Path) -> dict[str, Callable[[int], Finished]]:
    replay = [setting.plimsoll.command, "replay", str(log), "--target=null:", "--as-fast-as-possible", "--json", "--fresh"]
    contestants: dict[str, Callable[[int], Finished]] = {"plimsoll": lambda number: _converting(replay, folder, number)}
    if setting.fio is not None:
        options = {"name": "bench", "thread": 1, "ioengine": "null", "size": "1g", "replay_no_stall": 1, "read_iolog": log}
        fio = [setting.fio.command, *(f"--{key}={value}" for key, value in options.items())]
        contestants["fio"] = lambda _: process.run(fio)
    return contestants


def _converting(replay: list[str], folder: Path, number: int) -> Finished:
    with _cache(str(folder / f"cache{number}")):
        return process.run([*replay, f"--out={folder / f'runs{number}'}"])


@contextmanager
def _cache(path: str) -> Iterator[None]:
    """Where a command keeps what it converted, for the time being."""
    before = os.environ.get("XDG_CACHE_HOME")
    os.environ["XDG_CACHE_HOME"] = path
    try:
        yield
    finally:
        del os.environ["XDG_CACHE_HOME"]
        if before is not None:
            os.environ["XDG_CACHE_HOME"] = before
