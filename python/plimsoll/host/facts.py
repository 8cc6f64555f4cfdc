"""Reading one fact at a time: the value, or why it is absent.

collected({"model": lambda: text("/sys/block/sda/device/model")})     # {"model": "absent: no such file"}
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

Json = dict[str, Any]


class Absent(Exception):
    """A fact that this host does not offer; the message is the reason."""


def text(path: str) -> str:
    """The stripped content of a small file."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read().strip()
    except OSError as problem:
        raise Absent(_reason(problem)) from None


def number(path: str) -> int:
    """The integer that a small file holds."""
    content = text(path)
    try:
        return int(content)
    except ValueError:
        raise Absent(f"{os.path.basename(path)} holds {content!r}, not a number") from None


def collected(collectors: Mapping[str, Callable[[], Any]]) -> Json:
    """The value of each collector, or ``absent: reason``."""
    return {name: _value(collector) for name, collector in collectors.items()}


def is_absent(value: Any) -> bool:
    """Whether a collected value stands for a missing fact."""
    return value is None or (isinstance(value, str) and value.startswith("absent:"))


def _value(collector: Callable[[], Any]) -> Any:
    try:
        return collector()
    except Absent as reason:
        return f"absent: {reason}"
    except (OSError, ValueError, LookupError) as problem:
        return f"absent: {_reason(problem)}"


def _reason(problem: Exception) -> str:
    if isinstance(problem, OSError) and problem.strerror:
        return problem.strerror.lower()
    return f"{type(problem).__name__}: {problem}"
