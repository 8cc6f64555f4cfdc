"""A configuration file of Iometer (ICF), typed: what it says, and nothing of what we make of it; and the versions its files carry.

Model: what a file may leave out is None. Every object remembers the statements it was read from in ``at``, by the name of its field;
equality does not look at them, so that what was written and read again is equal to what was written. A version whose first component is
above 1900 is a date, and orders as year·10000 + month·100 + day; anything else is major.minor.patch and orders as
major·10¹⁰ + minor·10⁵ + patch, so that 1.1.0 stands above all dates (and so does 3.26.97, which a test version of 1997 wrote).
Limits: the section RESULTS DISPLAY is kept as it stands; it says how Iometer draws, not what it does.

    file = read(text, "load.icf")
    file.specs[0].lines[0].size                    # 2048
    Version("2006.07.27") < Version("1.1.0")       # True
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from plimsoll.formats.translation import Remark

#: From here on access specifications have names and eight values; before, six values without a name.
NAMED_SPECS = 19980521
#: From here on keys of the test setup must be known, and every section has its end line.
STRICT_SETUP = 19990217
#: Files older than this were written by versions that Iometer itself warns about.
OLDEST_KNOWN = 19980105
#: 1.1.0: fixed seeds, data patterns, decimal megabytes.
MODERN = 10**10 + 10**5

_COMPONENTS = re.compile(r"(\d{1,4})\.(\d{1,4})(?:\.(\d{1,4}))?(?:[-+ ].*)?")


@dataclass(frozen=True)
class Version:
    """A version as it is written."""

    text: str

    @property
    def is_readable(self) -> bool:
        """Whether the text is a version at all."""
        return _COMPONENTS.fullmatch(self.text) is not None

    @property
    def number(self) -> int:
        """What versions are ordered by."""
        found = _COMPONENTS.fullmatch(self.text)
        first, second, third = (int(part or 0) for part in found.groups()) if found else (0, 0, 0)
        return first * 10**4 + second * 100 + third if first > 1900 else first * 10**10 + second * 10**5 + third

    def __lt__(self, other: Version) -> bool:
        return self.number < other.number

    @property
    def named_specs(self) -> bool:
        """Access specifications have names, alignment and reply."""
        return self.number >= NAMED_SPECS

    @property
    def strict_setup(self) -> bool:
        """Unknown keys of the test setup are mistakes."""
        return self.number >= STRICT_SETUP

    @property
    def modern(self) -> bool:
        """Fixed seeds and data patterns exist."""
        return self.number >= MODERN


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
