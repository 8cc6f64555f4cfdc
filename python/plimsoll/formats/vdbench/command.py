"""Vdbench's command line: parameter files and what overrides them.

Model: ``-f`` names one or more files, which are read as one; ``-e``, ``-i`` and ``-w`` override elapsed, interval and warm-up of every run,
``-cy``, ``-cn`` and ``-co`` say how every run formats, ``-l`` repeats, ``-v`` validates; ``name=value`` fills in ``$name``. Overrides are
parameters, so their values are checked as such.
Limits: ``-t`` (the built-in test), ``-s`` (simulate) and ``-r`` (restart at a run) are refused.

    command = parse(["-f", "job", "-e", "60", "lun=/dev/sdb"], "command line")
    command.files, command.values        # ['job'], {'lun': '/dev/sdb'}
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from plimsoll.errors import InputError
from plimsoll.formats.translation import Remark
from plimsoll.formats.vdbench.definition import ParameterFile
from plimsoll.formats.vdbench.parameter import Parameter, Place, Word
from plimsoll.formats.vdbench.verdicts import Verdicts

#: Options with a value that override a keyword of every run.
_OF_RUNS = {"-e": "elapsed", "-i": "interval", "-w": "warmup"}
#: Options that say how every run formats.
_FORMATS = {"-cy": "yes", "-cn": "no", "-co": "only"}
#: Options that change nothing that is requested, with and without a value.
_IGNORED = {
    "-o": (True, "results go to Plimsoll's store"),
    "-m": (True, "one process carries all threads"),
    "-p": (True, "no port is used"),
    "-c": (False, "trees of file-system workloads are brought to what each run needs anyway"),
    "-k": (False, "it concerns Vdbench's own reports"),
}
_UNSUPPORTED = {
    "-t": "the built-in test is not carried out; the nearest thing is plimsoll run random-read-4k",
    "-tf": "the built-in test is not carried out; the nearest thing is plimsoll run random-read-4k",
    "-s": "runs are not simulated; the nearest thing is plimsoll translate, which shows them",
    "-r": "runs are not left out; the nearest thing is a file without the runs before it",
    "-v": "this kind of validation is not carried out; the nearest thing is -v",
    "-j": "no journal outlasts a run; the nearest thing is -v, which verifies within a run",
}
_ARGUMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=(.*)", re.DOTALL)


@dataclass
class Command:
    """What was typed: files, values by name, what replaces general parameters and those of every run, and remarks on the rest."""

    source: str
    files: list[str] = field(default_factory=list)
    values: dict[str, str] = field(default_factory=dict)
    general: list[Parameter] = field(default_factory=list)
    of_runs: list[Parameter] = field(default_factory=list)
    remarks: list[Remark] = field(default_factory=list)

    def override(self, file: ParameterFile, verdicts: Verdicts) -> None:
        """Puts what was typed in place of what the file says."""
        for parameter in self.general:
            if parameter.keyword in file.general:
                file.replaced.append(file.general[parameter.keyword])
            file.general[parameter.keyword] = parameter
        for parameter in self.of_runs:
            for name, run in file.of("rd").items():
                replaced = run.get(parameter.keyword)
                if replaced is not None:
                    verdicts.native(replaced, "the command line says otherwise")
                file.definitions["rd"][name] = replace(run, own={**run.own, parameter.keyword: parameter})

    def parameter(self, keyword: str, value: str, text: str) -> Parameter:
        """An option as a parameter that stands before the first line."""
        return Parameter(Place(self.source, file=-1), keyword, (Word(value),), listed=False, text=text, column=0)


def parse(words: Sequence[str], source: str) -> Command:
    """The command of the words after ``vdbench``; raises `InputError` for what Vdbench would refuse."""
    command = Command(source)
    rest = list(words)
    while rest:
        word = rest.pop(0)
        argument = _ARGUMENT.fullmatch(word)
        if word == "-f":
            command.files += _files(rest, source)
        elif argument is not None:
            command.values[argument[1]] = argument[2]
        elif word.startswith("-"):
            _option(command, word, rest, source)
        else:
            raise InputError(f"{source}: {word!r} is no option; write -f FILE for a parameter file, or name=value.")
    if not command.files and not any(remark.kind == "unsupported" for remark in command.remarks):
        raise InputError(f"{source}: no parameter file is named; write -f FILE.")
    return command


def _files(rest: list[str], source: str) -> list[str]:
    found = []
    while rest and not rest[0].startswith("-") and not _ARGUMENT.fullmatch(rest[0]):
        found.append(rest.pop(0))
    if not found:
        raise InputError(f"{source}: -f names no file; write -f FILE.")
    twice = next((name for name in found if found.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"{source}: {twice} is named twice; name each file once.")
    return found


def _option(command: Command, word: str, rest: list[str], source: str) -> None:
    if word in _OF_RUNS:
        value = _value(word, rest, source)
        command.of_runs.append(command.parameter(_OF_RUNS[word], value, f"{word} {value}"))
    elif word in _FORMATS:
        command.of_runs.append(command.parameter("format", _FORMATS[word], word))
    elif word == "-l":
        value = _value(word, rest, source)
        command.general.append(command.parameter("loop", value, f"{word} {value}"))
    elif word == "-v":
        command.general.append(command.parameter("validate", "yes", word))
    elif word in _IGNORED:
        takes, why = _IGNORED[word]
        text = f"{word} {_value(word, rest, source)}" if takes else word
        command.remarks.append(Remark(None, text, "ignored", why))
    else:
        _refused(command, word, rest, source)


def _refused(command: Command, word: str, rest: list[str], source: str) -> None:
    name = next((option for option in (word, word[:2]) if option in _UNSUPPORTED), None)
    if name is None or (name != word and name not in ("-v", "-j")):
        raise InputError(f"{source}: option {word!r} is not known; there are -f, -e, -i, -w, -l, -v, -o and -m.")
    if name == "-r":
        word = f"{word} {_value(word, rest, source)}"
    command.remarks.append(Remark(None, word, "unsupported", _UNSUPPORTED[name]))


def _value(word: str, rest: list[str], source: str) -> str:
    if not rest:
        raise InputError(f"{source}: option {word} has no value; write one after it.")
    return rest.pop(0)
