"""The transactions of order entry as scripts of pgbench: the same calls with the same draws, by PostgreSQL's own client.

Model: a script for each number of order lines and one for each other kind, chosen by weights that make the mix. A client stays at its
warehouse, as a terminal does. The rate and the percentiles are those of the transactions that pgbench's log has after the warm-up.
Limits: pgbench knows no words, so that the server puts last names together, and no order, so that items are sent as they are drawn: the few
deadlocks of that are tried again, as ours are. Kinds are drawn one by one, where terminals deal them from decks of the same shares.

    run("/usr/bin/pgbench", "host=/tmp/sockets user=plimsoll", folder, Asked(warehouses=4, clients=8, seconds=10.0, warmup_s=2.0))
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil
from pathlib import Path
from statistics import median
from typing import NamedTuple

from plimsoll.orders import draws, requests
from plimsoll.orders.draws import Constants
from plimsoll.orders.population import SEED
from plimsoll.orders.requests import DELIVERY, MIX, NEW_ORDER, ORDER_STATUS, PAYMENT, STOCK_LEVEL
from plimsoll.orders.scale import CUSTOMERS, DISTRICTS, ITEMS, LINES_MAX, LINES_MIN
from speed import process
from speed.process import Finished

_LINES = range(LINES_MIN, LINES_MAX + 1)
_TRIES = 10
#: Calls that are made to know what the way to the server takes.
_EMPTY_CALLS = 10_000
#: A script, its kind and its weight.
_Script = tuple[Path, str, int]
PERCENTILES = (50, 90, 99)


class _Ended(NamedTuple):
    """A transaction: when it ended, its script and kind, and the nanoseconds it took."""

    end_s: float
    script: str
    kind: str
    took_ns: int


@dataclass(frozen=True)
class Asked:
    """What both contestants are to do."""

    warehouses: int
    clients: int
    seconds: float
    warmup_s: float


@dataclass(frozen=True)
class Entered:
    """What one of them did: transactions, how many each second and of each kind, nanoseconds by kind and percentile, and processor time of
    the command. ``inside`` are the latencies without the client's own way, ``function_ns`` what the
    server took in each kind's function on average."""

    count: int
    per_s: float
    counts: dict[str, int]
    latencies: dict[str, dict[int, float]]
    inside: dict[str, dict[int, float]]
    cpu_ns: float
    function_ns: Mapping[str, float] = field(default_factory=dict)


def run(pgbench: str, conninfo: str, folder: Path, asked: Asked, way_ns: Mapping[str, float] | None = None) -> Entered:
    """One run; the log lies in ``folder`` meanwhile. ``way_ns`` is what the client's own way takes, by script."""
    clients = ["-c", str(asked.clients), "-j", str(asked.clients), "-T", str(ceil(asked.warmup_s + asked.seconds))]
    done, ended = _carried_out([pgbench, *clients], conninfo, folder, _written(folder, asked))
    return _entered(ended, asked, done, way_ns or {})


def empty_ns(pgbench: str, conninfo: str, folder: Path, asked: Asked) -> dict[str, float]:
    """What a transaction takes whose function does nothing but take time (`speed.empty_calls`), by script: beside that, what pgbench draws,
    writes as text, sends and waits for. An order of many lines has more of that than one of few."""
    _, ended = _carried_out([pgbench, "-c", "1", "-t", str(_EMPTY_CALLS)], conninfo, folder, _written(folder, asked))
    return {script: median(one.took_ns for one in ended if one.script == script) for script in {one.script for one in ended}}


def of_kinds(way_ns: Mapping[str, float]) -> dict[str, float]:
    """The same by kind; new orders are as many of each number of lines."""
    found = {kind: [took for script, took in way_ns.items() if script.startswith(kind)] for kind in MIX}
    return {kind: sum(took) / len(took) for kind, took in found.items() if took}


def _carried_out(argv: list[str], conninfo: str, folder: Path, scripts: list[_Script]) -> tuple[Finished, list[_Ended]]:
    """Until pgbench ends, and what its log has: client, number, microseconds, script, second and microsecond of the end, and how often it
    was tried again."""
    weights = [f"-f{path}@{weight}" for path, _, weight in scripts]
    log = ["--log", f"--log-prefix={folder}/log", f"--max-tries={_TRIES}"]
    try:
        done = process.run([*argv, "-n", "-M", "prepared", *log, *weights, conninfo])
        lines = [line.split() for path in folder.glob("log.*") for line in path.read_text(encoding="ascii").splitlines()]
    finally:
        for path in folder.glob("log.*"):
            path.unlink()
    return done, [
        _Ended(int(second) + int(micros) / 1e6, scripts[int(script)][0].stem, scripts[int(script)][1], int(took) * 1000)
        for _, _, took, script, second, micros, *_ in lines
        if took.isdigit()
    ]


def _entered(ended: list[_Ended], asked: Asked, done: Finished, way_ns: Mapping[str, float]) -> Entered:
    begin = min(one.end_s - one.took_ns / 1e9 for one in ended) + asked.warmup_s
    counted = [one for one in ended if begin <= one.end_s < begin + asked.seconds]
    of_kind = {kind: [one for one in counted if one.kind == kind] for kind in MIX}
    latencies = {kind: _percentiles([one.took_ns for one in found]) for kind, found in of_kind.items()}
    inside = {kind: _percentiles([one.took_ns - way_ns.get(one.script, 0.0) for one in found]) for kind, found in of_kind.items()}
    counts = {kind: len(found) for kind, found in of_kind.items()}
    # The command's processor time includes the warm-up.
    return Entered(len(counted), len(counted) / asked.seconds, counts, latencies, inside, done.cpu_ns * len(counted) / len(ended))


