"""One level, asked and judged: the step that `ramp` and `search` repeat.

Model: a level is asked once, or again with the next repeat until the judgement of all its repeats together is settled or the last repeat
allowed is spent; then it is *undecided*, and the value decides. A level with a
point that failed does not hold, and is not asked again.
A level with too few requests to show that it holds is not too much: higher ones have more of them. It is asked again only where the
repeats allowed can bring as many as are needed, or for as long as they take (`longer`), when the mark would rest on it.
A level that breaks nothing but a lower limit on a rate (``iops >= 5000``) carries too little load rather than too much.

    probe = Probe("queue_depth", objective, repeats_max=5)
    within = yield from probe.at(16)          # whether 16 is not too much
"""

from __future__ import annotations

import math
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

from plimsoll.analysis.load_line.mark import too_little_load
from plimsoll.analysis.objective.judgement import ClauseJudgement, Judgement, Objective, judge
from plimsoll.analysis.objective.sample_size import idle
from plimsoll.experiments.plan import Ask
from plimsoll.result import Result

Json = dict[str, Any]

#: How many times its duration a level is measured at most for want of requests.
LONGER_MAX = 30
#: Arrivals vary: so much longer than it takes on average, the requests are nearly surely there.
_ROOM = 1.2


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
        """Whether the objective failed, and not for want of load or of requests."""
        judgement = self.judgement
        return not (judgement.holds or judgement.too_few or too_little_load(judgement) or idle(self.results))

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
        #: How long points last, once the duration proved too short; 0 for the experiment's own.
        self._seconds = 0

    @property
    def results(self) -> list[Result]:
        """Everything measured."""
        return [result for probed in self.levels for result in probed.results]

    @property
    def not_too_much(self) -> list[float]:
        """Levels that held or were passed over."""
        return [probed.level for probed in self.levels if not probed.too_much]

    @property
    def undecided(self) -> list[Probed]:
        """Levels whose repeats did not settle the judgement, where repeats were allowed; levels with too few requests."""
        open_ones = [probed for probed in self.levels if not probed.judgement.settled and not idle(probed.results)]
        return [probed for probed in open_ones if self.repeats_max > 1 or probed.judgement.too_few]

    def at(self, level: float) -> Generator[Ask, Result, bool]:
        """Measure ``level``; whether it is not too much."""
        self.levels.append((yield from self._measured(level)))
        return not self.levels[-1].too_much

    def longer(self, level: float) -> Generator[Ask, Result, bool]:
        """Measure a level that had too few requests for as long as these take, in place of what it was; whether it is not too much.

        Levels that are asked later last as long. Where that is longer than `LONGER_MAX` times the duration, or more time brings no more
        requests, nothing is asked.
        """
        index = next(index for index, probed in enumerate(self.levels) if probed.level == level)
        limit_s = LONGER_MAX * min(probed.results[0].job.duration_s for probed in self.levels)
        while (lacking := self.levels[index].judgement.too_few) is not None and not lacking.by_amount:
            seconds = max(math.ceil(_ROOM * lacking.seconds_needed), self._seconds)
            if not self.levels[index].results[0].job.duration_s < seconds <= limit_s:
                break
            self._seconds = seconds
            self.levels[index] = yield from self._measured(level)
        return not self.levels[index].too_much

    def _measured(self, level: float) -> Generator[Ask, Result, Probed]:
        settings: Json = {"duration": f"{self._seconds}s"} if self._seconds else {}
        results: list[Result] = []
        for repeat in range(1, self.repeats_max + 1):
            results.append((yield Ask({self.axis: setting(level), **settings}, level=level, repeat=repeat)))
            judgement = judge(self.objective, results)
            lacking = judgement.too_few
            if judgement.settled or idle(results) or (repeat == 1 and lacking and not lacking.cured_by(self.repeats_max)):
                break
        return Probed(level, tuple(results), judgement)
