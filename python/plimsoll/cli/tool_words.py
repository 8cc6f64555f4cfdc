"""Words of a command line that are another tool's: its name and all behind it.

with_tool_set_apart(command.params, ["-t", "null:", "fio", "--name=x"])       # ["-t", "null:", "--", "fio", "--name=x"]
"""

from __future__ import annotations

from collections.abc import Sequence

import click

from plimsoll.formats.tools import WITH_COMMANDS


def with_tool_set_apart(options: Sequence[click.Parameter], args: list[str]) -> list[str]:
    """``args`` with ``--`` before the command line of another tool, whose options are not ours; others as they are."""
    valued = {word for option in options if isinstance(option, click.Option) and not option.is_flag for word in option.opts}
    at = 0
    while at < len(args) and args[at].startswith("-") and args[at] != "--":
        at += 2 if args[at] in valued else 1
    if not args[at:] or args[at] not in WITH_COMMANDS:
        return args
    from plimsoll.points.foreign import is_command

    return [*args[:at], "--", *args[at:]] if is_command(args[at:]) else args
