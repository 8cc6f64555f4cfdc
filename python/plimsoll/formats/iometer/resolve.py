"""What a file asks for, before it is said in our words: who runs which specification at what, in which series of tests.

Model: an `Assignment` is one disk worker with its specifications and targets. Files without workers ask for the workers that Iometer makes
by default; files whose workers have no targets leave the choice to the caller. Network workers and managers on other hosts are left out,
and the remarks say so. The specifications that Iometer brings along are those of 1.1.0 (32 with Idle) and of 2006 and 2008; "All in one"
has a line for each of the plain ones, and shares that do not come out even are larger in the first lines.
A test type makes a series of one specification. Every test is a `Stage`, which says how many workers per manager and how many targets take
part; queue depths are the levels of an axis, which is run through within each stage. ``LINEAR`` adds the step, ``EXPONENTIAL`` multiplies
by it (a step of 1 adds 1), and the series ends before the first number that is too large.

    CYCLE_TARGETS                        1, 2 … targets of every worker
    CYCLE_WORKERS                        1, 2 … workers of every manager, with all their targets
    CYCLE_WORKERS_AND_TARGETS            for each number of workers, each number of targets
    INCREMENT_TARGETS_PARALLEL           1, 2 … targets of every manager, its first worker's first
    INCREMENT_TARGETS_SERIAL             1, 2 … targets over all, manager by manager
    CYCLE_OUTSTANDING_IOS                each queue depth, everything taking part
    CYCLE_OUTSTANDING_IOS_AND_TARGETS    for each number of targets, each queue depth

Limits: managers count as being here when name and address are those of the first. That workers are the outer loop of
CYCLE_WORKERS_AND_TARGETS is read from its name.
Source: Iometer 1.1.0, list of default access specifications.

    intent = Intent.of(read(text, "load.icf"), Place("load.icf"), lambda names: storages_of(names, {}, sizes))
    intent.runs                               # how many specifications, one after the other
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from plimsoll.displayed import quoted
from plimsoll.formats.iometer.model import AccessLine, AccessSpec, Cycling, IometerFile, Manager, Settings, Setup, Version, Worker
from plimsoll.formats.iometer.read import IDLE
from plimsoll.formats.iometer.storage import SECTOR, Layout, Storage, laid_out
from plimsoll.formats.place import Place

DEFAULT = "Default"
ALL_IN_ONE = "All in one"

_NAMES = {512: "512 B", 4096: "4 KiB", 16384: "16 KiB", 32768: "32 KiB", 65536: "64 KiB", 262144: "256 KiB"}
_SMALL = (512, 4096, 16384, 32768)
_LARGE = (65536, 262144)


def builtin(version: Version) -> tuple[AccessSpec, ...]:
    """What that version offers before any file is opened."""
    first = (
        AccessSpec(IDLE, "NONE", (AccessLine(0, 100, 0, 0, 0, 1),)),
        AccessSpec(DEFAULT, "NONE", (AccessLine(2048, 100, 67, 100, 0, 1, 2048),)),
    )
    plain = [_builtin_spec(size, reads) for size in _SMALL for reads in (100, 75, 50, 25, 0)]
    if version.modern:
        plain += [_aligned(reads) for reads in (100, 50, 0)]
        plain += [_builtin_spec(size, reads) for size in _LARGE for reads in (100, 50, 0)]
    lines = [spec.lines[0] for spec in plain]
    return (*first, *plain, AccessSpec(ALL_IN_ONE, "NONE", _mixed(lines)))


def _builtin_spec(size: int, reads: int) -> AccessSpec:
    return AccessSpec(f"{_NAMES[size]}; {reads}% Read; 0% random", "NONE", (AccessLine(size, 100, reads, 0, 0, 1),))


def _aligned(reads: int) -> AccessSpec:
    return AccessSpec(f"{_NAMES[4096]} aligned; {reads}% Read; 100% random", "NONE", (AccessLine(4096, 100, reads, 100, 0, 1, 4096),))


def _mixed(lines: list[AccessLine]) -> tuple[AccessLine, ...]:
    share, rest = divmod(100, len(lines))
    return tuple(
        AccessLine(line.size, share + (1 if number < rest else 0), line.reads, line.random, line.delay_ms, line.burst, line.align)
        for number, line in enumerate(lines)
    )


#: More tests than this in one series are a slip of the pen; so it is with our levels.
LEVELS_MAX = 1000

QUEUE_TYPES = ("CYCLE_OUTSTANDING_IOS", "CYCLE_OUTSTANDING_IOS_AND_TARGETS")
_TARGET_TYPES = ("CYCLE_TARGETS", "CYCLE_OUTSTANDING_IOS_AND_TARGETS", "CYCLE_WORKERS_AND_TARGETS")
_WORKER_TYPES = ("CYCLE_WORKERS", "CYCLE_WORKERS_AND_TARGETS")
_MANAGER_TARGETS, _ALL_TARGETS = "INCREMENT_TARGETS_PARALLEL", "INCREMENT_TARGETS_SERIAL"

#: What holds where the file does not say.
_ONE_BY_ONE = Cycling(1, 1, "LINEAR")
_DEPTHS = Cycling(1, 2, "EXPONENTIAL", 32)

#: Which test types use which key.
USERS = {
    "worker_cycling": _WORKER_TYPES,
    "target_cycling": (*_TARGET_TYPES, _MANAGER_TARGETS, _ALL_TARGETS),
    "queue_cycling": QUEUE_TYPES,
}


@dataclass(frozen=True)
class Access:
    """One worker at one target: places in the file, counted from 0. ``in_manager`` counts the targets of a manager's workers in a row."""

    manager: int
    worker: int
    target: int
    in_manager: int
    in_all: int


