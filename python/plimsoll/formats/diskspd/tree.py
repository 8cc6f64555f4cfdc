"""XML with the line of every element, and nothing that could make a small file large.

Model: elements, attributes and text, by expat of the standard library. A document type declaration is refused before anything in it is
read, so entities cannot be declared and neither expand nor fetch anything. Depth, number of elements and size are bounded.
Limits: namespaces are not looked at, text around child elements is dropped, comments are skipped.

    root = read_tree("<Profile><TimeSpans/></Profile>", "profile.xml")
    root.children[0].tag, root.children[0].line         # ('TimeSpans', 1)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.parsers import expat

from plimsoll.errors import InputError

DEPTH_MAX = 40
ELEMENTS_MAX = 500_000
CHARACTERS_MAX = 200_000_000


@dataclass
class Element:
    """One element: its name, line, attributes, text without the space around it, and children."""

    tag: str
    line: int
    attributes: dict[str, str] = field(default_factory=dict)
    text: str = ""
    children: list[Element] = field(default_factory=list)

    def child(self, tag: str) -> Element | None:
        """The first child of this name."""
        return next((child for child in self.children if child.tag == tag), None)

    def all(self, tag: str) -> Iterator[Element]:
        """The children of this name."""
        return (child for child in self.children if child.tag == tag)


def read_tree(text: str, source: str) -> Element:
    """The root element; raises `InputError` that names the line."""
    if len(text) > CHARACTERS_MAX:
        raise InputError(f"{source}: the file has more than {CHARACTERS_MAX} characters; write a smaller one.")
    building = _Building(source)
    parser = expat.ParserCreate()
    building.watch(parser)
    # A byte order mark is no part of the document, and text has no encoding any more.
    content = text.lstrip("\ufeff").lstrip()
    try:
        parser.Parse(_without_encoding(content).encode("utf-8", "surrogatepass"), True)
    except expat.ExpatError as problem:
        reason = expat.errors.messages.get(problem.code, "it cannot be read")
        raise InputError(f"{source}:{problem.lineno}: not well-formed XML ({reason}); every element opened has to be closed.") from None
    if building.root is None:
        raise InputError(f"{source}: there is no element; write a <Profile>.")
    return building.root


class _Building:
    """Collects elements as the parser reports them."""

    def __init__(self, source: str) -> None:
        self.root: Element | None = None
        self._source = source
        self._open: list[Element] = []
        self._count = 0

    def watch(self, parser: expat.XMLParserType) -> None:
        self._parser = parser
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._text
        parser.StartDoctypeDeclHandler = self._doctype

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        element = Element(tag, self._parser.CurrentLineNumber, dict(attributes))
        self._count += 1
        if len(self._open) >= DEPTH_MAX or self._count > ELEMENTS_MAX:
            raise self._wrong(f"there are more than {DEPTH_MAX} levels or {ELEMENTS_MAX} elements; this is no file of DiskSpd's.")
        if self._open:
            self._open[-1].children.append(element)
        else:
            self.root = element
        self._open.append(element)

    def _end(self, _: str) -> None:
        element = self._open.pop()
        element.text = element.text.strip()

    def _text(self, text: str) -> None:
        if self._open:
            self._open[-1].text += text

    def _doctype(self, *_: object) -> None:
        raise self._wrong("a document type declaration (<!DOCTYPE) is refused, because it could make a small file large; leave it out.")

    def _wrong(self, problem: str) -> InputError:
        return InputError(f"{self._source}:{self._parser.CurrentLineNumber}: {problem}")


def _without_encoding(content: str) -> str:
    """The text with its XML declaration blanked, whose encoding was that of the bytes; lines keep their numbers."""
    if not content.startswith("<?xml"):
        return content
    head, end, rest = content.partition("?>")
    return "\n" * head.count("\n") + rest if end else content
