"""What Python hands to the engine, as text that the engine can take; what it could not take is refused in a sentence that names the place.

Model: values come from TOML, JSON and the command line, whose numbers and names are wider than JSON's: nan and inf, integers of any length,
names of any bytes, tables nested as deep as someone likes. Everything is looked at once, without recursion.
Limits: names of targets and traces have to be UTF-8, since the engine speaks of them in JSON.

    as_json({"stream": [{"rate": float("inf")}]}, "mine.toml")     # InputError: mine.toml: stream[0].rate: inf is no number that counts …
"""

from __future__ import annotations

import json
import math
from typing import Any

from plimsoll.displayed import displayed_in_line
from plimsoll.errors import InputError

#: Deeper than anything that means something, and less than what the engine's reader takes.
DEPTH_MAX = 64
#: Beyond what 64 bits hold, with or without a sign.
_INTEGER_MAX = 2**64 - 1


def as_json(value: Any, source: str = "") -> str:
    """``value`` as JSON; ``source`` names where it stands in messages."""
    problem = _problem(value)
    if problem is not None:
        place, said = problem
        raise InputError(": ".join(part for part in (source, place, said) if part))
    return json.dumps(value)


def as_name(text: str, what: str = "target") -> str:
    """The name of a file or device that the engine is to open."""
    if _is_text(text):
        return text
    raise InputError(
        f"{what} '{displayed_in_line(text)}': the name is not UTF-8 text, so it cannot be measured; rename it, or give a link to it."
    )


def _problem(value: Any) -> tuple[str, str] | None:
    """The first place that cannot be handed over, and why."""
    waiting: list[tuple[str, Any, int]] = [("", value, 0)]
    while waiting:
        place, found, depth = waiting.pop()
        if isinstance(found, dict):
            inside = [(f"{place}.{name}" if place else str(name), item) for name, item in found.items()]
            names = [name for name in found if not _is_text(str(name))]
            if names:
                return place, f"the key '{displayed_in_line(str(names[0]))}' is not UTF-8 text; write another."
        elif isinstance(found, list | tuple):
            inside = [(f"{place}[{number}]", item) for number, item in enumerate(found)]
        else:
            said = _unfit(found)
            if said is not None:
                return place, said
            continue
        if depth == DEPTH_MAX:
            return _shortened(place), f"it is nested more than {DEPTH_MAX} deep; write it flatter."
        waiting.extend((*item, depth + 1) for item in reversed(inside))
    return None


def _unfit(value: Any) -> str | None:
    if isinstance(value, float) and not math.isfinite(value):
        return f"{value} is no number that counts something; write a finite one."
    if isinstance(value, int) and abs(value) > _INTEGER_MAX:
        return "the number is beyond what 64 bits hold; write a smaller one."
    if isinstance(value, str) and not _is_text(value):
        return f"'{displayed_in_line(value)}' is not UTF-8 text; write another name."
    if value is not None and not isinstance(value, str | int | float):
        return f"{value} is a {type(value).__name__}, which nothing here is; write a number or a text."
    return None


def _is_text(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _shortened(place: str) -> str:
    return place if len(place) <= 60 else f"{place[:60]}…"
