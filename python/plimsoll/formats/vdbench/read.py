"""The reader: from a parameter file, or Vdbench's command line, to definitions, with everything checked that needs no planning.

Model: lines are read one after the other and made into statements, one for each definition. The first keyword of a statement says its
block, and blocks come in their order: general, HD, RG, SD, WD, RD, or with FSD and FWD in place of SD and WD. ``include=`` may stand
anywhere and is read in its place. ``xx=default`` holds for what follows. Of a keyword that stands twice the last one holds. Values are
checked for their form (number, time, …) here, so that a mistake in a part that no run uses is found as well.
On the command line ``-f`` names one or more files, which are read as one; ``-e``, ``-i`` and ``-w`` override elapsed, interval and warm-up
of every run, ``-cy``, ``-cn`` and ``-co`` say how every run formats, ``-l`` repeats, ``-v`` validates; ``name=value`` fills in ``$name``.
Overrides are parameters, so their values are checked as such.
Limits: ``$host`` stands for this host, since lines for others cannot run. ``-t`` (the built-in test), ``-s`` (simulate) and ``-r`` (restart
at a run) are refused.

    file = Reader("job", include, {}).read(text, "job")
    file.definitions.get("wd", {})["wd1"].get("xfersize")
    command = read_command(["-f", "job", "-e", "60", "lun=/dev/sdb"], "command line")
    command.files, command.values        # ['job'], {'lun': '/dev/sdb'}
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from plimsoll.displayed import quoted
from plimsoll.errors import InputError
from plimsoll.formats.translation import Remark
from plimsoll.formats.vdbench.model import Definition, LinePlace, Parameter, ParameterFile, Word
from plimsoll.formats.vdbench.notes import LineNote, Note, native, unsupported
from plimsoll.formats.vdbench.options import ABBREVIATION_MIN, BLOCKS, MIXED, NEEDS_CLUSTER, Keyword, UnknownKeywordError, keyword
from plimsoll.formats.vdbench.statements import (
    ORDER,
    Line,
    Text,
    block_of,
    continues,
    logical_lines,
    parameters_of,
    statements,
    with_host,
)
from plimsoll.formats.vdbench.values import is_number, number, numbered, seconds, series

Include = Callable[[str], str]

_FILE_SYSTEM, _BLOCK_DEVICE = ("fsd", "fwd"), ("sd", "wd")
#: Words that stand alone and mean yes.
_ALONE = frozenset(
    ("concatenatesds", "formatsds", "abort_failed_skew", "report_run_totals", "create_anchors", "showlba", "validate", "journal")
)
_SWITCH = ("yes", "no", "y", "n")


class Reader:
    """Reads one file and what it includes."""

    def __init__(self, source: str, include: Include | None, values: Mapping[str, str]) -> None:
        self._file = ParameterFile(source)
        self._include = include
        self._values = values
        self._block = "general"
        self._defaults: dict[str, dict[str, Parameter]] = {}
        #: The statement that a line may go on with.
        self._open: list[Parameter] = []
        #: Names that were given a value and used.
        self.used: set[str] = set()
        #: What is to be said of parameters and of lines as they were read.
        self.notes: list[Note] = []
        self.line_notes: list[LineNote] = []

    def read(self, text: str, name: str) -> ParameterFile:
        """The definitions; raises `InputError` with file and line."""
        self._lines(Text(text, name, self._values))
        self._end_statement()
        return self._file

    def read_all(self, texts: Mapping[str, str]) -> ParameterFile:
        """The definitions of several files, read as one."""
        for file, (name, text) in enumerate(texts.items()):
            self._lines(Text(text, name, self._values, 0, file))
        self._end_statement()
        return self._file

    def _lines(self, text: Text) -> None:
        for line in logical_lines(text):
            host = self._host
            parameters = parameters_of(with_host(line, host) if line.names_host else line)
            first = parameters[0]
            if len(first.keyword) >= ABBREVIATION_MIN and "include".startswith(first.keyword):
                self._end_statement()
                self._say_of(line, host)
                self._included(parameters, text)
                continue
            if self._open and continues(parameters, self._open):
                parameters, self._open = [*self._open, *parameters], []
            for statement in statements(parameters):
                self._end_statement()
                self._open = statement
            self._say_of(line, host)

    def _end_statement(self) -> None:
        statement, self._open = self._open, []
        if statement:
            self._statement(statement)

    def _say_of(self, line: Line, host: str) -> None:
        for piece in line.pieces:
            for written, value in piece.filled:
                self.used.add(written[1:])
                self.line_notes.append(LineNote(piece.place, written, f"it stands for {quoted(value)}, which was given by name"))
            if piece.lost:
                why = "what follows a blank is a comment in Vdbench, so this is not read"
                self.line_notes.append(LineNote(piece.place, piece.lost, why, "surprise"))
        if line.names_host:
            why = f"it stands for {quoted(host)}, since lines for other hosts need the cluster"
            self.line_notes.append(LineNote(line.place, "$host", why))

    @property
    def _host(self) -> str:
        return next(iter(self._file.definitions.get("hd", {})), "localhost")

    def _included(self, parameters: list[Parameter], text: Text) -> None:
        parameter = parameters[0]
        if len(parameters) > 1 or len(parameter.values) != 1:
            raise parameter.wrong("an include names one file and stands in a line of its own; write include=FILE.")
        if text.is_included:
            raise parameter.wrong("an included file includes no other; include it from the first file.")
        if self._include is None:
            raise parameter.wrong("there is no place to read included files from; put the file's lines here.")
        try:
            found = self._include(parameter.word)
        except (OSError, UnicodeError) as problem:
            raise parameter.wrong(f"the file cannot be read ({getattr(problem, 'strerror', None) or problem}); check its name.") from None
        self.notes.append(native(parameter, "its lines are read here"))
        self._lines(Text(found, parameter.word, self._values, parameter.place.line, parameter.place.file))

    def _statement(self, parameters: list[Parameter]) -> None:
        block = block_of(parameters[0])
        self._check_order(block, parameters[0])
        entries = self._resolved(block, parameters)
        if block == "general":
            self._file.replaced += [self._file.general[name] for name in entries if name in self._file.general]
            self._file.general |= entries
            return
        head = parameters[0]
        own = {name: parameter for name, parameter in entries.items() if name != block}
        if len(head.values) != 1:
            raise head.wrong(f"one {block.upper()} is defined in a line; write a line for each, or count=(1,8) for several SDs.")
        if head.word.lower() == "default":
            self._defaults[block] = {**self._defaults.get(block, {}), **own}
            self._file.defaults.append(Definition(block, "default", head, own))
            return
        one = Definition(block, head.word, head, own, dict(self._defaults.get(block, {})))
        for definition in numbered(one) if "count" in one.given else (one,):
            self._add(definition)

    def _check_order(self, block: str, head: Parameter) -> None:
        if block == "general" and self._block != "general":
            self._keyword("general", head)
            raise head.wrong("general parameters come before everything else; move the line up.")
        if ORDER[block] < ORDER[self._block]:
            raise head.wrong(f"{block.upper()}s come before {self._block.upper()}s; move the line up.")
        kinds = {name for name in (*self._file.definitions, block) if name in (*_FILE_SYSTEM, *_BLOCK_DEVICE)}
        if kinds & set(_FILE_SYSTEM) and kinds & set(_BLOCK_DEVICE):
            raise head.wrong("SD and WD do not stand in one file with FSD and FWD; make two files.")
        self._block = block

    def _resolved(self, block: str, parameters: list[Parameter]) -> dict[str, Parameter]:
        """Parameters by complete keyword, in the order written, their forms checked."""
        entries: dict[str, Parameter] = {}
        for parameter in parameters:
            entry = self._keyword(block, parameter)
            if entry.name != block or parameter is not parameters[0]:
                _check(entry, parameter)
            if entry.name in entries:
                self._say_replaced(entries.pop(entry.name), entry, entries)
            entries[entry.name] = parameter
        return entries

    def _say_replaced(self, before: Parameter, entry: Keyword, entries: Mapping[str, Parameter]) -> None:
        """A keyword that stands twice: the last one holds, but for several luns, which are those of several hosts."""
        if entry.name == "wd" and self._block == "rd":
            raise before.wrong("a run names its WDs once; write wd=(wd1,wd2).")
        if entry.name == "lun" and "host" in entries:
            self.notes.append(unsupported(before, NEEDS_CLUSTER))
        else:
            self.notes.append(native(before, f"{entry.name} stands again further on, and the last one holds"))

    def _keyword(self, block: str, parameter: Parameter) -> Keyword:
        known = [name for entry in BLOCKS[block] for name in (entry.name, *entry.also)]
        if parameter.keyword in BLOCKS and block != "general" and parameter.keyword not in known:
            raise parameter.wrong(f"{parameter.keyword.upper()}s are no part of a {block.upper()}; begin a line with it.")
        try:
            return keyword(block, parameter.keyword)
        except UnknownKeywordError as problem:
            raise parameter.place.wrong(str(problem)) from None

    def _add(self, definition: Definition) -> None:
        of_block = self._file.definitions.setdefault(definition.block, {})
        if definition.name in of_block:
            first = of_block[definition.name].head.place
            raise definition.head.wrong(
                f"{definition.block.upper()} {quoted(definition.name)} is defined in line {first.line}, too; give each a name of its own."
            )
        of_block[definition.name] = definition


def _check(entry: Keyword, parameter: Parameter) -> None:
    """Refuses values that are not of the keyword's form."""
    if not parameter.values:
        if entry.name not in _ALONE:
            raise parameter.wrong(f"{entry.name} has no value; write {entry.name}=VALUE.")
        return
    if parameter.listed and entry.name not in MIXED and entry.form not in ("anything", "name"):
        _check_unmixed(parameter)
    if entry.form in ("number", "time", "word", "switch") and len(parameter.values) != 1:
        raise parameter.wrong(f"{entry.name} takes one value, not {len(parameter.values)}.")
    if entry.form == "number":
        number(parameter)
    elif entry.form == "numbers":
        series(parameter)
    elif entry.form == "time":
        seconds(parameter)
    elif entry.form == "switch" and parameter.word.lower() not in _SWITCH:
        raise parameter.wrong("that is neither yes nor no.")


