"""What failed in a modelled array and what became of it.

Model: the engine tells every incident with its second in virtual time, counted from the beginning of the warm-up, and the length of each
rebuild that ended, from the spare's taking over on.
Limits: nothing is known of real targets; a rebuild that outlasts the point has no length.

    incidents(result)     # "1.000 s: member 0 of group 0 failed; 1.000 s: member 0 of group 0 replaced by a spare"
    rebuilds_s(result)    # [412.731]
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plimsoll.result import Result


def incidents(result: Result) -> str:
    """Every incident in the engine's words, joined by semicolons; empty when nothing happened."""
    return str(_facts(result).get("incidents", ""))


def rebuilds_s(result: Result) -> list[float]:
    """How long each rebuild took that ended during the point, in seconds."""
    return [float(seconds) for seconds in _facts(result).get("rebuild_s", "").split(", ") if seconds]


def _facts(result: Result) -> Mapping[str, Any]:
    return (result.engine.get("engine") or {}).get("facts") or {}
