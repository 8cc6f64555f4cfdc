"""From definitions to the document, with a verdict on every parameter.

Model: runs are planned first, and what they say of parameters stays; then every parameter that nothing was said of gets the usual verdict
of its keyword. Parts that no run uses stop nothing.

    plan(file, verdicts, targets)      # {'title': …, 'workload': […], 'experiment': […]}
"""

from __future__ import annotations

from typing import Any

from plimsoll.formats.known_targets import KnownTargets
from plimsoll.formats.vdbench.definition import Definition, ParameterFile
from plimsoll.formats.vdbench.experiments import Family, Runs
from plimsoll.formats.vdbench.filesystem import file_system_runs
from plimsoll.formats.vdbench.keywords import NEEDS_CLUSTER, OF_BLOCK_DEVICES, OF_FILE_SYSTEMS, Keyword, keyword
from plimsoll.formats.vdbench.names import meant
from plimsoll.formats.vdbench.parameter import Parameter, Word
from plimsoll.formats.vdbench.planning import LOCAL, Planning
from plimsoll.formats.vdbench.streams import AXES, LOOPS, Composer
from plimsoll.formats.vdbench.verdicts import Verdicts

Json = dict[str, Any]

_BLOCK_DEVICES = Family("iorate", LOOPS, AXES, Composer)
#: Blocks that count even where no run names them.
_ALWAYS = ("hd", "rg")


def plan(file: ParameterFile, verdicts: Verdicts, targets: KnownTargets) -> Json:
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


def _nothing_to_run(file: ParameterFile) -> Exception:
    from plimsoll.errors import InputError

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
    local = set(LOCAL)
    for host in planning.file.of("hd").values():
        system = host.get("system")
        name = host.name if system is None else system.word
        if name.lower() in LOCAL:
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
                verdicts.native(parameter, f"no run uses {definition.block.upper()} {definition.name!r}")
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
