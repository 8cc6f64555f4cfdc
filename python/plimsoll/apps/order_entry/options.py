"""The options of order entry, declared once: reader, default and meaning of each, the canonical form, and one option changed.

Model: a workload of order entry has one stream. What is said of it goes through the reader of its option; what is not said has the
default. The canonical form holds every option, so that results of two versions can be told apart, and besides them what the rest of
Plimsoll asks of any stream: that it is buffered, and which operations it draws.
Limits: options of the job (duration, warm-up, seed, ...) are the engine's.

    canonical({"terminals": 16, "rate": "200"}, "mine.toml: stream")["arrival"]        # "poisson"
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from plimsoll.apps.option import Declared, Option, one_of
from plimsoll.apps.order_entry.terminals import STREAM, Plan
from plimsoll.displayed import quoted
from plimsoll.engine.protocol import Clients
from plimsoll.errors import InputError
from plimsoll.near import listed
from plimsoll.orders.requests import KINDS, MIX, NEW_ORDER
from plimsoll.orders.scale import CUSTOMERS, ITEMS, Scale
from plimsoll.stored import Json, Options
from plimsoll.units import THOUSANDS, size_bytes

ARRIVALS = ("closed", "poisson", "constant")
CALLS = ("functions", "statements")
ISOLATIONS = ("read committed", "repeatable read", "serializable")
TERMINALS_MAX, WAREHOUSES_MAX = 10_000, 100_000


def _whole(least: int, most: int) -> Callable[[Any], int]:
    def read(value: Any) -> int:
        text = str(value).strip()
        if isinstance(value, bool) or not text.isdigit() or not least <= int(text) <= most:
            raise ValueError(f"a whole number from {least:,} to {most:,}")
        return int(text)

    return read


def _factor(value: Any) -> float:
    text = str(value).strip().removesuffix("x")
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if isinstance(value, bool) or not 0 <= number <= 100:
        raise ValueError("a number from 0 (no pauses) to 100; 1 is what the specification has")
    return number


def _rate(value: Any) -> float | None:
    if value is None:
        return None
    text = str(value).strip().removesuffix("/s").strip()
    digits = text.rstrip("kKmM")
    try:
        number = float(digits) * THOUSANDS[text[len(digits) :].lower()]
    except (ValueError, KeyError):
        number = 0.0
    if isinstance(value, bool) or not 0.001 <= number <= 1e6:
        raise ValueError("how many new orders are due each second, for example 200 or 1.5k")
    return number


def _mix(value: Any) -> dict[str, float]:
    if isinstance(value, str) and "=" in value:
        value = dict(part.split("=", 1) for part in value.split(",") if "=" in part)
    if not isinstance(value, Mapping):
        raise ValueError(f"a table of shares such as {{ {NEW_ORDER} = 45, payment = 43 }}")
    unknown = next((kind for kind in value if kind not in KINDS), None)
    if unknown is not None:
        raise ValueError(f"shares of {listed(KINDS)}; {quoted(unknown)} is none")
    try:
        shares = {kind: float(value.get(kind, 0)) for kind in KINDS}
    except (TypeError, ValueError):
        raise ValueError("numbers, the percent of each transaction") from None
    if any(not 0 <= share <= 100 for share in shares.values()) or abs(sum(shares.values()) - 100) > 1e-6:
        raise ValueError(f"shares from 0 to 100 that make 100 together, not {sum(shares.values()):g}")
    if not shares[NEW_ORDER]:
        raise ValueError(f"a share of {NEW_ORDER} above 0, since rates and results are of new orders")
    return {kind: int(share) if share.is_integer() else share for kind, share in shares.items()}


def _memory(value: Any) -> int | str:
    if str(value).strip() == "auto":
        return "auto"
    try:
        size = size_bytes(str(value))
    except InputError:
        size = 0
    if size < 1 << 20:
        raise ValueError("a size from 1MiB on, or auto (a quarter of the data, at least 128MiB)")
    return size


#: Every option, in the order of the reference.
OPTIONS: dict[str, Option] = {
    "terminals": Option(8, _whole(1, TERMINALS_MAX), "terminals that ask at the same time, each over a connection of its own; the level"),
    "warehouses": Option(10, _whole(1, WAREHOUSES_MAX), "how much data there are: a warehouse takes about 100 MB"),
    "arrival": Option("closed", one_of(ARRIVALS), "closed: a terminal waits for its answer; poisson and constant: as `rate` says"),
    "rate": Option(None, _rate, "new orders that are due each second, whatever the database does; the other transactions come with them"),
    "pauses": Option(0.0, _factor, "keying and thinking times, as a multiple of the specification's; 0 has none"),
    "operation": Option(MIX, _mix, "percent of each transaction"),
    "calls": Option("functions", one_of(CALLS), "PostgreSQL: a transaction is one call of a function, or each statement is a call"),
    "isolation": Option(
        "read committed", one_of(ISOLATIONS), "PostgreSQL: isolation of transactions; conflicts are tried again and counted"
    ),
    "memory": Option(
        "auto", _memory, "what the database may hold in memory of its own (shared_buffers of a private server, SQLite's cache)"
    ),
    "customers": Option(CUSTOMERS, _whole(10, CUSTOMERS), "customers of a district; fewer than 3,000 are for trials, and are flagged"),
    "items": Option(ITEMS, _whole(10, ITEMS), "items; fewer than 100,000 are for trials, and are flagged"),
}
#: What the canonical form says besides.
_FIXED: Json = {"name": STREAM, "direct": False, "queue_depth": 1}
#: Options that other drivers have, and what is meant here.
_OTHER_WORDS = {"threads": "terminals", "queue_depth": "terminals", "users": "terminals", "clients": "terminals", "scale": "warehouses"}
DECLARED = Declared("order entry has", OPTIONS, _OTHER_WORDS)


def canonical(given: Mapping[str, Any], where: str) -> Json:
    """The stream with every option; ``where`` names it in messages."""
    for key, value in given.items():
        if key not in OPTIONS and not (key in _FIXED and _FIXED[key] == value):
            raise DECLARED.unknown(key, where)
    values = DECLARED.read_all(given, where)
    if values["rate"] is not None and "arrival" not in given:
        values["arrival"] = "poisson"
    if values["rate"] is not None and values["arrival"] == "closed":
        raise InputError(f"{where}: a rate is given, but arrival is closed; leave one of them out.")
    if values["rate"] is None and values["arrival"] != "closed":
        raise InputError(
            f"{where}: arrival is {values['arrival']}, but there is no rate; write for example rate=100 (new orders per second)."
        )
    if values["rate"] is not None and values["pauses"]:
        raise InputError(f"{where}: pauses are of terminals that wait for their answers; leave them out, or leave out the rate.")
    return {**_FIXED, **{key: value for key, value in values.items() if value is not None}}


def changed(stream: Mapping[str, Any], key: str, value: Any) -> Json:
    """A canonical stream with one option changed; whether options go together is for `canonical` to say, once all are there."""
    found = {**stream, key: DECLARED.read(key, value, key)}
    if key == "rate" and found["arrival"] == "closed":
        found["arrival"] = "poisson"
    if key == "arrival" and found["arrival"] == "closed":
        found.pop("rate", None)
    return found


def scale_of(stream: Mapping[str, Any]) -> Scale:
    """How much data a stream asks for."""
    return Scale(int(stream["warehouses"]), int(stream["customers"]), int(stream["items"]))


def plan_of(stream: Mapping[str, Any], options: Options, clients: Clients | None = None) -> Plan:
    """What the terminals of a canonical stream do; of several hosts' terminals those of each come after those of the one before."""
    terminals = int(stream["terminals"])
    return Plan(
        scale=scale_of(stream),
        mix=stream["operation"],
        terminals=terminals,
        first=0 if clients is None else clients["number"] * terminals,
        constants_seed=None if clients is None else clients["seed"],
        seed=int(options.get("seed", 0)),
        pauses=float(stream["pauses"]),
        arrival=str(stream["arrival"]),
        rate_per_s=stream.get("rate"),
        on_error=str(options.get("on_error", "stop")),
    )
