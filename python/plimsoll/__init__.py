"""Plimsoll: how much load a storage target carries, and which configuration carries more.

The package is the Python side of the benchmark: it turns a workload and a target into a job, hands the job to the Rust
engine (``plimsoll._core``), and keeps, judges and shows what was measured. Importing it costs nothing; what measures is
imported when it is asked for. What stands in ``__all__`` is for programs and notebooks; ``docs/python.md`` shows it at work.
Whatever goes wrong raises a `PlimsollError`.

    import plimsoll

    run = plimsoll.run("random-read-4k", target="/data/test", size="8GiB", duration="30s")
    run.results[0].totals["read"].iops
    run.to_pandas()
    plimsoll.open("results")["latest"].results
"""

from __future__ import annotations

# What is imported before the first line of the command delays what it does about a signal, so nothing is.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from plimsoll.choice.selection import Chosen
    from plimsoll.errors import EngineError, InputError, Interrupted, PlimsollError, SafetyRefusal, StoreError, TargetError
    from plimsoll.points.execution import Run
    from plimsoll.points.listener import Listener, Step
    from plimsoll.points.preview import Preview
    from plimsoll.points.sizing import SizingAnswer
    from plimsoll.result import Result
    from plimsoll.tables.table import Table
    from plimsoll.verbs.choice import choose
    from plimsoll.verbs.comparison import Comparison, compare
    from plimsoll.verbs.measurement import check, curve, matrix, preview, ramp, replay, run, scale, search, steady, steps, suite
    from plimsoll.verbs.sizing import size
    from plimsoll.verbs.store import Store, StoredRun
    from plimsoll.verbs.store import open_store as open  # noqa: A004

__version__ = "0.1.0"

#: Where each public name is, and what it is called there if not the same.
_HOMES = {
    **dict.fromkeys(
        ("check", "curve", "matrix", "preview", "ramp", "replay", "run", "scale", "search", "steady", "steps", "suite"),
        "plimsoll.verbs.measurement",
    ),
    **dict.fromkeys(("Comparison", "compare"), "plimsoll.verbs.comparison"),
    **dict.fromkeys(("Store", "StoredRun"), "plimsoll.verbs.store"),
    "open": "plimsoll.verbs.store:open_store",
    "choose": "plimsoll.verbs.choice",
    "Chosen": "plimsoll.choice.selection",
    "size": "plimsoll.verbs.sizing",
    "SizingAnswer": "plimsoll.points.sizing",
    "Preview": "plimsoll.points.preview",
    "Run": "plimsoll.points.execution",
    **dict.fromkeys(("Listener", "Step"), "plimsoll.points.listener"),
    "Result": "plimsoll.result",
    "Table": "plimsoll.tables.table",
    **dict.fromkeys(
        ("EngineError", "InputError", "Interrupted", "PlimsollError", "SafetyRefusal", "StoreError", "TargetError"), "plimsoll.errors"
    ),
}
__all__ = [
    "Chosen",
    "Comparison",
    "EngineError",
    "InputError",
    "Interrupted",
    "Listener",
    "PlimsollError",
    "Preview",
    "Result",
    "Run",
    "SafetyRefusal",
    "SizingAnswer",
    "Step",
    "Store",
    "StoreError",
    "StoredRun",
    "Table",
    "TargetError",
    "check",
    "choose",
    "compare",
    "curve",
    "matrix",
    "open",
    "preview",
    "ramp",
    "replay",
    "run",
    "scale",
    "search",
    "size",
    "steady",
    "steps",
    "suite",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    module, _, called = _HOMES[name].partition(":")
    return getattr(import_module(module), called or name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
