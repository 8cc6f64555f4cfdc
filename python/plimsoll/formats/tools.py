"""The tools whose files are read, in one visible list, and the way each is called.

Model: a tool is found by the name and first lines of a file; the first that recognises it is taken. What a reader may know of the world
comes in with `Around`: files named inside, environment variables, what is known of targets. Readers are imported when they are needed.

    tool = recognised("job.fio", head)
    translation = translate(tool, text, "job.fio", around)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from plimsoll.errors import InputError
from plimsoll.records import dataclass

if TYPE_CHECKING:
    from plimsoll.formats.known_targets import KnownTargets
    from plimsoll.formats.translation import Translation

#: In the order in which they are asked whether a file is theirs: those with the plainest marks first.
TOOLS = ("iometer", "diskspd", "orion", "vdbench", "fio")
#: Those whose command lines are read, too.
WITH_COMMANDS = ("fio", "vdbench", "orion", "diskspd")


@dataclass(frozen=True)
class Around:
    """What a reader may ask for: the text of a file named inside, variables, which targets there are and how long."""

    include: Callable[[str], str]
    environment: Mapping[str, str]
    targets: KnownTargets


def recognised(name: str, head: str) -> str | None:
    """The tool that a file called ``name`` with these first lines belongs to; None when none knows it."""
    return next((tool for tool in TOOLS if _module(tool).recognises(name, head)), None)


def translate(tool: str, text: str, source: str, around: Around) -> Translation:
    """The file ``text`` of ``tool`` in our words; raises `InputError` with file and line."""
    translation: Translation = _module(tool).translate(text, source, around.include, around.environment, around.targets)
    return _onto(translation, around.targets)


def translate_command(tool: str, words: Sequence[str], source: str, around: Around) -> Translation:
    """A command line of ``tool``, its own name left out, in our words."""
    if tool not in WITH_COMMANDS:
        raise InputError(f"{source}: command lines of {tool} are not read; give its file instead.")
    translation: Translation = _module(tool).translate_command(words, source, around.include, around.environment, around.targets)
    return _onto(translation, around.targets)


def _onto(translation: Translation, targets: KnownTargets) -> Translation:
    from plimsoll.formats.typed_target import onto

    return onto(translation, targets)


def _module(tool: str) -> Any:
    return import_module(f"plimsoll.formats.{tool}")
