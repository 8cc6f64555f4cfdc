"""What is typed after the ``?`` of a target: values set at a path of keys and names.

Model: settings are laid on the composed document, so paths are those of `crates/array`: ``controller.raid.cache.battery=false``.
``volume=lun[3]`` makes the target of one volume, or of several between commas; ``fail`` and ``spares`` are in `failing`. Values read
like TOML where they can; where the key is in bytes or a time, also with a unit (`units`): ``host.request_ns=3us``.

    with_settings(document, "volume=lun[3]&host.cores=2", target="array:msa2000-raid5?…")
"""

from __future__ import annotations

import copy
import math
import tomllib
from typing import Any

from plimsoll.catalog.composition.failing import with_failures, with_spares
from plimsoll.catalog.composition.merging import SOURCES, UNSOURCED, is_named
from plimsoll.catalog.composition.units import with_unit
from plimsoll.catalog.folder import Json
from plimsoll.errors import InputError

_TYPED = "set on the command line"


def with_settings(document: Json, settings: str, target: str) -> Json:
    """The document with what is set; `InputError` names the ``target`` in which it stood."""
    changed = copy.deepcopy(document)
    for setting in filter(None, settings.split("&")):
        key, equals, value = setting.partition("=")
        if not equals:
            raise InputError(f"target `{target}`: `{setting}` is not of the form key=value.")
        if key == "volume":
            changed.setdefault("host", {})["volumes"] = value.split(",")
        elif key == "fail":
            with_failures(changed, value, target)
        elif key == "spares":
            with_spares(changed, value, target)
        else:
            _set(changed, key, _value(key, value, target), target)
    return changed


def overlay(document: Json, settings: str, source: str) -> Json:
    """What has to be laid on the document for the same: tables as far as the values, entries of lists by their names."""
    laid: Json = {}
    for setting in filter(None, settings.split("&")):
        key, _, value = setting.partition("=")
        path, typed = ("host.volumes", value.split(",")) if key == "volume" else (key, _value(key, value, source))
        *steps, last = path.split(".")
        under: Any = document
        table: Any = laid
        for step in steps:
            under = next(entry for entry in under if entry["name"] == step) if isinstance(under, list) else under.get(step, {})
            table = _entered(table, step, listed=isinstance(under, list))
        table[last] = typed
        if last not in UNSOURCED:
            table.setdefault(SOURCES, {})[last] = source
    return laid


def _entered(table: Any, step: str, *, listed: bool) -> Any:
    """The table or list below, made if it is not there."""
    if isinstance(table, dict):
        return table.setdefault(step, [] if listed else {})
    found = next((entry for entry in table if entry["name"] == step), None)
    if found is None:
        found = {"name": step}
        table.append(found)
    return found


def _set(document: Json, path: str, value: Any, target: str) -> None:
    *steps, key = path.split(".")
    table: Any = document
    for step in steps:
        found = next((entry for entry in table if entry["name"] == step), None) if isinstance(table, list) else table.get(step)
        if not isinstance(found, (dict, list)):
            known = [entry["name"] for entry in table] if isinstance(table, list) else [name for name in table if name != SOURCES]
            raise InputError(f"target `{target}`: `{path}` leads nowhere at `{step}`; there are {', '.join(known)}.")
        table = found
    if not isinstance(table, dict):
        raise InputError(f"target `{target}`: `{path}` is a list; name one of {', '.join(entry['name'] for entry in table)} and a key.")
    if isinstance(table.get(key), dict) or is_named(table.get(key)):
        raise InputError(f"target `{target}`: `{path}` is a table, not a value; name a key of it.")
    if isinstance(value, float) and not math.isfinite(value):
        raise InputError(f"target `{target}`: {path}: {value} is no number that counts something; write a finite one.")
    table[key] = value
    table.setdefault(SOURCES, {})[key] = _TYPED


def _value(key: str, text: str, target: str) -> Any:
    """A number, truth value or list if it reads like one, a number with its unit where the key has one, else the text itself."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        pass
    try:
        found = with_unit(key, text)
    except InputError as problem:
        raise InputError(f"target `{target}`: {key}: {problem}") from None
    return text if found is None else found
