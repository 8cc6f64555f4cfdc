"""The file of a layout: TOML becomes a `Layout`, or one sentence says what is wrong where.

Model: layers from the devices up (``[[layer]]``), then at most one file system, where it is mounted, and settings. The keys are declared in
`kinds`; every key is checked against the declaration, every value is read by its form.

    layout = read_layout({"layer": [{"kind": "lvm"}], "filesystem": {"type": "xfs"}}, "lvm-xfs.toml")
    layout.layers[0].options["stripe_size"]       # 65536
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from plimsoll.displayed import quoted
from plimsoll.errors import InputError
from plimsoll.experiments import forms
from plimsoll.experiments.forms import whole
from plimsoll.experiments.option import Option
from plimsoll.layouts.kinds import LAYERS, TABLES
from plimsoll.layouts.kinds.forms import UNIT
from plimsoll.near import meant
from plimsoll.records import dataclass
from plimsoll.stored import Json

FILE_OPTIONS = (
    Option("title", forms.TEXT, "One line for people.", "LVM stripe with XFS", default=""),
    Option("purpose", forms.TEXT, "What it is meant to show.", "One file system over eight LUNs", default=""),
    Option("source", forms.TEXT, "Where it comes from.", "HP MSA 2040 with SAS, report of 2013", default=""),
    Option("members", whole(1, 1024), "How many devices it is made of.", 8, absent="any number"),
    Option(
        "strip",
        UNIT,
        "What the storage behind the members writes to one of its disks before the next; only to judge whether stripes fit it.",
        "64KiB",
        absent="not judged",
    ),
)


@dataclass(frozen=True)
class Layer:
    """A layer, or a table that is none: its kind's name and the value of every option."""

    kind: str
    options: Mapping[str, Any]


@dataclass(frozen=True)
class Layout:
    """What a file asks for. ``document`` is the file as it stands, for records."""

    facts: Mapping[str, Any]
    layers: tuple[Layer, ...]
    filesystem: Layer | None
    mount: Layer | None
    settings: Layer | None
    document: Json


def read_layout(document: Json, place: str) -> Layout:
    """Raises `InputError` with the place and what would be right."""
    known = [*(option.name for option in FILE_OPTIONS), "layer", *TABLES]
    for key in document:
        if key not in known:
            raise InputError(f"{place}: there is no key {quoted(key)}; {meant(key, known)}")
    facts = _values(FILE_OPTIONS, {key: document[key] for key in document if key not in ("layer", *TABLES)}, place)
    layers = document.get("layer", [])
    if not isinstance(layers, list) or not all(isinstance(layer, dict) for layer in layers):
        raise InputError(f"{place}: 'layer' is not a list of tables; write [[layer]] above each.")
    read = tuple(_layer(layer, f"{place}: layer {number}") for number, layer in enumerate(layers, 1))
    tables = {name: _table(document[name], name, place) if name in document else None for name in TABLES}
    if tables["mount"] is not None and tables["filesystem"] is None:
        raise InputError(f"{place}: 'mount' needs a file system; add [filesystem], or leave [mount] out.")
    if tables["filesystem"] is not None and tables["mount"] is None:
        tables["mount"] = _table({}, "mount", place)
    if not read and not any(tables.values()):
        raise InputError(f"{place}: nothing is to be made; add a [[layer]], a [filesystem] or [settings].")
    return Layout(facts, read, tables["filesystem"], tables["mount"], tables["settings"], document)


def _layer(table: Json, place: str) -> Layer:
    name = table.get("kind")
    if name not in LAYERS:
        said = "has no 'kind'" if name is None else f"{quoted(name)} is no kind of layer"
        raise InputError(f"{place}: {said}; {meant(str(name), LAYERS)}")
    return Layer(str(name), _values(LAYERS[str(name)].options, {key: table[key] for key in table if key != "kind"}, f"{place} ({name})"))


def _table(table: Any, name: str, place: str) -> Layer:
    if not isinstance(table, dict):
        raise InputError(f"{place}: {quoted(name)} is not a table; write [{name}] above its keys.")
    return Layer(name, _values(TABLES[name].options, table, f"{place}: {name}"))


def _values(options: Iterable[Option], table: Mapping[str, Any], place: str) -> dict[str, Any]:
    declared = {option.name: option for option in options}
    for key in table:
        if key not in declared:
            raise InputError(f"{place}: there is no key {quoted(key)}; {meant(key, declared)}")
    return {name: _value(option, table, place) for name, option in declared.items()}


def _value(option: Option, table: Mapping[str, Any], place: str) -> Any:
    if option.name not in table:
        if option.required:
            raise InputError(
                f"{place}: the key {quoted(option.name)} is missing; write for example {option.name} = {forms.as_toml(option.example)}."
            )
        return option.default
    try:
        return option.form.read(table[option.name])
    except InputError as problem:
        raise InputError(f"{place}: {option.name}: {problem}") from None
