"""What one I/O costs Plimsoll itself on this machine, measured once and remembered.

Model: the engine runs its loop on ``null`` (no I/O at all) and ``nop`` (an empty trip through io_uring); the figures are kept in
``$XDG_CACHE_HOME/plimsoll`` under a name made of the machine, kernel, CPU and version, so that a change of any measures anew.
A calibration that is not sensible (`plimsoll.own_cost`) says what else the machine did; it is measured again for longer, never
remembered, and one that an earlier version remembered is not taken.
Limits: other load on the machine at that moment makes the cost look higher than it is.

    own_cost = load() or quick(engine)
    own_cost.per_core(NOP)
"""

from __future__ import annotations

import json
import os
from contextlib import suppress

from plimsoll import __version__
from plimsoll.displayed import encoded
from plimsoll.engine.protocol import Engine
from plimsoll.errors import EngineError, PlimsollError, StoreError
from plimsoll.own_cost import OwnCost
from plimsoll.store.durable import replace_file, store_error

SCHEMA = "plimsoll.calibration/1"
#: Long enough for a figure good to some percent, short enough to go unnoticed beside a first run.
QUICK_SECONDS = 0.2
#: Each attempt lasts twice as long as the one before.
ATTEMPTS = 3


def load() -> OwnCost | None:
    """The remembered calibration of this machine, if there is one that can be read."""
    with suppress(OSError, ValueError, RecursionError, AttributeError):
        with open(cache_path(), encoding="utf-8") as file:
            value = json.load(file)
        if value.get("schema") == SCHEMA and OwnCost(value).sensible():
            return OwnCost(value)
    return None


def quick(engine: Engine) -> OwnCost | None:
    """Calibrate now, in a fraction of a second, and remember it; None where the engine cannot, or the machine is too busy."""
    try:
        return save(measured(engine, QUICK_SECONDS))
    except PlimsollError:
        return None


def measured(engine: Engine, seconds: float) -> OwnCost:
    """The figures of the first attempt that makes sense; raises `EngineError` when none of `ATTEMPTS` does."""
    for attempt in range(ATTEMPTS):
        figures = engine.calibrate(seconds * 2**attempt)
        if figures.sensible():
            return figures
    raise EngineError(
        "what one I/O costs Plimsoll could not be measured: this machine has no processor time for it; "
        "calibrate when less else runs, or for longer (--seconds)."
    )


def save(figures: OwnCost) -> OwnCost:
    """Remember ``figures``; a cache that cannot be written costs only the next calibration."""
    with suppress(StoreError):
        remember(figures)
    return _named(figures)


def remember(figures: OwnCost) -> OwnCost:
    """The same, for whoever wants to know: raises `StoreError` when it cannot be written."""
    value = _named(figures)
    try:
        os.makedirs(os.path.dirname(cache_path()), exist_ok=True)
    except OSError as problem:
        raise store_error(os.path.dirname(cache_path()), problem) from None
    replace_file(cache_path(), json.dumps(value.figures, indent=1).encode(), durable=False)
    return value


def cache_path() -> str:
    """Where the calibration of this machine is kept."""
    root = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(root, "plimsoll", f"calibration-{_machine_key()}.json")


def _named(cost: OwnCost) -> OwnCost:
    """With the name of its schema, as it is kept."""
    return OwnCost({"schema": SCHEMA, **cost.figures})


def _machine_key() -> str:
    import hashlib

    parts = [_first_line("/etc/machine-id"), os.uname().nodename, os.uname().release, _cpu_model(), __version__]
    return hashlib.sha256(encoded("\n".join(parts))).hexdigest()[:16]


def _cpu_model() -> str:
    with suppress(OSError), open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
        for line in file:
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return ""


def _first_line(path: str) -> str:
    with suppress(OSError), open(path, encoding="utf-8", errors="replace") as file:
        return file.readline().strip()
    return ""
