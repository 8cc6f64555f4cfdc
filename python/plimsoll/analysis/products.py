"""Published figures of products beside what their models say, and how often the intervals of the models hold them.

Model: an interval of 90 % of the draws (`plimsoll.analysis.uncertainty`) ought to hold nine of ten figures that were not used to set the
model. How many do is its *coverage*. Figures of which nothing is drawn have no interval and count in neither. `SHARE` is asked for, since
so few figures cannot tell 90 from 80 %.

    Coverage(figures).held, Coverage(figures).drawn, Coverage(figures).share
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from plimsoll.stored import Json

SCHEMA = "plimsoll.products/1"
#: The part of the intervals that ought to hold what is published.
SHARE = 0.8


@dataclass(frozen=True)
class HeldFigure:
    """A figure in the units of results (seconds for durations): published, modelled, between what the model lies, and what that mostly
    follows from. ``low`` and ``high`` are None where nothing is drawn, and ``exact`` says why."""

    array: str
    against: str | None
    what: str
    metric: str
    published: float
    modelled: float
    low: float | None
    high: float | None
    draws: int
    mostly: tuple[str, ...]
    source: str
    exact: str | None
    miss: str

    @property
    def error(self) -> float:
        """By what part the model is off."""
        return self.modelled / self.published - 1

    @property
    def holds(self) -> bool | None:
        """Whether the interval holds what is published; None without one."""
        return None if self.low is None or self.high is None else self.low <= self.published <= self.high

    def to_json(self) -> Json:
        """For programs."""
        ends: Any = None if self.low is None else {"low": self.low, "high": self.high, "draws": self.draws, "mostly": list(self.mostly)}
        plain = {name: getattr(self, name) for name in ("array", "against", "what", "metric", "published", "modelled", "source")}
        return {**plain, "error_percent": 100 * self.error, "interval": ends, "holds": self.holds, "exact": self.exact, "miss": self.miss}


@dataclass(frozen=True)
class Coverage:
    """All figures."""

    figures: Sequence[HeldFigure]

    @property
    def drawn(self) -> int:
        """How many have an interval."""
        return sum(one.holds is not None for one in self.figures)

    @property
    def held(self) -> int:
        """How many intervals hold what is published."""
        return sum(bool(one.holds) for one in self.figures)

    @property
    def share(self) -> float | None:
        """What part of the intervals does; None where there are none."""
        return self.held / self.drawn if self.drawn else None

    @property
    def enough(self) -> bool:
        """Whether that is as much as is asked for."""
        return self.share is None or self.share >= SHARE

    @property
    def missed(self) -> list[HeldFigure]:
        """Those whose interval does not."""
        return [one for one in self.figures if one.holds is False]

    def to_json(self) -> Json:
        """For programs."""
        coverage = {"held": self.held, "drawn": self.drawn, "share": self.share, "asked": SHARE, "enough": self.enough}
        return {"schema": SCHEMA, "coverage": coverage, "figures": [one.to_json() for one in self.figures]}
