"""Forms of the values in an experiment file: how each is read, described, and expressed in JSON Schema.

Model: a form turns what TOML or JSON holds into the plain value that an `Experiment` keeps, or raises `InputError` with what is wrong and
what would be right; the place is added by whoever reads the file. Reading what was read before changes nothing.

    WHOLE_POSITIVE.read(3)                # 3
    OBJECTIVE.read("read mean<=0.02s")    # 'read mean <= 20ms'
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from plimsoll.analysis.objective.clause import EXAMPLE as CLAUSE_EXAMPLE
from plimsoll.analysis.objective.clause import measured_words, parse_metric
from plimsoll.analysis.point.metric import ALL
from plimsoll.displayed import quoted
from plimsoll.errors import InputError
from plimsoll.experiments.levels import level_number, levels_of
from plimsoll.near import meant
from plimsoll.records import dataclass
from plimsoll.stored import Json

#: Options of a workload whose value may be a table; any other table under ``over`` or ``set`` holds the options of one stream.
TABLE_OPTIONS = ("block_size", "read_block_size", "write_block_size", "trim_block_size", "distribution")
#: A percentage of the maximum above this is a slip of the pen.
PERCENT_MAX = 1000

_PERCENT = re.compile(r"(\d+(?:\.\d+)?)\s*%")
_PRECISION = re.compile(r"(\d+(?:\.\d+)?)\s*%(?:\s+of\s+(.+))?")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_GROWTH = re.compile(r"(\d+(?:\.\d+)?)\s*[x×]|\+\s*(\d+(?:\.\d+)?)")
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_ .-]*")
_OPTION = re.compile(r"[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)?")


@dataclass(frozen=True)
class Form:
    """One way to write a value. ``noun`` names it in tables, ``how`` explains it, ``schema`` is its JSON Schema."""

    noun: str
    how: str
    read: Callable[[Any], Any]
    schema: Json


def words(choices: Mapping[str, str]) -> Form:
    """One of several words, each with what it means."""

    def read(value: Any) -> str:
        if isinstance(value, str) and value in choices:
            return value
        raise InputError(f"{quoted(value)} is not known; {near(value, choices)}")

    return Form(", ".join(f"`{word}`" for word in choices), "", read, {"enum": list(choices)})


def whole(least: int, most: int | None = None) -> Form:
    """A whole number from ``least`` to ``most``."""
    allowed = f"{least} to {most}" if most is not None else f"{least} or more"

    def read(value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or value < least or (most is not None and value > most):
            raise InputError(f"{quoted(value)} is not a whole number from {least}{f' to {most}' if most is not None else ' on'}.")
        return value

    limits = {"minimum": least} if most is None else {"minimum": least, "maximum": most}
    return Form(f"whole number, {allowed}", "`32`.", read, {"type": "integer", **limits})


def near(word: Any, known: Sequence[str] | Mapping[str, Any]) -> str:
    """The question that names the nearest known word, or the list of all."""
    return meant(str(word), known)


def flattened(table: Any, what: str) -> dict[str, Any]:
    """Values by option, ``STREAM.option`` for those that stand in a table of their own; general options come before a stream's."""
    if not isinstance(table, dict):
        raise InputError(f"{quoted(table)} is not a table; write {{ OPTION = {what} }}, for example {{ queue_depth = 16 }}.")
    flat: dict[str, Any] = {}
    for name, value in table.items():
        inner = isinstance(value, dict) and name not in TABLE_OPTIONS and "." not in name
        for option, item in ({f"{name}.{key}": found for key, found in value.items()} if inner else {name: value}).items():
            if not _OPTION.fullmatch(option):
                raise InputError(f"{quoted(option)} is not an option; write OPTION or STREAM.OPTION, for example queue_depth.")
            if option in flat:
                raise InputError(f"option {quoted(option)} stands twice.")
            flat[option] = item
    return flat


