"""What fio, and what we, ask of files for one and the same job file.

Model: both run under the observer, in folders of their own that hold files of the same names. A `Load` is every request in the order in
which it was made: operation, file, offset, length, and the instant since the first of them.
Limits: see the observer. Where fio lays a file out first, the flush at the end of that is left out, because no request came before it.

    theirs, ours = of_fio("[job]\\n…", folder, observer), worker.load("[job]\\n…", folder)
    theirs.count("read") == ours.count("read")
"""

from __future__ import annotations

import json
import os
import shutil
import struct
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from support.patience import HANGS_S

Json = dict[str, Any]

_HERE = Path(__file__).parent
_HEAD = struct.Struct("=Q")
_RECORD = struct.Struct("=QQQQII")
_OPS = {"r": "read", "w": "write", "t": "trim", "f": "flush"}


class Request(NamedTuple):
    """One request; ``task`` is the thread or process that made it."""

    op: str
    file: str
    offset: int
    length: int
    at_ns: int
    task: int

    @property
    def place(self) -> tuple[str, str, int, int]:
        """Everything but when and by whom."""
        return self.op, self.file, self.offset, self.length


@dataclass
class Load:
    """The requests of a run; ``answer`` is what our engine said about it."""

    requests: list[Request]
    answer: Json = field(default_factory=dict)

    def of(self, op: str) -> list[Request]:
        """The requests of one operation."""
        return [request for request in self.requests if request.op == op]

    def count(self, op: str) -> int:
        """How many requests of that operation there were."""
        return len(self.of(op))

    def counts(self) -> dict[str, int]:
        """Requests per operation, of those that occur."""
        return dict(Counter(request.op for request in self.requests))

    def bytes(self) -> dict[str, int]:
        """Bytes per operation, of those that occur."""
        total: Counter[str] = Counter()
        for request in self.transfers():
            total[request.op] += request.length
        return dict(total)

    def transfers(self) -> list[Request]:
        """Everything but flushes."""
        return [request for request in self.requests if request.op != "flush"]

    def places(self) -> list[tuple[str, str, int, int]]:
        """Where the transfers went, in order."""
        return [request.place for request in self.transfers()]

    def per_task(self) -> list[list[tuple[str, str, int, int]]]:
        """The places of every task in its own order; the lists sorted, because tasks have no names."""
        tasks: dict[int, list[tuple[str, str, int, int]]] = {}
        for request in self.transfers():
            tasks.setdefault(request.task, []).append(request.place)
        return sorted(tasks.values())

    def seconds(self) -> float:
        """From the first request to the last."""
        return (self.requests[-1].at_ns - self.requests[0].at_ns) / 1e9


def compiled(folder: Path) -> Path:
    """The observer as a library."""
    library = folder / "observer.so"
    command = ["cc", "-shared", "-fPIC", "-O1", "-o", str(library), str(_HERE / "observer.c"), "-ldl"]
    subprocess.run(command, check=True, capture_output=True, timeout=HANGS_S)
    return library


def watched(observer: Path, log: Path) -> dict[str, str]:
    """The environment of a process that is observed."""
    return {**os.environ, "LD_PRELOAD": str(observer), "OBSERVER_LOG": str(log)}


def of_fio(text: str, folder: Path, observer: Path) -> Load:
    """What fio does with a job file in an empty folder."""
    folder.mkdir()
    (folder / "job.fio").write_text(text)
    log = folder.with_suffix(".log")
    # Without that fio first measures the processor's own clock, for a tenth of a second.
    command = ["fio", "--clocksource=clock_gettime", "job.fio", "--output=out"]
    ran = subprocess.run(command, cwd=folder, env=watched(observer, log), capture_output=True, text=True, check=False, timeout=HANGS_S)
    assert ran.returncode == 0, f"fio refuses the job file: {ran.stderr}{(folder / 'out').read_text()}"
    found = list(read_log(log, 0, folder))
    log.unlink()
    first = next((index for index, request in enumerate(found) if request.op != "flush"), len(found))
    return Load(found[first:])


class Worker:
    """The process that runs job files with our engine."""

    def __init__(self, folder: Path, observer: Path) -> None:
        self._log = folder / "ours.log"
        command = [sys.executable, str(_HERE / "ours.py")]
        environment = watched(observer, self._log)
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)

    def load(self, text: str, folder: Path) -> Load:
        """What we do with a job file in an empty folder."""
        folder.mkdir()
        (folder / "job.fio").write_text(text)
        seen = recorded(self._log)
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(f"{folder}\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        assert "refused" not in answer, f"the job file is refused: {answer['refused']}"
        return Load(while_running(list(read_log(self._log, seen, folder)), answer["points"]), answer)

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(timeout=HANGS_S)
        self._process.stdout.close()


def while_running(requests: list[Request], points: list[Json]) -> list[Request]:
    """Before and between points files are filled and sampled, which is no load."""
    times = [(point["began_ns"], point["ended_ns"]) for point in points]
    return [request for request in requests if any(began <= request.at_ns <= ended for began, ended in times)]


def recorded(log: Path) -> int:
    """How many records there are so far."""
    if not log.exists():
        return 0
    with log.open("rb") as file:
        head = file.read(_HEAD.size)
    return int(_HEAD.unpack(head)[0]) if len(head) == _HEAD.size else 0


def read_log(log: Path, skip: int, folder: Path) -> Iterator[Request]:
    """The records on files of a folder, behind those that are known."""
    # The marker beside a scratch file is told when a run is over; it is no part of the load.
    files = [path for path in folder.rglob("*") if path.is_file() and path.suffix != ".plimsoll"]
    names = {path.stat().st_ino: str(path.relative_to(folder)) for path in files}
    with log.open("rb") as file:
        (count,) = _HEAD.unpack(file.read(_HEAD.size))
        assert _HEAD.size + count * _RECORD.size <= log.stat().st_size, "the observer's log is full"
        file.seek(_HEAD.size + skip * _RECORD.size)
        content = file.read((count - skip) * _RECORD.size)
    for instant_ns, inode, offset, length, task, op in _RECORD.iter_unpack(content):
        if inode in names:
            yield Request(_OPS[chr(op)], names[inode], offset, length, instant_ns, task)


def available() -> str | None:
    """None, or why nothing can be compared here."""
    if shutil.which("fio") is None:
        return "fio is not installed here, so our reading of its files cannot be compared with its own"
    if shutil.which("cc") is None:
        return "no C compiler is installed here, so the observer of requests cannot be built"
    return None
