"""What the process of a workflow is started with, by its engine.

Orders(asked, inputs, ["sda"]).order(1, "/mnt/array/sas/work/1")
"""

from __future__ import annotations

import json
import os
import sys

from plimsoll.apps.analytics import worker
from plimsoll.apps.analytics.inputs import Inputs
from plimsoll.apps.analytics.options import WorkflowOptions
from plimsoll.apps.analytics.process import Order
from plimsoll.engine.rows import native_rows

#: How often a workflow tells what it moved; of many each tells less often, since hearing them takes processors that they could use.
_TOLD_EVERY_MS, _TOLD_APART_MS = 1000, 31


class Orders:
    """Of one point; ``devices`` are kernel names of the work's devices."""

    def __init__(self, asked: WorkflowOptions, inputs: Inputs, devices: list[str]) -> None:
        self._asked = asked
        self._inputs = inputs
        self._devices = devices

    def order(self, number: int, folder: str) -> Order:
        """Of one workflow that works in a directory."""
        asked, path = self._asked, self._inputs.path(number)
        spec = {
            "seed": asked.data_seed,
            "workflow": self._inputs.whose(number),
            "rows": asked.rows,
            "memory_bytes": asked.memory,
            "buffer_bytes": asked.buffer,
            "direct": asked.direct,
            "flush_at_close": asked.flush_at_close,
            "loops": asked.loops,
            "input": self._inputs.tally(number),
            "devices": self._devices,
            "told_every_ms": max(_TOLD_EVERY_MS, asked.workflows * _TOLD_APART_MS),
        }
        begun = self._duckdb() if asked.engine == "duckdb" else self._native()
        source = [] if path is None else [os.path.abspath(path)]
        return Order(number, [*begun, json.dumps(spec), os.path.abspath(folder), *source], folder, asked.memory)

    def _native(self) -> list[str]:
        return [sys.executable, "-I", "-S", str(worker.__file__), native_rows().extension]

    def _duckdb(self) -> list[str]:
        return [sys.executable, "-P", "-m", "plimsoll.apps.analytics.duckdb_worker"]
