"""One level, asked and judged: the step that `ramp` and `search` repeat.

Model: a level is asked once, or again with the next repeat until the judgement of all its repeats together is settled or the last repeat
allowed is spent; then it is *undecided*, and the value decides. A level with a
point that failed does not hold, and is not asked again.
A level that breaks nothing but a lower limit on a rate (``iops >= 5000``) carries too little load rather than too much.

    probe = Probe("queue_depth", objective, repeats_max=5)
    within = yield from probe.at(16)          # whether 16 is not too much
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

from plimsoll.analysis.mark import too_little_load
from plimsoll.analysis.objective import ClauseJudgement, Judgement, Objective, judge
from plimsoll.experiments.plan import Ask
from plimsoll.result import Result

Json = dict[str, Any]


def setting(level: float) -> float:
    """The level as the value of an option: whole numbers without a fraction."""
    return int(level) if float(level).is_integer() else level


@dataclass(frozen=True)
class Probed:
    """A level with its repeats and what they say together."""

    level: float
    results: tuple[Result, ...]
    judgement: Judgement

    @property
    def too_much(self) -> bool:
        """Whether the objective failed, and not for want of load."""
        return not self.judgement.holds and not too_little_load(self.judgement)

    @property
    def nearest(self) -> ClauseJudgement | None:
        """The clause that leaves most doubt: an unsettled one, furthest beyond or nearest to its limit; None without estimates."""
        open_ones = [clause for clause in self.judgement.clauses if not clause.settled and clause.estimate is not None]
        return max(open_ones, key=lambda item: item.clause.overload(item.estimate.value if item.estimate else 0.0), default=None)

    def to_json(self) -> Json:
        """For the figures of a conclusion."""
        judgement = self.judgement
        return {
            "level": self.level,
            "holds": judgement.holds,
            "settled": judgement.settled,
            "repeats": len(self.results),
            "failed_by": judgement.failed_by,
        }


class Probe:
    """Asks for levels of ``axis`` and remembers them in the order asked."""

    def __init__(self, axis: str, objective: Objective, repeats_max: int = 1) -> None:
        self.axis = axis
        self.objective = objective
        self.repeats_max = repeats_max
        self.levels: list[Probed] = []

    @property
    def results(self) -> list[Result]:
        """Everything measured."""
        return [result for probed in self.levels for result in probed.results]

    @property
    def undecided(self) -> list[Probed]:
        """Levels whose repeats did not settle the judgement; empty where repeats were not allowed."""
        return [probed for probed in self.levels if self.repeats_max > 1 and not probed.judgement.settled]

    def at(self, level: float) -> Generator[Ask, Result, bool]:
        """Measure ``level``; whether it is not too much."""
        results: list[Result] = []
        for repeat in range(1, self.repeats_max + 1):
            results.append((yield Ask({self.axis: setting(level)}, level=level, repeat=repeat)))
            judgement = judge(self.objective, results)
            if judgement.settled:
                break
        self.levels.append(Probed(level, tuple(results), judgement))
        return not self.levels[-1].too_much
