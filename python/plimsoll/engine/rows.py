"""Rows of analytics workflows over the extension module.

native_rows().iterate(1000)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from plimsoll.engine.exchange import value_of
from plimsoll.engine.protocol import Control
from plimsoll.handover import as_name
from plimsoll.stored import Json


class NativeRows:
    """Rows of analytics workflows over the extension module."""

    def __init__(self, core: Any) -> None:
        self._core = core

    @property
    def extension(self) -> str:
        """Where the extension module is, for processes that load it and nothing else."""
        return str(self._core.__file__)

    def write(
        self, path: str, rows: tuple[int, int, int], text: bool, on_progress: Callable[[int], None] | None, control: Control
    ) -> Json | None:
        """Write the rows of seed, workflow and number to a new file, as lines if ``text``; ``tally`` and ``bytes``, None when stopped."""
        made: str | None = self._core.write_rows(as_name(path), rows, text, on_progress, control)
        return None if made is None else cast("Json", value_of(made))

    def iterate(self, loops: int) -> float:
        """Add 1 so many times, cubed; the sum."""
        return float(self._core.iterate_loops(loops))


def native_rows() -> NativeRows:
    """The rows of this installation."""
    from plimsoll import _core

    return NativeRows(_core)