@dataclass(frozen=True)
class Stage:
    """One test of the series: limits that an access must be below to take part; None is no limit."""

    workers: int | None = None
    targets: int | None = None
    in_manager: int | None = None
    in_all: int | None = None

    def takes(self, access: Access) -> bool:
        """Whether ``access`` takes part."""
        pairs = (
            (self.workers, access.worker),
            (self.targets, access.target),
            (self.in_manager, access.in_manager),
            (self.in_all, access.in_all),
        )
        return all(limit is None or number < limit for limit, number in pairs)

    @property
    def label(self) -> str:
        """What the test is called; empty where everything takes part."""
        per_manager = self.in_manager if self.in_manager is not None else self.in_all
        words = [_counted(self.workers, "worker"), _counted(self.targets, "target"), _counted(per_manager, "target")]
        return ", ".join(filter(None, words))


@dataclass(frozen=True)
class Series:
    """The tests of every specification, in their order; ``depths`` are run through within each stage."""

    test_type: str
    stages: tuple[Stage, ...]
    depths: tuple[int, ...] | None


def series(file: IometerFile, accesses: list[Access], place: Place) -> Series:
    """What the test type of ``file`` makes of ``accesses``."""
    setup = file.setup or Setup()
    kind = setup.test_type or "NORMAL"
    depths = _levels(setup, "queue_cycling", None, place) if kind in QUEUE_TYPES else None
    return Series(kind, tuple(_stages(kind, setup, accesses, place)), depths)


def _stages(kind: str, setup: Setup, accesses: list[Access], place: Place) -> list[Stage]:
    most = {name: max((getattr(access, name) + 1 for access in accesses), default=1) for name in Access.__dataclass_fields__}
    if kind == _MANAGER_TARGETS:
        return [Stage(in_manager=count) for count in _levels(setup, "target_cycling", most["in_manager"], place)]
    if kind == _ALL_TARGETS:
        return [Stage(in_all=count) for count in _levels(setup, "target_cycling", most["in_all"], place)]
    workers = _levels(setup, "worker_cycling", most["worker"], place) if kind in _WORKER_TYPES else (None,)
    targets = _levels(setup, "target_cycling", most["target"], place) if kind in _TARGET_TYPES else (None,)
    return [Stage(workers=some, targets=few) for some in workers for few in targets]


def _levels(setup: Setup, name: str, most: int | None, place: Place) -> tuple[int, ...]:
    """The numbers from the start to ``most``, or to the end that the file gives."""
    cycling: Cycling = getattr(setup, name) or (_DEPTHS if most is None else _ONE_BY_ONE)
    statement = setup.at.get(name) or setup.at.get("test_type")
    line = statement.line if statement else 1
    last = cycling.end if most is None else most
    assert last is not None
    if cycling.start < 1:
        raise place.at(line).wrong(f"the cycling starts at {cycling.start}; write a start of 1 or more.")
    if cycling.step < 1:
        raise place.at(line).wrong(f"the cycling has step {cycling.step}, with which it never ends; write a step of 1 or more.")
    if cycling.start > last:
        what = "its end" if most is None else "what the workers have"
        raise place.at(line).wrong(f"the cycling starts at {cycling.start}, above {what}, {last}; write a start of at most {last}.")
    return _rising(cycling, last, line, place)


def _rising(cycling: Cycling, last: int, line: int, place: Place) -> tuple[int, ...]:
    found = [cycling.start]
    multiplied = cycling.step_type == "EXPONENTIAL" and cycling.step > 1
    while (following := found[-1] * cycling.step if multiplied else found[-1] + cycling.step) <= last:
        found.append(following)
        if len(found) > LEVELS_MAX:
            raise place.at(line).wrong(f"the cycling has more than {LEVELS_MAX} tests; write a larger step.")
    return tuple(found)


def _counted(count: int | None, noun: str) -> str:
    return "" if count is None else f"{count} {noun}{'' if count == 1 else 's'}"


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
            raise place.at(line).wrong(f"access specification {quoted(name[:80])} is not in the file; add it, or assign one that is.")
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
