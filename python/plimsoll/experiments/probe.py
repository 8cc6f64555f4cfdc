"""The step of a search: one level, asked and judged, and which comes next.

Bounds: how far, how fast and how finely a planner moves along one axis of load.

Model: levels are positive. An integer axis (queue depth, threads, a block size) is asked whole numbers only. Levels of other axes that are
computed are rounded to a thousandth of the step that leads to them, so that they are short to read and to write.

    bounds = Bounds(start=1, stop=256, integer=True)
    Growth.parse("2x").after(3, bounds)                    # 6
    Resolution.parse("2%").between(24, 32, bounds)         # 28; None when the two are near enough

A probe: one level, asked and judged.

Model: a level is asked once, or again with the next repeat until the judgement of all its repeats together is settled or the last repeat
allowed is spent; then it is *undecided*, and the value decides. A level with a
point that failed does not hold, and is not asked again.
A level with too few requests to show that it holds is not too much: higher ones have more of them. It is asked again only where the
repeats allowed can bring as many as are needed, or for as long as they take (`longer`), when the mark would rest on it.
On a model time costs little: where nobody chose how long its points last, a level beside the mark whose interval spans the limit is
measured again as precisely as decides it (`decided`), until it is settled, within `NEAR` of the limit, or the model is exhausted.
A level that breaks nothing but a lower limit on a rate (``iops >= 5000``) carries too little load rather than too much.

    probe = Probe("queue_depth", objective, repeats_max=5)
    within = yield from probe.at(16)          # whether 16 is not too much
"""

from __future__ import annotations

import math
from collections.abc import Generator
from dataclasses import field

from plimsoll.analysis.load_line.mark import too_little_load
from plimsoll.analysis.objective.judgement import ClauseJudgement, Judgement, Objective, judge
from plimsoll.analysis.objective.sample_size import idle
from plimsoll.analysis.point.metric import ALL
from plimsoll.analysis.point.offered_load import lasted_s
from plimsoll.analysis.point.stopping_rule import relative_half_width
from plimsoll.displayed import quoted
from plimsoll.errors import InputError
from plimsoll.experiments.plan import Ask
from plimsoll.records import dataclass
from plimsoll.result import Result
from plimsoll.stored import Json


@dataclass(frozen=True)
class Bounds:
    """The first level asked, and the highest that may be."""

    start: float
    stop: float = math.inf
    integer: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        if not (0 < self.start <= self.stop and math.isfinite(self.start)):
            raise InputError(f"levels from {self.start:g} to {self.stop:g}: the first must be above 0 and not above the last.")
        if self.integer and not all(float(end).is_integer() for end in (self.start, self.stop) if math.isfinite(end)):
            raise InputError(f"levels from {self.start:g} to {self.stop:g}: this option takes whole numbers only.")

    def level(self, wanted: float, step: float) -> float:
        """The nearest level that can be asked, not above the last; ``step`` is how far it lies from its neighbours."""
        decimals = 0 if self.integer else max(0, 3 - math.floor(math.log10(step)))
        return min(float(round(wanted, decimals)), self.stop)


@dataclass(frozen=True)
class Growth:
    """From one level to the next higher: times ``amount``, or plus it."""

    amount: float = 2.0
    multiplies: bool = True

    def __post_init__(self) -> None:
        if not math.isfinite(self.amount) or self.amount <= (1 if self.multiplies else 0):
            raise InputError(f"growth {self}: the next level must be higher; write for example '2x' or '+4'.")

    @classmethod
    def parse(cls, text: str | float) -> Growth:
        """``"2x"`` doubles, ``"+4"`` adds four."""
        written = str(text).strip().lower()
        try:
            if written.startswith("+"):
                return cls(float(written[1:]), multiplies=False)
            if written.endswith(("x", "×")):
                return cls(float(written[:-1]))
        except ValueError:
            pass
        raise InputError(f"growth {quoted(text)} is not understood; write '2x' to double or '+4' to add four.")

    def after(self, level: float, bounds: Bounds) -> float:
        """The next level to try."""
        grown = level * self.amount if self.multiplies else level + self.amount
        rounded = bounds.level(grown, grown - level)
        return min(max(rounded, level + 1), bounds.stop) if bounds.integer else rounded

    def __str__(self) -> str:
        return f"{self.amount:g}x" if self.multiplies else f"+{self.amount:g}"


