"""What automatic tuning found: the threads of a mail store, and the cycles that led there.

Model: the driver's section of the outcome has them (`crates/mailstore/src/store/tuning.rs`). What failed says why, and how far it came.

    tuned(result)                # {"threads": 14, "failed_at": 15, "cycles": [{"threads": 1, …}, …], …}
    tuning_text(tuned(result))   # "Tuned to 14 threads: reads take 19.6 ms; with 15, reads take 21 ms. 8 numbers of threads tried."
"""

from __future__ import annotations

from typing import Any

from plimsoll.analysis.mailstore.counters import section
from plimsoll.result import Result
from plimsoll.units import brief_duration


def tuned(result: Result) -> dict[str, Any] | None:
    """What was found; None where nothing was tuned."""
    databases = section(result).get("databases") or ()
    return next((database["tuning"] for database in databases if database.get("tuning")), None)


def tuning_text(found: dict[str, Any]) -> str:
    """The answer in a sentence or two."""
    cycles: dict[int, dict[str, Any]] = {int(cycle["threads"]): cycle for cycle in found["cycles"]}
    threads, tried = int(found["threads"]), f"{len(cycles)} {'number' if len(cycles) == 1 else 'numbers'} of threads tried."
    if found.get("failure"):
        so_far = f" Up to {threads} held." if threads else ""
        return f"Not tuned: {found['failure']}.{so_far} {tried}"
    held = f"Tuned to {threads} threads: {_slower(cycles[threads])}"
    if found.get("failed_at") is None:
        return f"{held}; more were not allowed. {tried}"
    return f"{held}; with {int(found['failed_at'])}, {_slower(cycles[int(found['failed_at'])])}. {tried}"


def _slower(cycle: dict[str, Any]) -> str:
    """Which of both takes longer."""
    reads, writes = float(cycle["read_ns"]), float(cycle["write_ns"])
    return f"reads take {brief_duration(reads)}" if reads >= writes else f"writes take {brief_duration(writes)}"
