"""Results of decision support and order entry made from numbers, with what their drivers say at the end.

Model: queries are given as records of the driver's own types, so metrics and stored forms are the driver's; totals follow from them. A query
alone takes ``seconds`` times its number, one beside others as often as many streams there are. Orders are given as rates.
Limits: latencies of one operation are all the same.

    queried("duckdb:/mnt/a", 0.01, streams=2)          # Q22 alone took 0.22 s
    entered("sqlite:/mnt/a", 200.0, terminals=8)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from plimsoll.apps.decision import options
from plimsoll.apps.decision.dataset import Note
from plimsoll.apps.decision.records import Done, Kept, Span, Whole, figures
from plimsoll.decision import BANNER, data
from plimsoll.orders import BANNER as ORDERS_BANNER
from plimsoll.result import Estimate, LatencySummary, OpTotals, Result
from support.made_results import Load, Setting, made

Json = dict[str, Any]
S = 1_000_000_000
#: What was seen of storage while a query ran alone.
SEEN: Json = {
    "bytes_read": 40_000_000,
    "bytes_written": 1_000_000,
    "bytes_of": "devices",
    "read_request_bytes": 65536.0,
    "write_request_bytes": 4096.0,
    "r_await_ms": 1.5,
    "w_await_ms": 0.5,
    "queue_mean": 0.8,
    "waiting_share": 0.6,
    "cpu": {"user_percent": 30.0, "system_percent": 5.0, "iowait_percent": 20.0, "idle_percent": 45.0},
    "engine_cpu_s": 0.4,
}
_MIX = {"new-order": 0.45, "payment": 0.43, "order-status": 0.04, "delivery": 0.04, "stock-level": 0.04}


def queried(target: str, seconds: float, *, test: str = "both", streams: int = 2, level: float | None = None, repeat: int = 1) -> Result:
    """A whole point of decision support at scale 1."""
    stream = options.canonical({"scale": 1, "test": test, "streams": streams}, "test")
    kept = _kept(seconds, test, streams)
    end_ns = max(done.end_ns for done in kept.done)
    setting = Setting("decision-support", "Decision support", "other", target)
    one = made(Load(1.0, 1e9), level, repeat, setting)
    settings = {} if level is None else {"streams": int(level)}
    queries = [done for done in kept.done if not done.op.startswith("rf")]
    totals = {op: _totals([done for done in kept.done if done.op == op], end_ns) for op in {done.op for done in kept.done}}
    mean_ns = sum(done.end_ns - done.start_ns for done in queries) / len(queries)
    slow_ns = sorted(done.end_ns - done.start_ns for done in queries)[int(0.95 * len(queries))]
    every = {"iops": Estimate(len(queries) / (end_ns / S)), "mean": Estimate(mean_ns), "p95": Estimate(float(slow_ns))}
    definition = {"name": "decision-support", "driver": "decision-support", "stream": [stream]}
    return replace(
        one,
        job=replace(one.job, definition=definition, threads=streams, queue_depth=1, duration_s=86400.0, warmup_s=0.0),
        totals=totals,
        streams={"power": totals, "refresh": {}},
        estimates={"all": every},
        engine={"decision": _decision(kept, test, streams), "end_ns": end_ns, "stopped_by": "amount"},
        place={**one.place, "settings": settings} if level is not None else one.place,
    )


def _kept(seconds: float, test: str, streams: int) -> Kept:
    kept, now_ns = Kept(), 0
    if test != "throughput":
        now_ns = _one_after_another(kept, now_ns, 0, ["rf1", *_ops(0), "rf2"], seconds)
        kept.spans.append(Span("power", 0, now_ns, SEEN, 5_000_000))
    if test != "power":
        begun_ns = now_ns
        ends = [_one_after_another(kept, begun_ns, number, _ops(number), seconds * streams) for number in range(1, streams + 1)]
        _one_after_another(kept, begun_ns, None, ["rf1", "rf2"] * streams, seconds)
        kept.spans.append(Span("throughput", begun_ns, max(ends), SEEN, None))
    return kept


def _ops(stream: int) -> list[str]:
    return [f"q{number}" for number in data.order_of(stream)]


def _one_after_another(kept: Kept, now_ns: int, stream: int | None, ops: Sequence[str], seconds: float) -> int:
    for op in ops:
        took_ns = round(seconds * S * (int(op[1:]) if op[0] == "q" else 2))
        phase = "power" if stream == 0 else "throughput"
        alone = phase == "power"
        seen: Mapping[str, object] = SEEN if alone else {**SEEN, "bytes_read": None, "bytes_written": None}
        validated = True if op[0] == "q" else None
        kept.add(Done(op, phase, stream, now_ns, now_ns + took_ns, 1, seen, 0 if alone else None, validated))  # type: ignore[arg-type]
        now_ns += took_ns
    return now_ns


def _decision(kept: Kept, test: str, streams: int) -> Json:
    records = [done.to_json() for done in sorted(kept.done, key=lambda done: done.start_ns)]
    note = Note(1.0, 8_661_245, 1_060_000_000, 280_000_000, 20.0, 300_000_000, tuple(range(1, 23)))
    return {
        "banner": BANNER,
        "scale": 1.0,
        "standard": True,
        "test": test,
        "streams": streams,
        "least_streams": 2,
        "refresh": True,
        "queries_asked": list(range(1, 23)),
        "spec_rounding": False,
        "metrics": figures(kept, Whole(1.0, range(1, 23), streams, True, False)),
        "load": asdict(note),
        "memory_bytes": 128 << 20,
        "own_cpu_share": 0.01,
        "whole": True,
        "phases": [span.to_json() for span in kept.spans],
        "queries": [record for record in records if "number" in record],
        "refreshes": [record for record in records if "refresh" in record],
    }


def entered(target: str, per_s: float, *, terminals: int = 8, level: float | None = None, storage: float = 0.7) -> Result:
    """A whole point of order entry: so many transactions per second, a new order in 20 ms."""
    setting = Setting("order-entry", "Order entry", "other", target)
    one = made(Load(per_s, 20e6, block_bytes=0), level, setting=setting)
    (total,) = one.totals.values()
    totals = {op: replace(total, count=round(total.count * share), iops=total.iops * share) for op, share in _MIX.items()}
    known = one.estimates["all"]
    of_op = {op: {**known, "iops": Estimate(per_s * share, per_s * share * 0.99, per_s * share * 1.01, 30)} for op, share in _MIX.items()}
    stream = {
        "name": "terminals",
        "terminals": terminals,
        "threads": terminals,
        "warehouses": 10,
        "operation": dict(_MIX),
        "customers": 3000,
    }
    counts = {op: total.count for op, total in totals.items()}
    return replace(
        one,
        job=replace(
            one.job, definition={"name": "order-entry", "driver": "order-entry", "stream": [stream]}, threads=terminals, queue_depth=1
        ),
        totals=totals,
        streams={"terminals": totals},
        estimates={"all": known, **of_op},
        engine={"orders": _orders(counts, terminals, storage, stream)},
        place={**one.place, "settings": {"terminals": int(level)}} if level is not None else one.place,
    )


def _orders(counts: Mapping[str, int], terminals: int, storage: float, stream: Json) -> Json:
    return {
        "derived_from": ORDERS_BANNER,
        "engine": "sqlite",
        "terminals": terminals,
        "committed": dict(counts),
        "rolled_back": round(counts["new-order"] / 100),
        "rolled_back_share": 0.01,
        "failed": {},
        "retries": {"conflict": 3},
        "watched_s": 10.0,
        "wal_bytes": 80_000_000,
        "flush_ns": {"count": 900, "mean": 3.1e6, "p50": 3.0e6, "p99": 9.0e6, "max": 2.0e7},
        "waits": {"storage": storage, "locks": 0.2, "processor": 0.8 - storage},
        "events": {},
        "counters": {"checkpoints": 2},
        "own_share": 0.05,
        "loop_cpu_ns": 0,
        "stream": stream,
        "orders_before": 300_000,
        "size_bytes": 1_000_000_000,
        "settings": {"journal_mode": "wal", "synchronous": "FULL", "wal_autocheckpoint": "1000", "auto_vacuum": "none"},
        "consistent": True,
        "broken": [],
    }


def _totals(done: Sequence[Done], end_ns: int) -> OpTotals:
    took = [one.end_ns - one.start_ns for one in done]
    mean, longest = sum(took) / len(took), max(took)
    latency = LatencySummary(
        mean=mean, min=min(took), p50=longest, p90=longest, p95=longest, p99=longest, p999=longest, max=longest, stddev=0.0
    )
    return OpTotals(len(done), len(done) / (end_ns / S), 0, 0.0, 0, latency, None)


def killed(target: str, rounds: Sequence[Json], *, engine: str = "duckdb", repeat: int = 1) -> Result:
    """A trial of database durability: a round for each kill, 2 s after the one before, with 10 acknowledged refreshes unless it says more."""
    setting = Setting("database-durability", "Durability", "other", target)
    one = made(Load(10.0, 1e7), None, repeat, setting)
    made_rounds = [
        {
            "moment_s": 0.5,
            "begin_s": 2.0 * number,
            "kill_s": 2.0 * number + 1.0,
            "open_s": 2.0 * number + 1.5,
            "recovery_s": 0.5,
            "seconds": 1.0,
            "acknowledged": 10,
            "under_way": None,
            "lost": [],
            "halves": [],
            "miscounted": False,
            "became": None,
            **told,
        }
        for number, told in enumerate(rounds)
    ]
    durability = {
        "kills": len(made_rounds),
        "kills_asked": len(made_rounds),
        "acknowledged": sum(int(str(told["acknowledged"])) for told in made_rounds),
        "rounds": made_rounds,
        "broken_promises": [],
        "settings": {"version": "1.0", "fsync": "on"},
        "scale": 0.01,
    }
    totals = {op: replace(next(iter(one.totals.values())), count=10) for op in ("rf1", "rf2")}
    return replace(
        one,
        job=replace(
            one.job, definition={"name": "database-durability", "driver": "database-durability", "stream": [{"name": "refreshes"}]}
        ),
        totals=totals,
        streams={"refreshes": totals},
        estimates={},
        engine={"backend": {"used": engine}, "durability": durability, "end_ns": 2 * len(made_rounds) * S, "stopped_by": "amount"},
    )
