"""JSON Schemas of what Plimsoll stores and prints, made from the types that its own reader checks.

Model: a data class or typed dictionary becomes an object with its class's docstring, and the remark (``#:``) that stands before a field in
the source becomes that field's description. Other keys may be there: a later version of the same schema may add some, and readers ignore
what they do not know. Each document names its schema and version (``plimsoll.result/1``); what would break a reader raises the number.
Limits: numbers that are finite and nesting that ends (`plimsoll.shape.sound`) are no matter of a schema.

    schema_of_documents()["result.schema.json"]
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
import re
import sys
import types
import typing
from collections.abc import Iterator
from typing import Any, Literal, Union, get_args, get_origin

from plimsoll.analysis.check.answer import CheckView
from plimsoll.analysis.price.per_unit import PricedComparisonView
from plimsoll.analysis.sizing.demand import SCHEMA as DEMAND
from plimsoll.analysis.sizing.view import DemandDocument, SizingView
from plimsoll.choice.view import SCHEMA as CHOICE
from plimsoll.choice.view import ChoiceView
from plimsoll.result import SCHEMA as RESULT
from plimsoll.result import Result
from plimsoll.stored import Interval, Placed, ResultParts, Run, Sample, Schema

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_PLAIN: dict[Any, Schema] = {
    str: {"type": "string"},
    int: {"type": "number"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    type(None): {"type": "null"},
    Any: {},
    object: {},
}
RUN, COMPARISON, SIZING = "plimsoll.run/1", "plimsoll.comparison/1", "plimsoll.sizing/1"
_FIELD = re.compile(r"^    (\w+): ")


def schema_of_documents() -> dict[str, Schema]:
    """Every schema by the name of its file in ``docs/reference``."""
    return {
        "result.schema.json": _document(Result, RESULT, "A point: points/*/result.json", _result_parts()),
        "run.schema.json": _document(Run, RUN, "A run: run.json"),
        "interval.schema.json": _document(Interval, None, "A line of points/*/intervals.jsonl"),
        "sample.schema.json": _document(Sample, None, "A line of points/*/monitor.jsonl"),
        "comparison.schema.json": _document(PricedComparisonView, COMPARISON, "What 'plimsoll compare --json' prints"),
        "check.schema.json": _document(CheckView, None, "What 'plimsoll check --json' prints besides the run and its results"),
        "demand.schema.json": _document(DemandDocument, DEMAND, "What 'plimsoll watch' keeps"),
        "choice.schema.json": _document(ChoiceView, CHOICE, "What 'plimsoll choose --json' prints"),
        "sizing.schema.json": _document(SizingView, SIZING, "What 'plimsoll size --json' prints"),
    }


def _document(kind: Any, schema: str | None, title: str, parts: Schema | None = None) -> Schema:
    known: Schema = {}
    found = _object(kind, known)
    found["properties"] |= parts or {}
    head: Schema = {"$schema": _DIALECT, "title": title}
    if schema is not None:
        head["$id"] = schema
        found["properties"] = {"schema": {"const": schema}, **found["properties"]}
        found["required"] = ["schema", *found["required"]]
    return {**head, **found, **({"$defs": dict(sorted(known.items()))} if known else {})}


def _result_parts() -> Schema:
    """What the classes of a result leave open, and another type says; a part stands in the document as it does there."""
    properties: Schema = {}
    for kind in (ResultParts, Placed):
        own: Schema = {}
        for name, part in typing.get_type_hints(kind).items():
            properties[name] = _inlined(_of(part, own), own)
    # Points of no experiment have an empty place.
    properties["place"] = {"anyOf": [properties["place"], {"type": "object", "maxProperties": 0}]}
    # A job has more than what is read again, so both hold.
    known: Schema = {}
    job = _inlined(_of(typing.get_type_hints(Result)["job"], known), known)
    properties["job"] = {"allOf": [job, properties["job"]]}
    return properties


def _inlined(schema: Any, known: Schema) -> Any:
    """The schema with what it refers to in its place."""
    if isinstance(schema, list):
        return [_inlined(item, known) for item in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        return _inlined(known[schema["$ref"].removeprefix("#/$defs/")], known)
    return {name: _inlined(value, known) for name, value in schema.items()}


def _of(kind: Any, known: Schema) -> Schema:
    """The schema of a type; objects go to ``known`` and are referred to."""
    if kind in _PLAIN:
        return dict(_PLAIN[kind])
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        return _any_of([_of(each, known) for each in arguments])
    if origin is Literal:
        return {"enum": list(arguments)}
    if origin is dict:
        inner = _of(arguments[1], known)
        return {"type": "object", **({"additionalProperties": inner} if inner else {})}
    if origin in (list, tuple):
        inner = _of(arguments[0], known) if arguments else {}
        return {"type": "array", **({"items": inner} if inner else {})}
    if origin in (typing.Required, typing.NotRequired):
        return _of(arguments[0], known)
    name = kind.__name__.lstrip("_")
    if name not in known:
        known[name] = {}  # an object may hold its own kind
        known[name] = _object(kind, known)
    return {"$ref": f"#/$defs/{name}"}


def _any_of(schemas: list[Schema]) -> Schema:
    """Plain types together where nothing else is said of them."""
    distinct = [schema for index, schema in enumerate(schemas) if schema not in schemas[:index]]
    if {} in distinct:
        return {}
    if all(set(schema) == {"type"} for schema in distinct):
        names = [schema["type"] for schema in distinct]
        return {"type": names[0] if len(names) == 1 else names}
    return {"anyOf": distinct}


def _object(kind: Any, known: Schema) -> Schema:
    hints = typing.get_type_hints(kind)
    said = _remarks(kind)
    properties = {name: {**_of(each, known), **({"description": said[name]} if name in said else {})} for name, each in hints.items()}
    about = inspect.getdoc(kind)
    own = about if about and kind.__doc__ else None
    return {
        "type": "object",
        **({"description": " ".join(own.split())} if own else {}),
        "properties": properties,
        "required": [name for name in hints if name in _required(kind)],
    }


def _required(kind: Any) -> set[str]:
    if dataclasses.is_dataclass(kind):
        missing = dataclasses.MISSING
        return {field.name for field in dataclasses.fields(kind) if field.default is missing and field.default_factory is missing}
    return set(kind.__required_keys__)


def _written(kind: Any) -> Iterator[Any]:
    """The class and those of ours that its source names as its bases; a typed dictionary does not know them."""
    if not inspect.isclass(kind) or not kind.__module__.startswith("plimsoll"):
        return
    yield kind
    (declared,) = ast.parse(inspect.getsource(kind)).body
    assert isinstance(declared, ast.ClassDef)
    for base in declared.bases:
        if isinstance(base, ast.Name):
            yield from _written(getattr(sys.modules[kind.__module__], base.id, None))


def _remarks(kind: Any) -> dict[str, str]:
    """What the source says before a field, of the class and those it is made of."""
    found: dict[str, str] = {}
    for each in _written(kind):
        said: list[str] = []
        for line in inspect.getsource(each).splitlines():
            if line.strip().startswith("#:"):
                said.append(line.strip().removeprefix("#:").strip())
                continue
            field = _FIELD.match(line)
            if field and said:
                found[field[1]] = " ".join(said)
            said = []
    return found
