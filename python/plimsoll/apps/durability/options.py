"""The options of database durability, declared once: reader, default and meaning of each, and the canonical stream they make.

Model: a workload has one stream, whose keys are those of `OPTIONS`; the canonical form also says what every load says of itself.

    canonical({"kills": 3}, "mine.toml: stream")
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plimsoll.apps.decision.options import Option, scale
from plimsoll.displayed import quoted
from plimsoll.errors import InputError
from plimsoll.near import meant
from plimsoll.stored import Json
from plimsoll.units import time_ns

NAME = "refreshes"
#: More would leave too few refresh sets for each.
KILLS_MAX = 100
_SPREAD_MAX_S = 600.0


def _kills(value: Any) -> int:
    try:
        number = int(str(value).strip())
    except ValueError:
        number = 0
    if not 1 <= number <= KILLS_MAX or isinstance(value, bool):
        raise InputError(f"{quoted(str(value))} is no number of kills; write a whole number from 1 to {KILLS_MAX}.")
    return number


def _spread(value: Any) -> float:
    found = time_ns(str(value)) / 1e9 if not isinstance(value, int | float) else float(value)
    if not 0.05 <= found <= _SPREAD_MAX_S:
        raise InputError(f"{quoted(str(value))} is no time for a kill; write 50ms to 10m.")
    return found


#: What the stream may say.
OPTIONS: tuple[Option, ...] = (
    Option("scale", 0.1, scale, "About how many GB of data there are; refreshes grow with it."),
    Option("kills", 10, _kills, "How often the server is killed."),
    Option("spread", 1.0, _spread, "When a kill comes, at most so long after the first acknowledgement of its round."),
)
_BY_NAME = {option.name: option for option in OPTIONS}


def canonical(given: Mapping[str, Any], where: str) -> Json:
    """The canonical stream of one as written; raises `InputError` with ``where``."""
    values: Json = {"name": str(given.get("name", NAME))}
    for option in OPTIONS:
        try:
            values[option.name] = option.read(given[option.name]) if option.name in given else option.default
        except InputError as problem:
            raise InputError(f"{where}: {option.name}: {problem}") from None
    values |= {"threads": 1, "queue_depth": 1, "arrival": "closed", "direct": False, "passes": 1, "operation": {"rf1": 50.0, "rf2": 50.0}}
    unknown = [key for key in given if key not in values or (key not in _BY_NAME and given[key] != values[key])]
    if unknown:
        raise InputError(f"{where}: database durability has no option {quoted(unknown[0])}; {meant(unknown[0], tuple(_BY_NAME))}")
    return values


def changed(stream: Mapping[str, Any], name: str, value: Any) -> Json | None:
    """The canonical stream with one option set anew; None where it is no option of database durability."""
    if name not in _BY_NAME:
        return None
    return {**stream, name: _BY_NAME[name].read(value)}
