"""Goals for order entry: on PostgreSQL as quick as pgbench with the same transactions and clients, and with the same latencies.

Both work on the same tables of a private server, in the order A B B A, each after a vacuum and a checkpoint: the first to change a page
after a checkpoint writes all of it to the log, and whoever comes second would find that done. Ratios are of rounds, and their medians
count; an interval beside them says by resampled rounds how far chance may move them. The log is flushed at every commit, so the disk and
whatever else it does decide on both alike: how far the same median of pgbench's own rounds, each against its next, may lie from 1 says
what the rounds can tell at all. A percentile for which that is beyond the goal is said not to be measurable, and is judged all the same
where the difference is larger still. Rates are compared with eight clients; latencies with so few that each of them and its process of
the server have a processor of their own. Both come before everything else on the machine where that is allowed (`speed.foremost`):
otherwise what a transaction takes is mostly when the kernel lets which thread run. Latencies have each client's own way in them: pgbench
draws values and writes them as text within the time of a transaction, and an order has three parameters for each of its lines, where ours
is a message that lies ready and has six. So each client also calls functions that do nothing but take time (`speed.empty_calls`), and what
is above that time is taken off: what the server did is compared. The latencies as they are stand beside, and what the server itself says of
the time in the functions.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import pairwise
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
from speed.empty_calls import BUSY_NS, emptied
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
#: Rounds of the latencies for each round of the rate.
_LATENCY_ROUNDS = 3
_SETTINGS = {"shared_buffers": "512MB", "max_wal_size": "4GB", "track_functions": "all"}


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
    """What is measured of a server that has nothing left to do of what was before, with what it took in functions meanwhile."""
    import psycopg

    with psycopg.connect(**server, autocommit=True, options=f"-c search_path={_SCHEMA}") as connection:  # type: ignore[arg-type]
        for statement in ("VACUUM (ANALYZE)", "CHECKPOINT"):
            connection.execute(statement)
    before, entered, after = _functions(server), measure(), _functions(server)
    spent = {kind: (after[kind][0] - before[kind][0], after[kind][1] - before[kind][1]) for kind in MIX}
    return replace(entered, function_ns={kind: took_ms * 1e6 / calls for kind, (calls, took_ms) in spent.items() if calls})


def _functions(server: dict[str, str]) -> dict[str, tuple[int, float]]:
    """How often each kind's function was called so far, and the milliseconds in it; what a session counted is there once it has ended."""
    import psycopg

    asked = "SELECT replace(funcname, '_', '-'), calls, total_time FROM pg_stat_user_functions WHERE schemaname = %s"
    with psycopg.connect(**server, autocommit=True) as connection:  # type: ignore[arg-type]
        found = {str(name): (int(calls), float(took_ms)) for name, calls, took_ms in connection.execute(asked, [_SCHEMA]).fetchall()}
    return {kind: found.get(kind, (0, 0.0)) for kind in MIX}


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
    return Entered(count, count / asked.seconds, counts, latencies, latencies, (cpu["user"] + cpu["system"]) * share)


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
    with emptied(served.connection, _SCHEMA):
        once = contestants["plimsoll"](0).latencies
        ours_ns = {kind: once[kind][50] - BUSY_NS for kind in MIX}
        calls = pgbench.empty_ns(peer, served.conninfo, served.folder, asked)
        theirs_ns = {script: took - BUSY_NS for script, took in calls.items()}
    contestants[PEER] = lambda _: _settled(served.connection, lambda: pgbench.run(peer, served.conninfo, served.folder, asked, theirs_ns))
    found = setting.interleaved(what, contestants, setting.rounds * _LATENCY_ROUNDS, turning=True)
    found["plimsoll"] = [_without(one, ours_ns) for one in found["plimsoll"]]
    of_kinds = pgbench.of_kinds(theirs_ns)

    def told(kind: str) -> str:
        within = [median(one.function_ns.get(kind, 0.0) for one in found[name]) / 1e3 for name in ("plimsoll", PEER)]
        return (
            f"without {ours_ns[kind] / 1e3:.0f} µs of its own way, {PEER} {of_kinds[kind] / 1e3:.0f} µs; "
            f"the server took {within[0]:.0f} µs in the function on average, {PEER} {within[1]:.0f} µs; {how}"
        )

    return [_latency_row(what, kind, found, told(kind)) for kind in (NEW_ORDER, PAYMENT, ORDER_STATUS)]


