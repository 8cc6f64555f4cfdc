"""The lines of a job file: sections and their options, includes followed, comments gone, line numbers kept, variables replaced.

Model: a file is a list of sections in order; a section is its name and its lines ``key=value`` or ``key``. Any name that begins with
``global`` makes a section of defaults. ``;`` and ``#`` end a line wherever they stand. ``include FILE`` puts the lines of a file in its
place; such a file has no sections of its own. A message names the included file and its line; a remark belongs to the ``include`` line of
the file that is translated, and says the other place in its text. In a value variables are replaced first, an undefined one by nothing,
then ``$pagesize``, ``$mb_memory`` and ``$ncpus``; only where one of them stood is the value calculated, in whole numbers.
Limits: values are text here; what they mean is read by `values`. Sums have ``+ - * / %`` and brackets and know no suffixes, as with fio.
Names of files keep ``$jobname`` and the like: those are replaced where files are named.

    sections = read_sections(text, "job.fio", include=None)
    sections[1].name, sections[1].lines[0].key                    # ("reader", "rw")
    substituted("$pagesize*2", {}, Machine(4096, 8192, 8))        # ("8192", [])
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from plimsoll.displayed import encoded, quoted
from plimsoll.errors import InputError
from plimsoll.formats.fio.forms import NUMERIC
from plimsoll.formats.fio.options import OPTIONS, canonical
from plimsoll.formats.place import Place


@dataclass(frozen=True)
class JobPlace(Place):
    """A line of a job file, or of one that it includes; ``outer`` is then the line of the outermost file."""

    outer: int | None = None

    @property
    def remark_line(self) -> int | None:
        """The line that a remark carries."""
        return self.line if self.outer is None else self.outer

    @property
    def suffix(self) -> str:
        """What a remark's text adds to say that it stands in an included file."""
        return "" if self.outer is None else f" ({self.source}:{self.line})"


_VARIABLE = re.compile(r"\$\{([^}]*)\}")
_KEYWORD = re.compile(r"\$(pagesize|mb_memory|ncpus)\b")
_PIECE = re.compile(r"\s*(\d+|[-+*/%()])")
_SUM = re.compile(r"[0-9(][0-9a-zA-Z\s()+*/%-]*")


@dataclass(frozen=True)
class Machine:
    """What the keywords stand for."""

    pagesize: int
    mb_memory: int
    ncpus: int


def this_machine() -> Machine:
    """The machine that reads the file, as fio does it."""
    page = os.sysconf("SC_PAGESIZE")
    return Machine(page, page * os.sysconf("SC_PHYS_PAGES") >> 20, os.cpu_count() or 1)


def substituted(value: str, environment: Mapping[str, str], machine: Machine) -> tuple[str, list[str]]:
    """The value with everything replaced, and the names of variables that are not set. Raises `InputError` without a place."""
    unset = [name for name in _VARIABLE.findall(value) if name not in environment]
    value = _VARIABLE.sub(lambda match: environment.get(match.group(1), ""), value)
    if "${" in value:
        raise InputError(f"{quoted(value)} opens a variable and does not close it; write for example ${{SIZE}}.")
    if not _KEYWORD.search(value):
        return value, unset
    value = _KEYWORD.sub(lambda match: str(getattr(machine, match.group(1))), value)
    if _SUM.fullmatch(value) and not value.isalnum():
        value = str(_calculated(value))
    return value, unset


def _calculated(text: str) -> int:
    pieces: list[str] = []
    at = 0
    while at < len(text.rstrip()):
        match = _PIECE.match(text, at)
        if match is None:
            raise InputError(f"{quoted(text)} cannot be calculated; write whole numbers without suffixes between + - * / %.")
        pieces.append(match.group(1))
        at = match.end()
    if len(pieces) > 200:
        raise InputError(f"{quoted(text[:40])}… is too long a sum; write its result.")
    value = _sum(pieces, text)
    if pieces:
        raise _not_a_sum(text)
    return value


def _not_a_sum(text: str) -> InputError:
    return InputError(f"{quoted(text)} is not a sum; write for example $pagesize*2.")


def _sum(pieces: list[str], text: str) -> int:
    value = _product(pieces, text)
    while pieces and pieces[0] in "+-":
        sign = pieces.pop(0)
        term = _product(pieces, text)
        value = value + term if sign == "+" else value - term
    return value


def _product(pieces: list[str], text: str) -> int:
    value = _factor(pieces, text)
    while pieces and pieces[0] in "*/%":
        sign = pieces.pop(0)
        factor = _factor(pieces, text)
        if sign == "*":
            value *= factor
        elif factor == 0:
            raise InputError(f"{quoted(text)} divides by zero; write another number.")
        else:
            value = value // factor if sign == "/" else value % factor
        if abs(value) > 1 << 64:
            raise InputError(f"{quoted(text)} is larger than any size; write a smaller number.")
    return value


def _factor(pieces: list[str], text: str) -> int:
    if not pieces:
        raise _not_a_sum(text)
    piece = pieces.pop(0)
    if piece == "-":
        return -_factor(pieces, text)
    if piece == "(":
        value = _sum(pieces, text)
        if not pieces or pieces.pop(0) != ")":
            raise _not_a_sum(text)
        return value
    if not piece.isdigit() or len(piece) > 25:
        raise _not_a_sum(text)
    return int(piece)


Include = Callable[[str], str]

#: fio keeps names in an array of this many bytes.
_NAME_MAX = 255
#: Deeper than this, a file includes itself.
_DEPTH_MAX = 16
_TEXTS = ("name", "description")
_INCLUDE = re.compile(r"include\s+(\S.*)")
_KEY = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]*")


