"""Which arrival of ours is nearest to when a trace's requests come: constant, poisson, or a schedule of rates.

Model: gaps that hardly vary are constant. Otherwise the rate is looked at in windows: where their counts scatter no more from window to
window than within one, arrival is poisson; where they do, it is a schedule, of steps that are merged while their rates differ by no more
than noise.
Limits: within a step of a schedule, and within poisson, gaps are exponential; requests that come in bunches shorter than a window, or more
evenly, do so no more. A warning says so.

    arrival(spacing).kind
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from plimsoll.analysis.trace.spacing import Spacing

MOST_STEPS = 120
#: Windows of a trace's rate have so many requests on average, so that noise stays below 20 %.
_REQUESTS_PER_WINDOW = 25
CONSTANT_BELOW = 0.15
#: The highest rate of a stream.
FASTEST_PER_S = 1e9
_DEVIATIONS = 4.0
#: Windows whose rates differ by less than this share of the mean are not worth a schedule.
_LEVEL = 0.05
_ALIKE_DEVIATIONS = 3.0
_NS_PER_S = 1e9
#: Gaps of a Poisson process have a variation of 1.
_EVEN, _BUNCHED = 0.8, 1.3
#: Counts within a window scatter so much more than Poisson's before it is said.
_LOCALLY_BUNCHED = 1.5


@dataclass(frozen=True)
class Arrival:
    """``kind`` is an arrival of ours; ``steps`` are (from ns, requests per second)."""

    kind: str
    rate_per_s: float
    steps: tuple[tuple[int, float], ...] = ()
    warning: str | None = None


def arrival(spacing: Spacing) -> Arrival:
    """The nearest arrival; ``closed`` when all requests have the same time."""
    rate = spacing.rate_per_s
    if rate == 0:
        return Arrival("closed", 0.0)
    if rate > FASTEST_PER_S:
        return Arrival(
            "poisson", FASTEST_PER_S, warning=f"{rate:.3g} requests/s are more than the {FASTEST_PER_S:.0e} that a load can have"
        )
    if spacing.variation < CONSTANT_BELOW and spacing.count > 2:
        return Arrival("constant", rate)
    most = min(MOST_STEPS, spacing.count // _REQUESTS_PER_WINDOW)
    if most < 3:
        return Arrival("poisson", rate, warning=_unlike_poisson(spacing.variation))
    bunched = max(1.0, spacing.local_dispersion(most))
    if _is_level(spacing, most, bunched):
        return Arrival("poisson", rate, warning=_unlike_poisson(spacing.variation))
    return Arrival("schedule", rate, _steps(spacing, most, bunched), _bunched(bunched))


def _is_level(spacing: Spacing, most: int, bunched: float) -> bool:
    counts = spacing.merged(most)[1][:-1]
    if len(counts) < 2:
        return True
    mean = sum(counts) / len(counts)
    dispersion = spacing.dispersion(most)
    noise = bunched * (1 + _DEVIATIONS * math.sqrt(2 / (len(counts) - 1)))
    return dispersion <= noise or math.sqrt(dispersion / mean) < _LEVEL


def _bunched(dispersion: float) -> str | None:
    if dispersion > _LOCALLY_BUNCHED:
        scatter = f"within a step counts scatter {dispersion:.2f} times as much as Poisson's"
        return f"{scatter}: requests come in bunches that the workload does not have"
    return None


def _unlike_poisson(variation: float) -> str | None:
    if variation > _BUNCHED:
        return f"gaps vary more than Poisson's (coefficient {variation:.2f}): requests come in bunches that the workload does not have"
    if variation < _EVEN:
        return f"gaps vary less than Poisson's (coefficient {variation:.2f}): requests come more evenly than the workload's"
    return None


def _steps(spacing: Spacing, most: int, bunched: float) -> tuple[tuple[int, float], ...]:
    """Rates of stretches of windows, neighbours merged while they are alike; ``bunched`` is how much more than Poisson's counts scatter."""
    window_ns, counts = spacing.merged(most)
    stretches: list[tuple[int, int]] = []
    # The last window is cut short where the trace ends; it goes on as the one before it.
    for count in counts[:-1]:
        if stretches and _alike(stretches[-1], count, bunched):
            windows, before = stretches[-1]
            stretches[-1] = (windows + 1, before + count)
        else:
            stretches.append((1, count))
    steps, at_ns = [], 0
    for windows, count in stretches:
        steps.append((at_ns, min(FASTEST_PER_S, count / windows / window_ns * _NS_PER_S)))
        at_ns += windows * window_ns
    return tuple(steps)


def _alike(stretch: tuple[int, int], count: int, bunched: float) -> bool:
    windows, before = stretch
    expected = before / windows
    return abs(count - expected) <= _ALIKE_DEVIATIONS * math.sqrt(bunched * max(1.0, expected * (1 + 1 / windows)))
