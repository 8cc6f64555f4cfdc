"""A row out of texts: numbers where a load has numbers, one name per column, one unit per size.

Model: a column's name may end in ``_kb``, ``_mb`` or ``_gb`` (in steps of 1024), and may be a short one. A level follows from threads and
queue depth. Cells that say nothing are left out.

    read_row("se6920.csv:4", {"access": "random", "size_mb": "2048", "block_kb": "16", "iops": "3340"}).values["block_size"]   # 16384.0
"""

from __future__ import annotations

from collections.abc import Mapping

from plimsoll.analysis.adjustment.row import Row, Value, column_name, value_of
from plimsoll.errors import InputError

_SCALES = {"_kb": 1 << 10, "_mb": 1 << 20, "_gb": 1 << 30}
_SIZES = ("block_size", "region_length")
_COUNTS = ("threads", "queue_depth")
_PERCENT = ("read_percent", "random_percent")
_ACCESS = ("random", "sequential")
#: Columns that say what was asked for; all others only tell rows apart.
OPTIONS = (*_SIZES, *_COUNTS, *_PERCENT)


def read_row(place: str, cells: Mapping[str, str]) -> Row:
    """The row; `InputError` names its place and the column that is wrong."""
    values: dict[str, Value] = {}
    for column, text in cells.items():
        if not text.strip():
            continue
        name, value = _cell(column, text, place)
        if name in values:
            raise InputError(f"{place}: {column} says again what another column says; leave one out.")
        values[name] = value
    rate = values.pop("iops", None)
    if not isinstance(rate, float) or rate <= 0:
        raise InputError(f"{place}: iops: {cells.get('iops', '')!r} is not a rate; write requests per second above 0.")
    if "level" not in values and any(name in values for name in _COUNTS):
        threads, depth = (values.get(name, 1.0) for name in _COUNTS)
        values["level"] = float(threads) * float(depth)
    return Row(place, values, rate)


def _cell(column: str, text: str, place: str) -> tuple[str, Value]:
    scale = _SCALES.get(column[-3:], 1)
    plain = column_name(column[:-3] if scale > 1 else column)
    try:
        value = value_of(text)
    except InputError as problem:
        raise InputError(f"{place}: {column}: {problem}") from None
    if scale > 1:
        if not isinstance(value, float):
            raise InputError(f"{place}: {column}: {text!r} is not a number.")
        value *= scale
    if plain == "access" and value not in _ACCESS:
        raise InputError(f"{place}: access: {text!r} is unknown; write random or sequential.")
    if plain in _SIZES and not (isinstance(value, float) and value >= 1):
        raise InputError(f"{place}: {column}: {text!r} is not a size; write for example 8KiB.")
    if plain in _COUNTS and not (isinstance(value, float) and value >= 1 and value % 1 == 0):
        raise InputError(f"{place}: {column}: {text!r} is not a number of them; write a whole number above 0.")
    if plain in _PERCENT and not (isinstance(value, float) and 0 <= value <= 100):
        raise InputError(f"{place}: {column}: {text!r} is not a percentage; write a number from 0 to 100.")
    return plain, value
