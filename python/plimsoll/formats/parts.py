"""A target of several parts, and the numbers of the parts that a stream uses, as they are written.

Model: in the text of a set a path keeps its bytes; what would mean something else there (a comma, a question mark, a percent sign, a
blank, which at an end may be layout) is written ``%XX``, and what begins like a kind of target begins with ``./``. Files that are all made
with one length are written as a target and its ``size``, which a typed ``--size`` can replace; lengths that differ, and files beside what
is there already, are written in the target.

    set_text(["a,b", "c"], sizes=["1MiB", "-"])          # "concat:a%2Cb,c?sizes=1MiB,-"
    TargetParts(("a", "b"), (1 << 20, 4096)).target           # "concat:a,b?sizes=1MiB,4KiB"
    TargetParts(("a", "b"), (4096, 4096)).size_bytes          # 8192
    parts_text([0, 2, 3, 4])                             # "0,2-4"
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from plimsoll.units import size_text

_SPECIAL = re.compile(r"[%,?\s]")
_KIND = re.compile(r"[A-Za-z0-9_-]+:")


def parts_text(numbers: Sequence[int]) -> int | str:
    """One number, or several with runs of them shortened."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    if len(numbers) == 1:
        return numbers[0]
    return ",".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)


def plain_path(path: str) -> str:
    """A target that is one path, whatever the path looks like."""
    return f"./{path}" if _KIND.match(path) else path


def set_text(paths: Iterable[str], unit: str = "", sizes: Sequence[str] = ()) -> str:
    """The target of several paths: striped in units, or one after the other. ``sizes`` says how long each is made, or ``-``."""
    listed = ",".join(_SPECIAL.sub(_escape, plain_path(path)) for path in paths)
    options = [f"unit={unit}"] * bool(unit) + [f"sizes={','.join(sizes)}"] * any(size != "-" for size in sizes)
    return f"{'stripe' if unit else 'concat'}:{listed}{'?' if options else ''}{'&'.join(options)}"


def _escape(found: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in os.fsencode(found[0]))


@dataclass(frozen=True)
class TargetParts:
    """A target of files and devices. ``sizes`` has a length for each path, None where nothing is made; ``unit`` is that of a stripe;
    ``model`` a target of no path."""

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
        sizes = [] if self.alike else ["-" if size is None else _text(size) for size in self.sizes]
        return set_text(self.paths, _text(self.unit) if self.unit else "", sizes)

    @property
    def size_bytes(self) -> int | None:
        """The size of the whole target, where its text does not say that of the parts."""
        return len(self.sizes) * (self.sizes[0] or 0) if self.alike else None

    @property
    def made_bytes(self) -> int:
        """How much is made."""
        return sum(size or 0 for size in self.sizes)


def _text(size_bytes: int) -> str:
    """Bytes without their letter, which is not needed."""
    text = size_text(size_bytes)
    return text if text.endswith("iB") else text.removesuffix("B")
