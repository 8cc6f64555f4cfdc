"""The target of a group of jobs: its paths, how they are put together, and how long each is made where it has to be.

Model: files that are all made with one length are written as a target and its ``size``, which a typed ``--size`` can replace; lengths that
differ, and files beside what is there already, are written in the target.
fio lays out all files of a job file before the first job, each as long as the longest of the jobs wants it; so do groups with a file in
common.

    Placed(("a", "b"), (1 << 20, 4096)).target          # "concat:a,b?sizes=1MiB,4KiB"
    Placed(("a", "b"), (4096, 4096)).size_bytes         # 8192
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from plimsoll.formats.fio.quantity import bytes_text
from plimsoll.formats.parts import plain_path, set_text

#: A scratch file is a multiple of this.
SCRATCH_STEP = 4096


@dataclass(frozen=True)
class Placed:
    """``sizes`` has a length for each path, None where nothing is made; ``unit`` is that of a stripe; ``model`` a target of no path."""

    paths: tuple[str, ...] = ()
    sizes: tuple[int | None, ...] = ()
    unit: int | None = None
    model: str = ""

    @property
    def alike(self) -> bool:
        """Whether all are made, and with one length."""
        return bool(self.sizes) and None not in self.sizes and len(set(self.sizes)) == 1

    @property
    def target(self) -> str:
        """The target as it is written."""
        if self.model:
            return self.model
        if len(self.paths) == 1:
            return plain_path(self.paths[0])
        sizes = [] if self.alike else ["-" if size is None else str(bytes_text(size)) for size in self.sizes]
        return set_text(self.paths, str(bytes_text(self.unit)) if self.unit else "", sizes)

    @property
    def size_bytes(self) -> int | None:
        """The size of the whole target, where its text does not say that of the parts."""
        return len(self.sizes) * (self.sizes[0] or 0) if self.alike else None

    @property
    def made_bytes(self) -> int:
        """How much is made."""
        return sum(size or 0 for size in self.sizes)


def laid_out(groups: Sequence[Placed]) -> list[Placed]:
    """The targets of groups that run one after the other: a file that several of them make has the longest of its lengths in all."""
    longest: dict[str, int] = {}
    for placed in groups:
        for path, size in zip(placed.paths, placed.sizes, strict=True):
            longest[path] = max(longest.get(path, 0), size or 0)
    return [
        replace(placed, sizes=tuple(size and longest[path] for path, size in zip(placed.paths, placed.sizes, strict=True)))
        for placed in groups
    ]


def rounded_up(number: int, step: int) -> int:
    """The next multiple of ``step``."""
    return -(-number // step) * step
