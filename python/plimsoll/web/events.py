"""What a browser is told as it happens: Server-Sent Events, each of which says everything about its subject.

Model: ``hello`` with the version, then ``runs`` whenever the list changed, ``live`` whenever the run that is followed did, ``report`` when
a point of it ended, ``control`` where suites can be started, ``problem`` when the store cannot be read. A browser that was away for a while
needs nothing that it missed.

    told = BrowserState()
    told.news(News(entries))        # ["event: runs\\ndata: [...]\\n\\n", ...]; [] when nothing changed
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from plimsoll.web.control import ControlState
from plimsoll.web.listing import Entry
from plimsoll.web.live import Live

#: A browser comes back so many milliseconds after the connection broke.
RETRY_MS = 1000


def event(name: str, value: Any) -> str:
    """One event; JSON without line breaks, so that one ``data`` line holds it."""
    return f"event: {name}\ndata: {json.dumps(value, separators=(',', ':'))}\n\n"


def hello(version: str) -> str:
    """The first event of a connection: a page that another version made loads itself anew."""
    return f"retry: {RETRY_MS}\n{event('hello', {'version': version})}"


@dataclass(frozen=True)
class News:
    """How things stand: the list, the run that is followed, and what can be started where that is allowed."""

    entries: Sequence[Entry]
    live: Live | None = None
    control: ControlState | None = None


class BrowserState:
    """What one browser has been told."""

    def __init__(self) -> None:
        self._last: dict[str, str] = {}
        self._stage: tuple[str, int] | None = None

    def news(self, now: News) -> list[str]:
        """What is new since the last time."""
        live = now.live
        found = [self._changed("runs", now.entries)]
        if now.control is not None:
            found.append(self._changed("control", now.control))
        if live is not None:
            found.append(self._changed("live", live))
            stage = (live["status"], live["ended"])
            if self._stage not in (None, stage):
                found.append(event("report", {"name": live["name"]}))
            self._stage = stage
        self._last.pop("problem", None)
        return [one for one in found if one]

    def problem(self, sentence: str) -> list[str]:
        """That the store cannot be read, said once."""
        said = self._changed("problem", {"sentence": sentence})
        return [said] if said else []

    def _changed(self, name: str, value: Any) -> str:
        said = event(name, value)
        if self._last.get(name) == said:
            return ""
        self._last[name] = said
        return said
