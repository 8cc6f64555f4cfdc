"""JSON Schema (2020-12) of an experiment file, derived from the declarations.

Model: editors complete and check files with it: every key, the keys of each kind, and the form of each value by itself.
Limits: level texts, objectives and the names of workload options are texts here; what is wrong in them is said when the file is read.

    json.dumps(experiment_schema())
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from plimsoll.experiments.declaration import CONFIGURATION_OPTIONS, FILE_OPTIONS, KINDS, OPTIONS, Kind, Option

Json = dict[str, Any]

#: What ``--quick`` cannot replace.
_FIXED = ("name", "kind", "quick")


def experiment_schema() -> Json:
    """The schema of a file."""
    file = _record(FILE_OPTIONS)
    file["properties"]["experiment"] |= {"type": "array", "minItems": 1, "items": _experiment()}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Plimsoll experiments", **file}


def _experiment() -> Json:
    table = _record(OPTIONS)
    configurations = {"type": "array", "items": _record(CONFIGURATION_OPTIONS)}
    table["properties"]["configurations"] |= configurations
    overlay = _record(option for option in OPTIONS if option.name not in _FIXED)
    overlay["properties"]["configurations"] |= configurations
    del overlay["required"]
    table["properties"]["quick"] |= overlay
    return {**table, "allOf": [_of_kind(kind) for kind in KINDS]}


def _of_kind(kind: Kind) -> Json:
    """What follows when ``kind`` is this one: options it needs, and those it does not have."""
    foreign = {option.name: False for option in OPTIONS if not option.belongs_to(kind.name)}
    then: Json = {"properties": {**foreign, "quick": {"properties": foreign}}}
    if kind.needs:
        then["required"] = list(kind.needs)
    if kind.axes in ("one", "ends"):
        then["properties"]["over"] = {"maxProperties": 1}
    if kind.axes == "several":
        then["oneOf"] = [{"required": ["over"]}, {"required": ["grid"]}]
    return {"if": {"properties": {"kind": {"const": kind.name}}}, "then": then}


def _record(options: Iterable[Option]) -> Json:
    """Every option, and nothing else."""
    properties: Json = {}
    required = []
    for option in options:
        properties[option.name] = {**option.form.schema, "description": option.meaning, "examples": [option.example]}
        if option.required:
            required.append(option.name)
        elif option.default is not None:
            properties[option.name]["default"] = option.default
    return {"type": "object", "additionalProperties": False, "required": required, "properties": properties}
