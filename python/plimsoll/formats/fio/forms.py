"""How the value of each form of option is read, in one table.

Model: `FORMS` maps the word in the table of options to a function from text and `Numbers` to a value; ``one of A B`` lists the words
that an option takes, ``from 0 to 7`` the numbers. A bare word is 1 for a *flag*; a *switch* is 0 or 1 and, like anything else, needs its
value.

    read_value("sizes", "4k,8k", Numbers())
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from plimsoll.displayed import quoted
from plimsoll.errors import InputError
from plimsoll.formats.fio.quantity import Numbers, by_direction, decimal, read_range, read_size, read_split, time_ns
from plimsoll.formats.fio.values import read_distribution, read_mode, read_pattern

Read = Callable[[str, Numbers], Any]

#: Begins a form that lists the words it takes.
_ONE_OF = "one of "
#: A form with the smallest and largest number it takes.
_FROM_TO = re.compile(r"from (-?\d+) to (\d+)")
#: Forms of which a plain number is read behind blanks, too.
NUMERIC = frozenset(
    (
        "flag",
        "switch",
        "count",
        "count1",
        "depth",
        "weight",
        "counts",
        "integer",
        "percent",
        "size",
        "share",
        "portion",
        "sizes",
        "seconds",
        "millis",
        "micros",
    )
)
#: fio keeps counts in 32 bits.
_COUNT_MAX = (1 << 32) - 1
_DEPTH_MAX = (1 << 31) - 1
_WEIGHT_MAX = 1000
#: How one of several files is taken: these, and distributions that have no counterpart.
SERVICES = ("random", "roundrobin", "sequential")
_CRITERIA = ("iops", "bw", "lat")
_SPREADS = ("zipf", "pareto", "normal", "gauss")
_PERCENTILES_MAX = 20


def read_value(form: str, text: str | None, numbers: Numbers) -> Any:
    """The value; raises `InputError` without a place."""
    if text is None:
        if form != "flag":
            raise InputError("it needs a value, write =1." if form == "switch" else "it needs a value.")
        return True
    if not text and form != "text":
        raise InputError("its value is empty.")
    return form_of(form)(text, numbers)


def form_of(form: str) -> Read:
    """How the value of a form is read; `KeyError` for one that is none."""
    if form.startswith(_ONE_OF):
        known = form.removeprefix(_ONE_OF).split()
        return lambda text, _: _word(text, known)
    limits = _FROM_TO.fullmatch(form)
    if limits is not None:
        least, most = int(limits[1]), int(limits[2])
        return lambda text, numbers: _bounded(text, numbers, least, most)
    return FORMS[form]


def _word(text: str, known: list[str]) -> str:
    """One of the words that fio knows; what follows a colon is the word's own affair."""
    if text.partition(":")[0] not in known:
        raise InputError(f"fio does not know {quoted(text)} there; write {', '.join(known[:-1])} or {known[-1]}.")
    return text


def _flag(text: str, _: Numbers) -> bool:
    if text not in ("0", "1"):
        hint = {"true": "1", "yes": "1", "on": "1", "false": "0", "no": "0", "off": "0"}.get(text.lower(), "0 or 1")
        raise InputError(f"{quoted(text)} is not a switch; write {hint}.")
    return text == "1"


def _count(text: str, numbers: Numbers) -> int:
    return _bounded(text, numbers, 0, 1 << 62)


def _count_from_one(text: str, numbers: Numbers) -> int:
    return _bounded(text, numbers, 1, _COUNT_MAX)


def _bounded(text: str, numbers: Numbers, least: int, most: int) -> int:
    number = numbers.count(text)
    if not least <= number <= most:
        raise InputError(f"{quoted(text)} is outside {least} to {most}.")
    return number


def _percent(text: str, numbers: Numbers) -> int:
    number = numbers.count(text.removesuffix("%"))
    if not 0 <= number <= 100:
        raise InputError(f"{quoted(text)} is not a percentage from 0 to 100.")
    return number


def _percentile(text: str, _: Numbers) -> float:
    number = decimal(text)
    if not 0 <= number <= 100:
        raise InputError(f"{quoted(text)} is not a percentile from 0 to 100.")
    return number


def _power(text: str, numbers: Numbers) -> Any:
    quantity = _size(text, numbers)
    if quantity.number < 1 or quantity.number & (quantity.number - 1):
        raise InputError(f"{quoted(text)} is not a power of two; write for example 4k.")
    return quantity


def _share(text: str, numbers: Numbers) -> Any:
    quantity = numbers.share(text)
    if quantity.number < 0:
        raise InputError(f"{quoted(text)} is negative; write a size from 0 on.")
    return quantity


