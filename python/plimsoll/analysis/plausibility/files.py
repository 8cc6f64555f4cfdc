"""Flags about file operations: drawn and not to be done, or all done before the time was over."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from plimsoll.analysis.plausibility.evidence import Evidence, quantity
from plimsoll.result import Flag

#: Skipped over drawn operations of a kind above which the mix is not the one asked for.
SKIPPED_SHARE_MAX = 0.01


def operations_skipped(evidence: Evidence) -> Iterator[Flag]:
    """Operations were drawn that no file or directory was there for, so the others are more than their share."""
    for name, by_op in (_files(evidence).get("skipped") or {}).items():
        totals = evidence.result.streams.get(name, {})
        for op, skipped in by_op.items():
            done = totals[op].count if op in totals else 0
            if skipped > SKIPPED_SHARE_MAX * (done + skipped) and skipped > 1:
                yield Flag(
                    "operations_skipped",
                    "doubt",
                    f"Stream {name} drew {op} {quantity(skipped)} times when there was nothing to {op}, and did it {quantity(done)} times: "
                    "the operations are not mixed as asked.",
                    "Let as many files come as go (create and delete in equal shares), and set filled between the extremes.",
                )


def ran_out(evidence: Evidence) -> Iterator[Flag]:
    """Nothing was left to do before the time was over."""
    if _files(evidence).get("ran_out"):
        yield Flag(
            "ran_out",
            "note",
            f"After {evidence.observation.elapsed_s:.3g} s no operation found a file or directory any more; the numbers cover that time.",
            "Use larger trees, or operations that undo each other, when the whole duration is to be measured.",
        )


def _files(evidence: Evidence) -> dict[str, Any]:
    return evidence.result.engine.get("files") or {}
