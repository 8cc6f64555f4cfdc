"""``plimsoll list``: the shipped workloads, suites and arrays, or the stored runs."""

from __future__ import annotations

from typing import Any

import click

from plimsoll import catalog
from plimsoll.catalog.arrays import families
from plimsoll.catalog.composition.variants import Axis, Family
from plimsoll.cli.screen import terminal_width
from plimsoll.defaults import defaults
from plimsoll.displayed import as_document, quoted
from plimsoll.errors import InputError
from plimsoll.records import dataclass


@click.command(short_help="List the shipped workloads, suites and arrays, or the stored runs.")
@click.option("--tag", metavar="TAG", help="Only those with this tag.")
@click.option("--suites", is_flag=True, help="Only the suites.")
@click.option("--arrays", is_flag=True, help="Only the modelled arrays.")
@click.option("--runs", is_flag=True, help="The stored runs instead, also those that are going on or were cut short.")
@click.option("-o", "--out", metavar="DIR", help="Where runs are kept. [default: results]")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(as_json: bool, **typed: Any) -> None:
    """List the shipped workloads by group, then the suites, then the modelled arrays; with --runs, the runs in DIR.

    Each workload and each tag can be given to 'plimsoll run', each suite to 'plimsoll suite', each array to '--target array:NAME'.
    Arrays that differ in a few things share a line; in their name, write one of the words below instead of each brace.
    """
    arguments = _Arguments(**typed)
    _check_choice(arguments)
    if arguments.runs:
        from plimsoll.cli.run_list import list_stored

        list_stored(arguments.out or defaults().store, as_json=as_json)
    elif arguments.suites:
        _suites(as_json=as_json)
    elif arguments.arrays:
        _arrays(arguments.tag, as_json=as_json)
    else:
        _workloads(arguments.tag, as_json=as_json)


@dataclass(frozen=True)
class _Arguments:
    """Which list."""

    tag: str | None
    suites: bool
    arrays: bool
    runs: bool
    out: str | None


def _check_choice(arguments: _Arguments) -> None:
    """Refuse what asks for two lists at once, or is for another list."""
    if arguments.runs and (arguments.suites or arguments.arrays or arguments.tag is not None):
        raise InputError("--runs: stored runs are a list of their own; leave --suites, --arrays and --tag out.")
    if arguments.out is not None and not arguments.runs:
        raise InputError("--out: what is shipped is in no directory of yours; add --runs to list the stored runs.")
    if arguments.suites and arguments.tag is not None:
        raise InputError("--suites and --tag: suites have no tags; leave one of both out.")
    if arguments.suites and arguments.arrays:
        raise InputError("--suites and --arrays: each asks for one list only; leave one of both out.")


def _workloads(tag: str | None, *, as_json: bool) -> None:
    names = catalog.names() if tag is None else catalog.names_tagged(tag)
    if tag is not None and not names:
        if any(tag in family.tags() for family in families()):
            raise InputError(f"no workload has the tag {quoted(tag)}, but arrays have: 'plimsoll list --arrays --tag {tag}'.")
        raise InputError(f"no workload has the tag {quoted(tag)}; there are {', '.join(catalog.all_tags())}.")
    if as_json:
        click.echo(as_document([_entry(name) for name in names]))
        return
    from plimsoll.reports.terminal.table import table

    rows = [("workload", "group", "tags", "title")]
    for name in names:
        entry = _entry(name)
        rows.append((name, entry["group"], " ".join(entry["tags"]), entry["title"]))
    click.echo(table(rows, left=4, width=terminal_width()))
    if tag is None:
        click.echo()
        _suites(as_json=False)
        click.echo()
        _arrays(None, as_json=False)


def _suites(*, as_json: bool) -> None:
    entries = [{"name": name, "title": str(catalog.suite_document(name).get("title", ""))} for name in catalog.suite_names()]
    if as_json:
        click.echo(as_document(entries))
        return
    from plimsoll.reports.terminal.table import table

    rows = [("suite", "title"), *((entry["name"], entry["title"]) for entry in entries)]
    click.echo(table(rows, left=2, width=terminal_width()))


def _arrays(tag: str | None, *, as_json: bool) -> None:
    chosen = [family for family in families() if tag is None or tag in family.tags()]
    if not chosen:
        known = sorted({tag for family in families() for tag in family.tags()})
        raise InputError(f"no array has the tag {quoted(tag)}; there are {', '.join(known)}.")
    if as_json:
        entries = [_array(family, name) for family in chosen for name in family.names()]
        click.echo(as_document(entries))
        return
    from plimsoll.reports.terminal.screen import folded
    from plimsoll.reports.terminal.table import table

    chosen.sort(key=lambda family: "today" not in family.tags())
    rows = [("family", "names", "tags", "title")]
    rows += [(f"array:{one.name}", str(len(one.names())), " ".join(one.tags()), one.about("title")) for one in chosen]
    click.echo(table(rows, left=4, width=terminal_width()))
    words: list[tuple[str, ...]] = [("name, axis", "words for a brace, and what stands for them in a name")]
    for family in chosen:
        own = [(f"  {{{axis.name}}}", " | ".join(_value(axis, value) for value in axis.values)) for axis in family.axes]
        own += [("  sequential", told) for told in (_ceiling(family.names()[0]),) if told]
        words += [(f"array:{family.pattern}",), *own] if own else []
    if len(words) > 1:
        click.echo()
        click.echo(table(words, left=2, width=terminal_width()))
    if varied := next((family for family in chosen if family.axes), None):
        axis = varied.axes[0]
        example = f"array:{varied.name}?{axis.name}={list(axis.values)[-1]}"
        told = f"Words choose, too: {example}; for whatever you leave out, the family's first is taken."
        click.echo("\n".join(["", *folded(told, terminal_width())]))


def _value(axis: Axis, value: str) -> str:
    """A value, and what stands in names for it if that is another word."""
    name = axis.named(value)
    return value if name == value else f"{value} ({name or 'nothing'})"


def _array(family: Family, name: str) -> dict[str, Any]:
    return {"name": name, "title": family.title(name), "tags": family.tags(), "family": family.name, "choice": family.choice(name)}


def _ceiling(name: str) -> str:
    """What sequential reads of an array reach at most, where only the rates of links say so."""
    from plimsoll.engine.block import native
    from plimsoll.reports.limits import ceiling_words
    from plimsoll.target import target_of

    (load,) = (one for one in native().describe_array(target_of(f"array:{name}"))["loads"] if one["sequential"] and one["read_share"] == 1)
    if load["kind"] != "link":
        return ""
    most = load["expected"][-1]["most_per_s"] * load["bytes"]
    return f"{name} reads{ceiling_words(most).replace(',', '', 1)}"


def _entry(name: str) -> dict[str, Any]:
    document = catalog.document(name)
    return {
        "name": name,
        "group": document.get("group", ""),
        "tags": document.get("tags", []),
        "title": document.get("title", name),
    }