def _size(text: str, numbers: Numbers) -> Any:
    quantity = numbers.size(text)
    if quantity.number < 0:
        raise InputError(f"{quoted(text)} is negative; write a size from 0 on.")
    return quantity


def _size_range(text: str, numbers: Numbers) -> Any:
    ends = [_size(part, numbers) for part in re.split("[-:]", text, maxsplit=1)]
    if not ends[0].number:
        raise InputError(f"{quoted(text)} is no length of a file; write at least 1.")
    return ends[0], ends[-1]


def _percentiles(text: str, _: Numbers) -> list[float]:
    found = [decimal(part) for part in text.split(":")]
    if len(found) > _PERCENTILES_MAX:
        raise InputError(f"there are {len(found)} percentiles; fio takes at most {_PERCENTILES_MAX}.")
    if not all(0 < number <= 100 for number in found):
        raise InputError(f"{quoted(text)} has a percentile outside 0 to 100.")
    return found


def _delay(text: str, _: Numbers) -> tuple[int, int]:
    ends = [time_ns(part, "s") for part in text.split("-", 1)]
    if ends[0] > ends[-1]:
        raise InputError(f"{quoted(text)} begins with the longer time; write the shorter one first.")
    return ends[0], ends[-1]


def _depth(text: str, numbers: Numbers) -> int:
    return _bounded(text, numbers, 1, _DEPTH_MAX)


def _weight(text: str, numbers: Numbers) -> int:
    """Negative ones are of old files."""
    return _bounded(text, numbers, -_COUNT_MAX, _WEIGHT_MAX)


def _portion(text: str, numbers: Numbers) -> Any:
    quantity = _share(text, numbers)
    if quantity.unit == "zones":
        raise InputError(f"{quoted(text)} counts in zones, which this option cannot; write a size.")
    return quantity


def _service(text: str, numbers: Numbers) -> str:
    """How files are chosen; the number of a distribution has to be one, that of the others is read as far as it goes."""
    word = text.partition(":")[0]
    if word in _SPREADS:
        read_distribution("normal" + text.removeprefix(word) if word == "gauss" else text, numbers)
    elif word not in SERVICES:
        raise InputError(f"there are {', '.join(SERVICES)}, zipf, pareto and normal.")
    return text


def _steady(text: str, _: Numbers) -> str:
    """A criterion with its limit."""
    criterion, _colon, limit = text.partition(":")
    if criterion.removesuffix("_slope") not in _CRITERIA:
        raise InputError(f"{quoted(criterion)} is not a criterion; there are iops, iops_slope, bw, bw_slope, lat and lat_slope.")
    if not limit:
        raise InputError(f"{quoted(text)} has no limit behind the criterion; write for example {criterion}:5%.")
    decimal(limit.removesuffix("%"))
    return text


FORMS: dict[str, Read] = {
    "text": lambda text, _: text,
    "name": lambda text, _: text,
    "flag": _flag,
    "switch": _flag,
    "count": _count,
    "count1": _count_from_one,
    "depth": _depth,
    "weight": _weight,
    "service": _service,
    "steady": _steady,
    "portion": _portion,
    "counts": lambda text, numbers: by_direction(text, lambda part: _count(part, numbers)),
    "integer": lambda text, numbers: numbers.count(text),
    "number": lambda text, _: decimal(text),
    "numbers": _percentiles,
    "floats": lambda text, _: [decimal(part) for part in text.split(":")],
    "percent": _percent,
    "percents": lambda text, numbers: by_direction(text, lambda part: _percent(part, numbers)),
    "percentile": _percentile,
    "power": _power,
    "size": _size,
    "share": _share,
    "sizerange": _size_range,
    "sizes": lambda text, numbers: by_direction(text, lambda part: read_size(part, numbers)),
    "ranges": lambda text, numbers: by_direction(text, lambda part: read_range(part, numbers)),
    "splits": lambda text, numbers: by_direction(text, lambda part: read_split(part, numbers)),
    "seconds": lambda text, _: time_ns(text, "s"),
    "millis": lambda text, _: time_ns(text, "ms"),
    "micros": lambda text, _: time_ns(text, "us"),
    "latencies": lambda text, _: by_direction(text, lambda part: time_ns(part, "us")),
    "delay": _delay,
    "rw": lambda text, _: read_mode(text),
    "distribution": read_distribution,
    "pattern": lambda text, _: read_pattern(text),
    "offsets": lambda text, _: read_pattern(text, offsets=True),
}
