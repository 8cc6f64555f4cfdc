"""What ``plimsoll fit`` does with an array: unknowns of its model are looked for that make it give what was measured.

fit_array("array:se6920-raid1", {"measured": "rows.csv", "unknown": ("host.request_ns=10us..200us:log",)}, "fitted.toml", as_json=False)
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import Any

import click

from plimsoll.analysis.array_fit.outcome import to_json
from plimsoll.cli.streams import bare
from plimsoll.displayed import as_document, encoded, quoted
from plimsoll.errors import InputError
from plimsoll.points.array_fit import FitArguments, Fitted, fit, prepared, without_words
from plimsoll.store.durable import check_replaceable

SCHEMA = "plimsoll.array-fit/1"
#: The first line of the files written here.
BEGINNING = b"# An array fitted to measured rows by Plimsoll\n"


def fit_array(target: str, typed: Mapping[str, Any], output: str | None, *, as_json: bool) -> None:
    """Fit, and print or write what came out."""
    if typed.get("measured") is None:
        raise InputError("--measured: say what to compare the array with: a CSV file, a run, or published:NAME.")
    arguments = FitArguments.of(typed)
    check_output(output)
    fitted = fit(prepared(target, arguments), _progress)
    if output is not None:
        _write(output, fitted, _source(arguments))
    _show(fitted, as_json=as_json)


def _progress(runs: int) -> None:
    """How far a fit is, where somebody watches."""
    if sys.stderr.isatty():
        bare(sys.stderr).write(f"\r{runs:,} runs of the model")
        sys.stderr.flush()


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


def _show(fitted: Fitted, *, as_json: bool) -> None:
    from plimsoll.reports.terminal.fit import folds_table, outcome_lines, range_lines, rows_table

    rows, outcome = fitted.rows, fitted.outcome
    if sys.stderr.isatty():
        bare(sys.stderr).write("\r\x1b[K")
    if as_json:
        click.echo(as_document({"schema": SCHEMA, "modelled": True, "target": fitted.target, **to_json(outcome, rows)}))
        return
    click.echo(rows_table(rows, outcome.rows))
    click.echo()
    click.echo(folds_table(rows, outcome.folds))
    click.echo()
    click.echo("\n".join([*outcome_lines(rows, outcome), *range_lines(fitted.unknowns, outcome.position)]))
    click.echo(f"\n{fitted.target}")


def _source(arguments: FitArguments) -> str:
    held_out = ", ".join(arguments.hold_out)
    return f"fitted to {os.path.basename(arguments.measured)} by 'plimsoll fit', {held_out} held out"


def _write(path: str, fitted: Fitted, source: str) -> None:
    """An array that is like the one that was fitted, and says what differs."""
    import tomli_w

    from plimsoll.catalog.arrays import PREFIX, described
    from plimsoll.store.durable import replace_file

    document = fitted.document(os.path.dirname(path) or ".", source)
    replace_file(path, BEGINNING + encoded(tomli_w.dumps(document)), durable=False)
    # What was written has to mean what was fitted.
    assert without_words(described(f"{PREFIX}{path}" if os.sep in path else f"{PREFIX}./{path}")) == without_words(described(fitted.target))
