"""What became of the analytics workflows of a point: which failed, which read wrong data, which took more memory than they may.

Model: the driver's section ``analytics`` of the outcome has a record for each workflow and each of its steps. A workflow that read or made
wrong rows fails the point like any wrong data; one that failed otherwise leaves the point standing, marked.

    failed(result.engine)          # [{"number": 3, "iteration": 1, "failure": "its process was killed …", …}]
    wrong_rows(result.engine)      # "wrong data was read by 1 of 4 workflows; workflow 2: …"
"""

from __future__ import annotations

from collections.abc import Sequence

from plimsoll.stored import AnalyticsOutcome, EngineOutcome, WorkflowOutcome


def section(engine: EngineOutcome) -> AnalyticsOutcome | None:
    """What the driver said at the end; None for other loads, and for a point that had no end."""
    return engine.get("analytics")


def workflows(engine: EngineOutcome) -> Sequence[WorkflowOutcome]:
    """A record for each process."""
    return (section(engine) or {}).get("workflows") or ()


def failed(engine: EngineOutcome) -> list[WorkflowOutcome]:
    """Those that did not come to their end, but for those that were stopped on purpose."""
    return [one for one in workflows(engine) if one.get("status") == "failed"]


def named(one: WorkflowOutcome) -> str:
    """``workflow 3``; of a second iteration also that."""
    again = f" of iteration {one['iteration']}" if int(one.get("iteration") or 1) > 1 else ""
    return f"workflow {one['number']}{again}"


def wrong_rows(engine: EngineOutcome) -> str | None:
    """The sentence for workflows whose rows or results were wrong; None when all were right, or none came to a check."""
    wrong = [one for one in workflows(engine) if one.get("check") not in (None, "ok")]
    if not wrong:
        return None
    said = str(wrong[0]["check"]).removeprefix("wrong data: ")
    return f"wrong data was read by {len(wrong)} of {len(workflows(engine))} workflows; {named(wrong[0])}: {said}"


def over_cap(engine: EngineOutcome, most: float) -> list[WorkflowOutcome]:
    """Those whose process took more than so many times the memory that it may."""
    return [one for one in workflows(engine) if one.get("memory_bytes") and one["max_rss_bytes"] > most * one["memory_bytes"]]
