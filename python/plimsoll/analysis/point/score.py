"""How long mail users wait: LoadSim's score, the weighted mean of the 95th percentile of each task.

Model: latencies count from when a task was due, over all groups of users together. A task without a weight, or that nobody did, has no part
in the score. The weights are options of the users (`score_weights`); where groups have different ones, a task weighs what it weighs for the
mean user of those who do it.
Source: bores excc10_26 (MSDN 2000-04): the score of LoadSim, a weighted average of the tasks' 95th percentiles.

    score_weights(definition)                        # {"read": 10.0, "delete": 2.0, "send": 1.0}; empty for other loads
    weighed(result, lambda task: …)                  # the score of any figure of the tasks
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

from plimsoll.analysis.point.definition import drawn_operations, streams
from plimsoll.result import Result
from plimsoll.stored import Definition

DRIVER = "mail"
PERCENT = 95.0
#: The same, as metrics call it.
PERCENTILE = "p95"


def score_weights(definition: Definition) -> dict[str, float]:
    """What each task that the users do weighs in the score; empty for a load that is not of mail users."""
    if definition.get("driver") != DRIVER:
        return {}
    weights: dict[str, float] = {}
    users: dict[str, float] = {}
    for stream in streams(definition):
        own = cast("Mapping[str, Any]", stream)
        for task in drawn_operations(stream) or ():
            users[task] = users.get(task, 0.0) + own["users"]
            weights[task] = weights.get(task, 0.0) + own["users"] * own["score_weights"].get(task, 0.0)
    return {task: weight / users[task] for task, weight in weights.items() if weight}


def mean_of(figures: Mapping[str, float], weights: Mapping[str, float]) -> float | None:
    """The weighted mean over the tasks that have a figure; None where none of them has a weight."""
    known = [task for task in weights if task in figures]
    whole = sum(weights[task] for task in known)
    return sum(weights[task] * figures[task] for task in known) / whole if whole else None


def weighed(result: Result, figure: Callable[[str], float | None]) -> float | None:
    """The weighted mean of ``figure`` of each task of a point; None where no task that has a weight has one."""
    weights = score_weights(result.job.definition)
    return mean_of({task: found for task in weights if (found := figure(task)) is not None}, weights)
