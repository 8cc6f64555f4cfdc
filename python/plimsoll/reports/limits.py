"""What limited modelled arrays and what failed in them, in words: the terminal and the page say the same.

Model: a point is limited by its saturated set of components, if there is one; a configuration by those of its points.
Limits: nothing is known of real targets, of which nothing is said.

    limit_words(component_sets(result))          # "limited by disk"
    busy_words(component_sets(result))           # "8 × disk 97% busy (at most 99%), raid.cpu 4% busy"
    incident_words(result)                       # "1.000 s: member 0 of group vd0 failed (modelled, …)"
    configuration_words("array:nvme", ["limited by nand", "limited by nand"])
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from plimsoll.analysis.components import ComponentSet, bottleneck
from plimsoll.analysis.incidents import incident_line, rebuilds_s
from plimsoll.result import Result

#: Sets of components that are told of a point, the busiest first.
_COMPONENTS = 8


def limit_words(sets: Sequence[ComponentSet]) -> str:
    """Which component limited a point; empty without components."""
    if not sets:
        return ""
    limit = bottleneck(sets)
    return f"limited by {limit.name}" if limit else "nothing was saturated"


def busy_words(sets: Sequence[ComponentSet]) -> str:
    """How busy the components of a point were, the busiest of them."""
    return ", ".join(map(_busy, sets[:_COMPONENTS]))


def incident_words(result: Result) -> str:
    """What failed when, and how long rebuilds took; empty when nothing failed."""
    told = incident_line(result.engine)
    if not told:
        return ""
    spent = [f"{seconds:.3f} s" for seconds in rebuilds_s(result.engine)]
    rebuilt = f"; the rebuild{'s' if len(spent) > 1 else ''} took {', '.join(spent)}" if spent else ""
    return f"{told} (modelled, seconds from the beginning of the warm-up){rebuilt}"


def configuration_words(label: str, limits: Sequence[str]) -> str:
    """One sentence about the points of a configuration, of which ``limits`` are the `limit_words`."""
    counted = Counter(limits).most_common()
    if len(counted) == 1:
        where = f" at all {len(limits)} points" if len(limits) > 1 else ""
        return f"{label} (modelled): {limits[0]}{where}."
    (first, often), *others = counted
    told = [f"{first} at {often} of {len(limits)} points", *(f"{words} at {times}" for words, times in others)]
    return f"{label} (modelled): {', '.join(told)}."


def _busy(one: ComponentSet) -> str:
    if one.hit_share is not None:
        return f"{one.name} {one.hit_share:.0%} hits"
    if one.count > 1:
        return f"{one.count} × {one.name} {one.utilisation:.0%} busy (at most {one.busiest:.0%})"
    return f"{one.name} {one.utilisation:.0%} busy"
