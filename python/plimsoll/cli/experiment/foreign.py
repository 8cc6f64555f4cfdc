"""Job files of other tools on the command line: found out, read, and turned into a file of experiments.

Model: a file that is not TOML is offered to every tool of `plimsoll.formats.tools`. What the run does without is said on stderr, one line
each; what cannot be run faithfully refuses the file. A target that is typed takes the place of those that the file names.
Models of storage are asked directly, whatever the tool would have called.

    if is_foreign("job.fio"):
        document = foreign_document("job.fio", targets=())
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress

import click

from plimsoll import engine as engines
from plimsoll.engine import Json
from plimsoll.errors import InputError, PlimsollError
from plimsoll.formats.tools import TOOLS, WITH_COMMANDS, Around, recognised, translate, translate_command
from plimsoll.formats.translation import Translation

#: Targets that answer without the kernel.
_MODELS = ("array:", "null:", "queue:")
#: How much of a file is looked at to find out whose it is.
_HEAD_BYTES = 8192


def is_foreign(name: str) -> bool:
    """Whether ``name`` is a file that is not one of ours."""
    return not name.endswith(".toml") and os.path.isfile(name)


def foreign_document(path: str, targets: Sequence[str]) -> Json:
    """The file of experiments that the file at ``path`` stands for; raises `InputError` when it cannot be run."""
    return _runnable(translated(path), targets)


def is_command(words: Sequence[str]) -> bool:
    """Whether ``words`` are the command line of another tool."""
    return len(words) > 1 and words[0] in WITH_COMMANDS


def command_document(words: Sequence[str], targets: Sequence[str]) -> Json:
    """The file of experiments that a command line stands for; raises `InputError` when it cannot be run."""
    return _runnable(translate_command(words[0], words[1:], f"{words[0]} command line", around("")), targets)


def _runnable(translation: Translation, targets: Sequence[str]) -> Json:
    for remark in translation.remarks:
        if remark.kind in ("ignored", "surprise"):
            click.echo(remark.sentence(translation.source), err=True)
    refusal = translation.refusal()
    if refusal is not None:
        raise InputError(f"{refusal.rstrip('.')}.")
    return _on_typed(translation.document, targets) if targets else translation.document


def translated(path: str) -> Translation:
    """The file at ``path`` in our words."""
    text = read_text(path)
    tool = recognised(path, text[:_HEAD_BYTES])
    if tool is None:
        raise InputError(f"{path}: neither TOML nor a file of {', '.join(TOOLS[:-1])} or {TOOLS[-1]}; name a .toml file or one of theirs.")
    return translate(tool, text, path, around(os.path.dirname(path)))


def around(folder: str) -> Around:
    """The world as a file in ``folder`` sees it."""

    def include(name: str) -> str:
        beside = os.path.join(folder, name)
        return read_text(name if os.path.isabs(name) or not os.path.isfile(beside) else beside)

    return Around(include, os.environ, _size_of)


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


def _size_of(path: str) -> int | None:
    try:
        inspection = engines.native().inspect_target(path)
    except PlimsollError:
        return None
    return int(inspection["size_bytes"]) if inspection.get("exists") else None


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
