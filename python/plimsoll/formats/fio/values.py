"""How the value of each form of option is read, in one table, and what the richer values say.

Model: `FORMS` maps the word in the table of options to a function from text and `Numbers` to a value; ``one of A B`` lists the words
that an option takes, ``from 0 to 7`` the numbers. A bare word is 1 for a *flag*; a *switch* is 0 or 1 and, like anything else, needs its
value. A mode is operations, whether random, and the number behind the colon. A distribution has a counterpart unless it moves the hot
place or differs between operations. A pattern becomes hexadecimal digits; the offset (``%o``) and the content of a file have no
counterpart.
Limits: fio scatters a normal distribution over the region like the others, ours lies around the middle; the remark says so.

    read_value("sizes", "4k,8k", Numbers())
    read_mode("randrw:8")                                      # Mode("randrw", ops="rw", random=True, number="8")
    read_distribution("zoned:60/10:40/90", Numbers()).ours     # "hot:60/10,40/90"
    read_pattern('0xdeadbeef"ab"').ours                        # "0xdeadbeef6162"
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from plimsoll.displayed import quoted
from plimsoll.errors import InputError
from plimsoll.formats.fio.quantity import Numbers, by_direction, decimal, read_range, read_size, read_split, time_ns, whole

_MODES: dict[str, tuple[str, bool]] = {
    "read": ("r", False),
    "write": ("w", False),
    "trim": ("t", False),
    "randread": ("r", True),
    "randwrite": ("w", True),
    "randtrim": ("t", True),
    "rw": ("rw", False),
    "readwrite": ("rw", False),
    "randrw": ("rw", True),
    "trimwrite": ("tw", False),
    "rwtrim": ("tw", False),
    "randtrimwrite": ("tw", True),
}


@dataclass(frozen=True)
class Mode:
    """``ops`` holds r, w and t; ``number`` is the text behind the colon, or empty."""

    word: str
    ops: str
    random: bool
    number: str = ""

    @property
    def reads(self) -> bool:
        return "r" in self.ops

    @property
    def writes(self) -> bool:
        return "w" in self.ops

    @property
    def mixed(self) -> bool:
        return len(self.ops) > 1


def read_mode(text: str) -> Mode:
    """Words are case-sensitive, as with fio."""
    word, colon, number = text.partition(":")
    if word not in _MODES:
        lower = word.lower()
        hint = f"write {lower}" if lower in _MODES else f"there are {', '.join(sorted(_MODES))}"
        raise InputError(f"{quoted(word)} is not a mode; {hint}.")
    if colon and not number:
        raise InputError(f"{quoted(text)} has no number behind the colon; write for example {word}:8.")
    ops, random = _MODES[word]
    return Mode(word, ops, random, number)


_PIECE = re.compile(r"\s*(?:(0[xX][0-9a-fA-F]+)|\"([^\"]*)\"|'([^']*)'|(%o)|(-?\d+))")
_LONGEST = 4096


@dataclass(frozen=True)
class Pattern:
    """``ours`` is empty where ``problem`` says why."""

    ours: str
    problem: str = ""


def read_pattern(text: str, *, offsets: bool = False) -> Pattern:
    """Raises `InputError` when fio would refuse the value; it takes ``offsets`` where it verifies."""
    at, found = 0, b""
    problem = ""
    while at < len(text.rstrip()):
        match = _PIECE.match(text, at)
        if match is None:
            raise InputError(f'{quoted(text)} is not a pattern; write for example 0xdeadbeef or "text".')
        hexadecimal, letters, file, offset, number = match.groups()
        if file is not None:
            problem = "the content of a file is not taken as a pattern; write its bytes as 0x…"
        elif offset and not offsets:
            raise InputError(f"{quoted(text)} has an offset in it, which fio takes for verify_pattern only; write for example 0xdeadbeef.")
        elif offset:
            problem = "a pattern has no offsets in it; verify= writes stamps with the address in every sector"
        else:
            found += _bytes(hexadecimal, letters, number, text)
        at = match.end()
    if problem:
        return Pattern("", problem)
    if not found:
        raise InputError(f"{quoted(text)} is an empty pattern; write for example 0xdeadbeef.")
    if len(found) > _LONGEST:
        raise InputError(f"the pattern has {len(found)} bytes; write at most {_LONGEST}.")
    return Pattern(f"0x{found.hex()}")


def _bytes(hexadecimal: str | None, letters: str | None, number: str | None, text: str) -> bytes:
    if hexadecimal is not None:
        digits = hexadecimal[2:]
        return bytes.fromhex(digits if len(digits) % 2 == 0 else f"0{digits}")
    if letters is not None:
        return letters.encode()
    if number is None or len(number) > 19 or number.startswith("-"):
        raise InputError(f"{quoted(text)} has a number that is negative or too long; write it as 0x….")
    value = int(number)
    return value.to_bytes(max(1, (value.bit_length() + 7) // 8), "little")


_KINDS = ("random", "zipf", "pareto", "normal", "zoned", "zoned_abs", "sequence")
#: Without a deviation, or with 0, fio takes a twelfth of the region.
_DEFAULTS = {"zipf": "1.1", "pareto": "0.2", "normal": "8.33333"}
_RANGES = {"zipf": (0.01, 10.0), "pareto": (0.001, 0.999), "normal": (0.001, 100.0)}
_ZONES_MAX = 256


@dataclass(frozen=True)
class Distribution:
    """``ours`` is the value of our option, empty for plain random; ``zones`` are (percent, bytes) of zoned_abs."""

    kind: str
    ours: str = ""
    zones: tuple[tuple[int, int], ...] = ()
    #: Why there is no counterpart.
    problem: str = ""


def read_distribution(text: str, numbers: Numbers) -> Distribution:
    """Raises `InputError` where fio would refuse the value."""
    kind, _, rest = text.partition(":")
    if kind not in _KINDS:
        raise InputError(f"{quoted(kind)} is not a distribution; there are {', '.join(_KINDS)}.")
    if kind == "random":
        if rest:
            raise InputError(f"{quoted(text)} has a number that random does not take; write random.")
        return Distribution("random")
    if kind == "sequence":
        return Distribution(kind, problem="addresses are not taken from a list; zoned: names regions")
    if kind in ("zoned", "zoned_abs"):
        return _zoned(kind, rest, text, numbers)
    if text.endswith(":"):
        raise InputError(f"{quoted(text)} has no number behind its colon; write for example {kind}:{_DEFAULTS[kind]}, or {kind}.")
    return _shaped(kind, rest or _DEFAULTS[kind], text)


def _shaped(kind: str, rest: str, text: str) -> Distribution:
    number_text, _, centre = rest.partition(":")
    number = decimal(number_text)
    if kind == "normal" and number == 0:
        number = decimal(_DEFAULTS[kind])
    least, most = _RANGES[kind]
    if kind == "zipf" and number == 1.0:
        raise InputError(f"{quoted(text)}: fio does not take a theta of exactly 1; write for example zipf:1.01.")
    if not least <= number <= most:
        raise InputError(f"{quoted(text)} is outside {least} to {most}; write for example {kind}:{_DEFAULTS.get(kind, '10')}.")
    problem = ""
    if centre:
        decimal(centre)
        problem = "the hot place cannot be moved; leave the centre out, or name hot zones with zoned:"
    return Distribution(kind, f"{kind}:{number:g}", problem=problem)


def _zoned(kind: str, rest: str, text: str, numbers: Numbers) -> Distribution:
    lists = rest.split(",")
    if len(lists) > 3:
        raise InputError(f"{quoted(text)} has {len(lists)} lists; there are at most three: reads, writes and trims.")
    zones = [_zones(kind, each, text, numbers) for each in lists]
    problem = "" if len(set(zones)) == 1 else "all operations of a stream share their zones; make a job for each operation"
    ours = ""
    if kind == "zoned":
        ours = "hot:" + ",".join(f"{access}/{size}" for access, size in _without_rest(zones[0]))
    return Distribution(kind, ours, zones[0], problem)


def _without_rest(zones: tuple[tuple[int, int], ...]) -> list[tuple[int, int]]:
    """Our zones need not reach the end of the region; empty ones are left out."""
    return [(access, size) for access, size in zones if size > 0]


def _zones(kind: str, text: str, whole_text: str, numbers: Numbers) -> tuple[tuple[int, int], ...]:
    entries = [entry.split("/") for entry in text.split(":")]
    if len(entries) > _ZONES_MAX or any(len(entry) != 2 for entry in entries):
        raise InputError(
            f"{quoted(whole_text)} is not a list of zones; write for example {kind}:60/{'10:40/90' if kind == 'zoned' else '1g:40/9g'}."
        )
    accesses = [_percentage(access, whole_text, "requests") if access.strip() else None for access, _ in entries]
    if kind == "zoned":
        sizes = [_percentage(size, whole_text, "region") if size.strip() else None for _, size in entries]
        return tuple(zip(_spread(accesses, whole_text, "requests"), _spread(sizes, whole_text, "sizes"), strict=True))
    lengths = [numbers.size(size).number for _, size in entries]
    if any(length < 1 for length in lengths):
        raise InputError(f"{quoted(whole_text)} has a zone without length; write at least 1.")
    return tuple(zip(_spread(accesses, whole_text, "requests"), lengths, strict=True))


def _percentage(text: str, whole_text: str, of: str) -> int:
    number, rest = whole(text)
    if rest or not 0 <= number <= 100:
        raise InputError(f"{quoted(whole_text)}: {quoted(text)} is not a percentage of the {of}.")
    return number


def _spread(shares: list[int | None], text: str, what: str) -> list[int]:
    """Blank shares get equal parts of what the others leave, the last one the rest of the division."""
    given = sum(share for share in shares if share is not None)
    blanks = sum(share is None for share in shares)
    if given > 100 or (given < 100 and not blanks):
        raise InputError(f"the {what} of {quoted(text)} sum to {given}; they must sum to 100.")
    found, left = [], 100 - given
    for share in shares:
        if share is None:
            part = left // blanks
            left, blanks = left - part, blanks - 1
            found.append(part)
        else:
            found.append(share)
    return found


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
