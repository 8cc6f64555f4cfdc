"""Plimsoll: how much load a storage target carries, and which configuration carries more.

The package is the Python side of the benchmark: it turns a workload and a target into a job, hands the job to the Rust
engine (``plimsoll._core``), and keeps, judges and shows what was measured. Importing it costs nothing; what measures is
imported when it is asked for.

    import plimsoll

    run = plimsoll.run("random-read-4k", targets="/data/test", size="8GiB", duration="30s")
    run.results[0].totals["read"].iops
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from plimsoll.verbs import check, curve, matrix, ramp, replay, run, scale, search, steady, steps, suite

__version__ = "0.1.0"
#: The verbs that measure (`plimsoll.verbs`).
__all__ = ["check", "curve", "matrix", "ramp", "replay", "run", "scale", "search", "steady", "steps", "suite"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from plimsoll import verbs

    return getattr(verbs, name)
