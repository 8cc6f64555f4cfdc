"""Which FWDs a run has, which FSDs these work on, and where the trees of these lie.

forest = Forest(planning)
forest.workloads_of(run), forest.fsds_of(run), forest.seats[fsd].target
"""

from __future__ import annotations

from functools import cached_property

from plimsoll.formats.vdbench.definition import Definition
from plimsoll.formats.vdbench.filesystem.anchor import Seat, seats
from plimsoll.formats.vdbench.names import chosen
from plimsoll.formats.vdbench.planning import Planning

#: The FWD that says how Vdbench formats; it is never run.
FORMAT = "format"


class Forest:
    """The trees of all runs of a file."""

    def __init__(self, planning: Planning) -> None:
        self._planning = planning
        self._say_of_format()

    @cached_property
    def seats(self) -> dict[Definition, Seat]:
        """Where the tree of every FSD lies that a run works on."""
        groups = [self.fsds_of(run) for run in self._planning.file.of("rd").values()]
        return seats(groups, self._planning.verdicts, self._planning.targets.target)

    def workloads_of(self, run: Definition) -> list[Definition]:
        """The FWDs of a run."""
        parameter = run.get("fwd")
        if parameter is None:
            raise run.head.wrong(f"RD {run.name!r} has no fwd; write fwd=NAME, or fwd=* for all of them.")
        known = {name: fwd for name, fwd in self._planning.file.of("fwd").items() if name != FORMAT}
        found = [known[name] for name in chosen(parameter, list(known))]
        self._planning.used |= set(found)
        return found

    def fsds_of_workload(self, workload: Definition) -> list[Definition]:
        """The FSDs that a FWD works on."""
        parameter = workload.get("fsd")
        if parameter is None:
            raise workload.head.wrong(f"FWD {workload.name!r} has no fsd; write fsd=NAME, or fsd=* for all of them.")
        known = self._planning.file.of("fsd")
        found = [known[name] for name in chosen(parameter, list(known))]
        self._planning.used |= set(found)
        return found

    def target_of(self, workload: Definition) -> Definition | None:
        """The FSD that files are copied or moved to."""
        parameter = workload.get("target")
        if parameter is None:
            return None
        known = self._planning.file.of("fsd")
        found = chosen(parameter, list(known))
        if len(found) != 1 or known[found[0]] in self.fsds_of_workload(workload):
            raise parameter.wrong("copy and move go to one other FSD; write target=NAME with one that the FWD does not work on.")
        self._planning.used.add(known[found[0]])
        return known[found[0]]

    def fsds_of(self, run: Definition) -> list[Definition]:
        """The FSDs that a run works on, those that it copies to among them."""
        found: dict[Definition, None] = {}
        for workload in self.workloads_of(run):
            target = self.target_of(workload)
            found |= dict.fromkeys([*self.fsds_of_workload(workload), *([] if target is None else [target])])
        return list(found)

    def _say_of_format(self) -> None:
        found = self._planning.file.of("fwd").get(FORMAT)
        if found is None:
            return
        self._planning.used.add(found)
        self._planning.verdicts.native(found.head, "it says how Vdbench formats")
        for name, parameter in found.own.items():
            if name != "fwd":
                self._planning.verdicts.ignored(parameter, "Plimsoll lays trees out with threads and sizes of its own")
