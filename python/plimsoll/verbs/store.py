"""Stored runs for programs: a store to look into, runs to read, and all of them as tables.

Model: nothing is written, and nothing is read before it is asked for. A run that goes on, or was killed, is read as far as it came.

    import plimsoll

    store = plimsoll.open("results")
    [run.label for run in store]                       # oldest first
    store["latest"].to_pandas()                        # a row per point and operation
    store.to_polars()                                  # of all runs together
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, overload

from plimsoll.defaults import defaults
from plimsoll.displayed import quoted
from plimsoll.errors import InputError
from plimsoll.store import reader
from plimsoll.tables.tabular import Tabular

if TYPE_CHECKING:
    from plimsoll.result import Result
    from plimsoll.stored import Conclusion, Interval
    from plimsoll.tables.split import By
    from plimsoll.tables.table import Table


LATEST = "latest"


class StoredRun(Tabular):
    """One run of a store."""

    def __init__(self, stored: reader.StoredRun) -> None:
        self._stored = stored

    @property
    def path(self) -> str:
        """Its directory."""
        return self._stored.path

    @property
    def name(self) -> str:
        """What its directory is called."""
        return self._stored.name

    @property
    def label(self) -> str:
        """What the user called it, else its name."""
        return self._stored.label

    @property
    def status(self) -> str:
        """``running``, ``complete``, ``interrupted``, ``failed`` or ``incomplete``."""
        return self._stored.status

    @property
    def created(self) -> str:
        """When it began (ISO 8601); empty where that is not known."""
        return self._stored.meta.get("created") or ""

    @cached_property
    def results(self) -> list[Result]:
        """A `plimsoll.Result` for every point in the order measured: bytes, nanoseconds, per second."""
        with reader.damage_named(self._stored.points):
            return [point.result for point in self._stored.points]

    @property
    def conclusions(self) -> list[Conclusion]:
        """What the experiments found, one for each subject: sentences, figures and the mark, as run.json has it."""
        return list(self._stored.meta.get("conclusions") or [])

    def intervals(self, point: int | str) -> list[Interval]:
        """What happened over time at a point (its place from 0, or its id): one table for each interval, as intervals.jsonl has them."""
        points = self._stored.points
        found = [one for index, one in enumerate(points) if point in (index, one.id)]
        if not found:
            raise InputError(f"{self.name}: it has no point {quoted(point)}; there are {', '.join(one.id for one in points) or 'none'}.")
        return list(found[0].intervals())

    def table(self, by: By = "point") -> Table:
        """A row per point and operation, with what its side costs where that is known; ``by`` stream or part, a row for each of those."""
        from plimsoll.points.prices import priced_points
        from plimsoll.tables.points import points_table

        with reader.damage_named(self._stored.points):
            return points_table([self._stored], priced_points([self._stored]), by)

    def __repr__(self) -> str:
        return f"<plimsoll run {quoted(self.label)}: {self.status}, {len(self._stored.points)} points>"


class Store(Tabular):
    """The runs in a directory, oldest first; those that cannot be read are left out and named in ``damaged``."""

    def __init__(self, path: str, runs: list[StoredRun], damaged: dict[str, str]) -> None:
        self.path = path
        #: What is wrong with the runs that are left out, by their names.
        self.damaged = damaged
        self._runs = runs

    def __iter__(self) -> Iterator[StoredRun]:
        return iter(self._runs)

    def __len__(self) -> int:
        return len(self._runs)

    @overload
    def __getitem__(self, which: str | int) -> StoredRun: ...
    @overload
    def __getitem__(self, which: slice) -> Store: ...
    def __getitem__(self, which: str | int | slice) -> StoredRun | Store:
        """A run by its place, its name or label, or ``"latest"``; of runs with one label the last. A slice is a store of these."""
        if isinstance(which, slice):
            return Store(self.path, self._runs[which], {})
        if isinstance(which, int):
            return self._runs[which]
        if which == LATEST and self._runs:
            return self._runs[-1]
        named = [run for run in self._runs if which in (run.name, run.label)]
        return named[-1] if named else StoredRun(reader.open_run(which, self.path))

    def table(self, by: By = "point") -> Table:
        """A row per run, point and operation, ``by`` stream or part for each of those; each run's prices are in its own currency."""
        from plimsoll.points.prices import priced_points
        from plimsoll.tables.points import points_table

        stored = [run._stored for run in self._runs]
        with reader.damage_named(point for run in stored for point in run.points):
            return points_table(stored, {place: prices for run in stored for place, prices in priced_points([run]).items()}, by)

    def __repr__(self) -> str:
        return f"<plimsoll store {quoted(self.path)}: {len(self)} runs>"


def open_store(path: str | os.PathLike[str] | None = None) -> Store:
    """The store in the directory ``path`` (that of plimsoll.toml, else ``results``); the directory of a single run is a store of that run.

    Raises `plimsoll.InputError` where there is no such directory, `plimsoll.StoreError` where it cannot be read.
    """
    folder = defaults().store if path is None else os.fspath(path)
    if not os.path.isdir(folder):
        raise InputError(f"{folder}: there is no such directory; name one where runs are kept, such as 'results'.")
    if os.path.lexists(os.path.join(folder, "run.json")):
        return Store(folder, [StoredRun(reader.open_run(folder))], {})
    found = reader.list_runs(folder)
    damaged = {run.name: str(run.problem) for run in found if isinstance(run, reader.DamagedRun)}
    return Store(folder, [StoredRun(run) for run in found if isinstance(run, reader.StoredRun)], damaged)
