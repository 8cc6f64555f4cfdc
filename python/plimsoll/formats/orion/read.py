"""What ORION is given: its command line as typed values with their places, and the .lun file with its paths.

Model: ``-option value`` pairs and switches, in any order, each at most once; what is wrong is one sentence that says which word. The
program's own name may stand before them. Words of a file are split as a shell splits them. A .lun file has one path per line, in the
order in which ORION concatenates or stripes them; white space around a path and empty lines mean nothing. The set of LUNs becomes a
target of ours: `concat:` or `stripe:`, the path itself when there is one.

    command = read_command(["-run", "simple", "-num_disks", "4"], Place("job.orion", 3))
    command.number("num_disks")                 # 4
    target_of(read_luns("/dev/sdb\\n/dev/sdc\\n", "mytest.lun"), unit_bytes=1 << 20)         # 'stripe:/dev/sdb,/dev/sdc?unit=1024KiB'
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from plimsoll.displayed import quoted
from plimsoll.errors import InputError
from plimsoll.formats.orion.options import OPTIONS, OPTIONS_BY_NAME, Option
from plimsoll.formats.parts import plain_path, set_text
from plimsoll.formats.place import Place
from plimsoll.near import nearest


@dataclass(frozen=True)
class Lun:
    """One line: the path, and where it stands."""

    path: str
    line: int


def read_luns(text: str, source: str) -> list[Lun]:
    """The LUNs of ``text``; raises `InputError` that names the line."""
    luns: list[Lun] = []
    for number, line in enumerate(text.splitlines(), start=1):
        path = line.strip()
        if not path:
            continue
        _check(path, f"{source}:{number}")
        first = next((lun.line for lun in luns if lun.path == path), None)
        if first is not None:
            raise InputError(f"{source}:{number}: {quoted(path)} stands on line {first} already; name each LUN once.")
        luns.append(Lun(path, number))
    if not luns:
        raise InputError(f"{source}: it names no LUN; write one path per line, for example /dev/sdb.")
    return luns


def target_of(luns: Sequence[Lun], unit_bytes: int | None) -> str:
    """The target that consists of ``luns``: striped in units of ``unit_bytes`` (whole KiB), or one after the other when it is None."""
    if len(luns) == 1:
        return plain_path(luns[0].path)
    return set_text((lun.path for lun in luns), "" if unit_bytes is None else f"{unit_bytes // 1024}KiB")


def _check(path: str, place: str) -> None:
    if path.startswith("#"):
        raise InputError(f"{place}: {quoted(path[:40])} looks like a comment, which a .lun file cannot have; leave the line out.")
    if not path.isprintable():
        raise InputError(f"{place}: {quoted(path[:40])} holds characters that cannot be printed; write one path per line in plain text.")


#: Characters that word processors put where a hyphen was typed.
_DASHES = "‐‑‒–—−"


@dataclass(frozen=True)
class Given:
    """An option as it was typed."""

    option: Option
    value: str | int
    text: str
    word: int


@dataclass(frozen=True)
class Command:
    """A whole command line, in the order typed; ``text`` is its options."""

    place: Place
    given: dict[str, Given]
    text: str

    def value(self, name: str) -> str | int | None:
        """As typed, or ORION's default."""
        return self.given[name].value if name in self.given else OPTIONS_BY_NAME[name].default

    def word(self, name: str) -> str:
        """The value of an option that is a word."""
        return str(self.value(name))

    def number(self, name: str) -> int:
        """The value of an option that is a number and has a default or was given."""
        value = self.value(name)
        if not isinstance(value, int):
            raise TypeError(f"{name} is {quoted(value)}, not a number")
        return value


def split_line(line: str, place: Place) -> list[str]:
    """The words of one line of a file; from an unquoted ``#`` on it is a comment."""
    try:
        return shlex.split(line, comments=True)
    except ValueError:
        raise place.wrong("a quotation mark is not closed; write the closing one, or leave both out.") from None


def read_command(words: Sequence[str], place: Place) -> Command:
    """The options of ``words``; raises `InputError` naming the word."""
    given: dict[str, Given] = {}
    # The program itself, with or without its path.
    index = 1 if words and words[0][:1] not in ("-", *_DASHES) else 0
    while index < len(words):
        option = _option(words[index], place, index + 1)
        if option.name in given:
            raise place.wrong(f"-{option.name} stands a second time, first as word {given[option.name].word}; leave one out.", index + 1)
        text, value = words[index], 1 if option.form == "switch" else _value(option, words, index, place)
        given[option.name] = Given(option, value, text if option.form == "switch" else f"{text} {words[index + 1]}", index + 1)
        index += 1 if option.form == "switch" else 2
    if "run" not in given and "help" not in given:
        raise place.wrong(f"-run is missing; write for example -run simple ({_listed(OPTIONS_BY_NAME['run'])}).")
    return Command(place, given, " ".join(item.text for item in given.values()))


def _option(word: str, place: Place, number: int) -> Option:
    if word[:1] in _DASHES and word[:1]:
        raise place.wrong(f"{quoted(word)} begins with a dash that is not the minus sign; write '-{word[1:]}'.", number)
    if not word.startswith("-") or word == "-":
        raise place.wrong(f"{quoted(word)} is not an option; options begin with '-', for example -run simple.", number)
    name = word[1:]
    if name not in OPTIONS_BY_NAME:
        near = nearest(name, [option.name for option in OPTIONS])
        hint = f"did you mean -{near}?" if near else f"there are {', '.join(f'-{option.name}' for option in OPTIONS)}."
        raise place.wrong(f"{quoted(word[:40])} is not an option of ORION; {hint}", number)
    return OPTIONS_BY_NAME[name]


def _value(option: Option, words: Sequence[str], index: int, place: Place) -> str | int:
    if index + 1 >= len(words):
        raise place.wrong(f"-{option.name} has no value; write for example -{option.name} {_example(option)}.", index + 1)
    word, number = words[index + 1], index + 2
    if option.form == "choice" and word not in option.choices:
        raise place.wrong(f"-{option.name} is {quoted(word)}; write one of {_listed(option)}.", number)
    if option.form == "text" and (not word.isprintable() or word[:1] in ("", "-")):
        raise place.wrong(f"-{option.name} is {quoted(word)}; write a name, for example {_example(option)}.", number)
    return _number(option, word, place, number) if option.form == "number" else word


def _number(option: Option, word: str, place: Place, number: int) -> int:
    plain = word.isascii() and word.isdigit()
    # The length is checked first: Python refuses to read numbers of thousands of digits.
    if not plain or len(word) > 18 or not option.least <= int(word) <= option.most:
        right = f"a whole number from {option.least} to {option.most} without a unit"
        raise place.wrong(f"-{option.name} is {quoted(word)}; write {right}, for example {_example(option)}.", number)
    return int(word)


def _example(option: Option) -> str:
    if option.default is not None:
        return str(option.default)
    return option.choices[0] if option.choices else str(max(option.least, 4))


def _listed(option: Option) -> str:
    return ", ".join(option.choices)
