"""What a trial of database durability found: commits that were acknowledged and are gone, halves, and how long restarts took.

Model: the driver's section ``durability`` of the outcome has an entry for each kill. A loss, half a commit, a count that does not fit, a
database that does not open again, or a setting with which commits need not survive: each fails the point like wrong data.

    broken(result.engine)        # "the database did not keep what it acknowledged: 3 refreshes are lost after 10 kills, …"
"""

from __future__ import annotations

from collections.abc import Sequence

from plimsoll.result import Result
from plimsoll.stored import DurabilityOutcome, DurabilityRound, EngineOutcome

DRIVER = "database-durability"


def section(engine: EngineOutcome) -> DurabilityOutcome | None:
    """What the driver said at the end; None for other loads, and for a point that had no end."""
    return engine.get("durability")


def tries_durability(result: Result) -> bool:
    """Whether the point's load is a trial of durability."""
    return result.job.definition.get("driver") == DRIVER


def rounds(engine: EngineOutcome) -> Sequence[DurabilityRound]:
    """An entry for each kill."""
    return (section(engine) or {}).get("rounds") or ()


def recoveries_s(engine: EngineOutcome) -> list[float]:
    """How long each restart took."""
    return [float(took) for one in rounds(engine) if (took := one.get("recovery_s")) is not None]


def faults(engine: EngineOutcome) -> list[str]:
    """What was wrong, each in a few words, with the first kill where it showed."""
    said: list[str] = []
    numbered = list(enumerate(rounds(engine), 1))
    lost = [(number, refresh) for number, one in numbered for refresh in one.get("lost") or ()]
    halves = [(number, refresh) for number, one in numbered for refresh in one.get("halves") or ()]
    for found, words in ((lost, "acknowledged and not there"), (halves, "there by half")):
        if found:
            number, refresh = found[0]
            said.append(
                f"{len(found):,} {'refresh is' if len(found) == 1 else 'refreshes are'} {words}, first {refresh} after kill {number}"
            )
    for number, one in numbered:
        if one.get("miscounted"):
            said.append(f"the database has counted other refreshes than are there (after kill {number})")
            break
    unopened = next(((number, why) for number, one in numbered if (why := one.get("unopened"))), None)
    if unopened is not None:
        said.append(f"it did not open again after kill {unopened[0]} ({unopened[1].rstrip('.')})")
    return [*said, *((section(engine) or {}).get("broken_promises") or ())]


def broken(engine: EngineOutcome) -> str | None:
    """The sentence for a database that does not keep what it acknowledged; None when it does, or nobody looked."""
    found = faults(engine)
    return f"the database does not keep what it acknowledges: {'; '.join(found)}." if found else None
