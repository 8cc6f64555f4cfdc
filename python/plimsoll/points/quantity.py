"""Sizes, times, rates and shares as options of commands; the units are those of workload files.

size_bytes("--disk-size", "600GB")      # 600_000_000_000
percent("--growth", "20%")              # 20.0
"""

from __future__ import annotations

from plimsoll import units
from plimsoll.displayed import quoted
from plimsoll.engine import block as block_engine
from plimsoll.errors import InputError


def size_bytes(option: str, text: str) -> int:
    """A capacity: 600GB, 1.6TB, 1TiB."""
    return int(_job_option(option, "size", text))


def duration_s(option: str, text: str) -> float:
    """A time in seconds: 500ms, 1m30s."""
    return float(_job_option(option, "duration", text))


def block_bytes(option: str, text: str) -> int:
    """The size of a request: 8KiB, 64k."""
    try:
        workload = block_engine.native().check_workload({"stream": [{"block_size": text}]}, option)
    except InputError as problem:
        raise InputError(f"{option}: {_without_place(problem, 'block_size: ')}") from None
    size = workload["stream"][0]["block_size"]
    if not isinstance(size, int):
        raise InputError(f"{option}: {quoted(text)} is more than one size; write the mean, for example 8KiB.")
    return size


def rate_per_s(option: str, text: str) -> float:
    """Requests per second: 5000, 5k, 1.2M."""
    try:
        value = units.rate_per_s(text.replace(",", ""))
    except InputError:
        value = 0.0
    if value <= 0:
        raise InputError(f"{option}: {quoted(text)} is not a rate; write requests per second above 0, for example 5000 or 5k.")
    return value


def percent(option: str, text: str) -> float:
    """A share, or a growth, which may be negative: 20 or 20%."""
    plain = text.strip()
    try:
        return -units.percent(plain[1:]) if plain.startswith("-") else units.percent(plain)
    except InputError:
        raise InputError(f"{option}: {quoted(text)} is not a percentage; write for example 20%.") from None


def _job_option(option: str, name: str, text: str) -> float:
    try:
        value: float = block_engine.native().check_job({name: text})[name]  # type: ignore[literal-required]
    except InputError as problem:
        raise InputError(f"{option}: {_without_place(problem, f'{name}: ')}") from None
    return value


def _without_place(problem: InputError, marker: str) -> str:
    """The engine's sentence without where it thought to be."""
    return str(problem).rpartition(marker)[2]
