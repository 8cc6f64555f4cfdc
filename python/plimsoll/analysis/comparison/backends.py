"""Points whose sides the kernel was asked in different ways, because ``auto`` chose differently: part of their ratio is that.

backend_notes(["A", "B"], [[(of_a,), (of_b,)]])        # ["auto carried 1 point by system calls on A and by io_uring on B: …"]
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from plimsoll.result import Result

#: The ways into the kernel between which ``auto`` chooses, in words.
_WAYS = {"uring": "io_uring", "sync": "system calls"}


def backend_notes(labels: Sequence[str], matches: Sequence[Sequence[Sequence[Result]]]) -> Iterator[str]:
    """A sentence for each side that ``auto`` carried otherwise than the first; ``matches`` has the results of each point by side."""
    for position, label in enumerate(labels[1:], 1):
        ways = Counter((_ways(groups[0]), _ways(groups[position])) for groups in matches)
        for (before, now), count in sorted(ways.items()):
            if before and now and before != now:
                points = "1 point" if count == 1 else f"{count} points"
                yield (
                    f"auto carried {points} by {before} on {labels[0]} and by {now} on {label}: part of the difference is that. "
                    "Give both sides the same, with --set backend=sync or --set backend=uring."
                )


def _ways(results: Sequence[Result]) -> str:
    """What carried a side's repeats, in words; empty where something else than ``auto`` decided."""
    backends = [result.engine.get("backend") or {} for result in results]
    ways = [_WAYS.get(str(one.get("used"))) if one.get("asked") == "auto" else None for one in backends]
    return " and ".join(sorted({way for way in ways if way})) if all(ways) else ""
