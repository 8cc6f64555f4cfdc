"""What a DiskSpd command line or profile says, in one vocabulary, and how a target is used by what its settings say together.

Model: the vocabulary is that of the profile's elements. A profile has time spans, run one after the other; a time span has targets, used at
the same time; each carries the settings that were written for it. A flag of a command line holds for all targets and is one setting,
shared by them, so it is remarked upon once. Sizes are bytes, times as DiskSpd counts them. Threads are counted per target (-t) or in total
(-F), requests per thread and target (-o) or per thread (-O). The region begins at the base and ends at the length of -B, the size of -f or
that of the file. A rate is per thread. Several targets are the parts of one of ours; files that are created are all created with the same
size.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

#: Paths in a profile that stand for the targets of a command line.
TEMPLATE = re.compile(r"\*(\d{1,4})")

#: What holds when nothing is said.
DEFAULTS: Mapping[str, Any] = {
    "Duration": 10,
    "Warmup": 5,
    "Cooldown": 0,
    "BlockSize": 64 * 1024,
    "BaseFileOffset": 0,
    "RequestCount": 2,
    "ThreadsPerFile": 1,
    "WriteRatio": 0,
    "Throughput": (0, "BPMS"),
    "BurstSize": 0,
    "ThinkTime": 0,
    "ThreadStride": 0,
    "Caching": "",
    "WriteBufferContent": "sequential",
}


@dataclass(frozen=True, eq=False)
class Setting:
    """One thing said: the key, its value, and the words with their place. Compared by identity: two equal flags are two settings."""

    key: str
    value: Any
    text: str
    line: int | None = None
    order: int = 0


@dataclass
class Scope:
    """The settings of a profile, a time span or a target."""

    settings: dict[str, Setting] = field(default_factory=dict)

    def get(self, key: str) -> Any:
        """The value written, DiskSpd's default, or None."""
        found = self.settings.get(key)
        return DEFAULTS.get(key) if found is None else found.value

    def says(self, key: str) -> bool:
        """Whether it was written at all."""
        return key in self.settings


@dataclass
class Target(Scope):
    """A file or disk and how it is used. ``found`` is how long it is, where that is known; ``own_path`` what the profile names where a
    typed target takes its place; ``there`` says that it is; ``given`` the size of a file that is not there, 0 for none; ``overrides`` that
    a typed size is that of all files alike; ``missing`` a file that nothing gives a size; ``remedy`` what to do about it."""

    path: str = ""
    found: int | None = None
    own_path: str = ""
    there: bool = False
    given: int = 0
    overrides: bool = False
    missing: bool = False
    remedy: str = ""


@dataclass
class Span(Scope):
    """One time span."""

    targets: list[Target] = field(default_factory=list)


@dataclass
class Profile(Scope):
    """Everything that runs, one time span after the other. ``others`` are settings that belong to none of its parts."""

    spans: list[Span] = field(default_factory=list)
    others: list[Setting] = field(default_factory=list)


RATE_MIN, RATE_MAX = Fraction(1, 1000), Fraction(10**9)
_WINDOWS = re.compile(r"#\d+|[A-Za-z]:.*|.*\\.*")


