"""Several plans at once, point by point: A B A B, so that drift of the machine falls on all alike. Or one after the other.

Model: plans are asked by turns, in the order of the mapping; one that has concluded drops out, the others go on. Plans need not be equally
long. Each hears only the results of its own asks.

    turns = interleaved({subject: plan_of(subject) for subject in subjects})
    subject, ask = next(turns)
    subject, ask = turns.send(result)         # or StopIteration with {subject: conclusion}
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from typing import TypeVar

from plimsoll.experiments.plan import Ask, Conclusion, Plan
from plimsoll.result import Result

K = TypeVar("K")


def interleaved(plans: Mapping[K, Plan]) -> Generator[tuple[K, Ask], Result, dict[K, Conclusion]]:
    """One ask of each plan by turns, until all have concluded; conclusions in the order of ``plans``."""
    waiting: dict[K, Result | None] = dict.fromkeys(plans)
    concluded: dict[K, Conclusion] = {}
    while waiting:
        for key, result in list(waiting.items()):
            try:
                ask = next(plans[key]) if result is None else plans[key].send(result)
            except StopIteration as stop:
                concluded[key] = stop.value
                del waiting[key]
            else:
                waiting[key] = yield key, ask
    return {key: concluded[key] for key in plans}


def in_turn(plans: Mapping[K, Plan]) -> Generator[tuple[K, Ask], Result, dict[K, Conclusion]]:
    """Each plan to its end before the next one begins."""
    concluded: dict[K, Conclusion] = {}
    for key, plan in plans.items():
        concluded.update((yield from interleaved({key: plan})))
    return concluded
