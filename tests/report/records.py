"""Values of JSON against the typed dictionaries of the view model, stricter than `plimsoll.shape`: no key may be there that no record names.

strangers(json.loads(text), Report)     # ["report.points[].totals.*: ['median']"], or [] while all is well
"""

import types
import typing
from dataclasses import fields

from plimsoll.reports.view.point import Written


def strangers(value, kind, place="report"):
    """Where ``value`` has a key that ``kind`` lacks, lacks one that it needs, or is of another type."""
    origin, parts = typing.get_origin(kind), typing.get_args(kind)
    if typing.is_typeddict(kind):
        return _record(value, kind, place)
    if origin in (typing.Union, types.UnionType):
        return min((strangers(value, each, place) for each in parts), key=len)
    if origin in _FORMS:
        return _FORMS[origin](value, parts, place)
    return [] if kind is typing.Any or _is_plain(value, kind) else [f"{place}: {value!r}"]


def _is_plain(value, kind):
    wanted = (int, float) if kind in (int, float) else kind
    return isinstance(value, wanted) and (kind is bool or not isinstance(value, bool))


def _record(value, kind, place):
    if not isinstance(value, dict):
        return [f"{place}: {value!r}"]
    hints = typing.get_type_hints(kind, include_extras=True)
    needed = {key for key, each in hints.items() if kind.__total__ and typing.get_origin(each) is not typing.NotRequired}
    odd = sorted((set(value) - set(hints)) | (needed - set(value)))
    inner = [found for key, each in hints.items() if key in value for found in strangers(value[key], each, f"{place}.{key}")]
    return [f"{place}: {odd}"] * bool(odd) + inner


def _written(value, parts, place):
    odd = sorted({field.name for field in fields(parts[0])} ^ set(value))
    return [f"{place}: {odd}"] * bool(odd)


def _row(value, parts, place):
    kinds = parts if len(parts) > 1 and ... not in parts else [parts[0]] * len(value or ())
    if not isinstance(value, list) or len(value) != len(kinds):
        return [f"{place}: {value!r}"]
    return [found for each, kind in zip(value, kinds, strict=True) for found in strangers(each, kind, f"{place}[]")]


def _table(value, parts, place):
    if not isinstance(value, dict):
        return [f"{place}: {value!r}"]
    keys = [found for key in value for found in strangers(key, parts[0], place)]
    return keys + [found for each in value.values() for found in strangers(each, parts[1], f"{place}.*")]


_FORMS = {
    Written: _written,
    list: _row,
    tuple: _row,
    dict: _table,
    typing.Literal: lambda value, words, place: [] if value in words else [f"{place}: {value!r}"],
    typing.NotRequired: lambda value, parts, place: strangers(value, parts[0], place),
}
