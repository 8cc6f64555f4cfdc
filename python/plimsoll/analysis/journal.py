"""What a run had to do with a power-cut journal (``verify = "journal"`` and ``"journal-check"``), as the engine said it.

Model: a run either *kept* a journal, which names the writes that the target promised to keep, or *checked* the target against one. Each
acknowledged write that is not there is a violation: the storage broke its word, and the point has failed like one that read wrong data.
Limits: counts are of all violations; the writes themselves are named up to ten thousand (``crates/engine/src/journal/check.rs``).

    broken_promises(result.engine)      # "the target broke its word: 3 lost, 1 torn of 12,345 acknowledged writes, first at byte 8,192."
"""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]

#: What can become of an acknowledged write, in the order of tables, with the words for people.
KINDS = {
    "lost": "lost",
    "torn": "torn",
    "out_of_order": "out of order",
    "misdirected": "misdirected",
    "corrupt": "corrupt",
    "unreadable": "unreadable",
}


def kept(engine: Json) -> Json | None:
    """What was told to a journal: ``{journal, begun, durable}``; None for other runs."""
    found = engine.get("journal") or {}
    return found if found.get("did") == "kept" else None


def checked(engine: Json) -> Json | None:
    """What was found by a journal: ``{journal, acknowledged, sectors_checked, counts, violations, …}``; None for other runs."""
    found = engine.get("journal") or {}
    return found if found.get("did") == "checked" else None


def listed(found: Json) -> str:
    """``3 lost, 1 torn of 12,345 acknowledged writes``; empty when all are there."""
    counts = found.get("counts") or {}
    named = ", ".join(f"{int(counts[kind]):,} {words}" for kind, words in KINDS.items() if counts.get(kind))
    return f"{named} of {int(found.get('acknowledged', 0)):,} acknowledged writes" if named else ""


def broken_promises(engine: Json) -> str | None:
    """The sentence for a target that does not hold what it acknowledged; None when it does, or nothing was checked."""
    found = checked(engine)
    said = listed(found) if found else ""
    if not found or not said:
        return None
    violations = found.get("violations") or []
    first = f", first at byte {int(violations[0]['first_bad']):,}" if violations else ""
    return f"the target broke its word: {said}{first}."
