"""How long users wait: LoadSim's score, the weighted mean of the 95th percentile of each task.

Model: latencies count from when a task was due, in the measured time only. A task without a weight, or that nobody did, has no part in the
score; the weights are options of the users (`score_weights`).
Source: bores excc10_26 (MSDN 2000-04): the score of LoadSim, a weighted average of the tasks' 95th percentiles.

    answers = Answers(on_event)
    engine.run(job, answers.hear, control)
    answers.score({"read": 10, "delete": 2, "send": 1})     # {"score_ms": 214.0, "p95_ms": {"read": 201.3, …}}
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plimsoll.engine import Json, OnEvent
from plimsoll.histogram import Histogram, decoded

_PERCENTILE = 95.0


class Answers:
    """Hears the intervals of a run on their way to ``on_event``, and keeps how long each task took."""

    def __init__(self, on_event: OnEvent) -> None:
        self._on_event = on_event
        self._latencies: dict[str, Histogram] = {}

    def hear(self, kind: str, event: Any) -> None:
        """An event of the run."""
        if kind == "interval" and event["phase"] == "measure":
            for cell in event["cells"]:
                latency = decoded(cell["latency"])
                if cell["op"] in self._latencies:
                    self._latencies[cell["op"]].add(latency)
                else:
                    self._latencies[cell["op"]] = latency
        self._on_event(kind, event)

    def score(self, weights: Mapping[str, float]) -> Json:
        """The score in milliseconds, None where no weighted task was done, and the percentile of each task."""
        p95_ms = {task: latency.percentile(_PERCENTILE) / 1e6 for task, latency in self._latencies.items() if latency.count}
        weighed = {task: weight for task, weight in weights.items() if task in p95_ms}
        total = sum(weighed.values())
        score_ms = sum(weight * p95_ms[task] for task, weight in weighed.items()) / total if total else None
        return {"score_ms": score_ms, "p95_ms": p95_ms}
