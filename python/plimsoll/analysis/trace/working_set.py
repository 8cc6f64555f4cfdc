"""How much of the address space requests touch, sequential ones included.

Model: the granules that any request reaches are remembered; they begin at 4 KiB and double whenever there are more than `MOST_GRANULES`.
Limits: an upper bound, by what the last granules of runs and the gaps within granules add.

    touched.add(offset=0, length=1 << 20); touched.size_bytes      # 1 MiB
"""

from __future__ import annotations

MOST_GRANULES = 16_384
FIRST_SHIFT = 12


class WorkingSet:
    """Granules that were touched."""

    __slots__ = ("granules", "shift")

    def __init__(self) -> None:
        self.shift = FIRST_SHIFT
        self.granules: set[int] = set()

    def add(self, offset: int, length: int) -> None:
        """One request."""
        shift = self.shift
        first, last = offset >> shift, (offset + length - 1) >> shift
        # A request longer than all granules together is coarsened before it is spelt out.
        while last - first > MOST_GRANULES:
            self._coarsen()
            first, last = offset >> self.shift, (offset + length - 1) >> self.shift
        if first == last:
            self.granules.add(first)
        else:
            self.granules.update(range(first, last + 1))
        while len(self.granules) > MOST_GRANULES:
            self._coarsen()

    @property
    def size_bytes(self) -> int:
        """The granules together."""
        return len(self.granules) << self.shift

    def _coarsen(self) -> None:
        self.shift += 1
        self.granules = {granule >> 1 for granule in self.granules}
