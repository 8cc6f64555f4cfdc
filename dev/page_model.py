"""The types of the page, made from those of the view model: ``.venv/bin/python dev/page_model.py`` writes page/src/model.ts.

Model: what the pages are given is a `Report` of plimsoll.reports.view.report, or a record of the live page: each, and whatever it names,
becomes an interface of the same name; ``View`` at the end of a name, which keeps a record apart from the class it shows, is dropped.
Sources are read, not executed, so that their comments come along: the docstring of a record, and ``#:`` lines above a field. A field that
is ``NotRequired`` may be missing.
Limits: knows the annotations that the view model uses, and says so of any other.

    render()        # "// Made by …\n\nexport interface Report {…"
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PYTHON = ROOT / "python"
MODEL = ROOT / "page" / "src" / "model.ts"
#: Where the data of a report begins, and those of the live page.
STARTS = (
    ("plimsoll.reports.view.report", "Report"),
    ("plimsoll.reports.view.choice", "ChoicePage"),
    ("plimsoll.web.listing", "Entry"),
    ("plimsoll.web.live", "Live"),
    ("plimsoll.web.control", "ControlState"),
)
#: Words of which the page needs the list, too.
LISTS = {"FileOp": "FILE_OPS", "QueryOp": "QUERY_OPS", "TransactionOp": "TRANSACTION_OPS", "MailOp": "MAIL_OPS", "StoreOp": "STORE_OPS"}

_HEADING = """\
// The view model, made by dev/page_model.py from the records of python/plimsoll/reports/view: edit those, then `make bless`.
// Plain numbers, units in the names.

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type ByOp<T> = Partial<Record<Op, T>>;
"""
_WIDTH = 140
_PLAIN = {"str": "string", "int": "number", "float": "number", "bool": "boolean", "Any": "Json"}


class UnknownForm(Exception):
    """An annotation that has no counterpart here."""


@dataclass(frozen=True)
class Source:
    """A module: its statements by the name they define, its imports by name, its lines."""

    name: str
    defined: dict[str, ast.stmt]
    imported: dict[str, str]
    lines: list[str]

    def comment(self, line: int) -> str:
        """The ``#:`` lines that end above the given line, counted from 1."""
        found: list[str] = []
        for text in reversed(self.lines[: line - 1]):
            if not text.strip().startswith("#:"):
                break
            found.insert(0, text.strip()[2:].strip())
        return " ".join(found)


@cache
def source(module: str) -> Source:
    """The source of a module of ours."""
    place = PYTHON / module.replace(".", "/")
    path = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
    text = path.read_text(encoding="utf-8")
    defined: dict[str, ast.stmt] = {}
    imported: dict[str, str] = {}
    for statement in ast.parse(text).body:
        if isinstance(statement, ast.ClassDef):
            defined[statement.name] = statement
        elif isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            defined[statement.targets[0].id] = statement
        elif isinstance(statement, ast.ImportFrom) and statement.module and statement.module.startswith("plimsoll"):
            imported |= {alias.asname or alias.name: statement.module for alias in statement.names}
    return Source(module, defined, imported, text.splitlines())


def find(module: str, name: str) -> tuple[Source, ast.stmt]:
    """Where ``name`` is defined that ``module`` uses."""
    place = source(module)
    while name not in place.defined:
        if name not in place.imported:
            raise UnknownForm(f"{place.name} uses {name}, which is neither defined nor imported from plimsoll there")
        place = source(place.imported[name])
    return place, place.defined[name]


