"""Like `ramp`, for noisy answers: a level near the limit is measured again until it is statistically settled or called undecided.

Model: a level is settled when the 95 % interval over all its repeats lies wholly on one side of the limit. Far from the limit one repeat
does that; near it, repeats with other seeds narrow the interval. What the last repeat allowed leaves open is undecided: the conclusion says
so, and the value decides. So most of the time is spent where it matters, and a mark costs less than measuring every level long enough.
Limits: an interval that is looked at after every repeat is on the wrong side more often than one in twenty times. That happens to levels
near the limit only, where a wrong answer shifts the mark by no more than the noise. A metric without interval (points of a few seconds)
is settled by the scatter between repeats.

    plan = search("rate", Bounds(100, 20_000), parse_objective("p99 <= 5ms"), repeats_max=8)
"""

from __future__ import annotations

from plimsoll.analysis.objective.judgement import Objective
from plimsoll.experiments.bounds import Bounds, Growth, Resolution
from plimsoll.experiments.bracket import bracketed
from plimsoll.experiments.marking import concluded
from plimsoll.experiments.plan import Plan
from plimsoll.experiments.probe import Probe

REPEATS_MAX = 5


def search(axis: str, bounds: Bounds, objective: Objective, resolution: Resolution | None = None, repeats_max: int = REPEATS_MAX) -> Plan:
    """Levels of ``axis``, doubled from ``bounds.start`` on, each measured at most ``repeats_max`` times."""
    probe = Probe(axis, objective, max(1, repeats_max))
    bracket = yield from bracketed(probe, bounds, resolution or Resolution(), Growth())
    return concluded("search", probe, bracket)
