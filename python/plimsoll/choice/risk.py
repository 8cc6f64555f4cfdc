"""The chance to lose data within a year, from how long a rebuild takes under the load.

Model: members fail at a constant rate and are rebuilt, one at a time, within the simulated time; a group loses data when one more is
missing than its redundancy, or when as many are missing as may be and what is left holds a sector that cannot be read:
`crates/array/src/raid/mttdl.rs` has the chain and its sources. To bring back the last member that may be missing, as many bytes as the data
of the group have to be read, of dRAID those of as many members as hold the data of a record; each bit is unreadable with the chance that
the drive's data sheet states. Groups are independent; one of flash that keeps writes before disks has drives and a time of its own. A pool
of dRAID is one group: of so many slices, some miss whatever is missing.
Limits: drives of one batch, wear, a fire and a mistake of the operator are left out, so the figure is a lower end; unreadable sectors are
not found by scrubbing before they are needed, which makes it a higher one. A drive is replaced at once.

    loss_per_year([Shape(12, 2, 1, 16_000_900_661_248)], failing, rebuild_hours=40.0)      # 1.3e-06
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from plimsoll.choice.candidates import Shape
from plimsoll.choice.prices import Failing

_BITS = 8


def loss_per_year(shapes: Sequence[Shape], failing: Failing, rebuild_hours: float) -> float:
    """Of all groups together; any of them that loses data loses it."""
    from plimsoll import _core

    kept = 1.0
    for shape in shapes:
        lost = _core.loss_per_year(
            (shape.members, shape.redundancy, shape.groups),
            mttf_hours=failing.mttf_hours,
            mttr_hours=max(rebuild_hours, 1e-6),
            unreadable=unreadable(shape, failing),
        )
        kept *= 1 - lost
    return 1 - kept


def unreadable(shape: Shape, failing: Failing) -> float:
    """The chance that the last rebuild of a group meets a sector that cannot be read; nothing is rebuilt without redundancy."""
    if not shape.redundancy:
        return 0.0
    sources = shape.sources or shape.members - shape.redundancy
    bits = sources * shape.member_bytes * _BITS
    return -math.expm1(-bits / failing.unreadable_bits)
