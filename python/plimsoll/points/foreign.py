"""Job files of other tools on the command line: found out, read, and turned into a file of experiments.

Model: a file that is not TOML is offered to every tool of `plimsoll.formats.tools`. What the run does without is remarked, a sentence each;
what cannot be run faithfully refuses the file. A target that is typed takes the place of those that the file names before anything is
looked at (`formats.known_targets`); several are measured in turn, so they have to be alike in what the file makes of them.
Models of storage are asked directly, whatever the tool would have called.

    if is_foreign("job.fio"):
        document = foreign_document("job.fio", Onto(targets=("/dev/sdb",)), print)
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import field, replace
from typing import TYPE_CHECKING

from plimsoll.engine import block as block_engine
from plimsoll.errors import InputError, PlimsollError
from plimsoll.experiments.named_target import named_target
from plimsoll.formats.tools import TOOLS, WITH_COMMANDS, Around, recognised, translate, translate_command
from plimsoll.points.arguments import Arguments
from plimsoll.points.listener import Remark
from plimsoll.points.quantity import size_bytes
from plimsoll.records import dataclass
from plimsoll.stored import Json
from plimsoll.target import Composer

if TYPE_CHECKING:
    from plimsoll.formats.known_targets import KnownTargets
    from plimsoll.formats.translation import Translation

#: Targets that answer without the kernel.
_MODELS = ("array:", "null:", "queue:")
#: How much of a file is looked at to find out whose it is.
_HEAD_BYTES = 8192


def is_foreign(name: str) -> bool:
    """Whether ``name`` is a file that is not one of ours."""
    return not name.endswith(".toml") and os.path.isfile(name)


@dataclass(frozen=True)
class Onto:
    """What was typed of targets: ``size`` is that of what is not there, ``remedy`` says what to type where a size is missing."""

    targets: Sequence[str] = ()
    size: int | None = None
    remedy: str = "give --size or a --target that is here"
    overrides: bool = False
    composer: Composer = field(default_factory=Composer)

    @classmethod
    def of(cls, arguments: Arguments, composer: Composer) -> Onto:
        """From the options of a command."""
        size = arguments.size
        return cls(bare_targets(arguments.targets), None if size is None else size_bytes("--size", size), overrides=True, composer=composer)


def bare_targets(typed: Sequence[str]) -> tuple[str, ...]:
    """The targets without the names of their sides."""
    return tuple(named_target(text).target for text in typed)


def foreign_document(path: str, onto: Onto, remark: Remark) -> Json:
    """The file of experiments that the file at ``path`` stands for; raises `InputError` when it cannot be run."""
    return _runnable(translated(path, onto), onto.targets, remark)


def is_command(words: Sequence[str]) -> bool:
    """Whether ``words`` are the command line of another tool."""
    return len(words) > 1 and words[0] in WITH_COMMANDS


def command_document(words: Sequence[str], onto: Onto, remark: Remark) -> Json:
    """The file of experiments that a command line stands for; raises `InputError` when it cannot be run."""
    return _runnable(translated_command(words, onto), onto.targets, remark)


def _runnable(translation: Translation, targets: Sequence[str], remark: Remark) -> Json:
    for found in translation.remarks:
        if found.kind in ("ignored", "surprise"):
            remark(found.sentence(translation.source))
    refusal = translation.refusal()
    if refusal is not None:
        raise InputError(f"{refusal.rstrip('.')}.")
    return _on_typed(translation.document, targets) if targets else translation.document


def translated(path: str, onto: Onto) -> Translation:
    """The file at ``path`` in our words, on the targets that were typed."""
    text = read_text(path)
    tool = recognised(path, text[:_HEAD_BYTES])
    if tool is None:
        raise InputError(f"{path}: neither TOML nor a file of {', '.join(TOOLS[:-1])} or {TOOLS[-1]}; name a .toml file or one of theirs.")
    return _on_each(onto, path, lambda known: translate(tool, text, path, _around(os.path.dirname(path), known)))


def translated_command(words: Sequence[str], onto: Onto) -> Translation:
    """The command line of another tool in our words, on the targets that were typed."""
    source = f"{words[0]} command line"
    return _on_each(onto, source, lambda known: translate_command(words[0], words[1:], source, _around("", known)))


def _on_each(onto: Onto, source: str, translating: Callable[[KnownTargets], Translation]) -> Translation:
    """The translation on the first of several targets; raises `InputError` where they would need different ones."""
    made = [translating(_known(target, onto)) for target in onto.targets or ("",)]
    first = made[0]
    for target, other in zip(onto.targets, made, strict=False):
        if _bare(other.document) != _bare(first.document) or (other.refusal() is None) != (first.refusal() is None):
            raise InputError(
                f"{source}: what it asks for depends on the size of its target, and {onto.targets[0]} and {target} differ; "
                "give one --target at a time."
            )
    return first


def on_all(translation: Translation, targets: Sequence[str]) -> Translation:
    """The translation with a configuration for each of several targets, as its document has to name them; a run adds them itself."""
    if len(targets) < 2:
        return translation
    experiments = [_on_all(experiment, targets) for experiment in translation.document.get("experiment", [])]
    return replace(translation, document={**translation.document, "experiment": experiments})


def _on_all(experiment: Json, targets: Sequence[str]) -> Json:
    configurations = experiment.get("configurations", [])
    several = [
        {**one, "name": typed.called if len(configurations) == 1 else f"{one['name']} on {typed.called}", "target": typed.target}
        for one in configurations
        for typed in map(named_target, targets)
    ]
    return {**experiment, "configurations": several}


def _bare(document: Json) -> Json:
    return {**document, "experiment": [_without_target(experiment) for experiment in document.get("experiment", [])]}


def _known(target: str, onto: Onto) -> KnownTargets:
    """What is known of targets, with the typed one (or none) in the place of all."""
    from plimsoll.formats.known_targets import KnownTargets

    def found(path: str) -> int | None:
        size, ours = _looked_up(path, onto.composer)
        return None if ours and onto.size is not None else size

    fixed = not target or onto.size is not None or not _looked_up(target, onto.composer)[1]
    return KnownTargets(found, target, onto.size, onto.remedy, fixed, onto.overrides)


def _around(folder: str, targets: KnownTargets) -> Around:
    """The world as a file in ``folder`` sees it."""

    def include(name: str) -> str:
        beside = os.path.join(folder, name)
        return read_text(name if os.path.isabs(name) or not os.path.isfile(beside) else beside)

    return Around(include, os.environ, targets)


def read_text(path: str) -> str:
    """A text file; Windows tools write UTF-16 and Latin-1, too."""
    try:
        with open(path, "rb") as file:
            raw = file.read()
    except OSError as problem:
        raise InputError(f"{path}: cannot be read ({str(problem.strerror).lower()}).") from None
    encodings = ("utf-16",) if raw[:2] in (b"\xff\xfe", b"\xfe\xff") else ("utf-8-sig", "latin-1")
    for encoding in encodings:
        with suppress(UnicodeDecodeError):
            return raw.decode(encoding).replace("\r\n", "\n")
    raise InputError(f"{path}: not a text file.")


def _looked_up(path: str, composer: Composer) -> tuple[int | None, bool]:
    """The size of what is there, and whether Plimsoll made it, so that it may be made anew."""
    try:
        inspection = block_engine.native().inspect_target(composer.target(path))
    except PlimsollError:
        return None, False
    return int(inspection["size_bytes"]) if inspection.get("exists") else None, bool(inspection.get("made_by_plimsoll"))


def _on_typed(document: Json, targets: Sequence[str]) -> Json:
    """The document without targets of its own; for models, which answer by themselves, also without the calls that a tool issues."""
    experiments = [_without_target(experiment) for experiment in document.get("experiment", [])]
    if all(target.strip().startswith(_MODELS) for target in targets):
        experiments = [_without_calls(experiment) for experiment in experiments]
    return {**document, "experiment": experiments}


def _without_calls(experiment: Json) -> Json:
    """The experiment without backends that are ways into the kernel; ``null`` is none."""
    there = {key: value for key, value in experiment.get("set", {}).items() if key != "backend" or value == "null"}
    return {**experiment, "set": there} if "set" in experiment else experiment


def _without_target(experiment: Json) -> Json:
    bare = [{key: value for key, value in one.items() if key != "target"} for one in experiment.get("configurations", [])]
    if all(not one.get("set") for one in bare):
        return {key: value for key, value in experiment.items() if key != "configurations"}
    return {**experiment, "configurations": bare}
