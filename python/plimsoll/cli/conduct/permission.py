"""What ``--destroy-data`` allows, as the engine takes it.

permission("WD-123")        # {"destroy": True, "typed": "WD-123"}
"""

from __future__ import annotations

from plimsoll.engine import Json


def permission(typed: str | None) -> Json | None:
    """None when nothing was typed; an empty text is the bare option."""
    return None if typed is None else {"destroy": True, "typed": typed or None}
