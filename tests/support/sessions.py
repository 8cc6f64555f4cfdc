"""Commands that a document shows with what they say (``console``), and what of it does not come.

Model: a command begins with ``$ `` and goes on in the next line behind a backslash. All else is what it says, line by line in this order;
a line of ``…`` stands for any number of lines, and at the end of a line it stands for the rest of it.

    sessions_of("```console\\n$ plimsoll list\\nworkloads:\\n```\\n")     # [("plimsoll list", ["workloads:"])]
"""

from __future__ import annotations

import re
from collections.abc import Sequence

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
_ANY = "…"


def sessions_of(text: str) -> list[tuple[str, list[str]]]:
    """Each command that is shown with its output, and the lines shown."""
    found: list[tuple[str, list[str]]] = []
    for language, block in BLOCK.findall(text):
        for line in block.replace("\\\n", " ").splitlines() if language == "console" else []:
            if line.startswith("$ "):
                found.append((line[2:], []))
            elif line != _ANY:
                found[-1][1].append(line)
    return found


def missing_line(shown: Sequence[str], said: str) -> str | None:
    """The first line shown that is not among those said behind the one before; None if all are."""
    lines = iter(said.splitlines())
    for line in shown:
        begins = line.endswith(_ANY)
        wanted = line.removesuffix(_ANY)
        if not any(one.startswith(wanted) if begins else one == wanted for one in lines):
            return line
    return None
