"""A parameter file or a command line of Vdbench as an experiment file, with a verdict on every parameter.

Model: runs are planned first, and what they say of parameters stays; then every parameter that nothing was said of gets the usual verdict
of its keyword. Parts that no run uses stop nothing.
Limits: Sizes of devices are not looked up here: where several targets are used at the same time, ``targets`` has to say them.

    translate(text, "job", None, {}).document      # {'title': …, 'workload': […], 'experiment': […]}
    translate_command(["-f", "job", "-e", "60"], "command line", include, {}).remarks
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from plimsoll.displayed import quoted
from plimsoll.errors import InputError
from plimsoll.formats.known_targets import Found, KnownTargets, known_targets, nothing_found
from plimsoll.formats.translation import Translation
from plimsoll.formats.vdbench.experiments import Family, Runs
from plimsoll.formats.vdbench.filesystem import file_system_runs
from plimsoll.formats.vdbench.model import Definition, Parameter, ParameterFile, Verdicts, Word
from plimsoll.formats.vdbench.options import NEEDS_CLUSTER, OF_BLOCK_DEVICES, OF_FILE_SYSTEMS, Keyword, keyword
from plimsoll.formats.vdbench.read import Reader, read_command
from plimsoll.formats.vdbench.storage import Planning
from plimsoll.formats.vdbench.streams import AXES, LOOPS, Composer
from plimsoll.formats.vdbench.values import meant

Json = dict[str, Any]

#: The beginnings of lines that only Vdbench has.
_STATEMENT = re.compile(r'^\s*(?:sd|wd|rd|fsd|fwd|hd|rg)="?[^\s,=]+,(?:\s|[a-z_]+=)', re.IGNORECASE | re.MULTILINE)
_SECTION = re.compile(r"^\s*\[", re.MULTILINE)
_SUFFIXES = (".vdb", ".vdbench", ".parm")
_BLOCK_DEVICES = Family("iorate", LOOPS, AXES, Composer)
#: Names of this host.
_LOCAL = frozenset(("localhost", "127.0.0.1", "::1"))
#: Blocks that count even where no run names them.
_ALWAYS = ("hd", "rg")


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
    return Translation(source, "vdbench", _plan(file, verdicts, known_targets(targets)), verdicts.remarks())


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
    command = read_command(words, source)
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
    document = _plan(file, verdicts, known_targets(targets))
    return Translation(source, "vdbench", document, [*command.remarks, *verdicts.remarks()])


def _text_of(name: str, include: Callable[[str], str], source: str) -> str:
    try:
        return include(name)
    except (OSError, UnicodeError) as problem:
        raise InputError(f"{source}: {name} cannot be read ({getattr(problem, 'strerror', None) or problem}); check its name.") from None


def _plan(file: ParameterFile, verdicts: Verdicts, targets: KnownTargets) -> Json:
    """The experiment file; raises `InputError` for what makes no sense."""
    runs = file.of("rd")
    if not runs:
        raise _nothing_to_run(file)
    planning = Planning(file, verdicts, targets)
    _say_of_hosts(planning)
    document: Json = {"title": f"Vdbench: {', '.join(runs)}", "source": file.source}
    of_files = _is_file_system(file)
    _say_of_others(planning, OF_BLOCK_DEVICES if of_files else OF_FILE_SYSTEMS, of_files=of_files)
    document["workload"], document["experiment"] = file_system_runs(planning) if of_files else _block_device_runs(planning)
    _say_the_rest(planning)
    return document


def _nothing_to_run(file: ParameterFile) -> InputError:
    return InputError(f"{file.source}: there is no RD, so nothing would run; write for example rd=run1,wd=wd1,iorate=max,elapsed=60.")


def _is_file_system(file: ParameterFile) -> bool:
    if file.of("sd") or file.of("wd"):
        return False
    return bool(file.of("fsd") or file.of("fwd")) or any(run.get("fwd") is not None for run in file.of("rd").values())


def _block_device_runs(planning: Planning) -> tuple[list[Json], list[Json]]:
    made = Runs(planning, _BLOCK_DEVICES)
    for run in planning.file.of("rd").values():
        made.run(run)
    return made.tables()


def _say_of_others(planning: Planning, others: frozenset[str], *, of_files: bool) -> None:
    """Parameters of runs of the other kind have no say here."""
    of, here = ("block devices", "file systems") if of_files else ("file systems", "block devices")
    for run in planning.file.of("rd").values():
        for entry, parameter in run.parameters():
            if entry.name in others:
                planning.verdicts.ignored(parameter, f"it is for workloads on {of}, and this run is on {here}")


def _say_of_hosts(planning: Planning) -> None:
    local = set(_LOCAL)
    for host in planning.file.of("hd").values():
        system = host.get("system")
        name = host.name if system is None else system.word
        if name.lower() in _LOCAL:
            local.add(host.name)
            planning.verdicts.native(host.head, "this host")
            continue
        planning.verdicts.unsupported(system or host.head, NEEDS_CLUSTER)
    for host in planning.file.of("hd").values():
        clients = host.get("clients")
        if clients is not None and clients.word != "1":
            planning.verdicts.unsupported(clients, NEEDS_CLUSTER)
    for block in ("sd", "wd", "fsd", "fwd"):
        for definition in planning.file.of(block).values():
            parameter = definition.get("host")
            if parameter is not None and not all(_is_local(word, local, planning) for word in parameter.values):
                planning.verdicts.unsupported(parameter, NEEDS_CLUSTER)


def _is_local(word: Word, local: set[str], planning: Planning) -> bool:
    """Whether a host, or all that a wildcard means, are this one; a star alone means whatever hosts there are."""
    found = meant(word, list(planning.file.of("hd")))
    return set(found) <= local if found else word.text == "*" or word.text.lower() in local


def _say_the_rest(planning: Planning) -> None:
    """The usual verdict for whatever the planning had nothing to say of."""
    file, verdicts = planning.file, planning.verdicts
    for name, parameter in file.general.items():
        _say_usual(verdicts, keyword("general", name), parameter)
    for parameter in file.replaced:
        verdicts.native(parameter, "a later line says otherwise, and the last one holds")
    every = [definition for block in file.definitions.values() for definition in block.values()]
    for definition in sorted(every, key=lambda item: item not in planning.used and item.block not in _ALWAYS):
        counts = definition in planning.used or definition.block in _ALWAYS
        _say_of(definition, counts, verdicts)
    for definition in file.defaults:
        verdicts.native(definition.head, f"holds for the {definition.block.upper()}s that follow")
        for parameter in definition.own.values():
            if not verdicts.knows(parameter):
                verdicts.native(parameter, "nothing that follows takes it")


def _say_of(definition: Definition, counts: bool, verdicts: Verdicts) -> None:
    if not counts:
        for parameter in (definition.head, *(parameter for _, parameter in definition.parameters())):
            if not verdicts.knows(parameter):
                verdicts.native(parameter, f"no run uses {definition.block.upper()} {quoted(definition.name)}")
        return
    _say_usual(verdicts, keyword(definition.block, definition.block), definition.head)
    for entry, parameter in definition.parameters():
        _say_usual(verdicts, entry, parameter)


def _say_usual(verdicts: Verdicts, entry: Keyword, parameter: Parameter) -> None:
    if verdicts.knows(parameter) and entry.usual in ("native", "varies"):
        return
    if entry.usual == "ignored":
        verdicts.ignored(parameter, entry.what)
    elif entry.usual == "unsupported":
        verdicts.unsupported(parameter, entry.what)
    else:
        verdicts.native(parameter, entry.what)