@dataclass(frozen=True)
class Resolution:
    """How near the last level that held and the first that failed have to come: a share of the former, or a number of levels.

    Whole levels are asked at multiples of an absolute resolution from the level that held, so that block sizes stay aligned.
    """

    value: float = 0.02
    relative: bool = True

    def __post_init__(self) -> None:
        if not (math.isfinite(self.value) and self.value > 0):
            raise InputError(f"resolution {self}: it must be above 0; write for example '2%' or 4.")

    @classmethod
    def parse(cls, text: str | float) -> Resolution:
        """``"2%"`` is relative, ``4`` or ``"4"`` absolute."""
        written = str(text).strip()
        try:
            return cls(float(written[:-1]) / 100) if written.endswith("%") else cls(float(written), relative=False)
        except ValueError:
            raise InputError(f"resolution {quoted(text)} is not understood; write '2%' of the level, or a number such as 4.") from None

    def between(self, low: float, high: float, bounds: Bounds) -> float | None:
        """The level in the middle; None when the resolution is reached or no level lies between."""
        gap, enough = high - low, self.value * low if self.relative else self.value
        if gap <= enough * (1 + 1e-9):
            return None
        step = self.value if bounds.integer and not self.relative and float(self.value).is_integer() else 1.0
        middle = low + max(1, int(gap / 2 / step)) * step if bounds.integer else bounds.level(low + gap / 2, gap)
        return middle if low < middle < high else None

    def __str__(self) -> str:
        return f"{100 * self.value:g}%" if self.relative else f"{self.value:g}"


#: How often a first level that is too much is halved: down to a thousandth of it.
HALVINGS_MAX = 10


def points_of_search(bounds: Bounds, resolution: Resolution, growth: Growth, low: float | None = None) -> tuple[int, int]:
    """The fewest and the most points that a search takes from here on: from its first level, or with ``low`` as the highest that held."""
    climb = [float(bounds.start) if low is None else growth.after(low, bounds)]
    while climb[-1] < bounds.stop and len(climb) < _CLIMB_MAX:
        climb.append(growth.after(climb[-1], bounds))
    if low is not None and low >= bounds.stop:
        return 0, 0
    counts = [len(climb)]
    under = low
    for number, level in enumerate(climb, start=1):
        if under is not None:
            # The limit lies just above the level that held, or just below the one that failed.
            counts += [
                number + _halvings(under, level, under, bounds, resolution),
                number + _halvings(under, level, level, bounds, resolution),
            ]
        else:
            down = int(level).bit_length() if bounds.integer else HALVINGS_MAX
            counts += [number, number + down]
        under = level
    return min(counts), max(counts)


def points_between(low: float, high: float, bounds: Bounds, resolution: Resolution) -> int:
    """The most points that closing in takes."""
    return max(_halvings(low, high, low, bounds, resolution), _halvings(low, high, high, bounds, resolution))


def _halvings(low: float, high: float, toward: float, bounds: Bounds, resolution: Resolution) -> int:
    """How many levels lie between until the resolution is reached, if the limit lies beside ``toward``."""
    count = 0
    rising = toward == high
    while (middle := resolution.between(low, high, bounds)) is not None:
        count += 1
        low, high = (middle, high) if rising else (low, middle)
    return count


