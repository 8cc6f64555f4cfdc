"""``plimsoll show``: one workload, suite, array or stored run with everything that is known of it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from plimsoll import catalog
from plimsoll.catalog.arrays import array_names, is_array
from plimsoll.cli import completions
from plimsoll.cli.options import takes
from plimsoll.cli.screen import terminal_width
from plimsoll.displayed import as_document, quoted
from plimsoll.engine import block as block_engine
from plimsoll.errors import InputError
from plimsoll.points.point import changed, defined, setting
from plimsoll.reports.terminal.screen import folded
from plimsoll.store.reader import find_run
from plimsoll.stored import Json

if TYPE_CHECKING:
    from plimsoll.uncertainty.figures import Plan

_ABOUT = ("purpose", "source", "rationale", "expect")


@click.command(short_help="Show one workload, suite, array or stored run.")
@click.argument("name", metavar="NAME", shell_complete=completions.shown)
@click.option("-s", "--set", "settings", metavar="KEY=VALUE", multiple=True, help="Show it with an option changed.")
@takes("uncertainty")
@click.option("--out", metavar="DIR", default="results", show_default=True, help="Where runs called by name are kept.")
@click.option("--json", "as_json", is_flag=True, help="Print the canonical definition as JSON, of a run its results.")
def command(name: str, settings: tuple[str, ...], uncertainty: Plan | None, out: str, as_json: bool) -> None:
    """Show the workload NAME (or a .toml file) with its purpose, source, rationale, and every option of its streams.

    Options that the definition does not give stand with their defaults. Of a suite, its experiments are shown;
    of an array ("array:NAME"), its components, what limits it, between what its figures lie, and where its values come from;
    of a stored run (a name, a label, latest), what was measured, and of latest/hosts/db1 what that host of it measured.
    """
    if is_array(name):
        from plimsoll.cli.array_display import show_array

        if settings:
            raise InputError(f"{name} is an array: its values are set after a '?', for example '{name}?host.cores=2'.")
        show_array(name, uncertainty, as_json=as_json)
        return
    if name in catalog.suite_names() or _holds_experiments(name):
        from plimsoll.cli.suite_display import show_suite

        show_suite(name, settings, as_json=as_json)
        return
    if _is_of_array(name):
        raise InputError(f"{quoted(name)} is an array; write 'plimsoll show array:{name}'.")
    if not _is_defined(name) and (run := find_run(name, out)) is not None:
        from plimsoll.cli.run_display import show_run

        if settings:
            raise InputError(f"{quoted(name)} is a run: what was measured has no options to set; leave --set out.")
        show_run(run, name, as_json=as_json)
        return
    sources = catalog.sources(name)
    if len(sources) > 1:
        raise InputError(f"{quoted(name)} is a tag of {len(sources)} workloads; name one of {', '.join(sources)}.")
    engine = block_engine.native()
    workload, options = changed(*defined(sources[0], engine), engine, map(setting, settings))
    if as_json:
        click.echo(as_document({"workload": workload, "job": options}, indent=1))
    else:
        click.echo("\n".join(_lines(dict(workload), dict(options), frozenset(_given(catalog.load(sources[0]))))))


def _is_defined(name: str) -> bool:
    """Whether a workload, a tag or a file of one is called so, which goes before a run."""
    return name in catalog.names() or name in catalog.all_tags() or (catalog.is_file(name) and os.path.isfile(name))


def _holds_experiments(name: str) -> bool:
    """Whether ``name`` is a file of experiments rather than of a workload; one that cannot be read is left to the catalog to refuse."""
    if not (catalog.is_file(name) and os.path.isfile(name)):
        return False
    return "experiment" in catalog.read(name)


def _is_of_array(name: str) -> bool:
    """Whether a name without ``array:`` is that of an array or of a file that describes one."""
    if catalog.is_file(name):
        return os.path.isfile(name) and not {"devices", "controller", "like"}.isdisjoint(catalog.read(name))
    return name not in catalog.names() and name in array_names()


def _lines(workload: Json, options: Json, given: frozenset[str]) -> Iterator[str]:
    here = terminal_width()
    yield from folded(f"{workload['name']}: {workload.get('title') or workload['name']}", here, rest="  ")
    yield from folded(f"group {workload.get('group') or '–'}, tags {' '.join(workload.get('tags') or []) or '–'}", here, rest="  ")
    for key in _ABOUT:
        if workload.get(key):
            yield ""
            yield from folded(f"{key}: {workload[key]}", terminal_width(), rest="  ")
    yield ""
    if "tree" in workload:
        yield from _streams(workload["tree"], given, noun="tree")
        yield ""
    yield from _streams(workload["stream"], given)
    yield ""
    yield from folded("job: " + ", ".join(f"{key} {_text(value)}" for key, value in options.items()), terminal_width(), rest="  ")


def _streams(streams: list[Json], given: frozenset[str], noun: str = "stream") -> Iterator[str]:
    """A row per option, a column per stream or tree: first what the definition gives, then the defaults."""
    from plimsoll.reports.terminal.table import table

    keys = list(dict.fromkeys(key for stream in streams for key in stream if key != "name"))
    head = (noun, *(str(stream["name"]) for stream in streams))
    chosen = [key for key in keys if key in given]
    rows = [head, *((key, *(_text(stream.get(key)) for stream in streams)) for key in chosen)]
    yield table(rows, left=len(head), width=terminal_width())
    yield ""
    yield "defaults"
    rest = [key for key in keys if key not in given]
    text = ", ".join(f"{key} {' | '.join(dict.fromkeys(_text(stream.get(key)) for stream in streams))}" for key in rest)
    yield from folded(text, terminal_width(), "  ", "  ")


def _given(document: Json) -> Iterator[str]:
    for table in (*document.get("tree", []), *document.get("stream", [])):
        yield from table


def _text(value: Any) -> str:
    if value is None:
        return "unset"
    if isinstance(value, bool):
        return str(value).lower()
    return json.dumps(value, ensure_ascii=False) if isinstance(value, (dict, list)) else str(value)
