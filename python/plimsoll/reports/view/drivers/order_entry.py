"""The section of order entry: new orders per minute, how long each kind of transaction took, and what transactions waited for.

Model: a side is one configuration at one setting; repeats are pooled as everywhere, shares of waiting are their mean.
Limits: what an engine does not tell is null, never 0.

    order_entry(members)["sides"][0]["new_orders_per_min"]["value"]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict, get_args

from plimsoll.analysis.point.metric import ALL
from plimsoll.analysis.point.repeats import pool_repeats, pooled_metric
from plimsoll.analysis.point.transactions import WORDS, commits_of, limit, new_orders_per_min, section, upkeep
from plimsoll.orders import BANNER
from plimsoll.reports.view.experiments import Member
from plimsoll.reports.view.point import EstimateView, Settings, estimate_view
from plimsoll.result import Op, Result, TransactionOp
from plimsoll.stored import OrderEntryOutcome


class OrderKind(TypedDict):
    """A kind of transaction."""

    op: Op
    per_min: float
    mean: EstimateView | None
    p90: EstimateView | None
    p99: EstimateView | None


class OrderWait(TypedDict):
    """What transactions spent a share of their time on."""

    what: str
    words: str
    share: float


class OrderSide(TypedDict):
    """One configuration at one setting."""

    configuration: int
    points: list[int]
    settings: Settings
    terminals: int
    new_orders_per_min: EstimateView | None
    per_s: EstimateView | None
    kinds: list[OrderKind]
    waits: list[OrderWait]
    limited_by: str | None
    retries: int
    commits: int
    #: New orders that asked for an item that does not exist.
    rolled_back: int
    wal_bytes: int | None
    wal_bytes_per_s: float | None
    #: How long making a commit durable took, in nanoseconds.
    flush_mean_ns: float | None
    flush_p99_ns: float | None
    #: How often the log was written into the tables, and old rows were cleared away.
    checkpoints: int | None
    vacuums: int | None
    #: Null where nobody could look.
    consistent: bool | None


class OrderSetting(TypedDict):
    """A setting of the engines: its value on each of ``OrderEntry.engines``, in their order; null where an engine has no such setting."""

    name: str
    values: list[str | None]


class OrderEntry(TypedDict):
    """Order entry on all sides; ``banner`` has to stand wherever its figures do."""

    banner: str
    sides: list[OrderSide]
    #: The configurations whose settings are known.
    engines: list[int]
    settings: list[OrderSetting]


def order_entry(members: Sequence[Member]) -> OrderEntry | None:
    """None where nothing was measured."""
    groups: dict[tuple[int, str], list[Member]] = {}
    for member in members:
        if member.result.status != "failed" and member.result.totals and member.result.place.get("role") != "precondition":
            settings = repr(sorted((member.result.place.get("settings") or {}).items()))
            groups.setdefault((member.configuration, settings), []).append(member)
    sides = [_side(group) for group in groups.values()]
    if not sides:
        return None
    engines = _engines(members)
    return {"banner": BANNER, "sides": sides, "engines": list(engines), "settings": _settings(list(engines.values()))}


def _engines(members: Sequence[Member]) -> dict[int, Mapping[str, str]]:
    """The settings of each configuration's engine, as its first point tells them."""
    found: dict[int, Mapping[str, str]] = {}
    for member in members:
        if said := (section(member.result.engine) or {}).get("settings"):
            found.setdefault(member.configuration, said)
    return found


def _settings(engines: Sequence[Mapping[str, str]]) -> list[OrderSetting]:
    names = dict.fromkeys(name for engine in engines for name in engine)
    return [{"name": name, "values": [engine.get(name) for engine in engines]} for name in names]


def _side(members: Sequence[Member]) -> OrderSide:
    results = [member.result for member in members]
    said: list[OrderEntryOutcome] = [found for result in results if (found := section(result.engine)) is not None]
    entered = [rate for result in results if (rate := new_orders_per_min(result)) is not None]
    per_s = pooled_metric(results, ALL, "iops")
    limits = [one for result in results if (one := limit(result)) is not None]
    flushes = [found["flush_ns"] for found in said if found.get("flush_ns")]
    checked = [found.get("consistent") for found in said]
    return {
        "configuration": members[0].configuration,
        "points": [member.index for member in members],
        "settings": results[0].place.get("settings") or {},
        "terminals": int(said[0]["terminals"]) if said else results[0].job.threads,
        "new_orders_per_min": estimate_view(pool_repeats(entered)) if entered else None,
        "per_s": estimate_view(per_s) if per_s is not None else None,
        "kinds": [kind for op in get_args(TransactionOp) if (kind := _kind(op, results)) is not None],
        "waits": _waits(said),
        "limited_by": WORDS.get(limits[0].what, limits[0].what) if limits else None,
        "retries": sum(sum((found.get("retries") or {}).values()) for found in said),
        "commits": sum(map(commits_of, said)),
        "rolled_back": sum(int(found.get("rolled_back") or 0) for found in said),
        "wal_bytes": _sum([found.get("wal_bytes") for found in said]),
        "wal_bytes_per_s": _mean([_per_s(found) for found in said]),
        "flush_mean_ns": _mean([flush.get("mean") for flush in flushes]),
        "flush_p99_ns": _mean([flush.get("p99") for flush in flushes]),
        "checkpoints": _sum([upkeep(found)["checkpoints"] for found in said]),
        "vacuums": _sum([upkeep(found)["vacuums"] for found in said]),
        "consistent": False if False in checked else None if not checked or None in checked else True,
    }


def _kind(op: Op, results: Sequence[Result]) -> OrderKind | None:
    rate, mean, p90, p99 = (pooled_metric(results, op, name) for name in ("iops", "mean", "p90", "p99"))
    if rate is None or not rate.value:
        return None
    shown = [estimate_view(found) if found is not None else None for found in (mean, p90, p99)]
    return {"op": op, "per_min": rate.value * 60, "mean": shown[0], "p90": shown[1], "p99": shown[2]}


def _waits(said: Sequence[Mapping[str, Any]]) -> list[OrderWait]:
    """The mean share of each, the largest first."""
    names = dict.fromkeys(name for found in said for name in found.get("waits") or ())
    shares = {name: sum(float((found.get("waits") or {}).get(name, 0.0)) for found in said) / len(said) for name in names}
    ordered = sorted(shares, key=lambda name: -shares[name])
    return [{"what": name, "words": WORDS.get(name, name), "share": shares[name]} for name in ordered]


def _per_s(found: Mapping[str, Any]) -> float | None:
    written, seconds = found.get("wal_bytes"), float(found.get("watched_s") or 0.0)
    return None if written is None or seconds <= 0 else float(written) / seconds


def _sum(values: Sequence[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _mean(values: Sequence[Any]) -> float | None:
    known = [float(value) for value in values if value is not None]
    return sum(known) / len(known) if known else None
