"""The options of the I/O test, declared once: reader, default and meaning of each.

Model: a workload has one stream, whose keys are those of `OPTIONS`; the driver adds what the block engine says of such a stream.
``streams`` and ``total_size`` may follow the machine: ``cores`` and ``memory`` are what it has.
Limits: what does not fit beside what the file system holds is made smaller when the files are made, not here.

    canonical({"phase": "read"}, "mine.toml: stream")
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plimsoll.apps.decision.options import Option, switch, word_of
from plimsoll.displayed import quoted
from plimsoll.errors import InputError
from plimsoll.stored import Json
from plimsoll.units import size_bytes, size_text

#: What ``streams`` and ``total_size`` say for "as many, as much as there is".
CORES, MEMORY = "cores", "memory"
STREAMS_MAX = 4096
#: Below this, what is measured is opening and closing.
SIZE_MIN = 1 << 20


def _streams(value: Any) -> int | str:
    text = str(value).strip().lower()
    if text == CORES:
        return CORES
    try:
        number = int(text)
    except ValueError:
        number = 0
    if isinstance(value, bool) or not 1 <= number <= STREAMS_MAX:
        raise InputError(f"{quoted(str(value))} is no number of streams; write a whole number from 1 to {STREAMS_MAX}, or cores.")
    return number


def _total(value: Any) -> str:
    text = str(value).strip()
    if text.lower() == MEMORY:
        return MEMORY
    found = size_bytes(text)
    if found < SIZE_MIN:
        raise InputError(f"{quoted(text)} is no size for the files; write 1MiB or more, for example 64GiB, or memory.")
    return size_text(found)


def _block(value: Any) -> str:
    found = size_bytes(str(value))
    if not 4096 <= found <= 1 << 30 or found % 4096:
        raise InputError(f"{quoted(str(value))} is no size of requests; write a multiple of 4KiB up to 1GiB, for example 64KiB.")
    return size_text(found)


#: What the stream may say.
OPTIONS: tuple[Option, ...] = (
    Option("phase", "write", word_of("write", "read"), "Whether the files are written and flushed, or read."),
    Option("streams", CORES, _streams, "How many files there are, each with a stream of its own; cores: one for each physical core."),
    Option("total_size", MEMORY, _total, "How large the files are together; memory: as large as memory. --size sets it as well."),
    Option("block_size", "64KiB", _block, "How long requests are."),
    Option("content", "incompressible", word_of("incompressible", "zeros"), "What is written. Zeros flatter what compresses."),
    Option("direct", False, switch, "Bypass the page cache."),
)
NAMES = tuple(option.name for option in OPTIONS)
_BY_NAME = {option.name: option for option in OPTIONS}


def canonical(given: Mapping[str, Any], where: str) -> Json:
    """The options of a stream as written, complete; raises `InputError` with ``where``."""
    values: Json = {}
    for option in OPTIONS:
        try:
            values[option.name] = option.read(given.get(option.name, option.default))
        except InputError as problem:
            raise InputError(f"{where}: {option.name}: {problem}") from None
    return values


def changed(stream: Mapping[str, Any], name: str, value: Any) -> Json | None:
    """The options with one set anew; None where it is none of the I/O test. ``size`` is another word for ``total_size``."""
    option = _BY_NAME.get("total_size" if name == "size" else name)
    return None if option is None else {**{known: stream[known] for known in NAMES}, option.name: option.read(value)}
