"""One option of fio as the compatibility tables hold it: its name, what we do with it, how its value is read, and since when it exists.

Model: three verdicts. *native*: it takes effect. *ignored*: the run goes on without it, and ``why`` says what that changes. *unsupported*:
the file cannot be run faithfully, and ``why`` says the reason and what comes nearest. A native option may turn out ignored or unsupported
for some of its values; the code that reads it says so then.

    native("bs", "sizes", "block_size", aliases=("blocksize",))
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Verdict = Literal["native", "ignored", "unsupported"]

#: The version of fio whose own help names the option; later ones are known from its documents.
DEBIAN = "3.33"


@dataclass(frozen=True)
class Option:
    """A row of the table. ``form`` names how the value is read, see `value.FORMS`."""

    name: str
    verdict: Verdict
    form: str
    why: str
    aliases: tuple[str, ...] = ()
    since: str = DEBIAN
    #: Options of one engine are named beside it.
    engine: str = ""


def native(name: str, form: str, why: str, aliases: tuple[str, ...] = (), since: str = DEBIAN) -> Option:
    """Takes effect; ``why`` says as what."""
    return Option(name, "native", form, why, aliases, since)


def ignored(name: str, form: str, why: str, aliases: tuple[str, ...] = (), since: str = DEBIAN) -> Option:
    """The run goes on without it; ``why`` says what that changes."""
    return Option(name, "ignored", form, why, aliases, since)


def unsupported(name: str, form: str, why: str, aliases: tuple[str, ...] = (), since: str = DEBIAN) -> Option:
    """The file cannot be run faithfully; ``why`` says the reason and the nearest thing."""
    return Option(name, "unsupported", form, why, aliases, since)