#: More levels of a climb than anybody measures.
_CLIMB_MAX = 10_000
#: How many times its duration a level is measured at most for want of requests.
LONGER_MAX = 30
#: A level of a model that lies so near to the limit, as a share of it, need not be decided.
NEAR = 0.005
#: How often it is measured again at most.
AGAIN_MAX = 3
#: The interval has to end before the limit, also where the value comes out a little nearer to it.
_SHORT_OF = 0.8
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
    #: How often it was measured anew.
    again: int = 0

    @property
    def deciding(self) -> str | None:
        """The precision that would settle its judgement; None where it is settled or near enough to the limit, or more time is no help."""
        item = self.nearest
        if self.judgement.settled or item is None or item.estimate is None or not item.clause.is_latency or self.again >= AGAIN_MAX:
            return None
        reached = relative_half_width(item.estimate)
        if reached is None or not all(_went_on(result) for result in self.results):
            return None
        apart = abs(item.estimate.value - item.clause.limit) / item.estimate.value
        wanted = max(NEAR, _SHORT_OF * apart)
        subject = item.clause.metric if item.op == ALL else f"{item.op} {item.clause.metric}"
        return None if reached <= wanted else f"{100 * wanted:.3g}% of {subject}"

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


def _went_on(result: Result) -> bool:
    """Whether the point went on by itself until it was precise: that of a model, whose time nobody chose, and which is not exhausted."""
    return result.modelled and result.ended.get("by") == "precision" and "goal" not in result.ended


class Probe:
    """Asks for levels of ``axis`` and remembers them in the order asked."""

    def __init__(self, axis: str, objective: Objective, repeats_max: int = 1) -> None:
        self.axis = axis
        self.objective = objective
        self.repeats_max = repeats_max
        self.levels: list[Probed] = []
        #: How long points last, once the duration proved too short; 0 for the experiment's own.
        self._seconds = 0
        #: How many points follow the next one at most, as far as the search knows; None when it does not.
        self.left: int | None = None

    @property
    def results(self) -> list[Result]:
        """Everything measured."""
        return [result for probed in self.levels for result in probed.results]

    @property
    def not_too_much(self) -> list[float]:
        """Levels that held or were passed over."""
        return [probed.level for probed in self.levels if not probed.too_much]

    @property
    def too_much(self) -> list[float]:
        """The other levels."""
        return [probed.level for probed in self.levels if probed.too_much]

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
        limit_s = LONGER_MAX * min(lasted_s(probed.results[0]) for probed in self.levels)
        while (lacking := self.levels[index].judgement.too_few) is not None and not lacking.by_amount:
            seconds = max(math.ceil(_ROOM * lacking.seconds_needed), self._seconds)
            if not lasted_s(self.levels[index].results[0]) < seconds <= limit_s:
                break
            self._seconds = seconds
            self.levels[index] = yield from self._measured(level, again=self.levels[index].again + 1)
        return not self.levels[index].too_much

    def decided(self, level: float) -> Generator[Ask, Result, bool]:
        """Measure a level of a model that lies too near to the limit to tell again, in place of what it was; whether it is not too much.

        Nothing is asked where points do not go on by themselves, that is on storage, and where somebody chose how long they last.
        """
        index = next(index for index, probed in enumerate(self.levels) if probed.level == level)
        while (precision := self.levels[index].deciding) is not None:
            self.levels[index] = yield from self._measured(level, again=self.levels[index].again + 1, precision=precision)
        return not self.levels[index].too_much

    def _measured(self, level: float, *, again: int = 0, precision: str | None = None) -> Generator[Ask, Result, Probed]:
        settings: Json = {self.axis: setting(level), **({"duration": f"{self._seconds}s"} if self._seconds and precision is None else {})}
        results: list[Result] = []
        for repeat in range(1, self.repeats_max + 1):
            asked = Ask(settings, level=level, repeat=repeat, again=again, precision=precision, left=self.left)
            results.append((yield asked))
            judgement = judge(self.objective, results)
            lacking = judgement.too_few
            if judgement.settled or idle(results) or (repeat == 1 and lacking and not lacking.cured_by(self.repeats_max)):
                break
        return Probed(level, tuple(results), judgement, again)