@dataclass(frozen=True)
class Line:
    """One option as it stands; ``value`` is None for a bare word."""

    key: str
    value: str | None
    place: JobPlace
    #: The words as they stand, where they are not ``key=value``.
    written: str = ""

    @property
    def text(self) -> str:
        """The words themselves, for messages and remarks."""
        written = self.written or (self.key if self.value is None else f"{self.key}={self.value}")
        return f"{written}{self.place.suffix}"


@dataclass
class Section:
    """A job, or defaults for the jobs after it."""

    name: str
    place: JobPlace
    lines: list[Line] = field(default_factory=list)
    #: First of a second or later job file: the defaults of the files before end here.
    begins_file: bool = False
    #: First job of a second or later job file: it waits for those before.
    waits_for_file: bool = False
    #: The words as they stand, on a command line.
    written: str = ""
    #: Not written at all: holds the options before the first job of a command line.
    implied: bool = False

    @property
    def is_global(self) -> bool:
        """fio compares only the first letters, so ``[globals]`` is global too."""
        return self.name.startswith("global")


def read_sections(text: str, source: str, include: Include | None = None) -> list[Section]:
    """The sections of a job file. Raises `InputError` on the first line that fio would not take."""
    sections: list[Section] = []
    for place, words in _words(text, JobPlace(source, None), include, 0):
        if words.startswith("["):
            sections.append(Section(_name(words, place), place))
        elif not sections:
            raise place.wrong(f"{quoted(words)} stands before any section; write [global] or the name of a job in brackets above it.")
        elif included_file(words) is not None:
            sections[-1].lines.append(Line("include", None, place, words))
        else:
            sections[-1].lines.append(split_option(words, place))
    if not any(not section.is_global for section in sections):
        raise InputError(f"{source}: there is no job in it; write the name of one in brackets, for example [reader].")
    return sections


def split_option(words: str, place: JobPlace) -> Line:
    """``key=value`` or ``key``; a blank before the value is refused where fio then loses the suffix of a number, or knows no such word."""
    key, equals, value = words.partition("=")
    key = key.strip()
    if not _KEY.fullmatch(key):
        raise place.wrong(f"{quoted(words)} is neither option=value nor a single option; write for example rw=randread.")
    if not equals:
        return Line(key, None, place)
    if value[:1].isspace() and value.strip() and not _is_read_behind_blanks(key, value.strip()):
        raise place.wrong(f"{quoted(words)} has a blank before its value, which fio 3.33 misreads; write {key}={value.strip()}.")
    return Line(key, value.strip(), place)


def _is_read_behind_blanks(key: str, value: str) -> bool:
    """Whether fio reads the value as it stands: a plain number, or a text that keeps its blanks."""
    option = OPTIONS.get(canonical(key) or "")
    if option is None or key in _TEXTS:
        return True
    return option.form in NUMERIC and value.isdecimal()


def _words(text: str, place: JobPlace, include: Include | None, depth: int) -> Iterator[tuple[JobPlace, str]]:
    """The lines that say something, with their places; those of included files follow the line that includes them."""
    for number, raw in enumerate(text.splitlines(), start=1):
        here = JobPlace(place.source, number, place.outer)
        if "\0" in raw:
            raise here.wrong("there is a byte 0 in the line; a job file is text.")
        words = re.split("[;#]", raw, maxsplit=1)[0].strip()
        if not words:
            continue
        if depth and words.startswith("["):
            raise here.wrong(f"{quoted(words)} is a section in an included file; include files hold options only.")
        yield here, words
        name = included_file(words)
        if name is not None:
            yield from _included(name, here, include, depth)


def included_file(words: str) -> str | None:
    """The file that a line includes, or None."""
    named = _INCLUDE.fullmatch(words)
    return named.group(1) if named is not None else None


def _included(name: str, here: JobPlace, include: Include | None, depth: int) -> Iterator[tuple[JobPlace, str]]:
    if depth >= _DEPTH_MAX:
        raise here.wrong(f"include {quoted(name)} goes {_DEPTH_MAX} files deep; a file seems to include itself.")
    if include is None:
        raise here.wrong(f"include {quoted(name)} cannot be followed here; put its lines in the file.")
    found, text = _read(name, here, include, nested=depth > 0)
    outer = here.outer if here.outer is not None else here.line
    yield from _words(text, JobPlace(found, None, outer), include, depth + 1)


def _read(name: str, here: JobPlace, include: Include, *, nested: bool) -> tuple[str, str]:
    """The file in the working directory, as fio has it, then beside the job file; in an included file, also beside that file."""
    folder = here.source.rpartition("/")[0]
    candidates = [name]
    if folder and not name.startswith("/"):
        candidates = [os.path.abspath(name), name, *([f"{folder}/{name}"] if nested else [])]
    problem: Exception | None = None
    for candidate in candidates:
        try:
            return candidate, include(candidate)
        except (OSError, KeyError, UnicodeError, InputError) as failure:
            problem = failure
    raise here.wrong(f"include {quoted(name)} cannot be read ({problem}); give a file beside this one, or its full path.")


def _name(words: str, place: JobPlace) -> str:
    name, bracket, rest = words[1:].partition("]")
    if not bracket:
        raise place.wrong(f"{quoted(words)} has no closing bracket; write [{name.strip() or 'name'}].")
    if rest.strip():
        raise place.wrong(f"{quoted(rest.strip())} stands after the section's name; write it on a line of its own.")
    if not name.strip():
        raise place.wrong("the section has no name; write for example [reader].")
    if len(encoded(name)) > _NAME_MAX:
        raise place.wrong(f"the section's name has {len(encoded(name))} bytes; fio takes at most {_NAME_MAX}.")
    return name