@dataclass(frozen=True)
class Use:
    """One target of one time span; ``position`` is its place among them all."""

    span: Span
    target: Target
    position: int = 0

    @property
    def paths(self) -> list[str]:
        """The files and disks of the time span, each once: a path may be used by several targets at the same time."""
        return list(dict.fromkeys(target.path for target in self.span.targets))

    @property
    def several(self) -> bool:
        """Whether the time span uses other files or disks beside this one."""
        return len(self.paths) > 1

    @property
    def index(self) -> int:
        """Which of the files and disks it is."""
        return self.paths.index(self.target.path)

    @property
    def interval_ms(self) -> int | None:
        """The length of an interval, where one is said and the measurement is as long."""
        found = self.span.get("IoBucketDuration")
        return int(found) if found and found <= 1000 * self.span.get("Duration") else None

    @property
    def threads(self) -> int:
        """Threads that use this target."""
        return int(self.span.get("ThreadCount") or self.target.get("ThreadsPerFile") or 1)

    @property
    def depth(self) -> int:
        """Requests that each of them keeps outstanding here."""
        return int(self.span.get("SpanRequestCount") or self.target.get("RequestCount"))

    @property
    def block(self) -> int:
        """Bytes of a request."""
        return int(self.target.get("BlockSize"))

    @property
    def random_percent(self) -> int:
        """Percentage of random requests."""
        if self.target.says("RandomRatio"):
            return int(self.target.get("RandomRatio"))
        return 100 if self.target.says("Random") else 0

    @property
    def interlocked(self) -> bool:
        """Whether all threads move one pointer."""
        return self.target.says("InterlockedSequential") and self.target.get("InterlockedSequential") is not False

    @property
    def stride(self) -> int:
        """How far a sequential request is from the last."""
        own = self.target.get("InterlockedSequential")
        return int(self.target.get("StrideSize") or (0 if isinstance(own, bool) else own) or self.block)

    @property
    def align(self) -> int:
        """What requests start at multiples of."""
        random = int(self.target.get("Random") or self.block)
        if self.random_percent == 100:
            return random
        step = math.gcd(self.block, self.stride)
        return math.gcd(step, random) if self.random_percent else step

    @property
    def own_pointers(self) -> bool:
        """Whether sequential threads each have a pointer, all from the base on or -T apart."""
        return self.random_percent == 0 and not self.interlocked and self.threads > 1

    @property
    def thread_stride(self) -> int:
        """Bytes between the starts of two such threads."""
        return int(self.target.get("ThreadStride"))

    @property
    def base(self) -> int:
        """Where the region begins within the target."""
        return int(self.target.get("BaseFileOffset"))

    @property
    def file_bytes(self) -> int:
        """The size of the file that is created; 0 when none is."""
        return int(self.target.get("FileSize") or 0)

    @property
    def region_bytes(self) -> int | None:
        """How long the region is; None when that depends on the target, 0 or less when nothing is left of it."""
        end = int(self.target.get("MaxFileSize") or 0) or self.file_bytes
        length = int(self.target.get("Length") or 0)
        if self.file_bytes:
            end = min(end, self.file_bytes)
        if not end:
            return length or None
        return min(length, end - self.base) if length else end - self.base

    @property
    def rate_per_thread(self) -> Fraction | None:
        """Requests per second of one thread; None when it is not limited."""
        number, unit = self.target.get("Throughput")
        if not number:
            return None
        return Fraction(number) if unit == "IOPS" else Fraction(number * 1000, self.block)

    @property
    def bursts(self) -> bool:
        """Whether requests come in bursts with pauses between."""
        return bool(self.target.get("BurstSize") and self.target.get("ThinkTime"))

    @property
    def caching(self) -> str:
        """The modes of -S, empty for the default."""
        return str(self.target.get("Caching"))

    @property
    def direct(self) -> bool:
        """Whether the page cache is bypassed."""
        return bool(set(self.caching) & set("uh"))

    @property
    def dsync(self) -> bool:
        """Whether writes go through."""
        return bool(set(self.caching) & set("wh"))

    @property
    def mapped(self) -> bool:
        """Whether the file is mapped into memory."""
        return "m" in self.caching

    @property
    def writes(self) -> int:
        """Percentage of writes."""
        return int(self.target.get("WriteRatio"))

    @property
    def foreign(self) -> bool:
        """Whether the name of the target means nothing here: one of Windows, or a place of a profile."""
        return not self.target.own_path and bool(_WINDOWS.fullmatch(self.target.path) or TEMPLATE.fullmatch(self.target.path))


def uses_of(span: Span) -> list[Use]:
    """All targets of a time span."""
    return [Use(span, target, position) for position, target in enumerate(span.targets)]
