"""What the targets of a run are, as they are found while it is planned: each is looked at once.

Model: a look at a file or device goes through the open files of every process on the host, which takes milliseconds, and much longer on a
host with thousands of processes. Planning asks the same target several questions within a moment, so they share one look.
Limits: what a look found is out of date later. Whoever makes, writes or measures a target looks at it anew (`plimsoll.scratch`).

    looks = Looks(engine)
    looks.at(workload, target)["size_bytes"]
"""

from __future__ import annotations

from collections.abc import Callable

from plimsoll.engine.protocol import Engine
from plimsoll.points.drivers import driver_of
from plimsoll.stored import Definition, Inspection
from plimsoll.target import Target


class Looks:
    """Looks at targets through the driver of a workload; a target is that of one driver. What is yet to be laid out, ``planned`` tells."""

    def __init__(self, engine: Engine, planned: Callable[[Target], Inspection] | None = None) -> None:
        self._engine = engine
        self._planned = planned
        self._found: dict[Target, Inspection] = {}

    def at(self, workload: Definition, target: Target) -> Inspection:
        """What the target was when it was first asked for; raises what the look raised."""
        found = self._found.get(target)
        if found is None and target.layout and self._planned is not None:
            found = self._found[target] = self._planned(target)
        if found is None:
            found = self._found[target] = driver_of(workload, self._engine).inspect_target(target)
        return found
