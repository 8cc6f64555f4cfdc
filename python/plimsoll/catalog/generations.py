"""Generations of mail servers as data: TOML files in ``generations/``, each value with its source.

Model: ``{title, about, value, health, limits}``. ``value`` holds what a mail store of that generation has where its workload says nothing
else, as `crates/mailstore` declares its options. ``health`` says where a store lies that its target does not hold up, ``limits`` what a
run of it must keep: of up to six hours (``performance``) and of more (``stress``).

    generation("2003")["value"]["lazy_commit_percent"]       # {"value": 90, "source": "learn.microsoft.com/…"}
    values("2010")["page_size"]                              # "32KiB"
    limits("2010", 7 * 3600)                                 # {"read_mean_ms": 20, "read_max_ms": 200, …}
"""

from __future__ import annotations

import os
from functools import cache
from typing import Any

from plimsoll.catalog.folder import Folder
from plimsoll.stored import Json

_GENERATIONS = Folder(os.path.join(os.path.dirname(__file__), "generations"), "generation")
#: From how many seconds on a run is a stress test.
STRESS_FROM_S = 6 * 3600


def generation_names() -> list[str]:
    """Every generation."""
    return _GENERATIONS.names()


@cache
def generation(name: str) -> Json:
    """One generation; raises `InputError` with the nearest name when there is none."""
    return {"health": {}, "limits": {}, **_GENERATIONS.document(name)}


def values(name: str) -> dict[str, Any]:
    """What a mail store of a generation has where its workload says nothing else."""
    return {key: entry["value"] for key, entry in generation(name)["value"].items()}


def limits(name: str, seconds: float) -> Json:
    """What a run of so many seconds must keep, in milliseconds, with its source; empty where none is known."""
    known: dict[str, Json] = generation(name)["limits"]
    is_stress = seconds > STRESS_FROM_S and "stress" in known
    return dict(known.get("stress" if is_stress else "performance", {}))
