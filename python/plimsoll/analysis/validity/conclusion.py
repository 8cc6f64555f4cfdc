"""Conclusion of a measurement: what was accumulated becomes the result, judged.

Model: the same for a point that has just ended and for one that is read back after its process was killed, so both show equal numbers.

    conclude(skeleton, summary, observation)
"""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from plimsoll.analysis.point.estimates import estimates, score_estimate
from plimsoll.analysis.point.metric import together
from plimsoll.analysis.point.observation import Observation
from plimsoll.analysis.point.repeats import with_lower_bounds, with_score
from plimsoll.analysis.point.replay import replay_fidelity
from plimsoll.analysis.point.score import score_weights
from plimsoll.analysis.point.summary import Summary
from plimsoll.analysis.validity import Evidence, flags_of
from plimsoll.result import Result
from plimsoll.stored import Json


def conclude(unfinished: Result, summary: Summary, observation: Observation) -> Result:
    """``unfinished`` with totals, estimates, errors and validity flags."""
    totals = summary.totals()
    measured = replace(
        unfinished,
        totals=totals,
        streams=summary.streams(),
        parts=summary.parts(),
        errors=summary.errors(),
        unfinished=_unfinished(unfinished, observation),
        replay=cast("list[Json]", replay_fidelity(unfinished.engine)),
    )
    outstanding = summary.outstanding()
    estimated = estimates(summary.batches, totals, together(measured))
    measured = replace(measured, outstanding=outstanding, estimates=with_lower_bounds(estimated, outstanding))
    if weights := score_weights(measured.job.definition):
        measured = replace(measured, estimates=with_score(measured, score_estimate(summary.batches, totals, weights)))
    return replace(measured, flags=flags_of(Evidence(measured, observation)))


def _unfinished(result: Result, observation: Observation) -> int | None:
    """What was due and not complete at the end: completed later, or never issued."""
    unissued = (result.engine.get("engine") or {}).get("unissued")
    return observation.late_drawn_count + int(unissued) if result.offered_per_s is not None and unissued is not None else None
