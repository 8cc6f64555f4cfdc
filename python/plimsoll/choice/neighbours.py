"""Several demands on one array: whether one that asks for more than it said disturbs the others.

Model: each demand in turn asks for `SURGE` times its rate, as far as its cap lets it through, while the others ask for theirs. The
objectives of the others have to hold, each judged by the figures of its own streams; that of the loud one is not looked at.
Limits: one at a time, healthy.

    surges(Trial("array:nvme-raid10", load))[0].holds
"""

from __future__ import annotations

from dataclasses import dataclass

from plimsoll.choice.trial import Trial, judged, measured, point_of
from plimsoll.engine.block import native
from plimsoll.stored import Json
from plimsoll.target import target_of

#: How much more than it said a demand asks for.
SURGE = 2.0


@dataclass(frozen=True)
class Surge:
    """One of several demands asks for more than it said: whether the others' objectives still hold, and the first that does not."""

    raised: str
    factor: float
    let_through_per_s: float
    holds: bool
    rejection: str | None

    def to_json(self) -> Json:
        """For programs."""
        return {name: getattr(self, name) for name in ("raised", "factor", "let_through_per_s", "holds", "rejection")}


def surges(trial: Trial) -> tuple[Surge, ...]:
    """Each of several demands at `SURGE` times its rate, as far as its cap lets it through, beside the others at theirs."""
    if len(trial.load.parts) < 2:
        return ()
    engine, target = native(), target_of(trial.target)
    found = []
    for part in trial.load.parts:
        asked = part.rate_per_s * SURGE
        through = asked if part.cap_per_s is None else min(asked, part.cap_per_s)
        rate = trial.load.rate_per_s - part.let_through_per_s + through
        result = measured(point_of(trial, target, trial.load.at(SURGE, of=part.name)), engine, rate)
        holds, rejection = judged(trial.load, result, without=part.name)
        found.append(Surge(part.name, SURGE, through, holds, rejection))
    return tuple(found)
