"""``plimsoll help``: the help of a command, or of the options that many commands share.

Model: ``plimsoll help run`` is ``plimsoll run --help``. A topic is no command; it is explained here.
"""

from __future__ import annotations

from importlib import import_module

import click

from plimsoll.cli import completions
from plimsoll.cli.commands import OTHER_NAMES, TOPICS, VERBS
from plimsoll.cli.options import COMMON, DECLARED
from plimsoll.displayed import quoted
from plimsoll.errors import InputError
from plimsoll.near import meant


@click.command(short_help="Explain a command or the common options.")
@click.argument("name", metavar="[COMMAND|options]", required=False, shell_complete=completions.commands)
@click.pass_context
def command(ctx: click.Context, name: str | None) -> None:
    """Explain COMMAND, or the options that mean the same in every command that measures; without either, list the commands.

    \b
    plimsoll help
    plimsoll help ramp
    plimsoll help options
    """
    program = ctx.find_root()
    if name is None:
        click.echo(program.get_help())
    elif name in TOPICS:
        click.echo(common_options(program))
    else:
        click.echo(_command_help(program, name))


def common_options(program: click.Context) -> str:
    """Every common option in full."""

    def carrier() -> None: ...

    for option in reversed(COMMON):
        carrier = DECLARED[option](carrier)
    formatter = program.make_formatter()
    formatter.write_text("These options mean the same in every command that has them.")
    with formatter.section("Common options"):
        declared = click.command(carrier).params
        formatter.write_dl([record for option in declared if (record := option.get_help_record(program)) is not None])
    return formatter.getvalue().rstrip("\n")


def _command_help(program: click.Context, name: str) -> str:
    from plimsoll.cli.program import module_of

    verb = OTHER_NAMES.get(name, (name,))[0]
    if verb not in VERBS:
        raise InputError(f"there is no command {quoted(name)} to explain; {meant(name, [*VERBS, *TOPICS], 'plimsoll help lists all.')}")
    found: click.Command = import_module(module_of(verb)).command
    with click.Context(found, info_name=verb, parent=program) as ctx:
        return found.get_help(ctx)
