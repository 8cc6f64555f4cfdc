"""A row of the table: a goal, what was measured, and whether that meets it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

Sense = Literal["at least", "at most"]


@dataclass(frozen=True)
class Row:
    """One goal. ``measured`` is None when it could not be measured, and ``detail`` then says why; ``is_noise`` says that it was tried, and
    that chance is larger than the goal."""

    what: str
    sense: Sense
    goal: float
    unit: str
    measured: float | None
    detail: str
    is_noise: bool = False

    @property
    def met(self) -> bool | None:
        """Whether the goal is met; None when it was not measured."""
        if self.measured is None:
            return None
        return self.measured >= self.goal if self.sense == "at least" else self.measured <= self.goal

    @property
    def verdict(self) -> str:
        """Met, missed by how much, not measurable, or missing."""
        if self.measured is None:
            return "not measurable" if self.is_noise else "missing"
        if self.met:
            return "met"
        if self.unit.startswith("%"):
            return f"missed by {abs(self.measured - self.goal):.3g} points"
        return f"missed by {abs(self.measured / self.goal - 1):.1%}"

    def to_json(self) -> dict[str, Any]:
        """With the verdict."""
        return {**asdict(self), "met": self.met, "verdict": self.verdict}


def unmeasured(group: str, why: str) -> Row:
    """Stands for all goals of a group."""
    return Row(f"all of group {group}", "at least", 0.0, "", None, why.replace("\n", " "))


def millions(per_s: float) -> str:
    """A rate in millions."""
    return f"{per_s / 1e6:.2f} M"