class Model:
    """What is reached from the start: each record, then what it names."""

    def __init__(self) -> None:
        self._named: list[tuple[str, str]] = []
        self._places: dict[str, str] = {}

    def render(self) -> str:
        parts, waiting = [_HEADING], [*STARTS]
        while waiting:
            module, name = waiting.pop(0)
            place, statement = find(module, name)
            called = _page_name(name)
            if called in self._places:
                if self._places[called] != place.name:
                    raise UnknownForm(f"{called} is named in {self._places[called]} and in {place.name}")
                continue
            self._places[called] = place.name
            self._named = []
            parts.append(self._declaration(place, name, statement))
            waiting = [*self._named, *waiting]
        return "\n".join(parts)

    def _declaration(self, place: Source, name: str, statement: ast.stmt) -> str:
        if isinstance(statement, ast.ClassDef):
            return self._interface(place, statement)
        assert isinstance(statement, ast.Assign)
        about = _about(place.comment(statement.lineno))
        if isinstance(statement.value, ast.Call):
            fields = [self._keyed(place, field) for field in _functional(statement.value)]
            return f"{about}export interface {_page_name(name)} {{\n{''.join(fields)}}}\n"
        if name in LISTS:
            words = ", ".join(_words(statement.value))
            return f"{about}export const {LISTS[name]} = [{words}] as const;\nexport type {name} = (typeof {LISTS[name]})[number];\n"
        return f"{about}export type {_page_name(name)} = {self._type(place, statement.value)};\n"

    def _interface(self, place: Source, record: ast.ClassDef) -> str:
        about = _about(" ".join((ast.get_docstring(record) or "").split("\n\n")[0].split()))
        return f"{about}export interface {_page_name(record.name)} {{\n{''.join(self._fields(place, record))}}}\n"

    def _fields(self, place: Source, record: ast.ClassDef) -> Iterator[str]:
        for base in record.bases:
            if isinstance(base, ast.Name) and base.id != "TypedDict":
                found, statement = find(place.name, base.id)
                assert isinstance(statement, ast.ClassDef)
                yield from self._fields(found, statement)
        partial = any(keyword.arg == "total" and ast.unparse(keyword.value) == "False" for keyword in record.keywords)
        for field in record.body:
            if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
                yield self._field(place, field.target.id, field.annotation, optional=partial, about=place.comment(field.lineno))

    def _keyed(self, place: Source, field: tuple[str, ast.expr]) -> str:
        return self._field(place, field[0], field[1], optional=False, about="")

    def _field(self, place: Source, name: str, annotation: ast.expr, *, optional: bool, about: str) -> str:
        if isinstance(annotation, ast.Subscript) and ast.unparse(annotation.value) == "NotRequired":
            annotation, optional = annotation.slice, True
        key = name if name.isidentifier() else f'"{name}"'
        return f"{_about(about, '  ')}  {key}{'?' * optional}: {self._type(place, annotation)};\n"

    def _type(self, place: Source, form: ast.expr) -> str:
        if isinstance(form, ast.Constant) and form.value is None:
            return "null"
        if isinstance(form, ast.Name):
            return _PLAIN.get(form.id) or self._name(place, form.id)
        if isinstance(form, ast.BinOp) and isinstance(form.op, ast.BitOr):
            return f"{self._type(place, form.left)} | {self._type(place, form.right)}"
        if isinstance(form, ast.Subscript) and isinstance(form.value, ast.Name):
            return self._subscript(place, form.value.id, form.slice)
        raise UnknownForm(f"{place.name}: there is no type of the page for {ast.unparse(form)}")

    def _subscript(self, place: Source, outer: str, inner: ast.expr) -> str:
        parts = inner.elts if isinstance(inner, ast.Tuple) else [inner]
        if outer in ("list", "Sequence") or (outer == "tuple" and ast.unparse(parts[-1]) == "..."):
            item = self._type(place, parts[0])
            return f"({item})[]" if " | " in item and not item.startswith("[") else f"{item}[]"
        if outer == "tuple":
            return f"[{', '.join(self._type(place, part) for part in parts)}]"
        if outer == "dict":
            key, value = (self._type(place, part) for part in parts)
            if key == "Op":
                return f"ByOp<{value}>"
            return f"Record<string, {value}>" if key == "string" else f"Partial<Record<{key}, {value}>>"
        if outer == "Written":
            return self._type(place, inner)
        if outer == "Literal":
            return " | ".join(_words(ast.Subscript(ast.Name("Literal"), inner)))
        raise UnknownForm(f"{place.name}: there is no type of the page for {outer}[{ast.unparse(inner)}]")

    def _name(self, place: Source, name: str) -> str:
        self._named.append((place.name, name))
        return _page_name(name)


def _page_name(name: str) -> str:
    return name.removesuffix("View")


def _words(form: ast.expr) -> list[str]:
    """The words of a ``Literal``."""
    assert isinstance(form, ast.Subscript)
    parts = form.slice.elts if isinstance(form.slice, ast.Tuple) else [form.slice]
    return [f'"{ast.literal_eval(part)}"' for part in parts]


def _functional(call: ast.Call) -> list[tuple[str, ast.expr]]:
    """The fields of ``TypedDict("Name", {…})``, whose keys may be no names."""
    fields = call.args[1]
    assert isinstance(fields, ast.Dict)
    return [(ast.literal_eval(key), value) for key, value in zip(fields.keys, fields.values, strict=True) if key is not None]


def _about(text: str, indent: str = "") -> str:
    """A comment, with code as TypeScript has it."""
    if not text:
        return ""
    text = re.sub("`{1,2}", "`", text)
    if len(indent) + len(text) + 7 <= _WIDTH:
        return f"{indent}/** {text} */\n"
    lines = textwrap.wrap(text, _WIDTH - len(indent) - 3, break_long_words=False)
    return "".join(f"{indent}{line}\n" for line in ("/**", *(f" * {line}" for line in lines), " */"))


def render() -> str:
    """The text of page/src/model.ts."""
    return Model().render()


if __name__ == "__main__":
    MODEL.write_text(render(), encoding="utf-8")
