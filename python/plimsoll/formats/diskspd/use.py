"""How a target is used in its time span: what follows from its settings together.

Model: threads are counted per target (-t) or in total (-F), requests per thread and target (-o) or per thread (-O). The region begins at
the base and ends at the length of -B, the size of -f or that of the file. A rate is per thread. Several targets are the parts of one
of ours; files that are created are all created with the same size.

    use = Use(span, target)
    use.random_percent, use.region_bytes
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from fractions import Fraction

from plimsoll.formats.diskspd.profile import TEMPLATE
from plimsoll.formats.diskspd.setting import Span, Target

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
