"""``plimsoll export``: a stored run in the form that another tool's readers take."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from plimsoll.cli import completions
from plimsoll.displayed import encoded
from plimsoll.errors import InputError
from plimsoll.store.durable import REPLACED, check_replaceable
from plimsoll.tables.split import SPLITS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from plimsoll.cli.report import Form
    from plimsoll.store.reader import StoredRun

#: Forms that are written from the store itself: its points as a table.
TABLES = ("csv", "parquet")
#: The forms of `plimsoll.formats.export_forms`, which is imported when it is needed.
FORMS = (
    "fio-json",
    "fio-json+",
    "fio-logs",
    "fio-terse",
    "fio-text",
    "vdbench",
    "orion",
    "iometer-csv",
    "iometer-csv-1.1",
    "diskspd-xml",
    "diskspd-text",
    "prometheus",
)
#: Those of several files, or of one for each point.
_FOLDERS = ("fio-json", "fio-json+", "fio-logs", "vdbench", "orion")


@click.command(short_help="Write a stored run as another tool's results.")
@click.argument("name", metavar="RUN", shell_complete=completions.runs)
@click.option("--as", "form", metavar="FORM", type=click.Choice([*FORMS, *TABLES]), help=f"One of {', '.join((*FORMS, *TABLES))}.")
@click.option("-o", "--output", metavar="PATH", help=f"A file, or a directory for several. {REPLACED} [default: stdout]")
@click.option("--point", "wanted", metavar="ID", multiple=True, help="Only this point: its id, or the number it begins with.")
@click.option("--long", "is_long", is_flag=True, help="csv and parquet: a row for every number instead of a row per point and operation.")
@click.option("--by", type=click.Choice(SPLITS), help="csv and parquet: a row per operation of each of these. [default: point]")
@click.option("--out", metavar="DIR", default="results", show_default=True, help="Where runs called by name are kept.")
def command(name: str, form: str | None, output: str | None, **chosen: Any) -> None:
    """Write RUN (a name or how it begins, a label, latest, a directory) in the form of another tool. Data goes to stdout, or to PATH;
    forms of several files (fio-logs, vdbench, orion) need a directory. A directory takes fio's JSON as one file per point, as fio-plot
    reads it. For these forms a PATH that does not exist and has no suffix becomes a directory.

    \b
    plimsoll export 2026-11-21T03-36-29_oltp-db --as fio-json+ > oltp.json
    plimsoll export 2026-11-21T03-36-29_oltp-db --as fio-logs -o logs/
    """
    from plimsoll.cli.report import Form, check_form
    from plimsoll.store.reader import damage_named, open_run

    if form is None:
        raise InputError(f"the form is missing; say it with --as {', '.join((*FORMS, *TABLES))}.")
    for option, is_typed in (("--long", chosen["is_long"]), ("--by", chosen["by"])):
        if is_typed and form not in TABLES:
            raise InputError(f"{option} is for {' and '.join(TABLES)}; leave it out.")
    check_form(is_long=chosen["is_long"], by=chosen["by"])
    run = open_run(name, chosen["out"])
    if chosen["wanted"]:
        _keep_only(run, chosen["wanted"])
    with damage_named(run.points):
        if form in TABLES:
            _table(run, form, output, Form(chosen["is_long"], chosen["by"] or "point"))
        else:
            _export(run, form, output)


def _export(run: StoredRun, form: str, output: str | None) -> None:
    if output is not None and form in _FOLDERS and _has_no_suffix(output):
        output = os.path.join(output, "")
    files = _files(run, form, apart=output is not None and _is_folder(output))
    if output is None:
        if len(files) > 1:
            raise InputError(f"{form} is {len(files)} files; give a directory for them with -o DIR/.")
        # As bytes: another tool's file is no text of ours.
        click.echo(encoded(next(iter(files.values()))), nl=False)
        return
    for path in _written(files, output):
        click.echo(path)


def _files(run: StoredRun, form: str, *, apart: bool) -> Mapping[str, str]:
    from plimsoll.formats.export_forms import FORMS as FORMS_BY_NAME
    from plimsoll.formats.export_forms import Source, made, marked
    from plimsoll.formats.stored_point import Recorded

    points = [Recorded(marked(point.result), list(point.intervals()), list(point.monitor())) for point in run.points]
    files = made(FORMS_BY_NAME[form], Source(run.name, points), apart=apart)
    if any(point.result.modelled for point in run.points) and not any("modelled" in text for text in files.values()):
        click.echo(f"{form} has no place for it: {run.name} is modelled; who imports these files takes them as measured.", err=True)
    if form != "prometheus":
        _tell_bounds(run, form)
    return files


def _tell_bounds(run: StoredRun, form: str) -> None:
    """Latencies that are lower bounds are what completed in other tools' forms, which is said."""
    from plimsoll.analysis.point.metric import ALL
    from plimsoll.units import duration

    for point in run.points:
        owed = point.result.outstanding.get(ALL)
        if owed is not None and any(estimate.at_least for metrics in point.result.estimates.values() for estimate in metrics.values()):
            click.echo(
                f"{form} has no place for it: in {point.id} {owed.count:,} of {owed.count + owed.measured:,} requests had no answer when "
                f"the measured time ended, the longest for {duration(owed.longest_ns)} or more; the latencies written are of the others.",
                err=True,
            )


def _keep_only(run: StoredRun, wanted: tuple[str, ...]) -> None:
    """Leave only the points asked for in ``run``."""
    chosen = []
    for asked in wanted:
        found = [point for point in run.points if point.id == asked or point.id.partition("-")[0].lstrip("0") == asked.lstrip("0")]
        if not found:
            ids = ", ".join(point.id for point in run.points) or "none"
            raise InputError(f"--point {asked}: {run.name} has no such point; there are {ids}.")
        chosen += found
    run.points = [point for point in run.points if point in chosen]


def _table(run: StoredRun, form: str, output: str | None, rows: Form) -> None:
    """The points of the run, to a file or to stdout."""
    import tempfile

    from plimsoll.cli.report import table_beginnings, write_table

    if output is not None:
        path = os.path.join(output, f"{run.name}.{form}") if _is_folder(output) else output
        _make_folder(path)
        check_replaceable(path, table_beginnings(form))
        write_table([run], path, form, rows)
        click.echo(path)
        return
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, form)
        write_table([run], path, form, rows)
        with open(path, "rb") as file:
            click.echo(file.read(), nl=False)


def _written(files: Mapping[str, str], output: str) -> list[str]:
    """Write every file, at once each; their paths."""
    from plimsoll.store.durable import replace_file

    if not _is_folder(output) and len(files) > 1:
        raise InputError(f"{output}: {len(files)} files cannot be written into one; give a directory, {output}/.")
    paths = {os.path.join(output, name) if _is_folder(output) else output: encoded(text) for name, text in files.items()}
    for path, content in paths.items():
        check_replaceable(path, (content,))
    for path, content in paths.items():
        _make_folder(path)
        replace_file(path, content)
    return list(paths)


def _is_folder(path: str) -> bool:
    return path.endswith(os.sep) or os.path.isdir(path)


def _has_no_suffix(path: str) -> bool:
    """Whether a path that does not exist is called like a directory rather than like a file."""
    return not os.path.lexists(path) and not os.path.splitext(path)[1]


def _make_folder(path: str) -> None:
    from plimsoll.store.durable import store_error

    try:
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    except OSError as problem:
        raise store_error(path, problem) from None
