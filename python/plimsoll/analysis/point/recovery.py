"""What a recovery of a mail store found: whether all that was acknowledged is there, and how long it took.

Model: the driver's section of the outcome has a table for each database (`crates/mailstore/src/recovery.rs`). Whatever is lost, older
than what was saved, newer than the log, or damaged means that the target, or who keeps its log in order, broke its word; the point has
failed then.
Limits: without a file of acknowledged commits nobody knows how many there have to be.

    broken_word(result.engine)      # "database-1 has lost 3 of 1,234 acknowledged commits."
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from plimsoll.stored import EngineOutcome
from plimsoll.units import count, significant

#: What can be wrong, in the order of tables, with the words for people.
FAULTS = {
    "commits_lost": "of {commits_acknowledged:,} acknowledged commits lost",
    "pages_lost": "pages older than what was saved of them",
    "pages_ahead": "pages newer than the log",
    "pages_damaged": "damaged pages",
    "gaps": "changes missing from the log",
}


def recoveries(engine: EngineOutcome) -> list[tuple[str, dict[str, Any]]]:
    """The databases that were recovered, each with what was found."""
    databases = (engine.get("mailstore") or {}).get("databases") or ()
    return [(str(database["database"]), database["recovery"]) for database in databases if database.get("recovery")]


def broken_word(engine: EngineOutcome) -> str | None:
    """The sentence for what was acknowledged and is not there; None when all is."""
    broken = [sentence for name, found in recoveries(engine) for sentence in _faults(name, found)]
    return f"what the mail store had saved is not there: {'; '.join(broken)}." if broken else None


def _faults(name: str, found: dict[str, Any]) -> Iterator[str]:
    named = [f"{int(found[key]):,} {words.format(**found)}" for key, words in FAULTS.items() if found.get(key)]
    if named:
        first = f" ({found['example']})" if found.get("example") else ""
        yield f"{name} has {', '.join(named)}{first}"


def said(name: str, found: dict[str, Any]) -> str:
    """What one recovery did, in a sentence or two."""
    did = (
        f"{name} was recovered in {significant(float(found['seconds']))} s: {count(float(found['log_files']))} log files, "
        f"{int(found['records']):,} changes, {int(found['pages_redone']):,} of {int(found['pages_read']):,} pages written anew."
    )
    if broken := list(_faults(name, found)):
        return f"{did} But {broken[0]}."
    if found.get("commits_acknowledged") is None:
        return f"{did} It has {int(found['commits_found']):,} commits; how many were acknowledged nobody remembers."
    return f"{did} All {int(found['commits_acknowledged']):,} acknowledged commits are there."
