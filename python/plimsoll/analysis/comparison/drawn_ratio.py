"""Ratios of modelled figures under uncertainty: draw by draw, so that what two sides share cancels.

Model: draws of one number and seed have the same value for every statement of the catalog that both arrays rest on, so the ratio of a draw
is that of two arrays that differ only by what they differ by, and by what is uncertain of one alone. The interval of the ratios is as of
any figure (`plimsoll.analysis.uncertainty.interval`). Where it reaches across 1, which side is faster depends on values that nobody has
looked up, however exactly both were modelled.
Limits: sides drawn with different seeds have none; of sides with more and fewer draws the first of both count. Of repeats, which differ by
the seed of their load only, the mean is taken draw by draw.

    drawn_ratio(sides_estimates, baselines_estimates)        # DrawnRatio(low=1.08, high=1.31, level=0.9, draws=60)
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import TypedDict

from plimsoll.analysis.uncertainty.interval import quantile
from plimsoll.records import dataclass
from plimsoll.result import DrawnInterval, Estimate
from plimsoll.units import three_digits

#: Rows up to which each has a sentence.
_TOLD = 4
#: Fewer common draws than this have no interval.
_DRAWS_MIN = 10


class DrawnRatioView(TypedDict):
    """As programs read it."""

    low: float
    high: float
    level: float
    draws: int


@dataclass(frozen=True)
class DrawnRatio:
    """Between what a ratio lies: ``level`` of the common ``draws``."""

    low: float
    high: float
    level: float
    draws: int

    @property
    def is_open(self) -> bool:
        """Whether it reaches across 1."""
        return self.low < 1 < self.high

    def to_json(self) -> DrawnRatioView:
        """As programs read it."""
        return {"low": self.low, "high": self.high, "level": self.level, "draws": self.draws}

    def words(self) -> str:
        """``1.08 to 1.31 ×``."""
        low, high = three_digits(self.low), three_digits(self.high)
        return f"{low} ×" if low == high else f"{low} to {high} ×"


def drawn_ratio(ones: Sequence[Estimate], others: Sequence[Estimate]) -> DrawnRatio | None:
    """How many times ``ones`` are ``others``, both the repeats of one point, over the draws that both have; None where there are none."""
    now, before = _drawn(ones), _drawn(others)
    if not now or not before or {one.seed for one in now} != {one.seed for one in before} or len({one.seed for one in now}) > 1:
        return None
    ratios = [a / b for a, b in zip(_means(now), _means(before), strict=False) if a is not None and b is not None and b > 0]
    if len(ratios) < _DRAWS_MIN:
        return None
    level = now[0].level
    return DrawnRatio(quantile(ratios, (1 - level) / 2), quantile(ratios, (1 + level) / 2), level, len(ratios))


def _drawn(estimates: Sequence[Estimate]) -> list[DrawnInterval]:
    """The draws of every repeat; empty where one has none."""
    found = [estimate.interval for estimate in estimates if estimate.interval is not None]
    return found if len(found) == len(estimates) else []


def _means(drawn: Sequence[DrawnInterval]) -> list[float | None]:
    every = zip(*(one.values for one in drawn), strict=False)
    return [fmean(value for value in values if value is not None) if None not in values else None for values in every]


def drawn_notes(rows: Sequence[tuple[str, DrawnRatio]], baseline: str) -> list[str]:
    """What the ratios say under uncertainty, in sentences; each row as what its figure and side are called, and its ratio."""
    if not rows:
        return []
    first = rows[0][1]
    draws = f"{round(100 * first.level)} % of {first.draws} draws"
    how = f"in {draws} of what nobody has looked up, in which both sides have in common what they share"
    if len(rows) <= _TOLD:
        return [f"Under uncertainty {called} is {ratio.words()} that of {baseline} {how}{_open(ratio)}." for called, ratio in rows]
    unsure = [called for called, ratio in rows if ratio.is_open]
    if not unsure:
        return [f"Under uncertainty all {len(rows)} ratios stay on their side of 1 {how}."]
    return [
        f"Under uncertainty {len(unsure)} of {len(rows)} ratios reach across 1 {how}: which side is faster there is not known; "
        f"the first is {unsure[0]}."
    ]


def _open(ratio: DrawnRatio) -> str:
    return ": which of them is faster is not known" if ratio.is_open else ""
