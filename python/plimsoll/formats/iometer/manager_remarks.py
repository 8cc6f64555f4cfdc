"""Remarks on managers, their workers, and what those access.

Model: a worker runs here when it is a disk worker of a manager on this host and has both a specification and a target. What belongs to one
that does not run is ignored, with the reason; network workers and managers on other hosts are unsupported, once each.

    manager_remarks(file, intent)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from plimsoll.formats.iometer.cycling import QUEUE_TYPES
from plimsoll.formats.iometer.intent import Assignment, Intent, is_here, is_idle
from plimsoll.formats.iometer.model import IometerFile, Manager, Settings, Statement, Target, Worker
from plimsoll.formats.iometer.storage import Storage
from plimsoll.formats.iometer.streams import REPEATED_BYTE, is_random
from plimsoll.formats.translation import Kind, Remark

_Said = tuple[Kind, str]

#: What the data patterns are in our words.
PATTERNS = (
    f"data pattern 0 repeats a byte: {REPEATED_BYTE} always, where Iometer takes another one for every request",
    "data pattern 1 is pseudo-random: incompressible, and never the same twice, where Iometer writes one buffer over and over",
    "data pattern 2 is random: incompressible",
)
_OLD_PATTERN = "written is incompressible data, never the same twice, where Iometer writes one pseudo-random buffer over and over"


def manager_remarks(file: IometerFile, intent: Intent) -> Iterator[Remark]:
    """Those of the manager list."""
    managers = file.managers or ()
    for position, manager in enumerate(managers):
        here = is_here(manager, managers)
        yield from _manager(manager, here=here)
        disks = 0
        for worker in manager.workers:
            found = next((item for item in intent.assignments if (item.manager, item.number) == (position, disks)), None)
            disks += worker.kind == "DISK"
            yield from _Speaker(worker, found if worker.kind == "DISK" and here else None, intent, here).remarks()


def _manager(manager: Manager, *, here: bool) -> Iterator[Remark]:
    for name, statement in manager.at.items():
        if here:
            why = "its workers run on this host" if name == "name" else "the workers run on this host, whatever its address"
            yield _of(statement, ("native" if name == "name" else "ignored", why))
        elif name == "name":
            why = (
                f"manager {manager.name!r} is on another host than the first one, which needs a cluster; "
                "nearest is to run its workers' part of the file there"
            )
            yield _of(statement, ("unsupported", why))
        else:
            yield _of(statement, ("ignored", "nothing is started on other hosts"))


def _of(statement: Statement, said: _Said) -> Remark:
    return Remark(statement.line, statement.text, *said)


@dataclass(frozen=True)
class _Speaker:
    """Speaks of one worker; ``assignment`` is None when it does not run."""

    worker: Worker
    assignment: Assignment | None
    intent: Intent
    here: bool

    def remarks(self) -> Iterator[Remark]:
        """All that the worker says."""
        worker = self.worker
        yield _of(worker.at["name"], ("native", self._threads()) if self.assignment else ("ignored", self._why_not()))
        if "kind" in worker.at:
            yield _of(worker.at["kind"], self._kind())
        if worker.settings is not None:
            yield from self._settings(worker.settings)
        for value in worker.at["specs"].values if "specs" in worker.at else ():
            yield Remark(value.line, value.text, *self._spec(value.text))
        for target in worker.targets or ():
            yield from self._target(target)
        yield from self._surprises()

    def _why_not(self) -> str:
        if not self.here:
            return "its manager is on another host"
        if self.worker.kind != "DISK":
            return "it is a network worker"
        if not self.worker.targets and not self.intent.implied_targets:
            return "it has no target, so it does nothing, in Iometer neither"
        return "it has no specification other than Idle, so it does nothing, in Iometer neither"

    def _threads(self) -> str:
        assert self.assignment is not None
        alike = all(is_random(spec) for spec in self.assignment.specs)
        return (
            "a thread; alike workers are threads of one stream" if alike else "a stream with a thread and a sequential pointer of its own"
        )

    def _kind(self) -> _Said:
        if not self.here:
            return "ignored", self._why_not()
        if self.worker.kind == "DISK":
            return "native", "storage"
        return (
            "unsupported",
            f"{self.worker.kind} workers load the network, and Plimsoll loads storage; nearest is a disk worker on a network file system",
        )

    def _settings(self, settings: Settings) -> Iterator[Remark]:
        for name, statement in settings.at.items():
            if self.assignment is None:
                yield _of(statement, ("ignored", self._why_not()))
            elif name == "outstanding":
                yield _of(statement, self._outstanding(settings))
            elif name == "region":
                yield _of(statement, ("native", self._region(settings)))
            else:
                yield _of(statement, ("ignored", "it is for network workers, and this is a disk worker"))

    def _outstanding(self, settings: Settings) -> _Said:
        if settings.connection_rate:
            why = (
                "with the connection rate tested, the target is closed and opened again while it is measured, which our targets never are; "
                "write DISABLED for the load on the open target"
            )
            return "unsupported", why
        depth = "queue depth of each worker at each target"
        if self.intent.series.test_type in QUEUE_TYPES:
            depth += ", replaced by those that are cycled"
        if settings.use_fixed_seed:
            return "native", f"{depth}; the seed makes our requests repeat, but they are not the ones that Iometer draws from it"
        return "native", f"{depth}; our requests repeat from run to run even without a fixed seed (--set seed=… for others)"

    def _region(self, settings: Settings) -> str:
        whole = "the whole target" if not (settings.maximum_sectors or settings.starting_sector) else "region_start and region_length"
        pattern = _OLD_PATTERN if settings.data_pattern is None else PATTERNS[settings.data_pattern]
        return f"{whole}; {pattern}"

    def _spec(self, name: str) -> _Said:
        if self.assignment is None:
            return "ignored", self._why_not()
        spec = next(spec for spec in self.assignment.specs if spec.name.lower() == name.lower())
        return "native", "the worker pauses in this test" if is_idle(spec) else "run in its turn, after those above it"

    def _target(self, target: Target) -> Iterator[Remark]:
        runs = self.assignment is not None and target.kind == "DISK"
        for name, statement in target.at.items():
            if not runs:
                network = self.assignment is not None
                yield _of(statement, ("ignored", "a disk worker has no network targets" if network else self._why_not()))
            elif name == "name":
                storage = next(item for item in self.intent.storages if item.name == target.name)
                yield _of(statement, self._storage(storage))
            elif name == "kind":
                yield _of(statement, ("native", "storage"))
            else:
                yield _of(statement, ("ignored", "it is the other end of a network target"))

    def _storage(self, storage: Storage) -> _Said:
        layout = self.intent.layout
        if storage.typed:
            return "native", f"--target {storage.path} takes its place"
        if storage.name in layout.sizes_missing:
            why = (
                "several files are made together, and nothing says how long this one is to be; "
                f"{storage.remedy}, or write the maximum disk size, or a target for each run"
            )
            return "unsupported", why
        if storage.stands_in:
            return "native", f"a drive of Windows, for which the scratch file {storage.path} in the current directory stands"
        if storage.path is not None:
            return "native", f"target {storage.path}" + (", made as Iometer makes it when it does not exist" if storage.is_file else "")
        return "ignored", "a drive of Windows has no counterpart here; measured is --target, or the scratch file"

    def _surprises(self) -> Iterator[Remark]:
        if self.assignment is None or len(self.intent.assignments) < 2:
            return
        sequential = [item for item in self.intent.assignments if not all(is_random(spec) for spec in item.specs)]
        if self.assignment not in sequential:
            return
        shared = {name for item in sequential if item is not self.assignment for name in item.targets}
        if shared & set(self.assignment.targets):
            why = "workers at one target all start their sequential requests at the same place, so caches may answer for all but the first"
            yield _of(self.worker.at["name"], ("surprise", why))