def _without(entered: Entered, empty_ns: dict[str, float]) -> Entered:
    """With what is left of latencies where a call that does nothing takes so long."""
    inside = {kind: {percent: took - empty_ns[kind] for percent, took in of.items()} for kind, of in entered.latencies.items()}
    return replace(entered, inside=inside)


def _latency_row(what: str, kind: str, found: dict[str, list[Entered]], how: str) -> Row:
    """The percentile that is furthest from the peer's, either way, of those that can be measured."""
    seen = {percent: _compared(found, kind, percent) for percent in PERCENTILES}
    judged = [percent for percent, one in seen.items() if one.judged]
    told = "; ".join(f"p{percent} {one.told}" for percent, one in seen.items())
    measured = max((100 * abs(seen[percent].ratio - 1) for percent in judged), default=None)
    none = f"not measurable: at no percentile are there enough of them and {PEER} within {LATENCY_GOAL:g} % of itself"
    by = f"judged by {', '.join(f'p{percent}' for percent in judged)}" if judged else none
    detail = f"{told}; {by}; {how}" if judged else f"{by}; {told}; {how}"
    return Row(f"{what}: latency of {kind}", "at most", LATENCY_GOAL, "% apart", measured, detail, is_noise=not judged)


@dataclass(frozen=True)
class _Compared:
    """One percentile: ours to the peer's, whether it is judged, and what is said of it."""

    ratio: float
    judged: bool
    told: str


def _compared(found: dict[str, list[Entered]], kind: str, percent: int) -> _Compared:
    def latency(one: Entered) -> float:
        return one.inside[kind][percent]

    ratios = [latency(ours) / latency(theirs) for ours, theirs in zip(found["plimsoll"], found[PEER], strict=True)]
    itself = [latency(one) / latency(other) for one, other in pairwise(found[PEER])]
    ratio, (low, high) = median(ratios), _interval(ratios)
    chance = 100 * max((abs(end - 1) for end in _interval(itself)), default=float("inf"))
    whole = [median(one.latencies[kind][percent] for one in runs) / 1e6 for runs in (found["plimsoll"], found[PEER])]
    told = (
        f"{ratio:.3f} × [{low:.2f}, {high:.2f}] ({whole[0]:.3f} ms with the client's way, {PEER} {whole[1]:.3f} ms, "
        f"{whole[0] / whole[1]:.3f} ×; {PEER} from itself up to {chance:.1f} %)"
    )
    fewest = min(one.counts[kind] for runs in found.values() for one in runs)
    if fewest * (100 - percent) < 100 * _BEYOND_MIN:
        return _Compared(ratio, False, f"{told}, not judged: {fewest} in a round are too few")
    if judged(100 * abs(ratio - 1), chance):
        return _Compared(ratio, True, told)
    return _Compared(ratio, False, f"{told}, not measurable: {PEER} is as far from itself")


def judged(apart_percent: float, chance_percent: float) -> bool:
    """Whether rounds tell a difference of the goal from chance, or this difference is larger than chance makes one."""
    return chance_percent <= LATENCY_GOAL or apart_percent > chance_percent


def _ratio(found: dict[str, list[Entered]], figure: Callable[[Entered], float]) -> float:
    """Ours to the peer's: the median of what it was in each round, since the disk is not the same in all."""
    return median(figure(ours) / figure(theirs) for ours, theirs in zip(found["plimsoll"], found[PEER], strict=True))


def _interval(ratios: list[float]) -> tuple[float, float]:
    """Where 95 % of such medians lie when rounds are drawn from those that there are, with replacement (bootstrap)."""
    draws = Random(1)  # noqa: S311 — nothing is kept secret
    medians = sorted(median(draws.choices(ratios, k=len(ratios))) for _ in range(_DRAWS)) if ratios else [float("inf")] * _DRAWS
    return medians[round(0.025 * _DRAWS)], medians[round(0.975 * _DRAWS) - 1]
