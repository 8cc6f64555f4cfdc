"""What the extension module takes and says: JSON text, made from Python values and read into them.

value_of(core.check_job(as_json(options)))
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from plimsoll.displayed import displayed_in_line
from plimsoll.engine.protocol import Job, OnEvent, Permission
from plimsoll.handover import as_json, as_name


def permission_text(permission: Permission | None) -> str | None:
    """Leave to write as the engine takes it."""
    return None if permission is None else as_json(permission.to_json(), "--destroy-data")


def job_text(job: Job, target: str) -> str:
    """A job as the engine takes it."""
    permission = job["permission"]
    return as_json({**job, "target": as_name(target), "permission": None if permission is None else permission.to_json()})


def forwarded(on_event: OnEvent) -> Callable[[str, str], None]:
    """What hears the engine's events as text."""
    return lambda kind, text: on_event(kind, json.loads(text))


def name_text(name: str) -> str:
    """The name of a file or option for messages of the engine, which takes only what can be encoded."""
    return displayed_in_line(name)


def value_of(text: str) -> Any:
    """What the engine says, of the type that the verb promises."""
    return json.loads(text)
