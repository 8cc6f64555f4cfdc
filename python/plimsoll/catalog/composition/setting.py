"""What is typed after the ``?`` of a target: values set at a path of keys and names.

Model: settings are laid on the composed document, so paths are those of `crates/array`: ``controller.raid.cache.battery=false``.
``volume=lun[3]`` makes the target of one volume, or of several between commas; ``fail``, ``replace`` and ``spares`` are in `failures`.
Values read like TOML where they can; where the key has a unit, also with one (`units`): ``host.request_ns=3us``. A path that ends in
``part`` exchanges a part by its name, which is done before parts are put in: ``devices.disk.model.part=cheetah-15k5-146g``.

    with_settings(document, "volume=lun[3]&host.cores=2", target="array:msa2000-raid5?…")
    with_parts_exchanged(document, "devices.disk.model.part=cheetah-15k5-146g", target="array:msa2000-raid5?…")
"""

from __future__ import annotations

import copy
import math
import tomllib
from typing import Any

from plimsoll.catalog.composition.failures import with_failures, with_replacements, with_spares
from plimsoll.catalog.composition.key_units import with_unit
from plimsoll.catalog.composition.merge import PART, SOURCES, TYPED, UNSOURCED, is_named
from plimsoll.errors import InputError
from plimsoll.stored import Json


def with_settings(document: Json, settings: str, target: str) -> Json:
    """The document with what is set; `InputError` names the ``target`` in which it stood."""
    changed = copy.deepcopy(document)
    for key, value in pairs(settings, target):
        if _is_part(key):
            continue
        if key == "volume":
            changed.setdefault("host", {})["volumes"] = value.split(",")
        elif key == "fail":
            with_failures(changed, value, target)
        elif key == "replace":
            with_replacements(changed, value, target)
        elif key == "spares":
            with_spares(changed, value, target)
        else:
            _set(changed, key, _value(key, value, target), target)
    return changed


def with_parts_exchanged(document: Json, settings: str, target: str) -> Json:
    """The document, in which parts are still names, with those that the settings name in place of its own."""
    exchanged = [(key, value) for key, value in pairs(settings, target) if _is_part(key)]
    if not exchanged:
        return document
    changed = copy.deepcopy(document)
    for key, value in exchanged:
        table = _table(changed, key, target)
        if PART not in table:
            raise InputError(f"target `{target}`: `{key}` exchanges nothing: there is no part; set its values instead.")
        table[PART] = value
    return changed


def exchanges(settings: str) -> bool:
    """Whether a part is exchanged."""
    return any(_is_part(setting.partition("=")[0]) for setting in settings.split("&"))


def pairs(settings: str, target: str) -> list[tuple[str, str]]:
    """What stands between the ``&``, key and value; `InputError` where one is not of that form."""
    split = [setting.partition("=") for setting in settings.split("&") if setting]
    if wrong := next((key for key, equals, _ in split if not equals), None):
        raise InputError(f"target `{target}`: `{wrong}` is not of the form key=value.")
    return [(key, value) for key, _, value in split]


def _is_part(key: str) -> bool:
    return key.endswith(f".{PART}")


def overlay(document: Json, settings: str, source: str) -> Json:
    """What has to be laid on the document for the same: tables as far as the values, entries of lists by their names; ``source`` is that
    of each value."""
    return _laid(document, with_settings(document, settings, source), source)


def _laid(under: Json, over: Json, source: str) -> Json:
    """What ``over`` has that ``under`` has not, or has otherwise; what was set counts even where it is the same."""
    laid: Json = {}
    for key, value in over.items():
        before: Any = under.get(key)
        found: Any = value
        if key == SOURCES:
            continue
        if isinstance(value, dict) and isinstance(before, dict):
            found = _laid(before, value, source)
        elif is_named(value) and is_named(before):
            by_name = {entry["name"]: entry for entry in before}
            each = ((entry["name"], _laid(by_name.get(entry["name"], {}), entry, source)) for entry in value)
            found = [{"name": name, **entry} for name, entry in each if entry]
        elif value == before and over.get(SOURCES, {}).get(key) != TYPED:
            continue
        elif key not in UNSOURCED and not isinstance(value, (dict, list)):
            laid.setdefault(SOURCES, {})[key] = source
        if found not in ({}, []):
            laid[key] = found
    return laid


def _set(document: Json, path: str, value: Any, target: str) -> None:
    key = path.rpartition(".")[2]
    table = _table(document, path, target)
    if isinstance(table.get(key), dict) or is_named(table.get(key)):
        raise InputError(f"target `{target}`: `{path}` is a table, not a value; name a key of it.")
    if isinstance(value, float) and not math.isfinite(value):
        raise InputError(f"target `{target}`: {path}: {value} is no number that counts something; write a finite one.")
    table[key] = value
    table.setdefault(SOURCES, {})[key] = TYPED


def _table(document: Json, path: str, target: str) -> Json:
    """The table that a path's last step is a key of."""
    *steps, _ = path.split(".")
    table: Any = document
    for step in steps:
        found = next((entry for entry in table if entry["name"] == step), None) if isinstance(table, list) else table.get(step)
        if not isinstance(found, (dict, list)):
            known = [entry["name"] for entry in table] if isinstance(table, list) else [name for name in table if name != SOURCES]
            raise InputError(f"target `{target}`: `{path}` leads nowhere at `{step}`; there are {', '.join(known)}.")
        table = found
    if not isinstance(table, dict):
        raise InputError(f"target `{target}`: `{path}` is a list; name one of {', '.join(entry['name'] for entry in table)} and a key.")
    return table


def _value(key: str, text: str, target: str) -> Any:
    """A number, truth value or list if it reads like one, a number with its unit where the key has one, else the text itself."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except (ValueError, RecursionError):
        pass
    try:
        found = with_unit(key, text)
    except InputError as problem:
        raise InputError(f"target `{target}`: {key}: {problem}") from None
    return text if found is None else found
