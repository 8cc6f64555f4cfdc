"""Flags about analytics workflows: failed ones, wrong rows, more memory than they may take, data that memory holds, watching that costs.

Model: the driver's section of the outcome has a record for each process; the thresholds are here.
"""

from __future__ import annotations

from collections.abc import Iterator

from plimsoll.analysis.point import workflows
from plimsoll.analysis.validity.evidence import Evidence
from plimsoll.result import Flag
from plimsoll.units import binary

#: A process may take so many times its cap.
OVER_CAP_MAX = 1.1
#: What all workflows work on has to be more than so many times the memory of the host, so that the page cache cannot hold it.
MEMORIES_LEAST = 2.0
#: What watching may take of the processors.
WATCHING_SHARE_MAX = 0.01


def workflow_failed(evidence: Evidence) -> Iterator[Flag]:
    """Some of the workflows did not come to their end, so that the others had less beside them."""
    failed = workflows.failed(evidence.result.engine)
    if not failed:
        return
    total = len(workflows.workflows(evidence.result.engine))
    yield Flag(
        "workflow_failed",
        "invalid",
        f"{len(failed)} of {total} workflows failed and the others went on without; {workflows.named(failed[0])}: {failed[0]['failure']}",
        "Do not compare this level with one whose workflows all ended: less was done at the same time. Remove the cause and measure again.",
    )


def wrong_rows(evidence: Evidence) -> Iterator[Flag]:
    """A workflow found rows that are not those that were written."""
    said = workflows.wrong_rows(evidence.result.engine)
    if said is not None:
        advice = "Do not trust this storage with data, nor this memory: look at both. Keep the run's directory as evidence."
        yield Flag("wrong_data", "invalid", f"{said[:1].upper()}{said[1:]}", advice)


def over_memory(evidence: Evidence) -> Iterator[Flag]:
    """A process took more memory than its cap, so that it spilled less than it should have."""
    over = workflows.over_cap(evidence.result.engine, OVER_CAP_MAX)
    if over:
        most = max(over, key=lambda one: one["max_rss_bytes"])
        yield Flag(
            "over_memory",
            "doubt",
            f"{workflows.named(most).capitalize()} took {binary(most['max_rss_bytes'])}; its cap is {binary(most['memory_bytes'])}.",
            "Give workflows more memory (--set memory=), so that the engine keeps to it, and compare only runs that did.",
        )


def rows_in_memory(evidence: Evidence) -> Iterator[Flag]:
    """The page cache can hold what the workflows work on."""
    found = workflows.section(evidence.result.engine)
    host_bytes = (evidence.result.host.get("memory") or {}).get("total_bytes")
    if not found or not isinstance(host_bytes, int) or found["asked"]["direct"]:
        return
    loaded_bytes = int(found["data_bytes"]) * int(found["asked"]["workflows"])
    if loaded_bytes < MEMORIES_LEAST * host_bytes:
        yield Flag(
            "rows_in_memory",
            "doubt",
            f"The rows of all workflows take {binary(loaded_bytes)}, and this host has {binary(host_bytes)} of memory, which keeps much of "
            "what is written until it is read again: less was asked of the storage than the workflows did.",
            "Ask for more rows (--set rows=), twice the memory altogether, or bypass the page cache (--set direct=true).",
        )


def watching_share(evidence: Evidence) -> Iterator[Flag]:
    """Plimsoll itself took what workflows could have used."""
    found, end_ns = workflows.section(evidence.result.engine), evidence.result.engine.get("end_ns") or 0
    # Of several hosts each says it for itself.
    if not found or not end_ns or not found["cores"] or evidence.observation.elapsed_s < 1.0:
        return
    share = float(found["watching_cpu_s"]) / (int(found["cores"]) * end_ns / 1e9)
    if share > WATCHING_SHARE_MAX:
        yield Flag(
            "harness_share",
            "doubt",
            f"Plimsoll itself used {share:.1%} of the processors while it watched the workflows (limit {WATCHING_SHARE_MAX:.0%}).",
            "Ask for more rows, so that steps take longer, or for longer intervals (--set interval=2).",
        )
