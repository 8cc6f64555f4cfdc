"""The fit of an array: values of unknowns are looked for that make its model give what was measured.

Model: options as they were typed become measured rows, ranges of unknowns and a search; the model is run on all processors, each run once;
`plimsoll.analysis.array_fit` searches and judges by rows that were held out.

    fitted = fit(prepared("array:se6920-raid1", FitArguments(measured="rows.csv", unknown=("host.request_ns=10us..200us:log",))), print)
    fitted.target        # "array:se6920-raid1?host.request_ns=41us"
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from typing import Any, Self

from plimsoll.analysis.array_fit.outcome import Fold, Modelled, Outcome, fit_unknowns, folds
from plimsoll.analysis.array_fit.row import Row, condition
from plimsoll.analysis.array_fit.unknown import GRID_LEVELS, Position, Search, Unknown, grid, parse_unknowns, settings, simplex
from plimsoll.catalog.arrays import PREFIX, overlay
from plimsoll.catalog.composition.key_units import with_unit
from plimsoll.defaults import STORE
from plimsoll.engine import block as block_engine
from plimsoll.errors import InputError
from plimsoll.points.array_runs import REQUESTS, HostModelling, Modelling, Trial
from plimsoll.points.gang import host_work
from plimsoll.points.measured_rows import Measured, RowChoice, measured_rows
from plimsoll.target import target_of

#: Hears how many runs the model has made.
OnRuns = Callable[[int], None]


@dataclass(frozen=True, kw_only=True)
class FitArguments:
    """What was typed; what has a default of its own is None where nothing was."""

    measured: str
    unknown: tuple[str, ...]
    hold_out: tuple[str, ...] = ()
    where: tuple[str, ...] = ()
    workload: str | None = None
    settings: tuple[str, ...] = ()
    out: str = STORE
    search: str | None = None
    levels: int | None = None
    requests: int | None = None
    seed: int = 1
    processes: int | None = None
    hosts: str | None = None

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> Self:
        """From options by their names; what was not typed is None."""
        names = {one.name for one in fields(cls)}
        return cls(**{name: value for name, value in options.items() if name in names and value is not None})


@dataclass(frozen=True)
class Prepared:
    """A fit that can be made."""

    target: str
    unknowns: Sequence[Unknown]
    measured: Sequence[Measured]
    folds: Sequence[Fold]
    search: Callable[[], Search]
    processes: int
    requests: int
    seed: int
    hosts: str | None = None


@dataclass(frozen=True)
class Fitted:
    """What came out."""

    #: The array that was fitted, and with the values that were found.
    of: str
    target: str
    unknowns: Sequence[Unknown]
    rows: Sequence[Row]
    outcome: Outcome

    def document(self, folder: str, source: str) -> dict[str, Any]:
        """An array file for ``folder`` that lays the values on the array that was fitted; ``source`` says where they come from."""
        return overlay(self.of.removeprefix(PREFIX).partition("?")[0], self.target.partition("?")[2], folder, source)


def prepared(target: str, arguments: FitArguments) -> Prepared:
    """What was typed, checked. Raises `InputError` for ranges whose ends are no array, and for rows that cannot be."""
    if arguments.hosts is not None and arguments.processes is not None:
        raise InputError("--processes: with --hosts each host runs as many at a time as it has processors; leave one of both out.")
    unknowns = parse_unknowns(arguments.unknown, with_unit)
    _check_keys(target, unknowns)
    held_out = [condition(text, "--hold-out") for text in arguments.hold_out]
    where = [condition(text, "--where") for text in arguments.where]
    measured = measured_rows(arguments.measured, RowChoice(where, arguments.workload, arguments.settings, arguments.out), target)
    return Prepared(
        target,
        unknowns,
        measured,
        folds([one.row for one in measured], held_out),
        _search(arguments, len(unknowns)),
        arguments.processes or len(os.sched_getaffinity(0)),
        arguments.requests or REQUESTS,
        arguments.seed,
        arguments.hosts,
    )


def fit(asked: Prepared, on_runs: OnRuns) -> Fitted:
    """Search the values, running the model as often as that takes."""
    rows = [one.row for one in asked.measured]
    with _modelling(asked) as modelling:
        outcome = fit_unknowns(rows, asked.folds, asked.unknowns, asked.search, _modelled(modelling, asked, on_runs))
    return Fitted(asked.target, with_settings(asked.target, settings(asked.unknowns, outcome.position)), asked.unknowns, rows, outcome)


@contextmanager
def _modelling(asked: Prepared) -> Iterator[Modelling | HostModelling]:
    """Processes of this machine, or hosts, that run the model."""
    if asked.hosts is None:
        with Modelling(asked.processes) as modelling:
            yield modelling
        return
    with host_work(asked.hosts) as work:
        yield HostModelling(work)


def with_settings(target: str, added: str) -> str:
    """The target with more behind its ``?``."""
    return f"{target}{'&' if '?' in target else '?'}{added}"


def _check_keys(target: str, unknowns: Sequence[Unknown]) -> None:
    """Every end of every range has to be an array; what is between is as well."""
    engine = block_engine.native()
    for end in (0.0, 1.0):
        for unknown in unknowns:
            engine.inspect_target(target_of(with_settings(target, unknown.typed(end))))


def _search(arguments: FitArguments, unknowns: int) -> Callable[[], Search]:
    if arguments.search != "grid":
        if arguments.levels is not None:
            raise InputError("--levels: a simplex has none; leave it out, or search with --search grid.")
        return lambda: simplex(unknowns)
    levels = arguments.levels or GRID_LEVELS[unknowns - 1]

    def search() -> Search:
        return grid(unknowns, levels)

    return search


def _modelled(modelling: Modelling | HostModelling, asked: Prepared, on_runs: OnRuns) -> Modelled:
    target, unknowns, measured = asked.target, asked.unknowns, asked.measured
    known: dict[tuple[str, int], dict[str, float]] = {}
    wanted_of: dict[int, list[str]] = {}
    for one in measured:
        wanted_of.setdefault(one.number, []).append(one.row.figure)
    first = {one.number: one for one in reversed(measured)}

    def trial(text: str, number: int) -> Trial:
        one = first[number]
        return Trial(with_settings(target, text), one.load, asked.requests, asked.seed, tuple(wanted_of[number]), one.parts)

    def modelled(wanted: Sequence[tuple[Position, int]]) -> list[float]:
        # Folds ask for the same runs again, figures of one load are of one run, and whole numbers make one run of neighbouring positions.
        keys = [(settings(unknowns, position), measured[row].number) for position, row in wanted]
        new = [key for key in dict.fromkeys(keys) if key not in known]
        known.update(zip(new, modelling.figures([trial(*key) for key in new]), strict=True))
        on_runs(len(known))
        return [known[key][measured[row].row.figure] for key, (_, row) in zip(keys, wanted, strict=True)]

    return modelled


def without_words(document: Any) -> Any:
    """An array without its words."""
    if isinstance(document, dict):
        return {key: without_words(value) for key, value in document.items() if key not in ("name", "title", "sources")}
    return [without_words(value) for value in document] if isinstance(document, list) else document
