"""A target as it is typed, with the name of its side.

Model: ``NAME=TARGET`` names what is measured at TARGET. A name is letters, digits, spaces, ``-``, ``_`` and ``.``, so what comes before the
first ``=`` of a scheme (``queue:servers=2``), of a path with a directory (``./a=b``) or of a list of parts (``concat:a,b``) is no name.
Limits: a file whose own name has a ``=`` and no directory is written ``./a=b``; whether there is one, the command line looks.

    named_target("cache on=/dev/sdb")            # NamedTarget(name="cache on", target="/dev/sdb")
    named_target("array:nvme?host.cores=2")      # NamedTarget(name="", target="array:nvme?host.cores=2")
"""

from __future__ import annotations

import re

from plimsoll.displayed import quoted
from plimsoll.errors import InputError
from plimsoll.experiments.layout_target import layout_target
from plimsoll.records import dataclass

#: What a side can be called on the command line.
_NAME = re.compile(r"\s*([^\W]([\w .-]*[\w.-])?)\s*")


@dataclass(frozen=True)
class NamedTarget:
    """``name`` is empty where none was typed."""

    name: str
    target: str

    @property
    def called(self) -> str:
        """What tables and sentences say."""
        if self.name:
            return self.name
        layout = layout_target(self.target)
        return self.target if layout is None else layout.called


def named_target(text: str) -> NamedTarget:
    """The name and the target of what was typed; raises `InputError` for a name without a target."""
    name, equals, target = text.partition("=")
    found = _NAME.fullmatch(name) if equals else None
    if equals and not name.strip():
        raise InputError(f"--target {text}: there is no name before '='; write NAME=TARGET, for example fast=/dev/sdb.")
    if found is None:
        return NamedTarget("", text)
    if not target.strip():
        raise InputError(f"--target {text}: {quoted(found[1])} names no target; write {found[1]}=TARGET, for example {found[1]}=/dev/sdb.")
    return NamedTarget(found[1], target)
