"""What a file asks for, before it is said in our words: who runs which specification at what, in which series of tests.

Model: an `Assignment` is one disk worker with its specifications and targets. Files without workers ask for the workers that Iometer makes
by default; files whose workers have no targets leave the choice to the caller. Network workers and managers on other hosts are left out,
and the remarks say so.
Limits: managers count as being here when name and address are those of the first.

    intent = Intent.of(read(text, "load.icf"), Place("load.icf"), lambda names: storages_of(names, {}, sizes))
    intent.runs                               # how many specifications, one after the other
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from plimsoll.formats.iometer.builtin import builtin
from plimsoll.formats.iometer.cycling import Access, Series, series
from plimsoll.formats.iometer.model import AccessSpec, IometerFile, Manager, Settings, Setup, Worker
from plimsoll.formats.iometer.place import Place
from plimsoll.formats.iometer.spec_reader import IDLE
from plimsoll.formats.iometer.storage import SECTOR, Layout, Storage, laid_out

#: From the names of targets to what they are.
Storing = Callable[[Iterable[str]], tuple[Storage, ...]]
#: What a worker is that the file does not describe.
UNSET = Settings()


@dataclass(frozen=True)
class Assignment:
    """One worker that runs here: what it runs, one after the other, and at which targets; no targets are the caller's choice."""

    manager: int
    number: int
    worker: Worker
    specs: tuple[AccessSpec, ...]
    targets: tuple[str, ...]

    @property
    def settings(self) -> Settings:
        """Its settings, with nothing set where it has none."""
        return self.worker.settings or UNSET


@dataclass(frozen=True)
class Load:
    """One worker at one target with one specification: what becomes a stream, or a thread of one."""

    access: Access
    assignment: Assignment
    spec: AccessSpec
    target: str


@dataclass(frozen=True)
class Intent:
    """What the file asks for. ``implied_workers`` are those that Iometer makes by default, ``implied_targets`` the caller's choice;
    ``unassigned``: no worker has a specification, so all stand in."""

    assignments: tuple[Assignment, ...]
    series: Series
    storages: tuple[Storage, ...]
    layout: Layout
    implied_workers: bool
    implied_targets: bool
    unassigned: bool

    @classmethod
    def of(cls, file: IometerFile, place: Place, storing: Storing) -> Intent:
        """The intent of ``file``; ``storing`` says what its targets are here.

        Raises `InputError` where the file assigns a specification that does not exist, or cycles without end.
        """
        workers = list(_disk_workers(file))
        implied = not workers and not any(manager.workers for manager in file.managers or ())
        if implied:
            workers = [(0, number, worker) for number, worker in enumerate(_default_workers(file))]
        unassigned = not any(worker.specs for _, _, worker in workers)
        implied_targets = not any(_disk_targets(worker) for _, _, worker in workers)
        assignments = tuple(
            Assignment(
                manager,
                number,
                worker,
                _default_specs(file) if unassigned else _specs(worker, file, place),
                ("",) if implied_targets else _disk_targets(worker),
            )
            for manager, number, worker in workers
        )
        active = tuple(item for item in assignments if item.targets and any(not is_idle(spec) for spec in item.specs))
        names = dict.fromkeys(name for item in active for name in item.targets)
        storages = storing(names)
        accesses = list(_accesses(active))
        return cls(
            assignments=active,
            series=series(file, accesses, place),
            storages=storages,
            layout=laid_out(storages, {name: _needed(active, name) for name in names}),
            implied_workers=implied,
            implied_targets=implied_targets,
            unassigned=unassigned and bool(workers),
        )

    @property
    def runs(self) -> int:
        """How many specifications run one after the other."""
        return max((len(item.specs) for item in self.assignments), default=0)

    def loads(self, run: int) -> list[Load]:
        """What runs at the same time in run ``run``; idle workers are left out."""
        taking = {(item.manager, item.number): item for item in self.assignments}
        loads = []
        for access in _accesses(self.assignments):
            item = taking[access.manager, access.worker]
            if run < len(item.specs) and not is_idle(item.specs[run]):
                loads.append(Load(access, item, item.specs[run], item.targets[access.target]))
        return loads


def is_idle(spec: AccessSpec) -> bool:
    """Whether a worker with it does nothing."""
    return spec.name.lower() == IDLE.lower()


def is_here(manager: Manager, managers: tuple[Manager, ...]) -> bool:
    """Whether a manager runs on the host of the first."""
    first = managers[0]
    return manager.name.lower() == first.name.lower() and (manager.address or "") == (first.address or "")


def _disk_workers(file: IometerFile) -> Iterator[tuple[int, int, Worker]]:
    """Manager, place within it, and worker."""
    managers = file.managers or ()
    for position, manager in enumerate(managers):
        if is_here(manager, managers):
            disks = [worker for worker in manager.workers if worker.kind == "DISK"]
            yield from ((position, number, worker) for number, worker in enumerate(disks))


def _default_workers(file: IometerFile) -> list[Worker]:
    """Those that Iometer makes where the file lists none; one where it would count the CPUs."""
    setup = file.setup or Setup()
    counts = [count for count in (setup.disk_workers, setup.workers_to_spawn) if isinstance(count, int) and count > 0]
    return [Worker(f"Worker {number}") for number in range(1, (counts[0] if counts else 1) + 1)]


def _default_specs(file: IometerFile) -> tuple[AccessSpec, ...]:
    """Those that new disk workers are given; all where none are."""
    specs = file.specs or ()
    given = tuple(spec for spec in specs if spec.assignment in ("ALL", "DISK"))
    return given or specs


def _specs(worker: Worker, file: IometerFile, place: Place) -> tuple[AccessSpec, ...]:
    known = {spec.name.lower(): spec for spec in (*builtin(file.version), *(file.specs or ()))}
    found = []
    for number, name in enumerate(worker.specs or ()):
        if name.lower() not in known:
            line = worker.at["specs"].values[number].line if "specs" in worker.at else 1
            raise place.wrong(line, f"access specification {name[:80]!r} is not in the file; add it, or assign one that is.")
        found.append(known[name.lower()])
    return tuple(found)


def _disk_targets(worker: Worker) -> tuple[str, ...]:
    return tuple(target.name for target in worker.targets or () if target.kind == "DISK")


def _accesses(assignments: tuple[Assignment, ...]) -> Iterator[Access]:
    in_manager: dict[int, int] = {}
    in_all = 0
    for item in assignments:
        for target in range(len(item.targets)):
            before = in_manager.get(item.manager, 0)
            yield Access(item.manager, item.number, target, before, in_all)
            in_manager[item.manager] = before + 1
            in_all += 1


def _needed(assignments: tuple[Assignment, ...], name: str) -> int:
    """Bytes of a target from its start on that all its workers use; 0 when one uses all there are."""
    wanted = [item.settings for item in assignments if name in item.targets]
    if not all(settings.maximum_sectors for settings in wanted):
        return 0
    return max(((settings.starting_sector or 0) + (settings.maximum_sectors or 0)) * SECTOR for settings in wanted)
