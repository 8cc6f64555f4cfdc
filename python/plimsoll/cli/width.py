"""How wide what is printed may be.

Model: as wide as the terminal, or what the environment says in COLUMNS; 120 where stdout is neither.

    terminal_width()         # 120
"""

from __future__ import annotations

import shutil

_ELSEWHERE = 120


def terminal_width() -> int:
    """Characters of a line on stdout."""
    return shutil.get_terminal_size((_ELSEWHERE, 24)).columns
