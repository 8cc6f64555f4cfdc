"""How far, how fast and how finely a planner moves along one axis of load.

Model: levels are positive. An integer axis (queue depth, threads, a block size) is asked whole numbers only. Levels of other axes that are
computed are rounded to a thousandth of the step that leads to them, so that they are short to read and to write.

    bounds = Bounds(start=1, stop=256, integer=True)
    Growth.parse("2x").after(3, bounds)                    # 6
    Resolution.parse("2%").between(24, 32, bounds)         # 28; None when the two are near enough
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from plimsoll.errors import InputError


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
        raise InputError(f"growth {text!r} is not understood; write '2x' to double or '+4' to add four.")

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
            raise InputError(f"resolution {text!r} is not understood; write '2%' of the level, or a number such as 4.") from None

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
