"""Runs as they are stored, read also while they are being written and after their writer was killed.

Model: a point without ``result.json`` never ended; its totals are made anew from the intervals that reached the disk. A run whose
``run.json`` says ``running`` while its process is gone is ``incomplete``. A torn last line is left out and noted.

    for run in list_runs("results"):
        print(run.name, run.status, len(run.points))
    open_run("results/2026-11-21T03-36-29_proliant").points[0].result
    open_run("latest")
    open_run("latest/hosts/db1")
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property, partial
from typing import Any, BinaryIO, Generic, TypeVar

from plimsoll.analysis.point.verification import verified
from plimsoll.displayed import quoted
from plimsoll.errors import InputError, StoreError
from plimsoll.near import nearest
from plimsoll.records import dataclass
from plimsoll.result import Result, check_schema
from plimsoll.store.document import CHANGED, fitting, line_value, read_document
from plimsoll.store.host_runs import divided, host_path
from plimsoll.store.names import meant
from plimsoll.store.uncertainty import PointDraws, read_drawn, with_intervals
from plimsoll.store.writer import RUN_SCHEMA, is_alive
from plimsoll.stored import Interval, Run, Sample

Record = TypeVar("Record")
_BLOCK_BYTES = 1 << 18


class StoredPoint:
    """One point on disk; ``drawn`` gives the intervals that draws of its run gave its figures, by operation and metric."""

    def __init__(self, path: str, drawn: Callable[[], PointDraws] = PointDraws) -> None:
        self.path = path
        self._drawn = drawn
        self.id = os.path.basename(path)
        self.notes: list[str] = []

    @property
    def number(self) -> int:
        """The place in the run that its name begins with; names of the ten-thousandth point on are longer, so they do not sort as text."""
        digits = self.id.partition("-")[0]
        return int(digits) if digits.isdecimal() else 0

    @cached_property
    def result(self) -> Result:
        """The stored result, or what can be made of the intervals when the point never ended."""
        return self.read()

    def read(self) -> Result:
        """`result`, read anew and not kept: for who goes through thousands of points."""
        final = os.path.join(self.path, "result.json")
        if os.path.lexists(final):
            return with_intervals(verified(Result.from_sound(read_document(final), final)), self._drawn())
        return self._made_anew(self.begun())

    def begun(self) -> Result:
        """What was stored of the point when it began."""
        started = os.path.join(self.path, "job.json")
        return Result.from_sound(read_document(started), started)

    def _made_anew(self, skeleton: Result) -> Result:
        """The result out of the intervals, by the analysis that a point which ends sees, too; imported for a point that never did."""
        from plimsoll.analysis.point.definition import drawn_by_stream
        from plimsoll.analysis.point.observation import Observation
        from plimsoll.analysis.point.summary import Summary
        from plimsoll.analysis.validity.conclusion import conclude

        drawn = drawn_by_stream(skeleton.job.definition)
        summary, observation = Summary(drawn), Observation(drawn)
        with damage_named([self]):
            for interval in self.intervals():
                summary.add(interval)
                observation.add(interval)
            return conclude(skeleton, summary, observation)

    def check(self) -> None:
        """Read everything that is there, histograms included; raises `StoreError` for what is damaged."""
        final = os.path.join(self.path, "result.json")
        if os.path.lexists(final):
            Result.from_sound(read_document(final), final)
        for number, interval in enumerate(self.intervals(), start=1):
            for cell in (*interval["cells"], *(interval.get("outstanding") or ())):
                for name in ("latency", "service"):
                    self._check_histogram(cell.get(name), f"intervals.jsonl, line {number}")
        for _ in self.monitor():
            pass

    def _check_histogram(self, encoded: str | None, where: str) -> None:
        from plimsoll.histogram import decoded

        try:
            if encoded:
                decoded(encoded)
        except InputError as problem:
            raise StoreError(f"{os.path.join(self.path, where)}: {problem}; {CHANGED}.") from None

    def intervals(self) -> Lines[Interval]:
        """The intervals in order of time."""
        return self._records("intervals.jsonl", Interval)

    def interval_count(self) -> int:
        """How many there are, without reading what they say."""
        try:
            return len(self.intervals())
        except StoreError:
            return 0

    def monitor(self) -> Lines[Sample]:
        """The samples of the host's counters in order of time."""
        return self._records("monitor.jsonl", Sample)

    def _records(self, name: str, kind: Any) -> Lines[Any]:
        return Lines(os.path.join(self.path, name), lambda: self._lines(name, kind))

    def _lines(self, name: str, kind: Any) -> Iterator[Any]:
        path = os.path.join(self.path, name)
        for number, line in enumerate(_raw_lines(path), start=1):
            where = f"{path}, line {number}"
            if not line.endswith(b"\n"):
                note = f"{where}: the process ended while writing it, so it is left out."
                if note not in self.notes:
                    self.notes.append(note)
                return
            yield line_value(line, where, kind)


