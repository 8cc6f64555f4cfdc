"""``plimsoll list``: the shipped workloads."""

from __future__ import annotations

import json
from typing import Any

import click

from plimsoll import catalog
from plimsoll.errors import InputError


@click.command(short_help="List the shipped workloads.")
@click.option("--tag", metavar="TAG", help="Only those with this tag.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(tag: str | None, as_json: bool) -> None:
    """List the shipped workloads by group; each name and each tag can be given to 'plimsoll run'."""
    names = catalog.names() if tag is None else catalog.names_tagged(tag)
    if tag is not None and not names:
        raise InputError(f"no workload has the tag {tag!r}; there are {', '.join(catalog.all_tags())}.")
    if as_json:
        click.echo(json.dumps([_entry(name) for name in names], ensure_ascii=False))
        return
    from plimsoll.reports.terminal import table

    rows = [("workload", "group", "tags", "title")]
    for name in names:
        entry = _entry(name)
        rows.append((name, entry["group"], " ".join(entry["tags"]), entry["title"]))
    click.echo(table(rows, left=4))


def _entry(name: str) -> dict[str, Any]:
    document = catalog.document(name)
    return {
        "name": name,
        "group": document.get("group", ""),
        "tags": document.get("tags", []),
        "title": document.get("title", name),
    }
