"""What ``--dry-run`` shows: points in their order, what becomes of each target, where the run would be stored, how long it takes.

show_preview(preview, "results/<time>_check", as_json=False)
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import Any

import click

from plimsoll.cli.screen import screen
from plimsoll.displayed import as_document, displayed_in_line
from plimsoll.points.preview import NO_LIMIT_S, Line, Preview, TargetUse
from plimsoll.units import binary, time_text

SCHEMA = "plimsoll.plan/1"


def show_preview(preview: Preview, stored: str, *, keep: bool, as_json: bool) -> None:
    """Print the plan; data on stdout like the results that it stands for."""
    if as_json:
        click.echo(as_document({"schema": SCHEMA, **preview.to_json(), "stored": stored}))
        return
    from plimsoll.reports.terminal.table import table

    several = len({line.experiment for line in preview.lines}) > 1
    head = ("point", *(("experiment",) if several else ()), "workload", "configuration", "what", "each")
    here = screen()
    click.echo(table([head, *_rows(preview, named=several)], left=len(head) - 1, screen=here))
    click.echo()
    for layout in preview.layouts:
        click.echo("\n".join(_layout_lines(layout)))
        click.echo()
    fates = [f"target   {place.path or place.target}  {_fate(place, keep=keep)}" for place in preview.places]
    for line in (*fates, f"results  {stored}", f"plan     {preview.sentence()}{_besides(preview)}"):
        click.echo(here.wrapped(displayed_in_line(line), rest=" " * 9))


def _layout_lines(layout: dict[str, Any]) -> Iterator[str]:
    """A layout that is made before its points and taken away after them, with every command."""
    yield f"layout   {layout['name']} on {', '.join(layout['members'])}; made before its points, taken away after them"
    for step in layout["steps"]:
        yield f"         {step['what']}"
        for command in step["commands"]:
            yield textwrap.indent(command, " " * 11)
    for remark in layout["remarks"]:
        yield f"       ! {remark}"


def _rows(preview: Preview, *, named: bool) -> Iterator[tuple[str, ...]]:
    place = 0
    for line in preview.lines:
        several = f"{line.most} points" if line.least == line.most else f"{line.least} to {line.most} points"
        number = f"{place + 1}" if line.most == 1 else several
        place += line.most
        names = (line.experiment, line.workload) if named else (line.workload,)
        yield (number, *names, line.configuration, line.what, _each(line))


def _each(line: Line) -> str:
    if not line.seconds:
        return "as long as it takes"
    if line.may_end_sooner and line.seconds >= NO_LIMIT_S:
        return "until done"
    bound = "≤ " if line.may_end_sooner else ""
    return f"{bound}{time_text(line.seconds)}{' virtual' if line.is_virtual else ''}"


def _fate(place: TargetUse, *, keep: bool) -> str:
    """What is made there and who writes."""
    writers = f"written by {', '.join(place.written_by)}" if place.written_by else "only read"
    after = "kept" if keep else "removed afterwards"
    if place.makes:
        return f"{place.makes}, {after}"
    if not place.path:
        return "a model; nothing is written anywhere"
    if place.kind == "directory":
        return f"trees of files are laid out, {writers}, {after}"
    if place.makes_bytes is None:
        return f"{place.kind}, {writers}"
    room = f" of {binary(place.free_bytes)} free" if place.free_bytes is not None else ""
    short = ", which is NOT ENOUGH ROOM" if place.free_bytes is not None and place.free_bytes < place.makes_bytes else ""
    return f"a scratch file is made ({binary(place.makes_bytes)}{room}{short}), filled, {writers}, {after}"


def _besides(preview: Preview) -> str:
    """What takes time as well."""
    made = sum(place.makes_bytes or 0 for place in preview.places)
    return f", besides filling {binary(made)}" if made else ""
