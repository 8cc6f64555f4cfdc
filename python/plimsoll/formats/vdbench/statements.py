"""The lexical rules: from the text of a parameter file to its parameters, and from these to statements, one for each definition.

Model: a line that begins with ``/``, ``#`` or ``*`` is a comment. Outside quotes everything after the first blank is a comment, too;
blanks at the start do not count. A line that begins with ``eof`` ends the file. A line that ends with a comma goes on in the next one.
``$name`` and ``!name`` stand for values given on Vdbench's command line. What is left is ``keyword=value`` between commas, a value being a
word or ``(word,word,…)``.
Vdbench knows no lines then, only parameters one after the other; ``sd=``, ``wd=`` and their kin begin a definition, and everything up to
the next of them belongs to it. So a comma at the end of a definition does no harm, a line may go on without one, and one line may hold
several definitions of its kind. Here a definition of another kind begins at the start of a line only, since ``wd=wd1,sd=sd1,rd=50`` is more
likely a slip of the pen; so is a line that names what belongs to no definition above it.
Limits: quotes end in the line in which they begin. A keyword that general parameters have as well does not continue a definition.

    [line] = logical_lines(Text("sd=sd1,lun=/dev/sdb,sd=sd2,lun=/dev/sdc both of them", "job"))
    [parameter.text for parameter in parameters_of(line)]        # ['sd=sd1', 'lun=/dev/sdb', 'sd=sd2', 'lun=/dev/sdc']
    statements(parameters_of(line))                              # one for sd1, one for sd2
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from plimsoll.displayed import quoted
from plimsoll.formats.vdbench.model import LinePlace, Parameter, Word
from plimsoll.formats.vdbench.options import UnknownKeywordError, keyword

COMMENTS = ("/", "#", "*")
BLANKS = " \t\r\f\v"
BYTE_ORDER_MARK = "\ufeff"
_NAME = re.compile(r"[$!]([A-Za-z_][A-Za-z0-9_]*)")
_HOST = re.compile(r"[$!#]host\b", re.IGNORECASE)
_LOOKS_LIKE_A_PARAMETER = re.compile(r"[A-Za-z]{2,}=\S")


@dataclass(frozen=True)
class Text:
    """A file to read: the values of names, and where it is part of something, which line includes it or which of several files it is."""

    text: str
    source: str
    values: Mapping[str, str] = field(default_factory=dict)
    origin: int | None = None
    file: int = 0

    @property
    def is_included(self) -> bool:
        """Whether another file includes it."""
        return bool(self.origin)

    def place(self, number: int) -> LinePlace:
        """Line ``number`` of it."""
        if self.origin is None:
            return LinePlace(self.source, number, number)
        return LinePlace(self.source, number, self.origin, self.source, self.file)


@dataclass(frozen=True)
class Piece:
    """What one line contributes: its text without comment, and the comment's first word when that looks like a parameter."""

    place: LinePlace
    text: str
    lost: str = ""
    filled: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Line:
    """A line with those that continue it."""

    pieces: tuple[Piece, ...]

    @property
    def place(self) -> LinePlace:
        """Where it begins."""
        return self.pieces[0].place

    @property
    def names_host(self) -> bool:
        """Whether it is to be repeated for each host."""
        return any(_HOST.search(piece.text) for piece in self.pieces)


def logical_lines(text: Text) -> Iterator[Line]:
    """The lines that say something, up to ``eof``; raises `InputError` for open quotes and names without value."""
    open_pieces: list[Piece] = []
    for number, written in enumerate(text.text.removeprefix(BYTE_ORDER_MARK).split("\n"), start=1):
        stripped = written.strip(BLANKS)
        if not stripped or stripped.startswith(COMMENTS):
            continue
        if stripped.lower().startswith("eof"):
            break
        piece = _piece(text, number, stripped)
        open_pieces.append(piece)
        if not piece.text.endswith(","):
            yield Line(tuple(open_pieces))
            open_pieces = []
    if open_pieces:
        # A comma at the end of the file is one too many, which Vdbench overlooks.
        yield Line(tuple(open_pieces))


def _piece(text: Text, number: int, stripped: str) -> Piece:
    place = text.place(number)
    end = _end_of_words(stripped, place)
    words, comment = stripped[:end], stripped[end:].split(maxsplit=1)
    lost = comment[0] if comment and _LOOKS_LIKE_A_PARAMETER.match(comment[0]) else ""
    filled: list[tuple[str, str]] = []

    def value(found: re.Match[str]) -> str:
        if _HOST.fullmatch(found[0]):
            return found[0]
        if found[1] not in text.values:
            raise place.wrong(f"{quoted(found[0])} has no value; give {found[1]}=VALUE beside the file, or write the value here.")
        filled.append((found[0], text.values[found[1]]))
        return text.values[found[1]]

    return Piece(place, _NAME.sub(value, words), lost, tuple(filled))


def _end_of_words(stripped: str, place: LinePlace) -> int:
    """Where the comment begins."""
    inside = False
    for index, letter in enumerate(stripped):
        if letter == '"':
            inside = not inside
        elif letter in BLANKS and not inside:
            return index
        elif not letter.isprintable():
            raise place.wrong(f"the line has a letter that cannot be printed, {quoted(letter)}; remove it.")
    if inside:
        raise place.wrong("a quote is opened and not closed; write the closing one in the same line.")
    return len(stripped)


def with_host(line: Line, label: str) -> Line:
    """The line with ``$host`` filled in."""
    return Line(tuple(Piece(piece.place, _HOST.sub(lambda _: label, piece.text), piece.lost, piece.filled) for piece in line.pieces))


