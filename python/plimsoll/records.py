"""Dataclasses that cost little until one is made.

Purpose: `dataclasses.dataclass` compiles five to seven functions for each class, some 0.5 ms; a command imports about ninety such classes
before its first I/O and makes instances of a third. Here comparing, hashing, showing and freezing are shared functions, and only the
`__init__` is compiled, when the first instance is made. Everything else is the standard library's: `fields`, `replace`, `asdict`, `field`,
inheritance, `__post_init__` and matching by position work alike, and so do the sentences of errors.

Limits: `slots`, `order` and `InitVar` are for `dataclasses.dataclass`. All bases that are dataclasses are made here, too.

    @dataclass(frozen=True)
    class Point:
        x: int
        y: int = 0
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import MISSING
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any

__all__ = ["dataclass"]

if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(cls: type | None = None, /, *, frozen: bool = False, eq: bool = True, kw_only: bool = False) -> Any:
        """As `dataclasses.dataclass`, of these options."""
        if cls is None:
            return lambda cls: dataclass(cls, frozen=frozen, eq=eq, kw_only=kw_only)
        own = set(cls.__dict__)
        if "__eq__" in own and cls.__dict__.get("__hash__") is None:
            own.discard("__hash__")  # a class that says what equals it has that by itself
        if cls.__doc__ is None:
            cls.__doc__ = cls.__name__  # otherwise the standard library works one out, which takes longer than all else
        dataclasses.dataclass(cls, init=False, repr=False, eq=False, kw_only=kw_only)
        fields = dataclasses.fields(cls)
        for name, method in _methods(cls, fields, frozen=frozen, eq=eq).items():
            if name not in own:
                setattr(cls, name, method)
        return cls


def _methods(cls: Any, fields: tuple[dataclasses.Field[Any], ...], *, frozen: bool, eq: bool) -> dict[str, Any]:
    """The special methods of a class, by name."""
    methods: dict[str, Any] = {"__init__": _first_init(cls, fields, frozen=frozen), "__repr__": _repr}
    compared = _values([field.name for field in fields if field.compare])
    hashed = _values([field.name for field in fields if (field.compare if field.hash is None else field.hash)])
    if eq:

        def equal(self: Any, other: object) -> Any:
            if other.__class__ is not self.__class__:
                return NotImplemented
            return compared(self) == compared(other)

        methods |= {"__eq__": equal, "__hash__": (lambda self: hash(hashed(self))) if frozen else None}
    if frozen:
        names = frozenset(field.name for field in fields)

        def refuse_to_set(self: Any, name: str, value: object) -> None:
            if type(self) is cls or name in names:
                raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
            super(cls, self).__setattr__(name, value)

        def refuse_to_delete(self: Any, name: str) -> None:
            if type(self) is cls or name in names:
                raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")
            super(cls, self).__delattr__(name)

        methods |= {"__setattr__": refuse_to_set, "__delattr__": refuse_to_delete}
    return methods


def _values(names: list[str]) -> Callable[[Any], tuple[Any, ...]]:
    """What takes the values of these fields from an instance."""
    if len(names) > 1:
        return attrgetter(*names)
    return lambda self: tuple(getattr(self, name) for name in names)


@recursive_repr()
def _repr(self: Any) -> str:
    shown = ", ".join(f"{field.name}={getattr(self, field.name)!r}" for field in dataclasses.fields(self) if field.repr)
    return f"{self.__class__.__qualname__}({shown})"


def _first_init(cls: type, fields: tuple[dataclasses.Field[Any], ...], *, frozen: bool) -> Any:
    """An `__init__` that puts the compiled one in its place."""

    def first(self: Any, *args: Any, **options: Any) -> None:
        made = _compiled_init(cls, fields, frozen=frozen)
        cls.__init__ = made  # type: ignore[misc]
        made(self, *args, **options)

    return first


def _compiled_init(cls: type, fields: tuple[dataclasses.Field[Any], ...], *, frozen: bool) -> Any:
    """The `__init__` that the standard library would have made."""
    known: dict[str, Any] = {"_set": object.__setattr__, "_MADE": MISSING}
    for field in fields:
        known[f"_default_{field.name}"] = field.default if field.default_factory is MISSING else field.default_factory
    given = [field for field in fields if field.init]
    words = [_parameter(field) for field in given if not field.kw_only]
    keywords = [_parameter(field) for field in given if field.kw_only]
    lines = [_assignment(field, frozen=frozen) for field in fields if field.init or field.default_factory is not MISSING]
    lines += ["self.__post_init__()"] if hasattr(cls, "__post_init__") else []
    head = ", ".join(["self", *words, *(["*", *keywords] if keywords else [])])
    exec(f"def __init__({head}):\n " + "\n ".join(lines or ["pass"]), known)  # noqa: S102  # names of fields only
    made = known["__init__"]
    made.__qualname__ = f"{cls.__qualname__}.__init__"
    return made


def _parameter(field: dataclasses.Field[Any]) -> str:
    if field.default_factory is not MISSING:
        return f"{field.name}=_MADE"
    return field.name if field.default is MISSING else f"{field.name}=_default_{field.name}"


def _assignment(field: dataclasses.Field[Any], *, frozen: bool) -> str:
    value = field.name
    if field.default_factory is not MISSING:
        value = f"_default_{field.name}()" if not field.init else f"_default_{field.name}() if {field.name} is _MADE else {field.name}"
    return f"_set(self, {field.name!r}, {value})" if frozen else f"self.{field.name} = {value}"
