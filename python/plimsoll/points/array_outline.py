"""An array as it is shown: what the engine says of it, and between what its simulated figures lie.

Model: the short simulations of `describe_array` are made for each draw of what nobody has looked up. Where that would take longer than the
plan allows, figures stay without intervals, and ``uncertainty`` says why.

    outlined(target_of("array:nvme"), Plan(budget_s=30), native())["loads"][0]["simulated"][4]["interval"]["low"]
"""

from __future__ import annotations

import time

from plimsoll.catalog.ranges import uncertain
from plimsoll.engine.block import NativeEngine
from plimsoll.stored import Json
from plimsoll.target import Target
from plimsoll.uncertainty.figures import Plan, Spread, spread
from plimsoll.units import duration


def outlined(array: Target, plan: Plan | None, engine: NativeEngine) -> Json:
    """What the engine says of an array, with the ``interval`` of each simulated figure; without a plan nothing is drawn."""
    began_s = time.monotonic()
    outline: Json = engine.describe_array(array, simulate=True)
    if plan is not None:
        outline["uncertainty"] = _with_intervals(outline, array, plan, time.monotonic() - began_s, engine)
    return outline


def _with_intervals(outline: Json, array: Target, plan: Plan, seconds: float, engine: NativeEngine) -> Json:
    """Gives the simulated figures their intervals; what was drawn, or why nothing was."""
    if not uncertain(array.document or {}):
        return {"draws": 0, "why": "no value of this array is assumed, from memory or derived"}
    if not plan.affords(seconds):
        return {"draws": 0, "why": f"a draw takes {duration(seconds * 1e9)}; ask for it with --uncertainty {plan.draws}"}
    found = spread(array, lambda drawn: _simulated(drawn, engine), engine, plan)
    for load in outline["loads"]:
        for one in load["simulated"]:
            interval = found.interval(_figure(load, one))
            one["interval"] = None if interval is None else interval.to_json()
    return _told(found)


def _simulated(array: Target, engine: NativeEngine) -> dict[str, float]:
    """The figures of one draw."""
    outline = engine.describe_array(array, simulate=True)
    return {_figure(load, one): one["throughput_per_s"] for load in outline["loads"] for one in load["simulated"]}


def _figure(load: Json, simulated: Json) -> str:
    return f"{load['name']} with {simulated['population']}"


def _told(found: Spread) -> Json:
    return {
        "draws": found.count,
        "seed": found.seed,
        "level": found.level,
        "values": len(found.drawn),
        "redrawn": found.redrawn,
        "fingerprint": found.fingerprint,
    }
