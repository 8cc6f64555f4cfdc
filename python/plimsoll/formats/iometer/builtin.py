"""The access specifications that Iometer brings along, of 1.1.0 (32 with Idle) and of 2006 and 2008.

Model: the lists follow from sizes and read percentages. "All in one" has a line for each of the plain ones; shares that do not come out
even are larger in the first lines.
Source: Iometer 1.1.0, list of default access specifications.

    builtin(Version("1.1.0"))[1].name         # 'Default'
"""

from __future__ import annotations

from plimsoll.formats.iometer.model import AccessLine, AccessSpec
from plimsoll.formats.iometer.spec_reader import IDLE
from plimsoll.formats.iometer.version import Version

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
    plain = [_spec(size, reads) for size in _SMALL for reads in (100, 75, 50, 25, 0)]
    if version.modern:
        plain += [_aligned(reads) for reads in (100, 50, 0)]
        plain += [_spec(size, reads) for size in _LARGE for reads in (100, 50, 0)]
    lines = [spec.lines[0] for spec in plain]
    return (*first, *plain, AccessSpec(ALL_IN_ONE, "NONE", _mixed(lines)))


def _spec(size: int, reads: int) -> AccessSpec:
    return AccessSpec(f"{_NAMES[size]}; {reads}% Read; 0% random", "NONE", (AccessLine(size, 100, reads, 0, 0, 1),))


def _aligned(reads: int) -> AccessSpec:
    return AccessSpec(f"{_NAMES[4096]} aligned; {reads}% Read; 100% random", "NONE", (AccessLine(4096, 100, reads, 100, 0, 1, 4096),))


def _mixed(lines: list[AccessLine]) -> tuple[AccessLine, ...]:
    share, rest = divmod(100, len(lines))
    return tuple(
        AccessLine(line.size, share + (1 if number < rest else 0), line.reads, line.random, line.delay_ms, line.burst, line.align)
        for number, line in enumerate(lines)
    )