def _percentiles(found: Sequence[float]) -> dict[int, float]:
    ascending = sorted(found) or [float("nan")]
    return {percent: float(ascending[min(len(ascending) * percent // 100, len(ascending) - 1)]) for percent in PERCENTILES}


def _written(folder: Path, asked: Asked) -> list[_Script]:
    """Each script with its kind and weight; new orders share theirs among the numbers of lines."""
    constants = Constants.of_run(1, Constants.of_database(SEED))
    texts = [(f"new-order-{lines}", NEW_ORDER, "\n".join(_new_order(lines, asked, constants))) for lines in _LINES]
    texts += [(kind, kind, "\n".join(script(asked, constants))) for kind, script in _OTHERS.items()]
    found = []
    for name, kind, text in texts:
        path = folder / f"{name}.sql"
        path.write_text(f"{text}\n", encoding="ascii")
        found.append((path, kind, MIX[kind] * (1 if kind == NEW_ORDER else len(_LINES))))
    return found


def _nurand(spread: int, low: int, high: int, constant: int) -> str:
    return f"((random(0, {spread}) | random({low}, {high})) + {constant}) % {high - low + 1} + {low}"


def _chance(share: float) -> str:
    return f"random(1, 100) <= {round(share * 100)}"


def _place(asked: Asked) -> Iterator[str]:
    """The client's warehouse, any district, and another warehouse."""
    yield rf"\set warehouse :client_id % {asked.warehouses} + 1"
    yield rf"\set district random(1, {DISTRICTS})"
    if asked.warehouses > 1:
        yield rf"\set drawn random(1, {asked.warehouses - 1})"
        yield r"\set other case when :drawn < :warehouse then :drawn else :drawn + 1 end"
    else:
        yield r"\set other :warehouse"


def _customer(constants: Constants) -> str:
    return rf"\set customer {_nurand(draws.CUSTOMER_SPREAD, 1, CUSTOMERS, constants.customer)}"


def _name(constants: Constants) -> tuple[str, str]:
    """Draws the number of a last name; and the name, as the server puts it together."""
    syllables = ", ".join(f"'{syllable}'" for syllable in draws.SYLLABLES)
    digits = (":name / 100", ":name / 10 % 10", ":name % 10")
    word = " || ".join(f"(ARRAY[{syllables}])[{digit} + 1]" for digit in digits)
    return rf"\set name {_nurand(draws.LAST_NAME_SPREAD, 0, 999, constants.last_name)}", word.replace(":name", ":name::int")


def _new_order(lines: int, asked: Asked, constants: Constants) -> Iterator[str]:
    yield from _place(asked)
    yield _customer(constants)
    numbers = range(1, lines + 1)
    for line in numbers:
        yield rf"\set item{line} {_nurand(draws.ITEM_SPREAD, 1, ITEMS, constants.item)}"
        yield rf"\set supplier{line} case when {_chance(requests.REMOTE_LINE)} then :other else :warehouse end"
        yield rf"\set quantity{line} random(1, 10)"
    arrays = ", ".join(f"ARRAY[{', '.join(f':{name}{line}' for line in numbers)}]::int[]" for name in ("item", "supplier", "quantity"))
    call = f"SELECT new_order(:warehouse, :district, :customer, {arrays});"
    yield rf"\if {_chance(requests.ROLLED_BACK)}"
    yield rf"\set item{lines} {ITEMS + 1}"
    yield from ("BEGIN;", call, "ROLLBACK;", r"\else", call, r"\endif")


def _payment(asked: Asked, constants: Constants) -> Iterator[str]:
    draw, word = _name(constants)
    call = "SELECT payment(:warehouse, :district, :of_warehouse, :of_district, {}, :amount);"
    yield from _place(asked)
    yield r"\set amount random(100, 500000)"
    yield rf"\if {_chance(requests.REMOTE_PAYMENT)}"
    yield from (r"\set of_warehouse :other", rf"\set of_district random(1, {DISTRICTS})", r"\else")
    yield from (r"\set of_warehouse :warehouse", r"\set of_district :district", r"\endif")
    yield rf"\if {_chance(requests.BY_NAME)}"
    yield from (draw, call.format(f"0, {word}"), r"\else", _customer(constants), call.format(":customer, ''"), r"\endif")


def _order_status(asked: Asked, constants: Constants) -> Iterator[str]:
    draw, word = _name(constants)
    call = "SELECT order_status(:warehouse, :district, {});"
    yield from _place(asked)
    yield rf"\if {_chance(requests.BY_NAME)}"
    yield from (draw, call.format(f"0, {word}"), r"\else", _customer(constants), call.format(":customer, ''"), r"\endif")


def _delivery(asked: Asked, _: Constants) -> Iterator[str]:
    yield from _place(asked)
    yield from (r"\set carrier random(1, 10)", "SELECT delivery(:warehouse, :carrier);")


def _stock_level(asked: Asked, _: Constants) -> Iterator[str]:
    yield from _place(asked)
    yield rf"\set district :client_id / {asked.warehouses} % {DISTRICTS} + 1"
    yield from (r"\set threshold random(10, 20)", "SELECT stock_level(:warehouse, :district, :threshold);")


_OTHERS = {PAYMENT: _payment, ORDER_STATUS: _order_status, DELIVERY: _delivery, STOCK_LEVEL: _stock_level}
