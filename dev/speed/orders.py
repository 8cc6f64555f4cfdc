"""Goals for order entry: on PostgreSQL as quick as pgbench with the same transactions and clients, and with the same latencies.

Both work on the same tables of a private server, in the order A B B A, each after a vacuum and a checkpoint: the first to change a page
after a checkpoint writes all of it to the log, and whoever comes second would find that done. Ratios are of rounds, and their medians
count; an interval beside them says by resampled rounds how far chance may move them. The log is flushed at every
commit, so the disk and whatever else it does decide on both alike. Rates are compared with eight clients; latencies with so few that each
of them and its process of the server have a processor of their own. Both come before everything else on the machine where that is allowed
(`speed.foremost`): otherwise what a transaction takes is mostly when the kernel lets which thread run. A transaction of pgbench's log
begins before its values are drawn, ours when they are sent; so what drawing takes pgbench is measured by scripts without statements, and
taken off.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from random import Random
from statistics import median
from urllib.parse import quote

from plimsoll.apps.databases.programs import programs
from plimsoll.apps.databases.server import PrivateServer
from plimsoll.engine.claims import holding
from plimsoll.engine.files import native_files
from plimsoll.errors import PlimsollError
from plimsoll.orders.requests import MIX, NEW_ORDER, ORDER_STATUS, PAYMENT
from speed import pgbench, process
from speed.foremost import foremost
from speed.pgbench import PERCENTILES, Asked, Entered
from speed.process import BenchError
from speed.row import Row, unmeasured
from speed.setting import Setting

GOAL, LATENCY_GOAL = 0.95, 5.0
PEER = "pgbench"
_SCHEMA = "plimsoll_orders"
_CLIENTS = 8
#: So many transactions have to lie beyond a percentile before it is compared.
_BEYOND_MIN = 20
#: Resampled sets of rounds.
_DRAWS = 2000
_SETTINGS = {"shared_buffers": "512MB", "max_wal_size": "4GB"}


def rows(setting: Setting) -> list[Row]:
    """All goals of this group."""
    try:
        peer = os.path.join(programs().folder, PEER)
        if not os.access(peer, os.X_OK):
            return [unmeasured("orders", f"{PEER} is not installed; apt-get install postgresql-contrib")]
        asked = Asked(2, _CLIENTS, 5.0, 1.0) if setting.quick else Asked(8, _CLIENTS, 8.0, 2.0)
        alone = replace(asked, clients=max(1, len(os.sched_getaffinity(0)) // 2))
        with _served() as served:
            # Fills the tables, which takes all processors for a while.
            _contestants(setting, peer, served, replace(asked, seconds=1.0))["plimsoll"](0)
            with foremost(served.pid) as first:
                how = "before everything else on the machine" if first else "beside whatever else ran"
                rate = _rate_row(setting, _contestants(setting, peer, served, asked), asked)
                rows = [replace(rate, detail=f"{rate.detail}; {how}")]
                return rows + _latency_rows(setting, peer, served, alone, how)
    except PlimsollError as problem:
        return [unmeasured("orders", str(problem))]


@dataclass(frozen=True)
class _Served:
    """How to reach a private server, its first process, and a folder for scripts and logs."""

    connection: dict[str, str]
    pid: int
    folder: Path

    @property
    def conninfo(self) -> str:
        """For pgbench, in our schema."""
        return " ".join(f"{name}={value}" for name, value in self.connection.items()) + f" options='-c search_path={_SCHEMA}'"


@contextmanager
def _served() -> Iterator[_Served]:
    """A private server until it is left."""
    with tempfile.TemporaryDirectory(prefix="plimsoll-bench-", dir="/var/tmp") as made, holding():
        folder = Path(made)
        folder.chmod(0o755)
        (folder / "scripts").mkdir()
        server = PrivateServer(native_files().own(f"{folder}/pg", None, "postgresql"), f"{folder}/pg", _SETTINGS)
        server.start()
        try:
            assert server.pid is not None, "a server that was started has a process"
            yield _Served({name: str(value) for name, value in server.connection.items()}, server.pid, folder / "scripts")
        finally:
            server.stop(discarding=True)


def _contestants(setting: Setting, peer: str, served: _Served, asked: Asked) -> dict[str, Callable[[int], Entered]]:
    """What each does in one round."""
    server, folder = served.connection, served.folder
    url = f"postgresql://{server['user']}@/{server['dbname']}?host={quote(server['host'], safe='')}"
    given = {"warehouses": asked.warehouses, "terminals": asked.clients, "seed": 1}
    sets = [f"--set={name}={value}" for name, value in given.items()]
    times = ["-d", f"{asked.seconds:g}s", "--warmup", f"{asked.warmup_s:g}s"]
    ours = [
        setting.plimsoll.command,
        "run",
        "order-entry",
        "-t",
        url,
        *times,
        *sets,
        f"--out={folder}/results",
        "--json",
        "--quiet",
        "--keep",
    ]
    return {
        "plimsoll": lambda _: _settled(server, lambda: _entered(setting, ours, asked)),
        PEER: lambda _: _settled(server, lambda: pgbench.run(peer, served.conninfo, folder, asked)),
    }


def _settled(server: dict[str, str], measure: Callable[[], Entered]) -> Entered:
    """What is measured of a server that has nothing left to do of what was before."""
    import psycopg

    with psycopg.connect(**server, autocommit=True, options=f"-c search_path={_SCHEMA}") as connection:  # type: ignore[arg-type]
        for statement in ("VACUUM (ANALYZE)", "CHECKPOINT"):
            connection.execute(statement)
    return measure()


def _entered(setting: Setting, argv: list[str], asked: Asked) -> Entered:
    result = setting.plimsoll.result(process.run(argv))
    operations = result["streams"]["orders"]
    if not result["engine"]["orders"]["consistent"]:
        raise BenchError("the data were not consistent after a run of order entry.")
    latencies = {kind: {percent: operations[kind]["latency_ns"][f"p{percent}"] for percent in PERCENTILES} for kind in MIX}
    counts, cpu = {kind: int(operations[kind]["count"]) for kind in MIX}, result["engine"]["cpu_ns"]
    count = sum(counts.values())
    # The job's processor time includes the warm-up.
    share = asked.seconds / (asked.seconds + asked.warmup_s)
    return Entered(count, count / asked.seconds, counts, latencies, (cpu["user"] + cpu["system"]) * share)


def _rate_row(setting: Setting, contestants: dict[str, Callable[[int], Entered]], asked: Asked) -> Row:
    what = "order entry on PostgreSQL"
    found = setting.interleaved(what, contestants, turning=True)
    rates = {name: median(one.per_s for one in runs) for name, runs in found.items()}
    cpu = {name: sum(one.cpu_ns for one in runs) / sum(one.count for one in runs) / 1e3 for name, runs in found.items()}
    detail = (
        f"{asked.clients} clients, {asked.warehouses} warehouses: {rates['plimsoll']:,.0f} transactions/s, {PEER} {rates[PEER]:,.0f}; "
        f"processor time {cpu['plimsoll']:.0f} and {cpu[PEER]:.0f} µs for each"
    )
    return Row(what, "at least", GOAL, f"× {PEER}", _ratio(found, lambda one: one.per_s), detail)


def _latency_rows(setting: Setting, peer: str, served: _Served, asked: Asked, how: str) -> list[Row]:
    what = f"order entry on PostgreSQL, {asked.clients} client{'s' * (asked.clients > 1)}"
    contestants = _contestants(setting, peer, served, asked)
    drawing = pgbench.drawing_ns(peer, served.conninfo, served.folder, asked)
    found = setting.interleaved(what, contestants, turning=True)
    found[PEER] = [_without(one, drawing) for one in found[PEER]]
    return [
        _latency_row(what, kind, found, f"{how}; without {drawing[kind] / 1e3:.0f} µs in which {PEER} draws values")
        for kind in (NEW_ORDER, PAYMENT, ORDER_STATUS)
    ]


def _without(entered: Entered, drawing: dict[str, float]) -> Entered:
    """From when the call is sent, as ours are."""
    latencies = {kind: {percent: took - drawing[kind] for percent, took in of.items()} for kind, of in entered.latencies.items()}
    return replace(entered, latencies=latencies)


def _latency_row(what: str, kind: str, found: dict[str, list[Entered]], how: str) -> Row:
    """The percentile that is furthest from the peer's, either way, of those that rest on enough transactions."""
    ratios = {percent: _ratio(found, partial(_latency, kind=kind, percent=percent)) for percent in PERCENTILES}
    fewest = min(one.counts[kind] for runs in found.values() for one in runs)
    judged = [percent for percent in PERCENTILES if fewest * (100 - percent) >= 100 * _BEYOND_MIN]
    if not judged:
        return Row(f"{what}: latency of {kind}", "at most", LATENCY_GOAL, "% apart", None, f"{fewest} in a round are too few")
    furthest = max(abs(ratios[percent] - 1) for percent in judged)
    own = max(max(each) / min(each) for each in ([one.latencies[kind][percent] for one in found[PEER]] for percent in judged))
    at = {name: [median(one.latencies[kind][percent] for one in runs) / 1e6 for percent in PERCENTILES] for name, runs in found.items()}
    chance = {percent: _interval(found, partial(_latency, kind=kind, percent=percent)) for percent in PERCENTILES}
    detail = "; ".join(
        f"p{percent} {ratios[percent]:.3f} × [{chance[percent][0]:.2f}, {chance[percent][1]:.2f}] ({ours:.3f} ms, {PEER} {theirs:.3f} ms)"
        for percent, ours, theirs in zip(PERCENTILES, at["plimsoll"], at[PEER], strict=True)
    )
    told = f"{detail}; judged up to p{judged[-1]}, in which rounds of {PEER} itself are up to {100 * (own - 1):.0f} % apart; {how}"
    return Row(f"{what}: latency of {kind}", "at most", LATENCY_GOAL, "% apart", 100 * furthest, told)


def _latency(one: Entered, kind: str, percent: int) -> float:
    return one.latencies[kind][percent]


def _ratio(found: dict[str, list[Entered]], figure: Callable[[Entered], float]) -> float:
    """Ours to the peer's: the median of what it was in each round, since the disk is not the same in all."""
    return median(_ratios(found, figure))


def _ratios(found: dict[str, list[Entered]], figure: Callable[[Entered], float]) -> list[float]:
    return [figure(ours) / figure(theirs) for ours, theirs in zip(found["plimsoll"], found[PEER], strict=True)]


def _interval(found: dict[str, list[Entered]], figure: Callable[[Entered], float]) -> tuple[float, float]:
    """Where 95 % of such medians lie when rounds are drawn from those that there are, with replacement (bootstrap)."""
    ratios, draws = _ratios(found, figure), Random(1)  # noqa: S311 — nothing is kept secret
    medians = sorted(median(draws.choices(ratios, k=len(ratios))) for _ in range(_DRAWS))
    return medians[round(0.025 * _DRAWS)], medians[round(0.975 * _DRAWS) - 1]