def _check_unmixed(parameter: Parameter) -> None:
    # The d of (1-64,d) and a mask in a name are no words of their own.
    plain = [word for word in parameter.values if not (word.text.lower() == "d" and _has_range(parameter))]
    if parameter.keyword == "iorate":
        # Here max is a rate like any other.
        plain = [word for word in plain if word.text.lower() != "max"]
    of_numbers = [is_number(word) for word in plain]
    if any(of_numbers) and not all(of_numbers):
        raise parameter.wrong("numbers and words stand in one list; write one or the other.")


def _has_range(parameter: Parameter) -> bool:
    return any(re.fullmatch(r"[\d.kmgtb]+-[\d.kmgtb]+", word.text, re.IGNORECASE) for word in parameter.values)


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

    def override(self, file: ParameterFile) -> Iterator[Note]:
        """Puts what was typed in place of what the file says, which is said of that."""
        for parameter in self.general:
            if parameter.keyword in file.general:
                file.replaced.append(file.general[parameter.keyword])
            file.general[parameter.keyword] = parameter
        for parameter in self.of_runs:
            for name, run in file.definitions.get("rd", {}).items():
                replaced = run.given.get(parameter.keyword)
                if replaced is not None:
                    yield native(replaced, "the command line says otherwise")
                file.definitions["rd"][name] = replace(run, own={**run.own, parameter.keyword: parameter})

    def parameter(self, keyword: str, value: str, text: str) -> Parameter:
        """An option as a parameter that stands before the first line."""
        return Parameter(LinePlace(self.source, file=-1), keyword, (Word(value),), listed=False, text=text, column=0)


def read_command(words: Sequence[str], source: str) -> Command:
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
            raise InputError(f"{source}: {quoted(word)} is no option; write -f FILE for a parameter file, or name=value.")
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
        raise InputError(f"{source}: option {quoted(word)} is not known; there are -f, -e, -i, -w, -l, -v, -o and -m.")
    if name == "-r":
        word = f"{word} {_value(word, rest, source)}"
    command.remarks.append(Remark(None, word, "unsupported", _UNSUPPORTED[name]))


def _value(word: str, rest: list[str], source: str) -> str:
    if not rest:
        raise InputError(f"{source}: option {word} has no value; write one after it.")
    return rest.pop(0)
