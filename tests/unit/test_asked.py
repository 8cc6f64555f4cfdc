"""What a verb was asked for: every option that can be said arrives, with the same default."""

from __future__ import annotations

from dataclasses import fields

import pytest

from plimsoll.experiments.declaration import FIELDS, KINDS, options_of
from plimsoll.points.asked import Asked, ExperimentAsked, ReplayAsked
from plimsoll.points.options import DEFAULTS, REPLAY, Options, complete


@pytest.mark.parametrize(("kind", "others"), [(Asked, {}), (ReplayAsked, REPLAY)])
def test_every_option_that_can_be_said_has_a_field_with_its_default(kind: type[Asked], others: dict[str, object]) -> None:
    assert {one.name: one.default for one in fields(kind)} == {**DEFAULTS, **others}
    assert kind.of(complete({}, others)) == kind()


def test_every_option_of_the_functions_is_one_that_is_asked_for() -> None:
    # How targets are spelt, and who hears of the run, is no part of what is asked for.
    named = {"prices" if name == "price" else name for name in Options.__annotations__}
    assert named - {"target", "progress"} == {one.name for one in fields(Asked)}


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_options_that_a_kind_declares_arrive(kind: object) -> None:
    said = {option.name: f"<{option.name}>" for option in options_of(kind.name) if option.name not in FIELDS}
    asked = ExperimentAsked.of({**said, "workloads": ("small.toml",), "quiet": True, "as_json": False})
    assert {name: asked.own[name] for name in said} == said
    assert asked.workloads == ("small.toml",) and "quiet" not in asked.own