def as_toml(value: Any) -> str:
    """A value as it is written in a file."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {as_toml(item)}" for key, item in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(as_toml(item) for item in value) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    return f'"{value}"' if isinstance(value, str) else f"{value}"


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value.strip()
    raise InputError(f"{quoted(value)} is not a text; write it in quotes.")


def _name(value: Any) -> str:
    if isinstance(value, str) and _NAME.fullmatch(value):
        return value
    raise InputError(f"{quoted(value)} is not a name; write letters, digits, '-', '_', '.' and spaces, for example 'random'.")


def _label(value: Any) -> str:
    if isinstance(value, str) and value.strip() and value.isprintable():
        return value.strip()
    raise InputError(f"{quoted(value)} is not a name; write a line of text, for example 'depth 8'.")


def _switch(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    raise InputError(f"{quoted(value)} is neither true nor false.")


def _texts(value: Any) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(item, str) and item.strip() for item in value):
        raise InputError(f'{quoted(value)} is not a list of texts; write ["one", "two"].')
    twice = next((item for item in value if value.count(item) > 1), None)
    if twice is not None:
        raise InputError(f"{quoted(twice)} stands twice; name it once.")
    return list(value)


def _some_texts(value: Any) -> list[str]:
    if value == []:
        raise InputError("the list is empty; name at least one.")
    return _texts(value)


def _settings(value: Any) -> dict[str, Any]:
    flat = flattened(value, "VALUE")
    if "target" in flat:
        raise InputError("'target' is no setting; give it with --target, or beside 'name' in 'configurations'.")
    # A stream's own setting outlasts a general one, however they were ordered.
    return {name: flat[name] for name in sorted(flat, key=lambda name: "." in name)}


def _objective(value: Any) -> str:
    from plimsoll.analysis.objective.judgement import parse_objective

    return parse_objective(_text(value)).text


def _precision(value: Any) -> str:
    found = _PRECISION.fullmatch(_text(value))
    if found is None or not 0 < float(found[1]) <= 100:
        raise InputError(f"{quoted(value)} is not a precision; write for example '2%' or '2% of read p99'.")
    if found[2] is None:
        return f"{_plain(found[1])}%"
    try:
        return f"{_plain(found[1])}% of {metric_text(*parse_metric(found[2]))}"
    except InputError as problem:
        raise InputError(f"{quoted(value)}: {problem}") from None


def _metric(value: Any) -> str:
    return metric_text(*parse_metric(_text(value)))


def metric_text(op: str, metric: str) -> str:
    """Operation and metric as they are written."""
    word = {"p999": "p99.9", "bytes_per_s": "bandwidth"}.get(metric, metric)
    return word if op == ALL else f"{op} {word}"


def _resolution(value: Any) -> str | float:
    found = _PERCENT.fullmatch(value.strip()) if isinstance(value, str) else None
    if found is not None and 0 < float(found[1]) <= 100:
        return f"{_plain(found[1])}%"
    number = float(value) if isinstance(value, str) and _NUMBER.fullmatch(value.strip()) else value
    if isinstance(number, (int, float)) and not isinstance(number, bool) and 0 < number < float("inf"):
        return int(number) if number == int(number) else number
    raise InputError(f"{quoted(value)} is not a resolution; write a share such as '2%', or a distance between levels such as 1.")


def _growth(value: Any) -> str:
    found = _GROWTH.fullmatch(value.strip()) if isinstance(value, str) else None
    if found is not None and found[1] is not None and float(found[1]) > 1:
        return f"{_plain(found[1])}x"
    if found is not None and found[2] is not None and float(found[2]) > 0:
        return f"+{_plain(found[2])}"
    raise InputError(f"{quoted(value)} is not a growth; write '2x' to double the level, or '+4' to add 4.")


def _percentages(value: Any) -> list[float]:
    levels = levels_of("percent", value)
    for level in levels:
        if isinstance(level, (bool, str, dict)) or not 0 < level <= PERCENT_MAX:
            raise InputError(f"{quoted(level)} is not a percentage of the maximum; write numbers such as '10,50,100' or '10..100+10'.")
    return list(levels)


def _rate(value: Any) -> float:
    try:
        number = level_number("rate", value)
    except InputError:
        number = 0
    if number > 0:
        return number
    raise InputError(f"{quoted(value)} is not a rate; write requests per second such as 500 or '20k'.")


def _multiple(value: Any) -> float:
    if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value <= PERCENT_MAX:
        return int(value) if value == int(value) else value
    raise InputError(f"{quoted(value)} is not a multiple of the target's size; write a number above 0 such as 2.")


def _plain(digits: str) -> str:
    return f"{float(digits):.12g}"


_NUMBER_OR_TEXT: list[Json] = [{"type": "number"}, {"type": "string"}, {"type": "boolean"}, {"type": "object"}]

TEXT = Form("text", "any text.", _text, {"type": "string"})
NAME = Form("name", "letters, digits, `-`, `_`, `.` and spaces.", _name, {"type": "string", "pattern": "^[A-Za-z0-9_][A-Za-z0-9_ .-]*$"})
LABEL = Form("text", TEXT.how, _label, {"type": "string", "minLength": 1})
SWITCH = Form("switch", "`true` or `false`.", _switch, {"type": "boolean"})
TEXTS = Form("list of texts", '`["one", "two"]`.', _texts, {"type": "array", "items": {"type": "string"}, "uniqueItems": True})
SOME_TEXTS = Form(TEXTS.noun, TEXTS.how, _some_texts, {**TEXTS.schema, "minItems": 1})
AXES = Form(
    "table of levels",
    'options with their levels, `{ queue_depth = [1, 2, 4] }`. Levels are a list, or a text: `"1,2,4"` one by one, `"1..64"` doubling, '
    '`"1..64*3"` multiplying, `"1..32+4"` adding; both ends are included. Ranges are of plain numbers; rates may have `k` and `M`. '
    "An option of one stream is written `log.queue_depth`.",
    lambda value: flattened(value, "LEVELS"),
    {"type": "object", "minProperties": 1, "additionalProperties": {"anyOf": [*_NUMBER_OR_TEXT, {"type": "array", "minItems": 1}]}},
)
SETTINGS = Form(
    "table of settings",
    'options with their values, `{ queue_depth = 16, log.rate = 200, duration = "60s" }`: options of every stream, of one stream, or of '
    "the job, as in [options.md](options.md). A stream whose `queue_depth`, `threads` or `rate` is 0 takes no part.",
    _settings,
    {"type": "object", "additionalProperties": {"anyOf": [*_NUMBER_OR_TEXT, {"type": "array"}]}},
)
OBJECTIVE = Form(
    "objective",
    f'`[OPERATION] METRIC RELATION LIMIT`, several joined by `and`: `"{CLAUSE_EXAMPLE}"`. Operations are read, write, trim, flush and all; '
    "metrics mean, p50, p90, p95, p99, p99.9, max with a time (`20ms`), iops (`5k`), bandwidth (`200MB/s`), achieved (`97%` of the offered "
    "rate, open arrival only) and errors (`0`); relations <=, <, >= and >. A latency without operation must hold for every operation.",
    _objective,
    {"type": "string"},
)
PRECISION = Form(
    "precision",
    '`"2%"`, or `"2% of read p99"`: half the width of the 95 % interval over the value.',
    _precision,
    {"type": "string", "pattern": r"^[0-9]+(\.[0-9]+)? *%( +of .+)?$"},
)
METRIC = Form("metric", f"`[OPERATION] METRIC`, a metric being one of {', '.join(measured_words())}.", _metric, {"type": "string"})
RESOLUTION = Form(
    "resolution",
    'a share of the level, `"2%"`, or a distance between levels, `1`.',
    _resolution,
    {"anyOf": [{"type": "number", "exclusiveMinimum": 0}, {"type": "string", "pattern": r"^[0-9]+(\.[0-9]+)? *%?$"}]},
)
GROWTH = Form(
    "growth",
    '`"2x"` doubles the level, `"+4"` adds 4.',
    _growth,
    {"type": "string", "pattern": r"^([0-9]+(\.[0-9]+)? *[x×]|\+ *[0-9]+(\.[0-9]+)?)$"},
)
PERCENTAGES = Form(
    "percentages",
    '`[10, 50, 100]` or `"10..100+10"`.',
    _percentages,
    {
        "anyOf": [
            {"type": "array", "minItems": 1, "items": {"type": "number", "exclusiveMinimum": 0, "maximum": PERCENT_MAX}},
            {"type": "string"},
        ]
    },
)
RATE = Form(
    "rate",
    'requests per second, `500` or `"20k"`.',
    _rate,
    {"anyOf": [{"type": "number", "exclusiveMinimum": 0}, {"type": "string", "pattern": r"^[0-9]+(\.[0-9]+)? *[kKmM]?(/s)?$"}]},
)
MULTIPLE = Form("multiple", "of the target's size, `2`.", _multiple, {"type": "number", "exclusiveMinimum": 0, "maximum": PERCENT_MAX})
