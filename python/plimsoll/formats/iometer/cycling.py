"""What a test type makes of one specification: a series of tests with more and more workers, targets or outstanding I/Os.

Model: every test is a `Stage`, which says how many workers per manager and how many targets take part; queue depths are the levels of an
axis, which is run through within each stage. ``LINEAR`` adds the step, ``EXPONENTIAL`` multiplies by it (a step of 1 adds 1), and the
series ends before the first number that is too large.

    CYCLE_TARGETS                        1, 2 … targets of every worker
    CYCLE_WORKERS                        1, 2 … workers of every manager, with all their targets
    CYCLE_WORKERS_AND_TARGETS            for each number of workers, each number of targets
    INCREMENT_TARGETS_PARALLEL           1, 2 … targets of every manager, its first worker's first
    INCREMENT_TARGETS_SERIAL             1, 2 … targets over all, manager by manager
    CYCLE_OUTSTANDING_IOS                each queue depth, everything taking part
    CYCLE_OUTSTANDING_IOS_AND_TARGETS    for each number of targets, each queue depth

Limits: that workers are the outer loop of CYCLE_WORKERS_AND_TARGETS is read from its name.
"""

from __future__ import annotations

from dataclasses import dataclass

from plimsoll.formats.iometer.model import Cycling, IometerFile, Setup
from plimsoll.formats.iometer.place import Place

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
        raise place.wrong(line, f"the cycling starts at {cycling.start}; write a start of 1 or more.")
    if cycling.step < 1:
        raise place.wrong(line, f"the cycling has step {cycling.step}, with which it never ends; write a step of 1 or more.")
    if cycling.start > last:
        what = "its end" if most is None else "what the workers have"
        raise place.wrong(line, f"the cycling starts at {cycling.start}, above {what}, {last}; write a start of at most {last}.")
    return _rising(cycling, last, line, place)


def _rising(cycling: Cycling, last: int, line: int, place: Place) -> tuple[int, ...]:
    found = [cycling.start]
    multiplied = cycling.step_type == "EXPONENTIAL" and cycling.step > 1
    while (following := found[-1] * cycling.step if multiplied else found[-1] + cycling.step) <= last:
        found.append(following)
        if len(found) > LEVELS_MAX:
            raise place.wrong(line, f"the cycling has more than {LEVELS_MAX} tests; write a larger step.")
    return tuple(found)


def _counted(count: int | None, noun: str) -> str:
    return "" if count is None else f"{count} {noun}{'' if count == 1 else 's'}"
