"""What order entry says of a point beyond rates and latencies: new orders per minute, what limited it, whether data are consistent.

Model: the driver's section ``orders`` of the outcome holds counts of the measured time. New orders per minute are those that were
committed: the rate of all, without the share that was rolled back on purpose. What transactions spent their time on is in shares; the
largest is what limited the point.

    new_orders_per_min(result)      # Estimate(12_345.0, low=…, high=…)
    limit(result)                   # Limit("storage", 0.71)
"""

from __future__ import annotations

from dataclasses import replace

from plimsoll.analysis.point.definition import ORDER_ENTRY
from plimsoll.analysis.point.metric import metric
from plimsoll.records import dataclass
from plimsoll.result import Estimate, Result
from plimsoll.stored import EngineOutcome, OrderEntryOutcome

NEW_ORDER = "new-order"
#: What transactions can spend their time on, in words.
WORDS = {
    "storage": "waiting for the storage",
    "locks": "waiting for each other's rows",
    "internal locks": "waiting for the database's own locks",
    "processor": "on a processor, or waiting for one",
    "client": "waiting for Plimsoll",
    "other": "waiting for something else",
}

#: What an engine does beside transactions, and the counters that tell of it.
_UPKEEP = (
    ("checkpoints", ("checkpoints", "checkpoints_timed", "checkpoints_requested")),
    ("vacuums", ("autovacuums",)),
)


@dataclass(frozen=True)
class Limit:
    """What transactions spent most of their time on, one of `WORDS`, and the share of their time."""

    what: str
    share: float


def section(engine: EngineOutcome) -> OrderEntryOutcome | None:
    """What the driver said at the end; None for other loads, and for a point that had no end."""
    return engine.get("orders")


def enters_orders(result: Result) -> bool:
    """Whether the point's load is order entry."""
    return result.job.definition.get("driver") == ORDER_ENTRY


def new_orders_per_min(result: Result) -> Estimate | None:
    """Committed new orders per minute with their interval; None for other loads, and where none was measured."""
    found, rate = section(result.engine), metric(result, NEW_ORDER, "iops")
    if not enters_orders(result) or rate is None:
        return None
    factor = 60.0 * (1.0 - float((found or {}).get("rolled_back_share") or 0.0))
    low, high = (None if bound is None else bound * factor for bound in (rate.low, rate.high))
    return replace(rate, value=rate.value * factor, low=low, high=high)


def commits_of(said: OrderEntryOutcome) -> int:
    """How many transactions of all kinds were committed in the measured time."""
    return sum(int(count) for count in (said.get("committed") or {}).values())


def upkeep(said: OrderEntryOutcome) -> dict[str, int | None]:
    """How often the engine wrote its log into the tables, and cleared away old rows, in the measured time; None where it does not tell."""
    counted = said.get("counters") or {}
    return {name: None if not (known := [counted[each] for each in of if each in counted]) else round(sum(known)) for name, of in _UPKEEP}


def limit(result: Result) -> Limit | None:
    """What limited the point; None where the engine does not tell."""
    waits = (section(result.engine) or {}).get("waits") or {}
    if not waits:
        return None
    what = max(waits, key=lambda name: float(waits[name]))
    return Limit(str(what), float(waits[what]))


def inconsistency(engine: EngineOutcome) -> str | None:
    """The sentence for a database that is not consistent any more; None when it is, or nobody could look."""
    broken = (section(engine) or {}).get("broken") or ()
    if not broken:
        return None
    more = f" ({len(broken)} of 4 conditions are broken)" if len(broken) > 1 else ""
    return f"the database is not consistent after the run: {broken[0]}{more}"
