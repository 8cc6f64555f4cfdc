"""What a power-cut journal says, as text for a terminal.

Model: one line for each run that kept or checked a journal; below a check, a line for each write that is not there, the first of them.

    print(journalled([result, …]))

    journal   cut.journal: 3 lost, 1 torn of 12,345 acknowledged writes
              lost          write 812: 4 KiB at byte 1,234,944, acknowledged after 3.21 s
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from plimsoll.analysis.point.verification import KINDS, checked, kept, listed
from plimsoll.displayed import displayed
from plimsoll.result import Result
from plimsoll.units import binary, duration

Json = dict[str, Any]

_INDENT = " " * 10
#: Writes that a terminal names; the result names up to ten thousand.
_NAMED = 20


def journalled(results: Sequence[Result]) -> str:
    """Every journal of the results; empty when there is none."""
    return "\n".join(line for result in results for line in (*_kept(result), *_checked(result)))


def _kept(result: Result) -> Iterator[str]:
    found = kept(result.engine)
    if found is None:
        return
    yield f"journal   {displayed(found['journal'])}: {found['durable']:,} of {found['begun']:,} writes were acknowledged as durable"
    if not found["durable"]:
        yield f"{_INDENT}none of them can be missed after a power cut; set dsync = true, or let it flush more often"


def _checked(result: Result) -> Iterator[str]:
    found = checked(result.engine)
    if found is None:
        return
    whole = "" if found["complete"] else "; stopped before all of them were looked at"
    total = f"all {found['acknowledged']:,} acknowledged writes are there" if found["complete"] else "what was looked at is there"
    yield f"journal   {displayed(found['journal'])}: {listed(found) or total} ({found['sectors_checked']:,} sectors looked at{whole})"
    if not found["acknowledged"]:
        yield f"{_INDENT}it names no acknowledged write, so nothing was proved; cut the power later, or flush more often"
    violations = found["violations"]
    for one in violations[:_NAMED]:
        yield (
            f"{_INDENT}{KINDS.get(one['kind'], one['kind']):<13} write {one['sequence']:,}: {binary(one['len'])} "
            f"at byte {one['address']:,}, acknowledged after {duration(one['acknowledged_ns'])}"
        )
    missing = sum(found["counts"].values())
    more = missing - min(len(violations), _NAMED)
    if more > 0:
        named = f"all {missing:,}" if len(violations) >= missing else f"the first {len(violations):,} of {missing:,}"
        yield f"{_INDENT}and {more:,} more; result.json of the point names {named}"
