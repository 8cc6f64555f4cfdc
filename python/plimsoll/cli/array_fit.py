"""What ``plimsoll fit`` does with an array: unknowns of its model are looked for that make it give what was measured.

fit_array("array:se6920-raid1", {"measured": "rows.csv", "unknown": ("host.request_ns=10us..200us:log",), …})
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from typing import Any

import click

from plimsoll import engine as engines
from plimsoll.analysis.array_fit.outcome import Modelled, Outcome, fit_unknowns, folds, to_json
from plimsoll.analysis.array_fit.row import condition
from plimsoll.analysis.array_fit.unknown import GRID_LEVELS, Position, Search, Unknown, grid, parse_unknowns, settings, simplex
from plimsoll.catalog.composition.key_units import with_unit
from plimsoll.cli.streams import bare
from plimsoll.displayed import as_document, encoded, quoted
from plimsoll.errors import InputError
from plimsoll.points.array_runs import REQUESTS, Modelling, Trial
from plimsoll.points.measured_rows import Asked, Measured, measured_rows
from plimsoll.store.durable import check_replaceable
from plimsoll.target import target_of

Json = dict[str, Any]

SCHEMA = "plimsoll.array-fit/1"
#: The first line of the files written here.
BEGINNING = b"# An array fitted to measured rows by Plimsoll\n"


def fit_array(target: str, typed: Json) -> None:
    """Fit, and print or write what came out."""
    if typed["measured"] is None:
        raise InputError("--measured: say what the array is held against: a CSV file, a run, or published:NAME.")
    unknowns = parse_unknowns(typed["unknown"], with_unit)
    check_output(typed["output"])
    _check_keys(target, unknowns)
    held_out = [condition(text, "--hold-out") for text in typed["hold_out"]]
    where = [condition(text, "--where") for text in typed["where"]]
    measured = measured_rows(typed["measured"], Asked(where, typed["workload"], typed["settings"], typed["out"]), target)
    rows = [one.row for one in measured]
    divided = folds(rows, held_out)
    processes = typed["processes"] or len(os.sched_getaffinity(0))
    with Modelling(processes) as modelling:
        modelled = _modelled(modelling, measured, unknowns, (target, typed["requests"] or REQUESTS, typed["seed"] or 1))
        outcome = fit_unknowns(rows, divided, unknowns, _search(typed, len(unknowns)), modelled)
    fitted = with_settings(target, settings(unknowns, outcome.position))
    if typed["output"] is not None:
        _write(typed["output"], target, fitted, _source(typed))
    _show(rows, outcome, (fitted, unknowns), as_json=typed["as_json"])


def with_settings(target: str, added: str) -> str:
    """The target with more behind its ``?``."""
    return f"{target}{'&' if '?' in target else '?'}{added}"


def check_output(path: str | None) -> None:
    """Refuse before a long fit what could not be written after it."""
    if path is None:
        return
    if not path.endswith(".toml"):
        raise InputError(f"{path}: a target takes files that end in .toml for arrays; write {path}.toml.")
    folder = os.path.dirname(path) or "."
    if not os.path.isdir(folder):
        raise InputError(f"{path}: there is no directory {quoted(folder)}; make it first.")
    check_replaceable(path, (BEGINNING,))


def _check_keys(target: str, unknowns: Sequence[Unknown]) -> None:
    """Every end of every range has to be an array; what is between is as well."""
    engine = engines.native()
    for end in (0.0, 1.0):
        for unknown in unknowns:
            engine.inspect_target(target_of(with_settings(target, unknown.typed(end))))


def _search(typed: Json, unknowns: int) -> Callable[[], Search]:
    if typed["search"] != "grid":
        if typed["levels"] is not None:
            raise InputError("--levels: a simplex has none; leave it out, or search with --search grid.")
        return lambda: simplex(unknowns)
    levels = typed["levels"] or GRID_LEVELS[unknowns - 1]

    def search() -> Search:
        return grid(unknowns, levels)

    return search


def _modelled(modelling: Modelling, measured: Sequence[Measured], unknowns: Sequence[Unknown], run: tuple[str, int, int]) -> Modelled:
    target, requests, seed = run
    known: dict[tuple[str, int], float] = {}

    def modelled(asked: Sequence[tuple[Position, int]]) -> list[float]:
        # Folds ask for the same runs again, and whole numbers make one run of neighbouring positions.
        keys = [(settings(unknowns, position), number) for position, number in asked]
        new = [key for key in dict.fromkeys(keys) if key not in known]
        trials = [Trial(with_settings(target, text), measured[number].load, requests, seed) for text, number in new]
        known.update(zip(new, modelling.rates(trials), strict=True))
        if sys.stderr.isatty():
            bare(sys.stderr).write(f"\r{len(known):,} runs of the model")
            sys.stderr.flush()
        return [known[key] for key in keys]

    return modelled


def _show(rows: Sequence[Any], outcome: Outcome, found: tuple[str, Sequence[Unknown]], *, as_json: bool) -> None:
    from plimsoll.reports.terminal.fit import folds_table, outcome_lines, range_lines, rows_table

    fitted, unknowns = found
    if sys.stderr.isatty():
        bare(sys.stderr).write("\r\x1b[K")
    if as_json:
        click.echo(as_document({"schema": SCHEMA, "modelled": True, "target": fitted, **to_json(outcome, rows)}))
        return
    click.echo(rows_table(rows, outcome.rows))
    click.echo()
    click.echo(folds_table(rows, outcome.folds))
    click.echo()
    click.echo("\n".join([*outcome_lines(rows, outcome), *range_lines(unknowns, outcome.position)]))
    click.echo(f"\n{fitted}")


def _source(typed: Json) -> str:
    held_out = ", ".join(typed["hold_out"])
    return f"fitted to {os.path.basename(typed['measured'])} by 'plimsoll fit', {held_out} held out"


def _write(path: str, target: str, fitted: str, source: str) -> None:
    """An array that is like the one that was fitted, and says what differs."""
    import tomli_w

    from plimsoll.catalog.arrays import PREFIX, described, overlay
    from plimsoll.store.durable import replace_file

    document = overlay(target.removeprefix(PREFIX).partition("?")[0], fitted.partition("?")[2], os.path.dirname(path) or ".", source)
    replace_file(path, BEGINNING + encoded(tomli_w.dumps(document)), durable=False)
    # What was written has to mean what was fitted.
    assert _plain(described(f"{PREFIX}{path}" if os.sep in path else f"{PREFIX}./{path}")) == _plain(described(fitted))


def _plain(document: Any) -> Any:
    """An array without its words."""
    if isinstance(document, dict):
        return {key: _plain(value) for key, value in document.items() if key not in ("name", "title", "sources")}
    return [_plain(value) for value in document] if isinstance(document, list) else document
