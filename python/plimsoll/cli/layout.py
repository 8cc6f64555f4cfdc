"""``plimsoll layout``: storage is laid out, remembered, and taken away again."""

from __future__ import annotations

import os
import sys
import textwrap
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from plimsoll.cli import completions
from plimsoll.cli.options import LoadCommand
from plimsoll.displayed import as_document, displayed, quoted
from plimsoll.errors import InputError, TargetError

if TYPE_CHECKING:
    from plimsoll.layouts.journal import Journal
    from plimsoll.layouts.plan import Plan

_INDENT = "    "


@click.group(short_help="Lay storage out for measuring, and take it away again.")
def command() -> None:
    """Make volumes and file systems of devices, remember what was made, and take it away again.

    LAYOUT is one of 'plimsoll layout list' or a file of your own; docs/layouts.md explains it. What is made is known by identities that
    the plan gives it; nothing else is ever removed.

    \b
    plimsoll layout plan lvm-xfs --on /dev/sdb,/dev/sdc,/dev/sdd,/dev/sde
    plimsoll layout apply lvm-xfs --on /dev/sdb,/dev/sdc,/dev/sdd,/dev/sde --destroy-data=SERIAL,SERIAL,SERIAL,SERIAL
    plimsoll layout list
    plimsoll layout undo lvm-xfs
    """


def _taken(function: Any) -> Any:
    """What ``plan`` and ``apply`` both take."""
    for decorate in (
        click.option("--json", "as_json", is_flag=True, help="Print JSON."),
        click.option("--name", metavar="NAME", help="What to call it. [default: the name of LAYOUT]"),
        click.option(
            "--on", "on", metavar="DEVICE,...", multiple=True, required=True, help="The devices that it is made of, in their order."
        ),
        click.argument("layout", metavar="LAYOUT", shell_complete=completions.layouts),
    ):
        function = decorate(function)
    return function


@command.command(short_help="Print every command that would be run, and why.")
@_taken
def plan(layout: str, on: tuple[str, ...], name: str | None, as_json: bool) -> int:
    """Print what 'plimsoll layout apply' would do, step by step with every command, and change nothing.

    \b
    plimsoll layout plan lvm-xfs --on /dev/sdb,/dev/sdc
    plimsoll layout plan mine.toml --on /dev/sdb --on /dev/sdc
    """
    from plimsoll.layouts.host import missing

    found = _planned(layout, on, name)
    if as_json:
        click.echo(as_document(_document(found)))
        return 0
    click.echo("\n".join(_plan_lines(found)))
    lacking = missing(found.programs())
    if lacking is not None:
        click.echo(f"\nbefore it can be made: {lacking}", err=True)
    return 0


@command.command(cls=LoadCommand, short_help="Make a layout, noting each step before it begins.")
@_taken
@click.option(
    "--destroy-data",
    metavar="[=SERIAL|PATH,...]",
    help="Allow writing to the devices; of those that carry data, the serial number or path must be typed as well.",
)
def apply(layout: str, on: tuple[str, ...], name: str | None, as_json: bool, destroy_data: str | None) -> int:
    """Make LAYOUT of the devices. 'plimsoll layout undo' takes it away again, also when this command failed or was killed.

    \b
    plimsoll layout apply xfs --on /dev/sdb --destroy-data
    """
    from plimsoll.engine.block import native
    from plimsoll.layouts.creation import make
    from plimsoll.layouts.host import ThisHost, missing
    from plimsoll.layouts.journal import Journal
    from plimsoll.layouts.members import check_root, check_writable
    from plimsoll.points.permission import permission

    check_root()
    found = _planned(layout, on, name)
    lacking = missing(found.programs())
    if lacking is not None:
        raise lacking
    engine = native()
    check_writable(
        found.members, lambda target, typed: engine.write_refusal(target, None if destroy_data is None else permission(typed)), destroy_data
    )
    with Journal.made(found) as journal:
        total = len(found.steps)
        try:
            make(
                found, journal, ThisHost(journal.key_path), lambda number, step: click.echo(f"[{number + 1}/{total}] {step.what}", err=True)
            )
        except TargetError as problem:
            raise TargetError(f"{problem} 'plimsoll layout undo {journal.name}' takes back what was made.") from None
        if as_json:
            click.echo(as_document(_record(journal)))
        else:
            click.echo("\n".join(_made_lines(journal)))
    return 0


