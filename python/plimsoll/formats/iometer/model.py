"""A configuration file of Iometer (ICF), typed: what it says, and nothing of what we make of it.

Model: what a file may leave out is None. Every object remembers the statements it was read from in ``at``, by the name of its field;
equality does not look at them, so that what was written and read again is equal to what was written.
Limits: the section RESULTS DISPLAY is kept as it stands; it says how Iometer draws, not what it does.

    file = read(text, "load.icf")
    file.specs[0].lines[0].size               # 2048
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from plimsoll.formats.iometer.version import Version
from plimsoll.formats.translation import Remark

StepType = Literal["LINEAR", "EXPONENTIAL"]

#: Test types in the order of the numbers that the oldest files write instead.
TEST_TYPES = (
    "NORMAL",
    "CYCLE_TARGETS",
    "CYCLE_WORKERS",
    "INCREMENT_TARGETS_PARALLEL",
    "INCREMENT_TARGETS_SERIAL",
    "CYCLE_WORKERS_AND_TARGETS",
    "CYCLE_OUTSTANDING_IOS",
    "CYCLE_OUTSTANDING_IOS_AND_TARGETS",
)
RECORDS = ("ALL", "NO_TARGETS", "NO_WORKERS", "NO_MANAGERS", "NONE")
ASSIGNMENTS = ("NONE", "ALL", "DISK", "NET")
WORKER_TYPES = ("DISK", "NETWORK,TCP", "NETWORK,VI")
#: A number of workers that the machine decides.
NUMBER_OF_CPUS = "NUMBER_OF_CPUS"

#: Statements by field.
At = Mapping[str, "Statement"]


@dataclass(frozen=True)
class Value:
    """A line of values."""

    line: int
    text: str


@dataclass(frozen=True)
class Statement:
    """A key with the lines of values below it."""

    line: int
    key: str
    values: tuple[Value, ...] = ()

    @property
    def text(self) -> str:
        """For people, on one line."""
        return " ".join([f"{self.key}:" if self.values else self.key, ", ".join(value.text for value in self.values)]).strip()


@dataclass(frozen=True)
class Cycling:
    """How a number rises from test to test. ``end`` is of the queue depth only; the others end where there are no more."""

    start: int
    step: int
    step_type: StepType
    end: int | None = None


@dataclass(frozen=True)
class Setup:
    """Section TEST SETUP. ``run_time`` is hours, minutes, seconds; ``workers_to_spawn`` is of ancient files, where 0 is one per CPU."""

    description: str | None = None
    run_time: tuple[int, int, int] | None = None
    ramp_up_s: int | None = None
    disk_workers: int | str | None = None
    network_workers: int | str | None = None
    workers_to_spawn: int | None = None
    record: str | None = None
    worker_cycling: Cycling | None = None
    target_cycling: Cycling | None = None
    queue_cycling: Cycling | None = None
    test_type: str | None = None
    unknown: tuple[tuple[str, tuple[str, ...]], ...] = ()
    at: At = field(default_factory=dict, compare=False, repr=False)


@dataclass(frozen=True)
class Display:
    """Section RESULTS DISPLAY: keys with their lines."""

    statements: tuple[tuple[str, tuple[str, ...]], ...] = ()
    at: tuple[Statement, ...] = field(default=(), compare=False, repr=False)


@dataclass(frozen=True)
class AccessLine:
    """One line of an access specification: sizes in bytes, shares in percent, ``delay_ms`` before each burst."""

    size: int
    share: int
    reads: int
    random: int
    delay_ms: int
    burst: int
    align: int = 0
    reply: int = 0
    at: Value = field(default=Value(0, ""), compare=False, repr=False)


@dataclass(frozen=True)
class AccessSpec:
    """Lines whose shares sum to 100. ``assignment`` says to which new workers it is given."""

    name: str
    assignment: str
    lines: tuple[AccessLine, ...]
    at: At = field(default_factory=dict, compare=False, repr=False)


@dataclass(frozen=True)
class Target:
    """What a worker accesses; ``manager`` is the other end of a network target."""

    name: str
    kind: str = "DISK"
    manager: tuple[int, str] | None = None
    at: At = field(default_factory=dict, compare=False, repr=False)


@dataclass(frozen=True)
class Settings:
    """What holds for all targets of a worker. Sizes are in sectors of 512 bytes; 0 is the whole target."""

    outstanding: int | None = None
    connection_rate: bool | None = None
    transactions: int | None = None
    use_fixed_seed: bool | None = None
    fixed_seed: int | None = None
    maximum_sectors: int | None = None
    starting_sector: int | None = None
    data_pattern: int | None = None
    network_interface: str | None = None
    vi_outstanding: int | None = None
    at: At = field(default_factory=dict, compare=False, repr=False)


@dataclass(frozen=True)
class Worker:
    """A thread of the load generator."""

    name: str
    kind: str = "DISK"
    settings: Settings | None = None
    specs: tuple[str, ...] | None = None
    targets: tuple[Target, ...] | None = None
    at: At = field(default_factory=dict, compare=False, repr=False)


@dataclass(frozen=True)
class Manager:
    """A load generator on one host."""

    number: int
    name: str
    address: str | None = None
    workers: tuple[Worker, ...] = ()
    at: At = field(default_factory=dict, compare=False, repr=False)


@dataclass(frozen=True)
class IometerFile:
    """A whole file; sections that it does not have are None. ``notes`` are what its reading found strange."""

    version: Version
    setup: Setup | None = None
    display: Display | None = None
    specs: tuple[AccessSpec, ...] | None = None
    managers: tuple[Manager, ...] | None = None
    notes: tuple[Remark, ...] = field(default=(), compare=False, repr=False)
    version_at: Statement = field(default=Statement(1, ""), compare=False, repr=False)
