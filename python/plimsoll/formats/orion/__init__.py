"""ORION (Oracle's I/O calibration tool): command lines and .lun files in, its summary and CSV files out and in.

Model: a ``.orion`` file holds one command line per line, ``#`` begins a comment; the ``.lun`` file that ``-testname`` names is read through
``include``. See `docs/compatibility/orion.md` for every option.

    translation = translate("-run simple -num_disks 1\\n", "job.orion", include, {})
    translation = translate_command(["-run", "oltp", "-testname", "db"], "command line", include)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from plimsoll.formats.first_line import first_line
from plimsoll.formats.known_targets import Found, known_targets, nothing_found
from plimsoll.formats.orion.read import read_luns
from plimsoll.formats.orion.translate import FORMAT, translate_lines, translate_words
from plimsoll.formats.translation import Remark, Translation

__all__ = ["recognises", "translate", "translate_command"]

_COMMAND = re.compile(r"(?:\S*orion\S*\s+)?-(?:[a-zA-Z_]+\s+.*)?-?run\s+(?:simple|normal|advanced|oltp|dss)\b")


def recognises(name: str, head: str) -> bool:
    """Whether a file of this name that begins with ``head`` is ORION's."""
    if name.lower().endswith((".orion", ".lun")):
        return True
    return _COMMAND.match(first_line(head)) is not None


def translate(
    text: str,
    source: str,
    include: Callable[[str], str] | None,
    environment: Mapping[str, str],  # noqa: ARG001 - ORION reads none
    targets: Found = nothing_found,
) -> Translation:
    """A file with one command line per line. Raises `InputError` that names line and word."""
    if source.lower().endswith(".lun"):
        luns = read_luns(text, source)
        why = "it says what is measured, not how; write a command line into a .orion file beside it, for example -run simple -testname NAME"
        return Translation(source, FORMAT, {}, [Remark(lun.line, lun.path, "unsupported", why) for lun in luns])
    return translate_lines(text.splitlines(), source, include, known_targets(targets))


def translate_command(
    words: Sequence[str],
    source: str,
    include: Callable[[str], str] | None = None,
    environment: Mapping[str, str] | None = None,  # noqa: ARG001 - ORION reads none
    targets: Found = nothing_found,
) -> Translation:
    """A command line as words, with or without the program's name. Raises `InputError` that names the word."""
    return translate_words(words, source, include, known_targets(targets))
