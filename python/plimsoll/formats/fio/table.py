"""Every option of fio that is known, by name and by alias.

OPTIONS["bs"].verdict                  # "native"
canonical("blocksize")                 # "bs"
meant("blocksze")                      # "blocksize"
"""

from __future__ import annotations

from plimsoll.formats.fio.engine_options import ENGINE_OPTIONS
from plimsoll.formats.fio.host_options import HOST, REPORTS
from plimsoll.formats.fio.load_options import CONTENT, FILES, PACE, PATTERN
from plimsoll.formats.fio.option import Option
from plimsoll.near import nearest

#: In the order of the compatibility page.
PARTS: tuple[tuple[str, tuple[Option, ...]], ...] = (
    ("Files and regions", FILES),
    ("Operations, sizes and addresses", PATTERN),
    ("Concurrency, pace and order", PACE),
    ("Content, durability, verification and traces", CONTENT),
    ("Reports and logs", REPORTS),
    ("Host", HOST),
    ("Options of engines", ENGINE_OPTIONS),
)

OPTIONS: dict[str, Option] = {option.name: option for _, options in PARTS for option in options}
ALIASES: dict[str, str] = {alias: option.name for option in OPTIONS.values() for alias in option.aliases}


def canonical(key: str) -> str | None:
    """The option that a word of a file means; None when there is none."""
    return key if key in OPTIONS else ALIASES.get(key)


def meant(key: str) -> str | None:
    """The known word that looks most like an unknown one."""
    return nearest(key, [*OPTIONS, *ALIASES])
