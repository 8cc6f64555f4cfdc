"""Sizes, times, rates and shares as options of commands; the units are those of workload files.

size_bytes("--disk-size", "600GB")      # 600_000_000_000
percent("--growth", "20%")              # 20.0
"""

from __future__ import annotations

import math

from plimsoll import engine as engines
from plimsoll.errors import InputError

_THOUSANDS = {"k": 1e3, "m": 1e6}


def size_bytes(option: str, text: str) -> int:
    """A capacity: 600GB, 1.6TB, 1TiB."""
    return int(_job_option(option, "size", text))


def duration_s(option: str, text: str) -> float:
    """A time in seconds: 500ms, 1m30s."""
    return float(_job_option(option, "duration", text))


def block_bytes(option: str, text: str) -> int:
    """The size of a request: 8KiB, 64k."""
    try:
        workload = engines.native().check_workload({"stream": [{"block_size": text}]}, option)
    except InputError as problem:
        raise InputError(f"{option}: {_without_place(problem, 'block_size: ')}") from None
    size = workload["stream"][0]["block_size"]
    if not isinstance(size, int):
        raise InputError(f"{option}: {text!r} is more than one size; write the mean, for example 8KiB.")
    return size


def rate_per_s(option: str, text: str) -> float:
    """Requests per second: 5000, 5k, 1.2M."""
    plain = text.strip().lower().replace(",", "")
    factor = _THOUSANDS.get(plain[-1:], 1.0)
    value = _number(plain[:-1] if factor > 1 else plain)
    if value is None or value <= 0:
        raise InputError(f"{option}: {text!r} is not a rate; write requests per second above 0, for example 5000 or 5k.")
    return value * factor


def percent(option: str, text: str) -> float:
    """A share or growth: 20 or 20%."""
    value = _number(text.strip().removesuffix("%").strip())
    if value is None:
        raise InputError(f"{option}: {text!r} is not a percentage; write for example 20%.")
    return value


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _job_option(option: str, name: str, text: str) -> float:
    try:
        value: float = engines.native().check_job({name: text})[name]
    except InputError as problem:
        raise InputError(f"{option}: {_without_place(problem, f'{name}: ')}") from None
    return value


def _without_place(problem: InputError, marker: str) -> str:
    """The engine's sentence without where it thought to be."""
    return str(problem).rpartition(marker)[2]
