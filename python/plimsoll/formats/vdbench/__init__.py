"""Vdbench parameter files: workloads on devices and on file systems become experiments of ours, with a remark on every parameter.

Model: `lines` cuts text into parameters, `reader` makes definitions of them, `planner` makes the document. Requests outstanding in Vdbench
are threads here; its rates are open loops, its maximum a closed one, its curves our curves with its rounding. File systems (FSD, FWD) are
in `filesystem`, what both have in common is here.
Limits: other hosts are read and reported, not run. Sizes of devices are not looked up here: where several targets are used at the same
time, ``targets`` has to say them.

    translation = translate("sd=sd1,lun=/dev/sdb\\nwd=wd1,sd=sd1\\nrd=run1,wd=wd1,iorate=max,elapsed=60,interval=1\\n", "job", None, {})
    translation.document["experiment"][0]["kind"]        # 'single'
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from plimsoll.errors import InputError
from plimsoll.formats.known_targets import Found, known_targets, nothing_found
from plimsoll.formats.translation import Translation
from plimsoll.formats.vdbench.command import parse
from plimsoll.formats.vdbench.planner import plan
from plimsoll.formats.vdbench.reader import Reader
from plimsoll.formats.vdbench.verdicts import Verdicts

__all__ = ["recognises", "translate", "translate_command"]

#: The beginnings of lines that only Vdbench has.
_STATEMENT = re.compile(r'^\s*(?:sd|wd|rd|fsd|fwd|hd|rg)="?[^\s,=]+,(?:\s|[a-z_]+=)', re.IGNORECASE | re.MULTILINE)
_SECTION = re.compile(r"^\s*\[", re.MULTILINE)
_SUFFIXES = (".vdb", ".vdbench", ".parm")


def recognises(name: str, head: str) -> bool:
    """Whether a file is one of Vdbench's, by its name and its first lines."""
    if _SECTION.search(head):
        return False
    return bool(_STATEMENT.search(head)) or name.lower().endswith(_SUFFIXES)


def translate(
    text: str,
    source: str,
    include: Callable[[str], str] | None,
    environment: Mapping[str, str],
    targets: Found = nothing_found,
) -> Translation:
    """The experiments that a parameter file asks for.

    ``include`` reads a file named inside, ``environment`` has the values of ``$name``, ``targets`` says how many bytes a path has, None
    where it does not exist. Raises `InputError` with file and line for what Vdbench would refuse.
    """
    verdicts = Verdicts()
    file = Reader(source, include, environment, verdicts).read(text, source)
    return Translation(source, "vdbench", plan(file, verdicts, known_targets(targets)), verdicts.remarks())


def translate_command(
    words: Sequence[str],
    source: str,
    include: Callable[[str], str],
    environment: Mapping[str, str],
    targets: Found = nothing_found,
) -> Translation:
    """What a command line of Vdbench asks for: the words after ``vdbench``. ``include`` reads the files that it names.

    Raises `InputError` for what Vdbench would refuse, also for a ``name=value`` that no line uses.
    """
    command = parse(words, source)
    verdicts = Verdicts()
    reader = Reader(source, include, {**environment, **command.values}, verdicts)
    if not command.files:
        return Translation(source, "vdbench", {}, command.remarks)
    texts = {name: _text_of(name, include, source) for name in command.files}
    file = reader.read(texts[command.files[0]], command.files[0]) if len(texts) == 1 else reader.read_all(texts)
    unused = [name for name in command.values if name not in reader.used]
    if unused:
        value = f"{unused[0]}={command.values[unused[0]]}"
        raise InputError(f"{source}: no line uses {value}; write ${unused[0]} where it belongs, or leave it out.")
    command.override(file, verdicts)
    document = plan(file, verdicts, known_targets(targets))
    return Translation(source, "vdbench", document, [*command.remarks, *verdicts.remarks()])


def _text_of(name: str, include: Callable[[str], str], source: str) -> str:
    try:
        return include(name)
    except (OSError, UnicodeError) as problem:
        raise InputError(f"{source}: {name} cannot be read ({getattr(problem, 'strerror', None) or problem}); check its name.") from None
