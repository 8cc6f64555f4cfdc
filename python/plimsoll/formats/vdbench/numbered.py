"""Several SDs or FSDs from one line: ``sd=sd,count=(1,8),lun=/data/file`` are sd1 on /data/file1 to sd8 on /data/file8.

Model: the number takes the place of a mask (``%d``, ``%02d``) or of ``#`` in name and lun or anchor, and follows them where there is none.

    [definition.name for definition in numbered(definition)]
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from plimsoll.formats.vdbench.definition import Definition
from plimsoll.formats.vdbench.numbers import series

COUNT_MAX = 1000
_MASK = re.compile(r"%(0?)(\d{0,2})d|#")


def numbered(definition: Definition) -> Iterator[Definition]:
    """The definitions that one with ``count`` stands for; any other by itself."""
    count = definition.get("count")
    if count is None or definition.block not in ("sd", "fsd"):
        yield definition
        return
    found = series(count)
    if len(found) != 2 or not all(isinstance(item.value, int) and item.value >= 0 for item in found):
        raise count.wrong("a count has a first number and how many there are; write for example count=(1,8).")
    start, many = int(found[0].value), int(found[1].value)
    if not 1 <= many <= COUNT_MAX or start > 10**9:
        raise count.wrong(f"{many} {definition.block.upper()}s from number {start} on are not to be made; write 1 to {COUNT_MAX} of them.")
    for at in range(start, start + many):
        yield replace(definition, name=filled(definition.name, at), number=at)


def filled(text: str, number: int) -> str:
    """A name or a path with its number."""

    def digits(mask: re.Match[str]) -> str:
        return f"{number:{mask[1]}{mask[2]}d}" if mask[0] != "#" else str(number)

    masked, masks = _MASK.subn(digits, text)
    return masked if masks else f"{text}{number}"
