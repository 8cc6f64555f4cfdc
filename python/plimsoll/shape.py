"""Values of JSON against types: the one check between a file that anybody can change and code that takes its form for granted.

Model: `fitted` turns a value into what a type says, or raises `Misshapen` with the place and what should stand there. Types are those of
annotations: ``str``, ``int``, ``float``, ``bool``, ``None``, ``Any``, unions, ``Literal``, ``list``, ``tuple``, ``dict``, ``Mapping``, data
classes, which are made, and typed dictionaries, whose other keys are left alone. Checks are made from a type once, and are quick while all
is well.
`sound` is for what no type says: numbers that are finite and not beyond what is counted, and nesting that ends.
Limits: a float may stand for an int, as other tools write them; a field with a default may be missing.

    fitted({"count": "5"}, OpTotals)       # Misshapen: count is '5', where a number should stand
"""

from __future__ import annotations

import dataclasses
import math
import types
import typing
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache
from typing import Any, Literal, Union, get_args, get_origin

from plimsoll.displayed import quoted

#: Deeper than anything that is stored.
DEPTH_MAX = 40
#: More than whatever is counted here, and far less than what a float can hold.
NUMBER_MAX = 1e30

Fit = Callable[[Any], Any]
#: Of a value that is wrong so much is shown.
_SHOWN_MAX = 40


class Misshapen(Exception):
    """``place`` is where, from the outside in; ``said`` what is wrong there."""

    def __init__(self, said: str) -> None:
        super().__init__(said)
        self.places: list[str] = []
        self.said = said

    @property
    def place(self) -> str:
        """``job.streams[0].name``; of the whole, that word."""
        return "".join(reversed(self.places)).removeprefix(".") or "the document"

    def __str__(self) -> str:
        return f"{self.place} {self.said}"

    def at(self, place: str) -> Misshapen:
        """The same within ``place``."""
        self.places.append(place)
        return self


def fitted(value: Any, kind: Any) -> Any:
    """``value`` as ``kind``."""
    return _fit(kind)(value)


def sound(value: Any) -> None:
    """Raise `Misshapen` for a number that counts nothing and for nesting without end."""
    nested(value)
    _check_numbers(value)


def nested(value: Any) -> None:
    """Raise `Misshapen` for nesting without end."""
    holders = [value] if isinstance(value, dict | list) else []
    for _ in range(DEPTH_MAX):
        holders = [item for holder in holders for item in _within(holder) if type(item) is dict or type(item) is list]
        if not holders:
            return
    raise Misshapen(f"is nested more than {DEPTH_MAX} deep")


def _within(holder: Any) -> Any:
    return holder.values() if type(holder) is dict else holder


def _check_numbers(value: Any) -> None:
    waiting = [value]
    while waiting:
        found = waiting.pop()
        if isinstance(found, dict | list):
            waiting.extend(found.values() if isinstance(found, dict) else found)
        elif isinstance(found, int | float) and not abs(found) <= NUMBER_MAX:
            raise Misshapen(f"holds the number {_shown(found)}, which counts nothing")


@cache
def _settled(kind: Any) -> frozenset[type]:
    """The types of Python whose values are of ``kind`` as they are, whatever they hold: so that most need no call."""
    if get_origin(kind) in (Union, types.UnionType):
        return frozenset().union(*(_settled(each) for each in get_args(kind)))
    if kind in (int, float):
        return frozenset((int, float))
    return frozenset((kind,)) if kind in (str, bool, type(None)) else frozenset()


@cache
def _fit(kind: Any) -> Fit:
    if kind is Any:
        return lambda value: value
    origin = get_origin(kind)
    if origin in (Union, types.UnionType):
        return _one_of(get_args(kind), _called(kind))
    if origin is Literal:
        return _literal(get_args(kind))
    if origin in (dict, Mapping):
        return _table(get_args(kind)[1])
    if origin in (list, tuple):
        return _row(_fit(get_args(kind)[0]), origin)
    if typing.is_typeddict(kind):
        return _record(kind)
    if dataclasses.is_dataclass(kind):
        return _made(kind)
    return _plain(kind)


def _plain(kind: Any) -> Fit:
    called = _called(kind)
    wanted: tuple[type, ...] = (int, float) if kind in (int, float) else (kind,)

    def fit(value: Any) -> Any:
        # True is an int in Python, and no number here.
        if not isinstance(value, wanted) or (isinstance(value, bool) and kind is not bool):
            raise Misshapen(f"is {_shown(value)}, where {called} should stand")
        return value

    return fit


