"""A parameter file or a command line of Vdbench as an experiment file, with a verdict on every parameter.

Model: runs are planned first, and what they say of parameters stays; then every parameter that nothing was said of gets the usual verdict
of its keyword. Parts that no run uses stop nothing.
Limits: Sizes of devices are not looked up here: where several targets are used at the same time, ``targets`` has to say them.

    translate(text, "job", None, {}).document      # {'title': …, 'workload': […], 'experiment': […]}
    translate_command(["-f", "job", "-e", "60"], "command line", include, {}).remarks
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence, Set

from plimsoll.displayed import quoted
from plimsoll.errors import InputError
from plimsoll.formats.known_targets import Found, KnownTargets, known_targets, nothing_found
from plimsoll.formats.translation import Translation
from plimsoll.formats.vdbench.experiments import Family, Runs
from plimsoll.formats.vdbench.filesystem import file_system_runs
from plimsoll.formats.vdbench.model import Definition, Parameter, ParameterFile, Word
from plimsoll.formats.vdbench.notes import Note, Translated, ignored, native, remarks, unsupported
from plimsoll.formats.vdbench.options import NEEDS_CLUSTER, OF_BLOCK_DEVICES, OF_FILE_SYSTEMS, Keyword, keyword
from plimsoll.formats.vdbench.read import Reader, read_command
from plimsoll.formats.vdbench.resolve import planning_of
from plimsoll.formats.vdbench.streams import AXES, LOOPS, Composer
from plimsoll.formats.vdbench.values import meant
from plimsoll.stored import Json

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
    reader = Reader(source, include, environment)
    file = reader.read(text, source)
    planned = _plan(file, known_targets(targets), reader.notes)
    return Translation(source, "vdbench", planned.options, remarks(planned.notes, reader.line_notes))


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
    reader = Reader(source, include, {**environment, **command.values})
    if not command.files:
        return Translation(source, "vdbench", {}, command.remarks)
    texts = {name: _text_of(name, include, source) for name in command.files}
    file = reader.read(texts[command.files[0]], command.files[0]) if len(texts) == 1 else reader.read_all(texts)
    unused = [name for name in command.values if name not in reader.used]
    if unused:
        value = f"{unused[0]}={command.values[unused[0]]}"
        raise InputError(f"{source}: no line uses {value}; write ${unused[0]} where it belongs, or leave it out.")
    overruled = list(command.override(file))
    planned = _plan(file, known_targets(targets), [*reader.notes, *overruled])
    return Translation(source, "vdbench", planned.options, [*command.remarks, *remarks(planned.notes, reader.line_notes)])


def _text_of(name: str, include: Callable[[str], str], source: str) -> str:
    try:
        return include(name)
    except (OSError, UnicodeError) as problem:
        raise InputError(f"{source}: {name} cannot be read ({getattr(problem, 'strerror', None) or problem}); check its name.") from None


def _plan(file: ParameterFile, targets: KnownTargets, said: Sequence[Note]) -> Translated:
    """The experiment file, and what is to be said of every parameter after what was ``said`` already; raises `InputError` for what makes no
    sense."""
    runs = file.definitions.get("rd", {})
    if not runs:
        raise _nothing_to_run(file)
    of_files = _is_file_system(file)
    notes = [*said, *_of_hosts(file), *_of_others(file, OF_BLOCK_DEVICES if of_files else OF_FILE_SYSTEMS, of_files=of_files)]
    planning = planning_of(file, targets, "fwdrate" if of_files else "iorate")
    made = file_system_runs(planning) if of_files else Runs(planning, _BLOCK_DEVICES).all()
    notes += made.notes
    document: Json = {"title": f"Vdbench: {', '.join(runs)}", "source": file.source}
    document |= {"workload": made.workloads, "experiment": made.experiments}
    return Translated(document, (*notes, *_of_the_rest(file, made.used, {note.parameter for note in notes if note.kind != "surprise"})))


def _nothing_to_run(file: ParameterFile) -> InputError:
    return InputError(f"{file.source}: there is no RD, so nothing would run; write for example rd=run1,wd=wd1,iorate=max,elapsed=60.")


def _is_file_system(file: ParameterFile) -> bool:
    if file.definitions.get("sd", {}) or file.definitions.get("wd", {}):
        return False
    return bool(file.definitions.get("fsd", {}) or file.definitions.get("fwd", {})) or any(
        run.given.get("fwd") is not None for run in file.definitions.get("rd", {}).values()
    )


def _of_others(file: ParameterFile, others: frozenset[str], *, of_files: bool) -> Iterator[Note]:
    """Parameters of runs of the other kind have no say here."""
    of, here = ("block devices", "file systems") if of_files else ("file systems", "block devices")
    for run in file.definitions.get("rd", {}).values():
        for entry, parameter in run.parameters:
            if entry.name in others:
                yield ignored(parameter, f"it is for workloads on {of}, and this run is on {here}")


def _of_hosts(file: ParameterFile) -> Iterator[Note]:
    local = set(_LOCAL)
    for host in file.definitions.get("hd", {}).values():
        system = host.given.get("system")
        name = host.name if system is None else system.word
        if name.lower() in _LOCAL:
            local.add(host.name)
            yield native(host.head, "this host")
            continue
        yield unsupported(system or host.head, NEEDS_CLUSTER)
    for host in file.definitions.get("hd", {}).values():
        clients = host.given.get("clients")
        if clients is not None and clients.word != "1":
            yield unsupported(clients, NEEDS_CLUSTER)
    for block in ("sd", "wd", "fsd", "fwd"):
        for definition in file.definitions.get(block, {}).values():
            parameter = definition.given.get("host")
            if parameter is not None and not all(_is_local(word, local, file) for word in parameter.values):
                yield unsupported(parameter, NEEDS_CLUSTER)


def _is_local(word: Word, local: set[str], file: ParameterFile) -> bool:
    """Whether a host, or all that a wildcard means, are this one; a star alone means whatever hosts there are."""
    found = meant(word, list(file.definitions.get("hd", {})))
    return set(found) <= local if found else word.text == "*" or word.text.lower() in local


def _of_the_rest(file: ParameterFile, used: frozenset[Definition], known: Set[Parameter]) -> Iterator[Note]:
    """The usual verdict for whatever nothing is said of but what is ``known``."""
    for name, parameter in file.general.items():
        yield from _usual(keyword("general", name), parameter, known)
    for parameter in file.replaced:
        yield native(parameter, "a later line says otherwise, and the last one holds")
    every = [definition for block in file.definitions.values() for definition in block.values()]
    counting = {definition for definition in every if definition in used or definition.block in _ALWAYS}
    seen = set(known)
    for definition in sorted(every, key=lambda one: one not in counting):
        # A parameter of a default belongs to several definitions, and those that count come first.
        for note in _of_used(definition, seen) if definition in counting else _of_unused(definition, seen):
            seen.add(note.parameter)
            yield note
    for definition in file.defaults:
        yield native(definition.head, f"holds for the {definition.block.upper()}s that follow")
        yield from (native(parameter, "nothing that follows takes it") for parameter in definition.own.values() if parameter not in seen)


def _of_used(definition: Definition, known: Set[Parameter]) -> Iterator[Note]:
    yield from _usual(keyword(definition.block, definition.block), definition.head, known)
    for entry, parameter in definition.parameters:
        yield from _usual(entry, parameter, known)


def _of_unused(definition: Definition, known: Set[Parameter]) -> Iterator[Note]:
    for parameter in (definition.head, *(parameter for _, parameter in definition.parameters)):
        if parameter not in known:
            yield native(parameter, f"no run uses {definition.block.upper()} {quoted(definition.name)}")


def _usual(entry: Keyword, parameter: Parameter, known: Set[Parameter]) -> Iterator[Note]:
    if parameter in known and entry.usual in ("native", "varies"):
        return
    if entry.usual == "ignored":
        yield ignored(parameter, entry.what)
    elif entry.usual == "unsupported":
        yield unsupported(parameter, entry.what)
    else:
        yield native(parameter, entry.what)
