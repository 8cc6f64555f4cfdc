"""What has to stand wherever figures of a load do that is modelled on a published benchmark: that they are not comparable with its results.

Model: each such load has one notice, the same on the terminal, the page, in tables, JSON, Markdown and JUnit; every writer asks here.
Analytics workflows bring theirs with the result.
Limits: a point that failed before it had figures has a notice as well.

    derivation(result)      # "derived from TPC-H, not comparable with published TPC-H results"
    notices(results)        # ("Derived from TPC-H, not comparable with published TPC-H results.",)
"""

from __future__ import annotations

from collections.abc import Sequence

from plimsoll.analysis.decision.runs import asks_queries
from plimsoll.analysis.mailstore.counters import is_mailstore
from plimsoll.analysis.point.transactions import enters_orders
from plimsoll.analysis.point.workflows import section
from plimsoll.decision import BANNER as QUERIES
from plimsoll.orders import BANNER as ORDERS
from plimsoll.result import Result

MAILSTORE = "modelled on Jetstress, not Jetstress: compare these figures with each other only"


def derivation(result: Result) -> str | None:
    """What the figures of a point are derived from and not comparable with; None of most loads."""
    if asks_queries(result):
        return QUERIES
    if enters_orders(result):
        return ORDERS
    if is_mailstore(result):
        return MAILSTORE
    found = section(result.engine)
    return None if not found else str(found["banner"])


def derivations(results: Sequence[Result]) -> tuple[str, ...]:
    """Those of all points, each once."""
    return tuple(dict.fromkeys(found for result in results if (found := derivation(result)) is not None))


def notices(results: Sequence[Result]) -> tuple[str, ...]:
    """The same as sentences."""
    return tuple(notice(found) for found in derivations(results))


def notice(derived: str) -> str:
    """One of them as a sentence."""
    return f"{derived[:1].upper()}{derived[1:]}."