@contextmanager
def damage_named(points: Iterable[StoredPoint]) -> Iterator[None]:
    """What goes wrong within the block because a file is damaged is said of that file; anything else passes on."""
    try:
        yield
    except (StoreError, OSError):
        raise
    except Exception:
        for point in points:
            point.check()
        raise


def _raw_lines(path: str) -> Iterator[bytes]:
    for file in _opened(path):
        yield from file


def _line_count(path: str) -> int:
    """How many whole lines there are."""
    return sum(block.count(b"\n") for file in _opened(path) for block in iter(partial(file.read, _BLOCK_BYTES), b""))


def _opened(path: str) -> Iterator[BinaryIO]:
    """The file, where there is one."""
    try:
        # A pipe in place of the file would never answer.
        with open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK)) as file:
            yield file
    except FileNotFoundError:
        return
    except OSError as problem:
        raise StoreError(f"{path}: cannot be read ({(problem.strerror or str(problem)).lower()}).") from None


@dataclass(frozen=True)
class Lines(Generic[Record]):
    """The lines of a file, read anew whenever they are gone through: hours of them need no memory."""

    path: str
    read: Callable[[], Iterator[Record]]

    def __len__(self) -> int:
        return _line_count(self.path)

    def __iter__(self) -> Iterator[Record]:
        return self.read()


class StoredRun:
    """One run on disk."""

    def __init__(self, path: str, meta: Run) -> None:
        self.path = path
        self.meta = meta
        self.name = os.path.basename(os.path.abspath(path))

    @property
    def status(self) -> str:
        """``running``, ``complete``, ``interrupted``, ``failed``, or ``incomplete`` when its process is gone."""
        status = str(self.meta.get("status"))
        if status == "running" and not is_alive(self.meta.get("process")):
            return "incomplete"
        return status

    @property
    def label(self) -> str:
        """What the user called the run, else its name."""
        return self.meta.get("label") or self.name

    @cached_property
    def points(self) -> list[StoredPoint]:
        """The points in the order they were begun."""
        folder = os.path.join(self.path, "points")
        try:
            names = os.listdir(folder)
        except FileNotFoundError:
            return []
        except OSError as problem:
            raise StoreError(f"{folder}: cannot be read ({str(problem.strerror).lower()}).") from None
        points = [self._point(os.path.join(folder, name)) for name in names if not name.startswith(".")]
        return sorted(points, key=lambda point: (point.number, point.id))

    @cached_property
    def drawn(self) -> dict[str, PointDraws]:
        """What draws gave the figures of its points, by point; empty where none were made (`plimsoll.store.uncertainty`)."""
        return read_drawn(self.path)

    def _point(self, path: str) -> StoredPoint:
        return StoredPoint(path, lambda: self.drawn.get(os.path.basename(path), PointDraws()))


def open_run(name: str, out: str = "results") -> StoredRun:
    """The run at path ``name``, or called ``name`` in the directory ``out``: by its name, or in short (`plimsoll.store.names`); behind
    either what one host of it measured (`plimsoll.store.host_runs`)."""
    found = find_run(name, out)
    if found is None:
        raise InputError(f"{quoted(name)} is not a run: {_nearest(name, out)}.")
    return found