def _literal(words: tuple[Any, ...]) -> Fit:
    def fit(value: Any) -> Any:
        if not isinstance(value, str) or value not in words:
            raise Misshapen(f"is {_shown(value)}, where one of {', '.join(map(str, words))} should stand")
        return value

    return fit


@cache
def _taken(kind: Any) -> frozenset[type]:
    """The types of Python of which values of ``kind`` are; none where that is not known."""
    if kind in (list, tuple, dict) or get_origin(kind) in (list, tuple, dict, Mapping):
        return frozenset((dict,)) if (get_origin(kind) or kind) in (dict, Mapping) else frozenset((list, tuple))
    if typing.is_typeddict(kind) or dataclasses.is_dataclass(kind):
        return frozenset((dict,))
    return frozenset((str,)) if get_origin(kind) is Literal else _settled(kind)


def _one_of(kinds: tuple[Any, ...], called: str) -> Fit:
    fits = [_fit(each) for each in kinds]
    likely = {one: _fit(each) for each in reversed(kinds) for one in _taken(each)}

    def fit(value: Any) -> Any:
        # What is wrong is said below; most values are right, and refusing them for the other kinds takes longer than looking at them.
        if (first := likely.get(type(value))) is not None:
            with suppress(Misshapen):
                return first(value)
        deepest: Misshapen | None = None
        for each in fits:
            try:
                return each(value)
            except Misshapen as problem:
                if problem.places and deepest is None:
                    deepest = problem
        raise deepest or Misshapen(f"is {_shown(value)}, where {called} should stand")

    return fit


def _table(kind: Any) -> Fit:
    inner, settled = _fit(kind), _settled(kind)

    def fit(value: Any) -> Any:
        if not isinstance(value, dict):
            raise Misshapen(f"is {_shown(value)}, where a table should stand")
        made = {}
        for name, item in value.items():
            try:
                made[name] = item if type(item) in settled else inner(item)
            except Misshapen as problem:
                raise problem.at(f".{name}") from None
        return made

    return fit


def _row(inner: Fit, make: Any) -> Fit:
    def fit(value: Any) -> Any:
        if not isinstance(value, list | tuple):
            raise Misshapen(f"is {_shown(value)}, where a list should stand")
        made = []
        for number, item in enumerate(value):
            try:
                made.append(inner(item))
            except Misshapen as problem:
                raise problem.at(f"[{number}]") from None
        return make(made)

    return fit


def _record(kind: Any) -> Fit:
    fits = [(name, _fit(each), _settled(each)) for name, each in typing.get_type_hints(kind).items()]
    needed: frozenset[str] = kind.__required_keys__

    def fit(value: Any) -> Any:
        if not isinstance(value, dict):
            raise Misshapen(f"is {_shown(value)}, where a table should stand")
        for name, each, settled in fits:
            if name in value:
                if type(value[name]) in settled:
                    continue
                try:
                    each(value[name])
                except Misshapen as problem:
                    raise problem.at(f".{name}") from None
            elif name in needed:
                raise Misshapen("is missing").at(f".{name}")
        return value

    return fit


def _made(kind: Any) -> Fit:
    hints = typing.get_type_hints(kind)
    fields = dataclasses.fields(kind)
    fits = {field.name: _fit(field.metadata.get("shape", hints[field.name])) for field in fields}
    needed = {field.name for field in fields if field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING}

    def fit(value: Any) -> Any:
        if not isinstance(value, dict):
            raise Misshapen(f"is {_shown(value)}, where a table should stand")
        known = {}
        for name, each in fits.items():
            if name in value:
                try:
                    known[name] = each(value[name])
                except Misshapen as problem:
                    raise problem.at(f".{name}") from None
            elif name in needed:
                raise Misshapen("is missing").at(f".{name}")
        return kind(**known)

    return fit


def _called(kind: Any) -> str:
    """The type in words."""
    if get_origin(kind) in (Union, types.UnionType):
        return " or ".join(dict.fromkeys(_called(each) for each in get_args(kind)))
    names = {str: "text", int: "a number", float: "a number", bool: "true or false", type(None): "null"}
    if kind in names:
        return names[kind]
    lists: dict[Any, str] = {list: "a list", tuple: "a list"}
    return lists.get(get_origin(kind), "a table")


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return "a table"
    if isinstance(value, list):
        return "a list"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int) and abs(value) > NUMBER_MAX:
        return f"of about 10^{math.floor(math.log10(abs(value)))}"
    text = quoted(value)
    return text if len(text) <= _SHOWN_MAX else f"{text[:_SHOWN_MAX]}…"
