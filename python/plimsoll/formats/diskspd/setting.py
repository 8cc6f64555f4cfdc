"""What a DiskSpd command line or profile says, in one vocabulary: that of the profile's elements.

Model: a profile has time spans, run one after the other; a time span has targets, used at the same time; each carries the settings that
were written for it. A flag of a command line holds for all targets and is one setting, shared by them, so it is remarked upon once. Sizes
are bytes, times as DiskSpd counts them.

    span.targets[0].get("BlockSize")        # 65536, DiskSpd's default
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

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
    typed target takes its place; ``given`` the size of a file that is not there, 0 for none; ``missing`` one that nothing gives a size;
    ``remedy`` what to do about it."""

    path: str = ""
    found: int | None = None
    own_path: str = ""
    given: int = 0
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
