"""What tests cost: processor time, which hardly depends on what else the machine does, and the time that passed.

Model: a test's own process and the children that it has waited for, from its beginning to its end without fixtures. Whatever runs under
`make test` may take `MOST_S`; what needs more belongs to `tests/long`.
Limits: processes that live longer than a test (a browser, a pool, a server with a parent of its own) are not counted.

    began = processor_s()
    too_dear("tests/unit/test_store.py", processor_s() - began)    # None, or a sentence
"""

from __future__ import annotations

import resource
from collections import Counter
from collections.abc import Iterable, Iterator

#: The dearest takes ten seconds on two processors, and more where the build is not optimized.
MOST_S = 60.0
_PARTS_SHOWN, _TESTS_SHOWN, _GROUPS_SHOWN = 12, 8, 6


def processor_s() -> float:
    """Processor time of this process and of the children that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def too_dear(file: str, seconds: float) -> str | None:
    """Why a test of that file may not go on like that."""
    if seconds <= MOST_S or file.startswith("tests/long/"):
        return None
    return (
        f"{seconds:.0f} s of processor time, and a test of make test may take {MOST_S:.0f}: let it compute less, share what is dear,"
        " or move it to tests/long"
    )


def longest(groups: Iterable[tuple[str, float]]) -> Iterator[str]:
    """Lines about what one process worked through, each part a group and the time that passed: no run is shorter than its longest."""
    passed = Counter[str]()
    for group, time in groups:
        passed[group] += time
    for group, time in passed.most_common(_GROUPS_SHOWN):
        yield f"{time:22.1f} {'':6} {group}, one after the other"


def table(tests: Iterable[tuple[str, float, float]]) -> Iterator[str]:
    """Lines about tests, each a name, its processor time and the time that passed: by folder, and the dearest."""
    found = sorted(tests, key=lambda test: -test[1])
    processor, passed, count = Counter[str](), Counter[str](), Counter[str]()
    for name, processor_time, time in found:
        folder = "/".join(name.partition("::")[0].split("/")[:2])
        processor[folder] += processor_time
        passed[folder] += time
        count[folder] += 1
    yield f"{'processor s':>12} {'passed s':>9} {'tests':>6}"
    for folder, seconds in processor.most_common(_PARTS_SHOWN):
        yield f"{seconds:12.1f} {passed[folder]:9.1f} {count[folder]:6} {folder}"
    yield f"{processor.total():12.1f} {passed.total():9.1f} {count.total():6} all"
    for name, seconds, time in found[:_TESTS_SHOWN]:
        yield f"{seconds:12.1f} {time:9.1f} {'':6} {name}"
