"""How the WDs of a run share threads and rate: by skew.

Model: a WD with a skew has that share in percent; those without share the rest equally. Threads are whole, so they are dealt out by the
largest remainder, at least one to each.

    skews([wd1, wd2])              # {wd1: 0.7, wd2: 0.3}
    dealt(16, [0.7, 0.3])          # [11, 5]
"""

from __future__ import annotations

from collections.abc import Sequence

from plimsoll.formats.vdbench.definition import Definition
from plimsoll.formats.vdbench.numbers import number

_EXACT = 1e-6


def skews(workloads: Sequence[Definition], *, zero_is_none: bool = False) -> dict[Definition, float]:
    """Each WD's or FWD's share of the whole; with ``zero_is_none`` a skew of 0 is as none."""
    given: dict[Definition, float] = {}
    last = None
    for workload in workloads:
        parameter = workload.get("skew")
        if parameter is not None and not (zero_is_none and number(parameter).value == 0):
            last, given[workload] = parameter, number(parameter).value
            if not 0 < given[workload] <= 100:
                raise parameter.wrong(f"{given[workload]:g} is no share; write a percentage above 0 and up to 100.")
    kind = workloads[0].block.upper() if workloads else "WD"
    whole, without = sum(given.values()), [workload for workload in workloads if workload not in given]
    if last is not None and (whole > 100 + _EXACT or (not without and abs(whole - 100) > _EXACT)):
        raise last.wrong(f"the skews of the run's {kind}s make {whole:g} and not 100; correct one of them.")
    if last is not None and without and whole > 100 - _EXACT:
        raise last.wrong(f"the skews of the run's {kind}s make 100, and {kind} {without[0].name!r} has none left; correct one of them.")
    rest = (100 - whole) / len(without) if without else 0
    return {workload: given.get(workload, rest) / 100 for workload in workloads}


def dealt(many: int, shares: Sequence[float]) -> list[int]:
    """``many`` threads by shares, at least one each."""
    whole = sum(shares)
    exact = [many * share / whole for share in shares]
    counts = [max(1, int(part)) for part in exact]
    by_remainder = sorted(range(len(shares)), key=lambda at: (int(exact[at]) - exact[at], at))
    for at in by_remainder[: max(0, many - sum(counts))]:
        counts[at] += 1
    while sum(counts) > many and max(counts) > 1:
        # Those who were given their one thread take it from the largest.
        counts[counts.index(max(counts))] -= 1
    return counts
