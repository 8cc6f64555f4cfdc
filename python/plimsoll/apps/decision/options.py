"""The options of decision support, declared once: reader, default and meaning of each, and the canonical stream they make.

Model: a workload has one stream, whose keys are those of `OPTIONS`. The canonical form also says what every load says of itself: how many
threads ask (``threads``), which operations they draw, and that they end by themselves.
Limits: ``streams = "auto"`` follows the scale, also when the scale is set later.

    stream = canonical({"scale": "10"}, "mine.toml: stream")
    QueryOptions.of(stream).streams            # 3
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from plimsoll.decision.metrics import streams_min
from plimsoll.decision.queries import QUERIES
from plimsoll.displayed import quoted
from plimsoll.errors import InputError
from plimsoll.near import meant
from plimsoll.records import dataclass
from plimsoll.stored import Json
from plimsoll.units import size_bytes, size_text

NAME = "queries"
#: What is carried out: queries alone, streams of queries at the same time, or first the one and then the other.
TESTS = ("both", "power", "throughput")
CACHES = ("as found", "cold", "warm")
#: Streams beyond this are a slip of the pen.
STREAMS_MAX = 1000
SCALE_MAX = 100_000
_AUTO = "auto"


@dataclass(frozen=True)
class Option:
    """``read`` makes the canonical value of whatever was written, or raises `InputError` without the place."""

    name: str
    default: Any
    read: Callable[[Any], Any]
    meaning: str


def scale(value: Any) -> float | int:
    number = _number(value)
    if number is None or not 0 < number <= SCALE_MAX:
        raise InputError(f"{quoted(str(value))} is no scale; write about how many GB of data there shall be, for example 1, 10 or 0.01.")
    return int(number) if number == int(number) else number


def _streams(value: Any) -> int | str:
    text = str(value).strip().lower()
    if text == _AUTO:
        return _AUTO
    number = _number(value)
    if number is None or number != int(number) or not 1 <= number <= STREAMS_MAX:
        raise InputError(f"{quoted(str(value))} is no number of streams; write a whole number from 1 to {STREAMS_MAX}, or auto.")
    return int(number)


def _queries(value: Any) -> str:
    """As ranges in rising order: ``1-22``, ``1,6,14``."""
    found: set[int] = set()
    for part in str(value).replace("[", "").replace("]", "").split(","):
        low, dash, high = (word.strip().lower().removeprefix("q") for word in part.partition("-"))
        ends = (low, high if dash else low)
        if not all(end.isdigit() and int(end) in QUERIES for end in ends) or int(ends[0]) > int(ends[1]):
            raise InputError(f"{quoted(str(value))} names no queries; write numbers from 1 to 22, for example 1,6,14 or 1-22.")
        found.update(range(int(ends[0]), int(ends[1]) + 1))
    return _ranges(sorted(found))


def _ranges(numbers: Iterable[int]) -> str:
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ",".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)


def switch(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    words = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}
    found = words.get(str(value).strip().lower())
    if found is None:
        raise InputError(f"{quoted(str(value))} is neither true nor false.")
    return found


def word_of(*words: str) -> Callable[[Any], str]:
    def read(value: Any) -> str:
        text = str(value).strip().lower().replace("-", " ")
        if text not in words:
            raise InputError(f"{quoted(str(value))} is unknown; {meant(text, words)}")
        return text

    return read


def _memory(value: Any) -> str:
    """``25%`` of the data, a size, or ``engine``: whatever the engine takes by itself."""
    text = str(value).strip()
    if text.lower() == "engine":
        return "engine"
    if text.endswith("%") and (share := _number(text[:-1])) is not None and share > 0:
        return f"{share:g}%"
    try:
        size = size_bytes(text)
    except InputError:
        size = 0
    if size < 1 << 20:
        raise InputError(f"{quoted(text)} is no memory; write a share of the data (25%), a size from 1 MiB on (2GiB), or engine.")
    return size_text(size)


def _number(value: Any) -> float | None:
    if isinstance(value, bool):
        return None
    try:
        number = float(str(value).strip())
    except ValueError:
        return None
    return number if number == number and abs(number) != float("inf") else None


#: What a stream of queries may say.
OPTIONS: tuple[Option, ...] = (
    Option("scale", 1, scale, "About how many GB of data there are; any number, fractions are flagged."),
    Option(
        "test", "throughput", word_of(*TESTS), "power: each query alone; throughput: streams beside each other; both: one after the other."
    ),
    Option("streams", _AUTO, _streams, "Streams of queries at the same time in the throughput test; auto is the least for the scale."),
    Option("queries", "1-22", _queries, "Which of the 22 queries; a part of them is flagged."),
    Option("refresh", True, switch, "Whether orders come and go meanwhile (RF1, RF2)."),
    Option("memory", "25%", _memory, "What the engine may use: a share of the data, a size, or engine for its own choice."),
    Option("cache", "as found", word_of(*CACHES), "What the caches hold when a test begins; --cache sets it."),
    Option("spec_rounding", False, switch, "Round times and figures as the specification does."),
)
_BY_NAME = {option.name: option for option in OPTIONS}


def default(name: str) -> Any:
    """What an option is that nobody set."""
    return _BY_NAME[name].default


@dataclass(frozen=True)
class QueryOptions:
    """The options, read."""

    scale: float
    test: str
    streams: int
    queries: tuple[int, ...]
    refresh: bool
    memory: str
    cache: str
    spec_rounding: bool

    @classmethod
    def of(cls, stream: Mapping[str, Any]) -> QueryOptions:
        """Of a canonical stream."""
        values = {name: stream[name] for name in _BY_NAME}
        return cls(**{**values, "streams": stream["threads"], "queries": query_numbers(stream["queries"])})

    @property
    def has_power(self) -> bool:
        """Whether queries are measured alone."""
        return self.test in ("both", "power")

    @property
    def has_throughput(self) -> bool:
        """Whether streams are measured."""
        return self.test in ("both", "throughput")

    def memory_bytes(self, data_bytes: int) -> int | None:
        """What the engine may use with so much data; None for its own choice."""
        if self.memory == "engine":
            return None
        if self.memory.endswith("%"):
            return int(data_bytes * float(self.memory[:-1]) / 100)
        return size_bytes(self.memory)


def query_numbers(text: str) -> tuple[int, ...]:
    """The numbers that a canonical ``queries`` names."""
    ends = [part.partition("-") for part in text.split(",")]
    return tuple(number for low, _, high in ends for number in range(int(low), int(high or low) + 1))


def canonical(given: Mapping[str, Any], where: str) -> Json:
    """The canonical stream of one as written; raises `InputError` with ``where``."""
    values: Json = {"name": str(given.get("name", NAME))}
    for option in OPTIONS:
        try:
            values[option.name] = option.read(given[option.name]) if option.name in given else option.default
        except InputError as problem:
            raise InputError(f"{where}: {option.name}: {problem}") from None
    derived = _derived(values)
    unknown = [key for key in given if key not in _BY_NAME and key != "name" and given[key] != derived.get(key)]
    if unknown:
        raise InputError(f"{where}: decision support has no option {quoted(unknown[0])}; {meant(unknown[0], tuple(_BY_NAME))}")
    return values | derived


def changed(stream: Mapping[str, Any], name: str, value: Any) -> Json | None:
    """The canonical stream with one option set anew; None where it is no option of decision support."""
    if name not in _BY_NAME:
        return None
    own = {key: stream[key] for key in ("name", *_BY_NAME)}
    own[name] = _BY_NAME[name].read(value)
    return own | _derived(own)


def _derived(values: Mapping[str, Any]) -> Json:
    """What follows of the options: how many threads ask, what they do, and that they end by themselves."""
    streams = streams_min(values["scale"]) if values["streams"] == _AUTO else values["streams"]
    operations = [f"q{number}" for number in query_numbers(values["queries"])]
    return {
        "threads": 1 if values["test"] == "power" else streams,
        "queue_depth": 1,
        "arrival": "closed",
        "direct": False,
        "passes": 1,
        "operation": dict.fromkeys(operations, 100 / len(operations)),
    }
