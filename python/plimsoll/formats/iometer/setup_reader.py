"""Reads section TEST SETUP.

Model: a table says which field each key is and how its value is read; ``'Ramp Up Time`` is known by its beginning. Before 1999.02.17 keys
that are not in the table are kept as they stand.

    read_setup(statements, Version("1.1.0"), Place("load.icf")).ramp_up_s
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from plimsoll.formats.iometer.fields import CYCLE_MAX, WORKERS, Fields, Range, near
from plimsoll.formats.iometer.model import RECORDS, TEST_TYPES, Setup, Statement
from plimsoll.formats.iometer.place import Place
from plimsoll.formats.iometer.statements import words
from plimsoll.formats.iometer.version import Version

#: A job of ours lasts 1000 days at most.
RUN_TIME_MAX_S = 1000 * 86400
_TIMES = tuple(Range(f"the run time in {unit}", 0, RUN_TIME_MAX_S) for unit in ("hours", "minutes", "seconds"))
_RAMP_UP = Range("the ramp-up time", 0, RUN_TIME_MAX_S)
_RAMP_UP_KEY = "ramp up time"


def read_setup(body: Sequence[Statement], version: Version, place: Place) -> Setup:
    """The section whose statements are ``body``."""
    values: dict[str, Any] = {}
    at: dict[str, Statement] = {}
    unknown: list[tuple[str, tuple[str, ...]]] = []
    fields = Fields(place)
    for number, statement in enumerate(body):
        key = _RAMP_UP_KEY if words(statement.key).startswith(_RAMP_UP_KEY) else words(statement.key)
        if key in KEYS:
            name, reading = KEYS[key]
            if name in values:
                raise place.wrong(
                    statement.line, f"'{statement.key} stands twice; the first is on line {at[name].line}, so remove one of them."
                )
            values[name], at[name] = reading(fields, place, statement), statement
        elif version.strict_setup:
            raise place.wrong(statement.line, f"'{statement.key[:60]} is not a key of the test setup; {near(key, list(KEYS))}")
        else:
            unknown.append((statement.key, tuple(value.text for value in statement.values)))
            at[f"unknown {number}"] = statement
    return Setup(**values, unknown=tuple(unknown), at=at)


def _run_time(fields: Fields, place: Place, statement: Statement) -> tuple[int, int, int]:
    value = fields.one(statement, "0 1 0")
    parts = fields.blanks(value, (3,), "0 1 0")
    hours, minutes, seconds = (fields.whole(value.line, text, allowed) for text, allowed in zip(parts, _TIMES, strict=True))
    if hours * 3600 + minutes * 60 + seconds > RUN_TIME_MAX_S:
        raise place.wrong(
            value.line, f"the run time {value.text!r} is longer than 1000 days; write hours, minutes and seconds, such as 0 1 0."
        )
    return hours, minutes, seconds


def _record(fields: Fields, _place: Place, statement: Statement) -> str:
    value = fields.one(statement, "ALL")
    return fields.word(value.line, value.text, RECORDS)


def _test_type(fields: Fields, place: Place, statement: Statement) -> str:
    value = fields.one(statement, "NORMAL")
    if not value.text.isdecimal():
        return fields.word(value.line, value.text, TEST_TYPES)
    number = fields.whole(value.line, value.text, Range("the test type", 0, CYCLE_MAX))
    if number >= len(TEST_TYPES):
        raise place.wrong(value.line, f"test type {number} is not known; write 0 to {len(TEST_TYPES) - 1}, or a name such as NORMAL.")
    return TEST_TYPES[number]


Reading = Callable[[Fields, Place, Statement], Any]

#: Keys in the order in which they are written: field, and how its value is read.
KEYS: dict[str, tuple[str, Reading]] = {
    "test description": ("description", lambda fields, _, statement: fields.text(statement)),
    "run time": ("run_time", _run_time),
    _RAMP_UP_KEY: ("ramp_up_s", lambda fields, _, statement: fields.number(statement, _RAMP_UP)),
    "default workers to spawn": ("workers_to_spawn", lambda fields, _, statement: fields.number(statement, WORKERS)),
    "default disk workers to spawn": ("disk_workers", lambda fields, _, statement: fields.workers(statement)),
    "default network workers to spawn": ("network_workers", lambda fields, _, statement: fields.workers(statement)),
    "record results": ("record", _record),
    "worker cycling": ("worker_cycling", lambda fields, _, statement: fields.cycling(statement, with_end=False)),
    "disk cycling": ("target_cycling", lambda fields, _, statement: fields.cycling(statement, with_end=False)),
    "target cycling": ("target_cycling", lambda fields, _, statement: fields.cycling(statement, with_end=False)),
    "queue depth cycling": ("queue_cycling", lambda fields, _, statement: fields.cycling(statement, with_end=True)),
    "test type": ("test_type", _test_type),
}
