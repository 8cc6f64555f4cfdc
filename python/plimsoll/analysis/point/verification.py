"""Findings of verification: wrong data, and promises that a power cut broke.

Wrong data: data read back that are not what was written, or that nobody had stamped.

Model: the engine counts faults by kind and keeps the first of each as examples. A point with any fault is a failed one, whatever its
figures are: its numbers stay in the result, no objective holds on it and no mark rests on it. A workload that only looks for stamps of an
earlier run (``verify = "found"``) and finds none at all has verified nothing; where that run was, its data are gone, so the point fails,
too.
Limits: a point that was killed has no findings, since they come with its end.

    wrong_data(result)          # "wrong data was read: 22 lost of 32,296 sectors checked, first at byte 9,908,224."

Power-cut journals: what a run kept or checked (``verify = "journal"`` and ``"journal-check"``), as the engine said it.

Model: a run either *kept* a journal, which names the writes that the target promised to keep, or *checked* the target against one. Each
acknowledged write that is not there is a violation: the storage broke its word, and the point has failed like one that read wrong data.
Limits: counts are of all violations; the writes themselves are named up to ten thousand (``crates/engine/src/journal/check.rs``).

    broken_promises(result.engine)      # "the target broke its word: 3 lost, 1 torn of 12,345 acknowledged writes, first at byte 8,192."
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

from plimsoll.analysis.point import durability
from plimsoll.analysis.point.definition import streams
from plimsoll.analysis.point.recovery import broken_word
from plimsoll.analysis.point.transactions import inconsistency
from plimsoll.analysis.point.workflows import wrong_rows
from plimsoll.records import dataclass
from plimsoll.result import Result
from plimsoll.stored import Definition, EngineOutcome, JournalOutcome

FAULTS: tuple[Literal["lost", "torn", "misdirected", "stale", "corrupt"], ...] = ("lost", "torn", "misdirected", "stale", "corrupt")
#: Places that a sentence names.
_PLACES_MAX = 3


@dataclass(frozen=True)
class Findings:
    """What was found; ``places`` are the first examples, one for each address."""

    counts: Mapping[str, int]
    sectors_checked: int
    places: tuple[tuple[str, int], ...]
    nothing_stamped: bool

    @property
    def listed(self) -> str:
        """``22 lost, 3 torn of 32,296 sectors checked``; empty when everything was right."""
        found = ", ".join(f"{count:,} {kind}" for kind, count in self.counts.items() if count)
        return f"{found} of {self.sectors_checked:,} sectors checked" if found else ""


def findings(engine: EngineOutcome, definition: Definition) -> Findings:
    """What verification found, from what the engine says of a run and the workload's definition."""
    found = engine.get("verify") or {}
    counts: dict[str, int] = {kind: int((found.get(kind) or {}).get("findings", 0)) for kind in FAULTS}
    checked = int(found.get("sectors_checked", 0))
    places: dict[int, str] = {}
    for example in found.get("examples") or ():
        places.setdefault(int(example["address"]), str(example["fault"]))
    only_looks = all(stream.get("verify", "off") in ("off", "found") for stream in streams(definition))
    return Findings(
        counts=counts,
        sectors_checked=checked,
        places=tuple((kind, address) for address, kind in places.items())[:_PLACES_MAX],
        nothing_stamped=only_looks and 0 < counts["corrupt"] == checked,
    )


def wrong_data(result: Result) -> str | None:
    """Why the point fails although it was measured, in a sentence; None when everything read back was right, or nothing was verified."""
    if (broken := broken_promises(result.engine)) is not None:
        return broken
    if (astray := letters_astray(result.engine)) is not None:
        return astray
    if (wrong := wrong_answers(result.engine)) is not None:
        return wrong
    if (unsaved := broken_word(result.engine)) is not None:
        return unsaved
    if (inconsistent := inconsistency(result.engine)) is not None:
        return inconsistent
    if (forgotten := durability.broken(result.engine)) is not None:
        return forgotten
    if (wrong := wrong_rows(result.engine)) is not None:
        return wrong
    found = findings(result.engine, result.job.definition)
    if found.nothing_stamped:
        return f"none of the {found.sectors_checked:,} sectors read bears a stamp, so what was written there before is not there."
    if not found.listed:
        return None
    first = f", first at byte {found.places[0][1]:,}" if found.places else ""
    return f"wrong data was read: {found.listed}{first}."


def letters_astray(engine: EngineOutcome) -> str | None:
    """The sentence for mail that was accepted and is not where it belongs, whole and once; None when all is, or nobody counted."""
    account = (engine.get("mail") or {}).get("account") or {}
    faults = {"lost": "lost", "doubled": "twice there", "misdelivered": "in another's mailbox", "damaged": "damaged"}
    named = ", ".join(f"{int(account[fault]):,} {words}" for fault, words in faults.items() if account.get(fault))
    first = f"; {account['examples'][0]}" if account.get("examples") else ""
    return f"mail is not where it belongs: {named} of {int(account.get('taken', 0)):,} deliveries{first}." if named else None


def wrong_answers(engine: EngineOutcome) -> str | None:
    """The sentence for a database whose answers are not those that were expected; None when they are, or nobody compared them."""
    load = (engine.get("decision") or {}).get("load") or {}
    said = load.get("differences") or ()
    return f"wrong data was read: {len(load['wrong'])} of {len(load['checked'])} answers are wrong; {said[0]}" if said else None


def verified(result: Result) -> Result:
    """The result as it counts: failed where wrong data was read, also when it was stored as complete or stopped early."""
    said = wrong_data(result)
    if said is None or (result.status == "failed" and said in (result.error or "")):
        return result
    also = f" {result.error}" if result.status == "failed" and result.error else ""
    return replace(result, status="failed", error=f"{said}{also}")


#: What can become of an acknowledged write, in the order of tables, with the words for people.
KINDS = {
    "lost": "lost",
    "torn": "torn",
    "out_of_order": "out of order",
    "misdirected": "misdirected",
    "corrupt": "corrupt",
    "unreadable": "unreadable",
}


def kept(engine: EngineOutcome) -> JournalOutcome | None:
    """What was told to a journal: ``{journal, begun, durable}``; None for other runs."""
    found = engine.get("journal") or {}
    return found if found.get("did") == "kept" else None


def checked(engine: EngineOutcome) -> JournalOutcome | None:
    """What was found by a journal: ``{journal, acknowledged, sectors_checked, counts, violations, …}``; None for other runs."""
    found = engine.get("journal") or {}
    return found if found.get("did") == "checked" else None


def listed(found: JournalOutcome) -> str:
    """``3 lost, 1 torn of 12,345 acknowledged writes``; empty when all are there."""
    counts = found.get("counts") or {}
    named = ", ".join(f"{int(counts[kind]):,} {words}" for kind, words in KINDS.items() if counts.get(kind))
    return f"{named} of {int(found.get('acknowledged', 0)):,} acknowledged writes" if named else ""


def broken_promises(engine: EngineOutcome) -> str | None:
    """The sentence for a target that does not hold what it acknowledged; None when it does, or nothing was checked."""
    found = checked(engine)
    said = listed(found) if found else ""
    if not found or not said:
        return None
    violations = found.get("violations") or []
    first = f", first at byte {int(violations[0]['first_bad']):,}" if violations else ""
    return f"the target broke its word: {said}{first}."
