"""`plimsoll.records` makes the classes that the standard library makes, later."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import FrozenInstanceError, asdict, field, replace
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest

from plimsoll import records

MAKERS: list[Any] = [dataclasses.dataclass, records.dataclass]


def _made(dataclass: Any) -> SimpleNamespace:
    """Classes of all kinds, made by this decorator."""

    @dataclass(frozen=True)
    class Point:
        x: int
        y: float = 0.5
        names: list[str] = field(default_factory=list)
        note: str = field(default="-", compare=False, repr=False)

    @dataclass(frozen=True)
    class Deep(Point):
        """With a documentation."""

        z: int = field(default=3, kw_only=True)

        @property
        def sum(self) -> float:
            return self.x + self.z

    @dataclass
    class Open:
        x: int
        double: int = field(init=False)
        seen: dict[str, int] = field(init=False, default_factory=dict)

        def __post_init__(self) -> None:
            self.double = 2 * self.x

    @dataclass(frozen=True)
    class Key:
        of: str

    @dataclass(frozen=True, kw_only=True)
    class Named:
        one: int
        other: int = 2

    @dataclass(frozen=True, eq=False)
    class Same:
        x: int = 1

    @dataclass(frozen=True)
    class Own:  # noqa: PLW1641  # both make one of what equals
        x: int
        y: int = 0

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Own) and self.x == other.x

        def __repr__(self) -> str:
            return f"own {self.x}"

    @dataclass(frozen=True)
    class Counted:
        x: int
        y: list[int]

        def __hash__(self) -> int:
            return self.x

    @dataclass(frozen=True)
    class Empty:
        pass

    return SimpleNamespace(**locals())


def _match(point: Any, classes: SimpleNamespace) -> Any:
    point_class = classes.Point
    match point:
        case point_class(x, y):
            return x, y


def _error(call: Callable[[], object]) -> str:
    with pytest.raises((TypeError, FrozenInstanceError)) as found:
        call()
    return f"{type(found.value).__name__}: {found.value}"


def _plain(text: str) -> str:
    """Without the name of the function that has the classes."""
    return text.replace("_made.<locals>.", "")


#: What both have to answer alike.
QUESTIONS: dict[str, Callable[[SimpleNamespace], object]] = {
    "shown": lambda c: _plain(repr([c.Point(1), c.Deep(1, 2.0, ["a"], z=5), c.Open(4), c.Key("k"), c.Own(2), c.Empty()])),
    "shown in itself": lambda c: (open_ := c.Open(1), open_.seen.update(itself=open_), _plain(repr(open_)))[-1],
    "equal": lambda c: [c.Point(1) == c.Point(1), c.Point(1) == c.Point(2), c.Point(1, note="a") == c.Point(1, note="b")],
    "equal to others": lambda c: [c.Point(1) == c.Deep(1), c.Key("a") == "a", c.Empty() == c.Empty(), c.Point(1) != c.Point(1)],
    "one field that equals nothing": lambda c: [c.Key(nan := float("nan")) == c.Key(nan), c.Key(nan) == c.Key(float("nan"))],
    "own equality": lambda c: [c.Own(1, 2) == c.Own(1, 3), len({c.Own(1, 2), c.Own(1, 2)})],
    "identity": lambda c: [c.Same() == c.Same(), len({c.Same(), c.Same()})],
    "hashed": lambda c: [
        hash(c.Key("a")) == hash(("a",)),
        hash(c.Empty()) == hash(()),
        hash(c.Counted(7, [])),
        len({c.Named(one=1), c.Named(one=1)}),
    ],
    "hashed by content": lambda c: _error(lambda: hash(c.Point(1))),
    "open ones are not hashed": lambda c: _error(lambda: hash(c.Open(1))),
    "set": lambda c: _error(lambda: setattr(c.Point(1), "x", 2)),
    "set in a subclass": lambda c: [_error(partial(setattr, c.Deep(1), name, 2)) for name in ("x", "z", "new")],
    "deleted": lambda c: _error(lambda: delattr(c.Point(1), "x")),
    "open": lambda c: (open_ := c.Open(1), setattr(open_, "x", 5), open_.x)[-1],
    "factories": lambda c: (c.Point(1).names.append("a"), c.Point(1).names, c.Open(1).seen is c.Open(1).seen)[1:],
    "replaced": lambda c: _plain(repr([replace(c.Point(1), x=3), replace(c.Deep(1), z=4)])),
    "as dict": lambda c: asdict(c.Deep(1, names=["b"])),
    "fields": lambda c: [[f.name for f in dataclasses.fields(cls)] for cls in (c.Point, c.Deep, c.Open, c.Named)],
    "matched": lambda c: [_match(c.Point(1, 2), c), c.Deep.__match_args__, c.Open.__match_args__],
    "too few": lambda c: _plain(_error(c.Point)),
    "too few again": lambda c: [_plain(_error(c.Key)) for _ in range(2)],
    "unknown": lambda c: _plain(_error(lambda: c.Point(1, colour="red"))),
    "by word only": lambda c: [_plain(_error(lambda: c.Named(1))), c.Named(one=1).other],
    "not to be given": lambda c: _plain(_error(lambda: c.Open(1, double=3))),
    "worked out": lambda c: [c.Open(4).double, c.Deep(1).sum],
    "copied": lambda c: copy.copy(c.Deep(1)) == c.Deep(1),
    "documented": lambda c: c.Deep.__doc__,
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_answers_are_those_of_the_standard_library(question: str) -> None:
    theirs, ours = (QUESTIONS[question](_made(maker)) for maker in MAKERS)
    assert ours == theirs


@records.dataclass(frozen=True)
class Kept:
    x: int
    y: tuple[int, ...] = ()


def test_what_was_stored_before_one_was_made_is_read() -> None:
    stored = pickle.dumps(Kept(1, (2,)))
    assert pickle.loads(stored) == Kept(1, (2,))


def test_threads_that_make_the_first_one_together_each_get_one() -> None:
    for _ in range(50):
        classes = _made(records.dataclass)
        with ThreadPoolExecutor(8) as threads:
            assert [point.x for point in threads.map(classes.Point, range(16))] == list(range(16))


def test_nothing_is_compiled_before_the_first_one_is_made() -> None:
    classes = _made(records.dataclass)
    before = classes.Point.__init__
    assert before.__code__.co_filename == records.__file__
    classes.Point(1)
    assert classes.Point.__init__ is not before
    compiled = classes.Point.__init__
    classes.Point(2)
    assert classes.Point.__init__ is compiled


def test_what_needs_the_standard_library_is_refused() -> None:
    with pytest.raises(TypeError, match="slots"):
        records.dataclass(slots=True)(type("New", (), {}))  # type: ignore[call-overload]
