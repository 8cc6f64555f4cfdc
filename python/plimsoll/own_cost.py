"""What one I/O costs Plimsoll itself, as the engine measured it; the only place that knows the keys of its figures.

Model: the loop is run on ``null`` (no I/O at all) and ``nop`` (an empty trip through io_uring), each at several depths. What is stored and
printed are the engine's figures as they came, so that a later version may add some.
Limits: figures that were stored may be damaged; a rate that is no number is none.

    cost = OwnCost(figures)
    cost.per_core(NOP)          # I/Os per second of one core: 1.2e7
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, Literal

from plimsoll.records import dataclass

Path = Literal["null", "nop"]
#: The paths: through the loop alone, and through io_uring as well.
NULL: Path = "null"
NOP: Path = "nop"
#: No processor needs longer for an I/O that reaches no storage; the slowest emulated ones stay below a tenth of it.
COST_NS_MAX = 100_000.0
_RATE = "iops_per_core"


@dataclass(frozen=True)
class OwnCost:
    """The figures of a calibration, as they are stored."""

    figures: dict[str, Any]

    def per_core(self, path: Path) -> float | None:
        """How many I/Os one core issues per second on a path; None where that was not measured."""
        part = self.figures.get(path)
        rate = part.get(_RATE) if isinstance(part, dict) else None
        return float(rate) if isinstance(rate, (int, float)) and rate > 0 else None

    def sensible(self) -> bool:
        """Whether every part completed something, at a cost that a processor can have. ``nop`` is missing where there is no io_uring."""
        nop = self.figures.get(NOP)
        parts = [self.figures.get(NULL), *([] if nop is None else [nop])]
        rates = [rate for part in parts for rate in _rates(part)]
        return bool(rates) and all(
            isinstance(rate, (int, float)) and math.isfinite(rate) and rate > 0 and 1e9 / rate <= COST_NS_MAX for rate in rates
        )

    def lines(self) -> Iterator[tuple[str, float | None, dict[str, float]]]:
        """Each part with what one core issues per second, and the nanoseconds of what it does, by name."""
        for name, part in self.figures.items():
            if isinstance(part, dict):
                rate = part.get(_RATE)
                spent = {key.removesuffix("_ns"): value for key, value in part.items() if key.endswith("_ns") and _is_number(value)}
                yield name, rate if _is_number(rate) else None, spent


def _rates(part: object) -> list[object]:
    """The rate of a part and those of its depths; None for one that is missing."""
    if not isinstance(part, dict):
        return [None]
    return [part.get(_RATE), *(depth.get(_RATE) for depth in part.values() if isinstance(depth, dict))]


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float))
