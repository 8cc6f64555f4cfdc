"""What sessions of PostgreSQL are at, as the server tells of each at any moment: computing, or waiting for storage, locks, or the client.

Model: wait events have classes (PostgreSQL, "Monitoring Database Activity"); without an event a session computes. Turns to write the log
count as waiting for storage. Servers of parallel queries are sessions like the others.
Limits: a moment is a moment; shares come from many.

    class_of("Lock transactionid")            # "locks"
"""

from __future__ import annotations

#: Of our active sessions but the one that asks, how many are at what.
ASKED = (
    "SELECT coalesce(wait_event_type || ' ' || wait_event, ''), count(*) FROM pg_stat_get_activity(NULL) "
    "WHERE application_name = 'plimsoll' AND state = 'active' AND pid <> pg_backend_pid() GROUP BY 1"
)
#: What counts as waiting for storage besides the class IO: turns to flush the log.
_STORAGE_EVENTS = ("WALWrite", "WALInsert")


def class_of(event: str) -> str:
    """What kind of thing a wait is for."""
    kind, _, name = event.partition(" ")
    if not kind:
        return "processor"
    if kind == "IO" or name in _STORAGE_EVENTS:
        return "storage"
    return {"Lock": "locks", "LWLock": "internal locks", "BufferPin": "internal locks", "Client": "client"}.get(kind, "other")