def find_run(name: str, out: str = "results") -> StoredRun | None:
    """`open_run`, and None where nothing is called so."""
    for path in (name, os.path.join(out, name)):
        if os.path.lexists(os.path.join(path, "run.json")) or os.path.isdir(os.path.join(path, "points")):
            return _open(path)
    if (behind := divided(name)) is not None:
        run = find_run(behind[0], out)
        return None if run is None else _open(host_path(run.path, run.meta, behind[1]))
    there = {run.name: run for run in list_runs(out)}
    labels = {run.name: str(run.meta.get("label") or "") for run in there.values() if isinstance(run, StoredRun)}
    known = meant(name, list(there), labels)
    if known is not None:
        found = there[known]
        if isinstance(found, DamagedRun):
            raise found.problem
        return found
    return None


def open_runs(names: Sequence[str], out: str = "results") -> list[StoredRun]:
    """`open_run` of each; raises `InputError` for a run that is named twice, in whichever words."""
    runs: dict[str, tuple[str, StoredRun]] = {}
    for name in names:
        run = open_run(name, out)
        path = os.path.realpath(run.path)
        if path in runs:
            other = runs[path][0]
            twice = f"{name} is given twice" if other == name else f"{other} and {name} are the same run, {run.name}"
            raise InputError(f"{twice}; name each run once.")
        runs[path] = (name, run)
    return [run for _, run in runs.values()]


@dataclass(frozen=True)
class DamagedRun:
    """A run that cannot be read, and why."""

    name: str
    problem: StoreError


def list_runs(out: str) -> list[StoredRun | DamagedRun]:
    """Every run in ``out``, oldest first; one that cannot be read is represented by the error that says why."""
    runs = (read_run(out, name) for name in entry_names(out))
    return sorted((run for run in runs if run is not None), key=begun)


def entry_names(out: str) -> list[str]:
    """What is called so that it can be a run in ``out``."""
    try:
        return sorted(name for name in os.listdir(out) if not name.startswith("."))
    except FileNotFoundError:
        return []
    except OSError as problem:
        raise StoreError(f"{out}: cannot be read ({str(problem.strerror).lower()}).") from None


def read_run(out: str, name: str) -> StoredRun | DamagedRun | None:
    """The run ``name`` in ``out``, or what is wrong with it; None for what is none."""
    path = os.path.join(out, name)
    # Points without a run.json have lost it.
    if not os.path.lexists(os.path.join(path, "run.json")) and not os.path.isdir(os.path.join(path, "points")):
        return None
    try:
        return _open(path)
    except StoreError as problem:
        return DamagedRun(name, problem)


def begun(run: StoredRun | DamagedRun) -> tuple[str, int, str]:
    """Names begin with the second; what began in one is told apart by the record."""
    created_ns = run.meta.get("created_ns") if isinstance(run, StoredRun) else None
    return run.name[: len("2026-11-23T08-00-58")], int(created_ns or 0), run.name


def _open(path: str) -> StoredRun:
    source = os.path.join(path, "run.json")
    meta = read_document(source)
    check_schema(meta, RUN_SCHEMA, source)
    return StoredRun(path, fitting(meta, Run, source))


def _nearest(name: str, out: str) -> str:
    known = [run.name for run in list_runs(out) if isinstance(run, StoredRun)]
    if not known:
        return f"there is no run in {quoted(out)} yet; make one with 'plimsoll run', or say where they are with --out"
    # Names begin with the time; who asks for a run often writes what comes behind it. Of several alike the newest is meant.
    spelled = {spelling: run for run in known for spelling in (run, run.partition("_")[2])}
    spelled["latest"] = "latest"
    near = nearest(os.path.basename(name), spelled)
    return (
        f"did you mean {quoted(spelled[near])}? 'plimsoll list --runs' lists them"
        if near
        else "'plimsoll list --runs' lists those there are"
    )