def parameters_of(line: Line) -> list[Parameter]:
    """Its parameters in order; raises `InputError` with what is wrong in their writing."""
    return list(_Reader(line).parameters())


class _Reader:
    """A cursor over the letters of a logical line."""

    def __init__(self, line: Line) -> None:
        self._letters = "".join(piece.text for piece in line.pieces)
        self._starts = [(sum(len(piece.text) for piece in line.pieces[:index]), piece.place) for index, piece in enumerate(line.pieces)]
        self._at = 0

    def parameters(self) -> Iterator[Parameter]:
        while self._at < len(self._letters):
            yield self._parameter()
            if self._peek() == ",":
                self._at += 1
            elif self._at < len(self._letters):
                raise self._place(self._at).wrong(
                    f"{quoted(self._rest())} follows a value without a comma; separate parameters with commas."
                )

    def _parameter(self) -> Parameter:
        start = self._at
        keyword = self._word().text
        if not keyword:
            raise self._place(start).wrong(f"a keyword is missing before {quoted(self._rest())}; write keyword=value.")
        values: tuple[Word, ...] = ()
        listed = False
        if self._peek() == "=":
            self._at += 1
            listed = self._peek() == "("
            values = self._list(start) if listed else (self._word(),)
        place, text = self._place(start), self._letters[start : self._at]
        if self._peek() == "=":
            raise place.wrong(f"{quoted(text + '=')} has two equals signs; write keyword=value, with quotes around a value that holds one.")
        if not listed and values and not values[0].text and not values[0].quoted:
            raise place.wrong(f"{quoted(text)} has no value; write keyword=value.")
        return Parameter(place, keyword.lower(), values, listed, text, start)

    def _list(self, start: int) -> tuple[Word, ...]:
        self._at += 1
        words = []
        while True:
            word = self._word()
            if not word.text and not word.quoted:
                raise self._place(start).wrong(
                    f"{quoted(self._letters[start : self._at])} lacks a value in its list; write (one,two,three)."
                )
            words.append(word)
            if self._peek() == ")":
                self._at += 1
                return tuple(words)
            if self._peek() != ",":
                raise self._place(start).wrong(
                    f"{quoted(self._letters[start : self._at])} opens a list and does not close it; write (one,two)."
                )
            self._at += 1

    def _word(self) -> Word:
        """Up to the next comma, equals sign or parenthesis outside quotes; parentheses inside a word belong to it."""
        text, in_quotes, inside, depth = "", False, False, 0
        while self._at < len(self._letters):
            letter = self._letters[self._at]
            if letter == '"':
                inside, in_quotes = not inside, True
            elif not inside and letter == "(" and text:
                depth, text = depth + 1, text + letter
            elif not inside and letter == ")" and depth:
                depth, text = depth - 1, text + letter
            elif not inside and (letter in "=()" or letter == ","):
                break
            else:
                text += letter
            self._at += 1
        return Word(text, in_quotes)

    def _peek(self) -> str:
        return self._letters[self._at : self._at + 1]

    def _rest(self) -> str:
        return self._letters[self._at : self._at + 20]

    def _place(self, offset: int) -> LinePlace:
        return [place for start, place in self._starts if start <= offset][-1]


#: Where each block stands in a file; FSD and FWD take the places of SD and WD.
ORDER = {"general": 0, "hd": 1, "rg": 2, "sd": 3, "fsd": 3, "wd": 4, "fwd": 4, "rd": 5}
#: What begins a definition while one of a block is read; every other keyword belongs to it.
_BEGINS: Mapping[str, tuple[str, ...]] = {
    "general": ("hd", "rg", "sd", "fsd", "wd", "fwd", "rd"),
    "hd": ("hd", "rg", "sd", "fsd", "wd", "fwd", "rd"),
    "rg": ("rg", "sd", "fsd", "wd", "fwd", "rd"),
    "sd": ("sd", "wd", "fwd", "rd"),
    "fsd": ("fsd", "sd", "wd", "fwd", "rd"),
    "wd": ("wd", "fwd", "rd"),
    "fwd": ("fwd", "wd", "rd"),
    "rd": ("rd",),
}


def block_of(head: Parameter) -> str:
    """The block of a statement by its first parameter."""
    return head.keyword if head.keyword in ORDER else "general"


def statements(parameters: Sequence[Parameter]) -> Iterator[list[Parameter]]:
    """The parameters of one line, with those that continue it, as statements."""
    statement: list[Parameter] = []
    for parameter in parameters:
        if statement and _begins(parameter, statement):
            yield statement
            statement = []
        statement.append(parameter)
    if statement:
        yield statement


def continues(parameters: Sequence[Parameter], before: Sequence[Parameter]) -> bool:
    """Whether a line goes on with the definition ``before`` it."""
    block, head = block_of(before[0]), parameters[0].keyword
    if block == "general" or head in _BEGINS[block]:
        return False
    if head in ORDER and (head == "hd" or head in (parameter.keyword for parameter in before)):
        # A definition names its SDs or WDs once, so this is rather one that stands too late.
        return False
    return all(
        _belongs(parameter, block) and (head in ORDER or not _belongs(parameter, "general")) for parameter in next(statements(parameters))
    )


def _begins(parameter: Parameter, statement: Sequence[Parameter]) -> bool:
    block, before = block_of(statement[0]), statement[-1]
    if block == "general":
        # General parameters may share a line; what follows in the next one may begin anything.
        return parameter.keyword in _BEGINS[block] and parameter.place != before.place
    return parameter.keyword in _BEGINS[block] and (parameter.keyword == block or parameter.place != before.place)


def _belongs(parameter: Parameter, block: str) -> bool:
    try:
        keyword(block, parameter.keyword)
    except UnknownKeywordError:
        return False
    return True
