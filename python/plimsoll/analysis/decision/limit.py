"""What limited a phase of decision support: locks, storage, processors, or nothing that engine and host show.

Model: locks did where the engine's sessions waited for them, its internal ones among them, for half of their time or more. Storage did
where some task stood waiting for it for half of the time (pressure stall information), or sessions did for half of theirs. Otherwise
processors did where they were busy for four fifths of the time, all of them or as much as one by the engine alone: a query that one thread
answers keeps one processor busy; of a server on another host, where its sessions computed for so much of their time. What remains waited
for the network, or for something that nobody counted.
Limits: only PostgreSQL tells what its sessions wait for. Transactions of DuckDB and Spark do not wait for locks: one that meets another is
undone.

    limit({"waiting_share": 0.6, "seconds": 2.0, "engine_cpu_s": 0.4, "cpu": {...}})      # Limit("storage", 0.6)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plimsoll.records import dataclass

WAITING_MIN, BUSY_MIN = 0.5, 0.8
WORDS = {
    "locks": "locks: sessions waited for each other for {share:.0%} of their time",
    "storage": "storage: some task waited for it for {share:.0%} of the time",
    "processors": "processors: they were busy for {share:.0%} of the time",
    "one processor": "processors: the engine kept {share:.1f} of them busy",
    "storage of sessions": "storage: sessions waited for it for {share:.0%} of their time",
    "processors of sessions": "processors: sessions computed for {share:.0%} of their time",
    "nothing seen": "neither storage nor processors; waiting elsewhere is not counted here",
    "none of them": "neither storage, processors nor locks; waiting elsewhere is not counted here",
}


@dataclass(frozen=True)
class Limit:
    """One of `WORDS`, with the share that says so: of the time, or how many processors."""

    what: str
    share: float

    def words(self) -> str:
        """In a sentence, without full stop."""
        return WORDS[self.what].format(share=self.share)


def busy_share(phase: Mapping[str, Any]) -> float | None:
    """The share of all processors' time that was used, by anybody."""
    cpu = phase.get("cpu") or {}
    user, system = cpu.get("user_percent"), cpu.get("system_percent")
    return None if user is None or system is None else float(user + system) / 100


def locks_share(phase: Mapping[str, Any]) -> float | None:
    """The share of their time that sessions waited for locks; None where the engine does not tell."""
    waits = phase.get("waits")
    return None if waits is None else float(waits.get("locks", 0.0) + waits.get("internal locks", 0.0))


def limit(phase: Mapping[str, Any]) -> Limit | None:
    """What limited a phase or a query as it is stored; None where nothing is known."""
    waiting, busy, engine_s = phase.get("waiting_share"), busy_share(phase), phase.get("engine_cpu_s")
    waits: Mapping[str, float] = phase.get("waits") or {}
    if waiting is None and busy is None and not waits:
        return None
    if (locks := locks_share(phase)) is not None and locks >= WAITING_MIN:
        return Limit("locks", locks)
    if waiting is not None and waiting >= WAITING_MIN:
        return Limit("storage", waiting)
    if waits.get("storage", 0.0) >= WAITING_MIN:
        return Limit("storage of sessions", waits["storage"])
    if busy is not None and busy >= BUSY_MIN:
        return Limit("processors", busy)
    seconds = float(phase.get("seconds") or 0.0)
    engine = float(engine_s) / seconds if engine_s is not None and seconds > 0 else 0.0
    if engine >= BUSY_MIN:
        return Limit("one processor", engine)
    if waits.get("processor", 0.0) >= BUSY_MIN:
        return Limit("processors of sessions", waits["processor"])
    return Limit("none of them" if waits else "nothing seen", 0.0)
