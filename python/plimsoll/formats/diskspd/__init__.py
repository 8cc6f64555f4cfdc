"""DiskSpd (Microsoft's load generator): command lines and XML profiles in, its text and XML results out, XML results in.

Model: a profile is recognised by its root element, a file of command lines by its name (``.diskspd``) or its first word. See
`docs/compatibility/diskspd.md` for every flag and element.

    translation = translate(text, "profile.xml", None, {})
    translation = translate_command(["-b8K", "-r", "-w30", "-o8", "-t2", "-Sh", "-d30", "/dev/sdb"], "command line")
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from plimsoll.formats.diskspd.translate import translate_lines, translate_profile, translate_words
from plimsoll.formats.first_line import first_line
from plimsoll.formats.known_targets import Found, known_targets, nothing_found
from plimsoll.formats.translation import Translation

__all__ = ["recognises", "translate", "translate_command"]

_PROFILE = re.compile(r"\ufeff?\s*(?:<\?xml[^>]*\?>\s*)?(?:<!--.*?-->\s*)*<Profile[\s>]", re.DOTALL)
_COMMAND = re.compile(r"(?:\S*[\\/])?diskspd(?:64)?(?:\.exe)?\s+-", re.IGNORECASE)


def recognises(name: str, head: str) -> bool:
    """Whether a file of this name that begins with ``head`` is DiskSpd's."""
    if _PROFILE.match(head) or name.lower().endswith(".diskspd"):
        return True
    return _COMMAND.match(first_line(head)) is not None


def translate(
    text: str,
    source: str,
    include: Callable[[str], str] | None,
    environment: Mapping[str, str],  # noqa: ARG001 - DiskSpd reads none
    targets: Found = nothing_found,
) -> Translation:
    """A profile, or a file with one command line per line. Raises `InputError` that names line and word."""
    if text.lstrip("\ufeff").lstrip().startswith("<"):
        return translate_profile(text, source, known_targets(targets))
    return translate_lines(text.splitlines(), source, include, known_targets(targets))


def translate_command(
    words: Sequence[str],
    source: str,
    include: Callable[[str], str] | None = None,
    environment: Mapping[str, str] | None = None,  # noqa: ARG001 - DiskSpd reads none
    targets: Found = nothing_found,
) -> Translation:
    """A command line as words, with or without the program's name; ``include`` reads the profile of ``-X``."""
    return translate_words(words, source, include, known_targets(targets))