@command.command("list", short_help="List the layouts made here and the shipped ones.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def list_(as_json: bool) -> int:
    """List the layouts that were made on this host, and those that are shipped."""
    from plimsoll.catalog.layouts import layout_document, layout_names
    from plimsoll.layouts.inventory import names
    from plimsoll.layouts.journal import Journal

    made = [Journal.of(name) for name in names()]
    if as_json:
        click.echo(as_document({"made": [_record(journal) for journal in made], "shipped": layout_names()}))
        return 0
    if made:
        click.echo("Made on this host:")
        for journal in made:
            devices = ", ".join(str(member["path"]) for member in journal.plan["members"])
            click.echo(f"  {journal.name}  {_state(journal)}  on {displayed(devices)}")
        click.echo()
    click.echo("Shipped ('plimsoll layout show NAME' prints one):")
    width = max(map(len, layout_names()))
    for name in layout_names():
        click.echo(f"  {name:{width}}  {layout_document(name)['title']}")
    return 0


@command.command(short_help="Show a layout that was made, or the file of a shipped one.")
@click.argument("name", metavar="NAME", shell_complete=completions.layouts)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def show(name: str, as_json: bool) -> int:
    """Show what was made for the layout NAME and how far each step is; of a shipped one, its file."""
    from plimsoll.catalog.layouts import layout_names, layout_path
    from plimsoll.layouts.inventory import names
    from plimsoll.layouts.journal import Journal

    if name not in names() and name in layout_names():
        with open(layout_path(name), encoding="utf-8") as file:
            click.echo(file.read().rstrip())
        return 0
    journal = Journal.of(name)
    click.echo(as_document(_record(journal)) if as_json else "\n".join(_journal_lines(journal)))
    return 0


@command.command(short_help="Take a layout away again.")
@click.argument("name", metavar="NAME", shell_complete=completions.layouts)
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
def undo(name: str, yes: bool) -> int:
    """Take away what was made for the layout NAME, the last step first, and set back what was set.

    Files on its volumes go with it. What does not carry the layout's identity any more is left alone, and the command says so.

    \b
    plimsoll layout undo lvm-xfs
    """
    from plimsoll.layouts.host import ThisHost
    from plimsoll.layouts.journal import Journal
    from plimsoll.layouts.members import check_root
    from plimsoll.layouts.removal import check_members, remove

    check_root()
    with Journal.of(name) as journal:
        journal.hold()
        check_members(journal)
        if not yes and not _agreed(journal):
            click.echo("nothing was taken away", err=True)
            return 0
        remove(journal, ThisHost(journal.key_path), lambda step: click.echo(step, err=True))
        click.echo(f"{quoted(name)} is taken away", err=True)
    return 0


def _planned(layout: str, on: Sequence[str], name: str | None) -> Plan:
    import uuid

    from plimsoll.catalog.layouts import layout_of_name
    from plimsoll.experiments.layout_target import devices
    from plimsoll.layouts.document import read_layout
    from plimsoll.layouts.kinds.forms import WORD
    from plimsoll.layouts.members import members
    from plimsoll.layouts.plan import planned
    from plimsoll.layouts.step import Named

    document = layout_of_name(layout)
    called = name or os.path.basename(layout).removesuffix(".toml")
    try:
        WORD.read(called)
    except InputError as problem:
        raise InputError(f"--name: {problem}") from None
    return planned(read_layout(document, layout), members(devices(on)), Named(called, str(uuid.uuid4())))


def _plan_lines(found: Plan) -> Iterator[str]:
    from plimsoll.layouts.alignment import remarks

    if found.layout.facts["title"]:
        yield f"{found.layout.facts['title']}"
    for number, step in enumerate(found.steps, 1):
        yield f"{number}. {step.what[:1].upper()}{step.what[1:]}. {step.why}"
        for action in step.commands:
            yield textwrap.indent(str(action), _INDENT)
    for remark in remarks(found):
        yield f"! {remark}"
    yield f"{len(found.steps)} steps; nothing was changed."


def _made_lines(journal: Journal) -> Iterator[str]:
    for volume in journal.plan["volumes"]:
        place = volume["path"] if not os.path.isdir(volume["path"]) else os.path.join(volume["path"], "plimsoll-scratch.dat")
        yield f"measure it with   plimsoll run oltp-db -t {place}"
    yield f"take it away with plimsoll layout undo {journal.name}"


def _journal_lines(journal: Journal) -> Iterator[str]:
    yield f"{journal.name}: {_state(journal)}; made {journal.plan.get('made_at', 'never')}"
    for number, step in enumerate(journal.plan["steps"]):
        yield f"  {_MARKS[journal.events.get(number, 'planned')]} {step['what']}"
    for volume in journal.plan["volumes"]:
        yield f"  {displayed(str(volume['path']))}"


_MARKS = {"done": "✓", "begun": "…", "removed": "–", "planned": " "}


def _state(journal: Journal) -> str:
    undo = f"to be taken away with 'plimsoll layout undo {journal.name}'"
    if journal.for_run:
        return f"in use by {displayed(journal.for_run)}" if journal.is_held else f"left behind by {displayed(journal.for_run)}, {undo}"
    return "made" if journal.complete else f"half made, {undo}"


def _record(journal: Journal) -> dict[str, Any]:
    steps = [{**step, "state": journal.events.get(number, "planned")} for number, step in enumerate(journal.plan["steps"])]
    return {**journal.plan, "complete": journal.complete, "steps": steps}


def _document(found: Plan) -> dict[str, Any]:
    from plimsoll.layouts.alignment import remarks

    steps = [{"what": step.what, "why": step.why, "commands": list(map(str, step.commands))} for step in found.steps]
    return {"name": found.named.name, "steps": steps, "volumes": [volume.path for volume in found.volumes], "remarks": remarks(found)}


def _agreed(journal: Journal) -> bool:
    devices = ", ".join(str(member["path"]) for member in journal.plan["members"])
    if not sys.stdin.isatty():
        raise InputError("nobody can be asked here, so nothing was taken away; add --yes to do so without a question.")
    return click.confirm(f"Take away {quoted(journal.name)} on {displayed(devices)}, with every file on it?", err=True)
