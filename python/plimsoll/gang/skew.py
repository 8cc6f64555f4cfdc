"""How late a host began: from the common instant to when its last thread began.

Model: what a worker stored says when it was to begin and when it began, both on its own monotonic clock, so no other clock is needed. The
start of the job alone says too little: threads begin after it, each in its turn of a processor.
Limits: a workload whose threads do not say when they began has no skew, and neither has a host that was lost: nothing is not 0.

    skew_of({"appointed_ns": 1_000, "monotonic_ns": 1_000, "began_ns": 40})     # Skew(ns=40, unknown=None)
    skew_of({"appointed_ns": 1_000, "monotonic_ns": 1_000}).unknown             # "the workload does not say when its threads began"
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Skew:
    """``ns`` is None where it is not known; ``unknown`` says why."""

    ns: int | None
    unknown: str | None


def skew_of(start: Mapping[str, Any] | None) -> Skew:
    """Of what a host's outcome says of its start; None for a host that stored none."""
    if start is None:
        return Skew(None, "the host stored no result")
    if start.get("appointed_ns") is None:
        return Skew(None, "the host did not hear the common instant")
    if start.get("began_ns") is None or start.get("monotonic_ns") is None:
        return Skew(None, "the workload does not say when its threads began")
    return Skew(int(start["monotonic_ns"]) + int(start["began_ns"]) - int(start["appointed_ns"]), None)
