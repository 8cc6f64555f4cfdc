"""What a driver says of its job besides intervals, of several hosts as one: counts add, lists follow one another, doubts of one are all's.

Model: a section is added up where every host that ended has it, by the rule of its driver; what has no sum (a percentile, a text of one
engine) is the first host's where all say the same, and left out otherwise. Sections without a rule stay in the hosts' own results.

    summed_sections([db1["engine"], db2["engine"]])["orders"]["committed"]
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from plimsoll.histogram import Histogram, merged
from plimsoll.stored import Json

_PERCENTILES = {"p50": 50.0, "p95": 95.0, "p99": 99.0, "max": 100.0}
NEW_ORDER = "new-order"


def summed_sections(engines: Sequence[Any]) -> Json:
    """The sections of all hosts by their names, for those that can be added up."""
    found: Json = {}
    for name, summed in _RULES.items():
        own = [engine[name] for engine in engines if isinstance(engine.get(name), Mapping)]
        if own and len(own) == len(engines):
            found[name] = summed(own)
    return found


def summed_orders(sections: Sequence[Json]) -> Json:
    """Order entry: what terminals did; of databases of their own what each engine counted, and whether all are consistent."""
    committed, rolled_back = _added(sections, "committed"), _sum(sections, "rolled_back")
    new_orders = committed.get(NEW_ORDER, 0) + rolled_back
    terminals = int(_sum(sections, "terminals"))
    known = [section["consistent"] for section in sections if section.get("consistent") is not None]
    return {
        **_alike(sections, ("derived_from", "engine", "client", "settings", "own_share")),
        "stream": {**sections[0]["stream"], "terminals": terminals},
        "terminals": terminals,
        "committed": committed,
        "rolled_back": rolled_back,
        "rolled_back_share": rolled_back / new_orders if new_orders else 0.0,
        **{name: _added(sections, name) for name in ("failed", "retries", "counters")},
        **{name: _sum(sections, name) for name in ("loop_cpu_ns", "starved_ns", "wal_bytes", "orders_before", "size_bytes")},
        "watched_s": max(section.get("watched_s") or 0.0 for section in sections),
        "flush_ns": {},
        **{name: _mean_shares(sections, name) for name in ("waits", "events")},
        "consistent": all(known) if known and len(known) == len(sections) else (False if False in known else None),
        "broken": [sentence for section in sections for sentence in section.get("broken") or ()],
    }


def summed_analytics(sections: Sequence[Json]) -> Json:
    """Analytics workflows, each host's in a directory of its own: numbered on from host to host."""
    workflows, before = [], 0
    for section in sections:
        workflows += [{**one, "number": one["number"] + before} for one in section["workflows"]]
        before += int(section["asked"]["workflows"])
    first = sections[0]
    return {
        **{name: first[name] for name in ("banner", "engine", "row_bytes", "data_bytes")},
        "asked": {**first["asked"], "workflows": before},
        **{name: _sum(sections, name) for name in ("failed", "wrong_data", "watching_cpu_s")},
        # Workers of one machine have the same processors and devices, each of which would be counted for every one of them.
        "cores": None,
        "physical_cores": None,
        "devices": [],
        "workflows": workflows,
        "iterations": [_iteration(own) for own in zip(*(section["iterations"] for section in sections), strict=False)],
        "whole": all(section["whole"] for section in sections),
    }


def summed_mail(sections: Sequence[Json]) -> Json:
    """Mail users: what they sent, and what became of it where each host has a server of its own. Times come of merged histograms."""
    handed = merged([section["handovers"] for section in sections if section.get("handovers")])
    streams = dict.fromkeys(name for section in sections for name in section["skipped"])
    accounts = [section["account"] for section in sections if section.get("account")]
    return {
        **{name: _sum(sections, name) for name in ("users", "letters", "deliveries", "refused_recipients")},
        "skipped": {name: _added([section["skipped"] for section in sections], name) for name in streams},
        "handover_ms": None if handed is None or not handed.count else _times_ms(handed),
        **({"account": _account(accounts)} if len(accounts) == len(sections) else {}),
        **({"servers_cpu_s": spent} if (spent := _sum(sections, "servers_cpu_s")) is not None else {}),
    }


def _account(accounts: Sequence[Json]) -> Json:
    """Deliveries of all servers."""
    counts = {name: _sum(accounts, name) for name, value in accounts[0].items() if isinstance(value, int)}
    return {**counts, "examples": [example for account in accounts for example in account["examples"]]}


def _times_ms(times: Histogram) -> Json:
    """As the engine writes them of one host."""
    at = {name: times.percentile(percent) / 1e6 for name, percent in _PERCENTILES.items()}
    return {"count": times.count, "mean": times.mean / 1e6, **at}


def _iteration(own: Sequence[Json]) -> Json:
    start_s, end_s = min(one["start_s"] for one in own), max(one["end_s"] for one in own)
    sums = {name: _sum(own, name) for name in ("workflows", "failed", "user_s", "system_s", "cpu_s")}
    unknown = {"cpu": None, "device_read_bytes": None, "device_written_bytes": None}
    return {**own[0], **unknown, **sums, "start_s": start_s, "end_s": end_s, "real_s": end_s - start_s}


#: The sections that can be added up, by their names in the outcome.
_RULES: Mapping[str, Callable[[Sequence[Json]], Json]] = {"orders": summed_orders, "analytics": summed_analytics, "mail": summed_mail}


def _sum(sections: Sequence[Json], name: str) -> Any:
    """None where one of them does not know."""
    values = [section.get(name) for section in sections]
    return None if any(value is None for value in values) else sum(values)


def _added(sections: Sequence[Json], name: str) -> Json:
    total: Counter[str] = Counter()
    for section in sections:
        total.update(section.get(name) or {})
    return dict(total)


def _alike(sections: Sequence[Json], names: Sequence[str]) -> Json:
    """What all say alike."""
    first = sections[0]
    return {name: first.get(name) if all(section.get(name) == first.get(name) for section in sections) else None for name in names}


def _mean_shares(sections: Sequence[Json], name: str) -> Json:
    """Shares of the time of equally many terminals each."""
    own = [section.get(name) or {} for section in sections]
    return {key: value / len(own) for key, value in _added([{"shares": one} for one in own], "shares").items()} if all(own) else {}
