"""The record of a point: its JSON form, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from plimsoll.errors import StoreError
from plimsoll.measure import Job, measure
from plimsoll.result import OPS, Result
from plimsoll.shape import DEPTH_MAX, Misshapen, sound
from plimsoll.target import Target
from support.scripted_engine import Script, ScriptedEngine


class Nowhere:
    """A sink that keeps nothing."""

    def interval(self, interval: object) -> None:
        pass

    def monitor(self, sample: object) -> None:
        pass


def measured(script: Script | None = None, **job: object) -> Result:
    engine = ScriptedEngine(script or Script())
    workload = engine.check_workload({"stream": [{"name": "main"}]}, "small.toml")
    plain = Job("0001-small", workload, engine.check_job({"duration": 1, "warmup": 0.2}), Target("file:/x"), {"target": {}})
    return measure(replace(plain, **job), engine, Nowhere(), engine.control())


def test_a_result_survives_its_json_form(here: object) -> None:
    result = measured(Script(ops=("read", "write"), errors={"EIO": 2}))
    assert Result.from_json(json.loads(json.dumps(result.to_json())), "r.json") == result


def test_operations_stand_in_a_fixed_order_and_only_those_that_occurred(here: object) -> None:
    result = measured(Script(ops=("flush", "write", "read")))
    assert list(result.totals) == ["read", "write", "flush"]
    assert list(Result.from_json(result.to_json(), "r.json").totals) == ["read", "write", "flush"]
    files = measured(Script(ops=tuple(reversed(OPS))))
    assert list(files.totals) == list(OPS)


def test_a_field_of_a_later_version_is_ignored(here: object) -> None:
    value = measured().to_json()
    value["colour"] = "blue"
    value["job"]["mood"] = "good"
    assert Result.from_json(value, "r.json") == measured_like(value)


def test_a_result_in_which_facts_of_the_target_are_null_can_be_read(here: object) -> None:
    """They were taken for that before the facts had a type of their own."""
    value = measured().to_json()
    value["host"]["target"] = {"kind": None, "size_bytes": None, "devices": None, "path": None, "rotational": True}
    assert Result.from_json(value, "r.json").host["target"] == {"path": None, "rotational": True}


def test_a_result_with_nothing_but_what_it_needs_can_be_read(here: object) -> None:
    whole = measured().to_json()
    needed = ("schema", "id", "status", "error", "started", "modelled", "job", "engine", "host", "monitor")
    bare = Result.from_json({name: whole[name] for name in needed}, "r.json")
    assert (bare.place, bare.cache["state"], bare.ended["by"], bare.replay) == ({}, "as found", "duration", [])
    with pytest.raises(StoreError, match="monitor is missing"):
        Result.from_json({name: whole[name] for name in needed[:-1]}, "r.json")


def test_a_driver_without_workers_of_the_ring_says_so_with_null(here: object) -> None:
    """File operations and the file copy have none; their results were taken for damaged."""
    value = measured().to_json()
    value["engine"]["engine"] = {**(value["engine"].get("engine") or {}), "iou_wrk_threads": None}
    assert Result.from_json(value, "r.json").engine["engine"]["iou_wrk_threads"] is None


def measured_like(value: dict[str, object]) -> Result:
    return Result.from_json({name: item for name, item in value.items() if name != "colour"}, "r.json")


@pytest.mark.parametrize(
    ("schema", "sentence"),
    [
        (
            "plimsoll.result/2",
            "r.json: schema is 'plimsoll.result/2', but this Plimsoll reads 'plimsoll.result/1'; a newer Plimsoll wrote it, so read it with that one.",
        ),
        (
            "plimsoll.result/beta",
            "r.json: schema is 'plimsoll.result/beta', but this Plimsoll reads 'plimsoll.result/1'; a different Plimsoll wrote it, so read it with that one.",
        ),
        ("fio", "r.json: schema is 'fio', but 'plimsoll.result/1' is expected; this is not a file of Plimsoll's."),
        (None, "r.json: schema is null, but 'plimsoll.result/1' is expected; this is not a file of Plimsoll's."),
    ],
)
def test_another_schema_is_refused_in_a_sentence(here: object, schema: object, sentence: str) -> None:
    with pytest.raises(StoreError) as refusal:
        Result.from_json({**measured().to_json(), "schema": schema}, "r.json")
    assert str(refusal.value) == sentence


def test_a_missing_field_is_named(here: object) -> None:
    value = measured().to_json()
    del value["job"]["target"]
    with pytest.raises(StoreError, match=r"job\.target is missing"):
        Result.from_json(value, "r.json")


@pytest.mark.parametrize("holder", [lambda inner: [inner], lambda inner: {"inner": inner}])
def test_nesting_ends_where_it_is_said(holder: Callable[[Any], Any]) -> None:
    value: Any = holder(1)
    for _ in range(DEPTH_MAX - 1):
        value = holder(value)
    sound(value)
    with pytest.raises(Misshapen, match=f"nested more than {DEPTH_MAX} deep"):
        sound(holder(value))
