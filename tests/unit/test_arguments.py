"""What a verb was asked for: every option that can be said arrives, with the same default."""

from __future__ import annotations

from dataclasses import fields

import pytest

from plimsoll.errors import InputError
from plimsoll.experiments.declaration import FIELDS, KINDS, options_of
from plimsoll.points.arguments import Arguments, ExperimentArguments, ReplayArguments
from plimsoll.points.options import Options, complete
from plimsoll.verbs.measurement import ReplayOptions


@pytest.mark.parametrize("kind", [Arguments, ReplayArguments])
def test_what_nobody_says_is_asked_for_as_declared(kind: type[Arguments]) -> None:
    assert kind.of(complete({}, kind.unsaid())) == kind()


def test_every_option_of_a_replay_is_one_that_is_asked_for() -> None:
    own = {one.name for one in fields(ReplayArguments)} - {one.name for one in fields(Arguments)}
    assert own == set(ReplayOptions.__annotations__) - set(Options.__annotations__)


@pytest.mark.parametrize(
    ("name", "value", "wanted"),
    [
        ("duration", [5], "a text or a number"),
        ("precision", True, "a text or a number"),
        ("size", b"8", "a text or a number"),
        ("label", 7, "a text"),
        ("fresh", 1, "True or False"),
        ("repeat", "3", "a whole number"),
        ("target", 5, "a text, several, or a table"),
    ],
)
def test_a_value_of_the_wrong_type_is_refused_with_what_would_be_right(name: str, value: object, wanted: str) -> None:
    with pytest.raises(InputError, match=f"'{name}' is .*; give {wanted}"):
        complete({name: value})


def test_every_option_of_the_functions_is_one_that_is_asked_for() -> None:
    # How targets are spelt, and who hears of the run, is no part of what is asked for.
    named = {"prices" if name == "price" else name for name in Options.__annotations__}
    assert named - {"target", "progress"} == {one.name for one in fields(Arguments)}


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_options_that_a_kind_declares_arrive(kind: object) -> None:
    said = {option.name: f"<{option.name}>" for option in options_of(kind.name) if option.name not in FIELDS}
    asked = ExperimentArguments.of({**said, "workloads": ("small.toml",), "quiet": True, "as_json": False})
    assert {name: asked.own[name] for name in said} == said
    assert asked.workloads == ("small.toml",) and "quiet" not in asked.own
