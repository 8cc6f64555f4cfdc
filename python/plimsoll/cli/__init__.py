"""The ``plimsoll`` command: `program` finds the verbs, every other file of a verb's name is that command.

This file only names the entry point; a function here would see the module `plimsoll.cli.list` in place of the builtin.
"""

from plimsoll.cli.commands import VERBS
from plimsoll.cli.program import main

__all__ = ["VERBS", "main"]
