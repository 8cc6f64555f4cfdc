"""A target of several parts, and the numbers of the parts that a stream uses, as they are written.

Model: in the text of a set a path keeps its bytes; what would mean something else there (a comma, a question mark, a percent sign, a
blank, which at an end may be layout) is written ``%XX``, and what begins like a kind of target begins with ``./``.

    set_text(["a,b", "c"], sizes=[1 << 20, None])        # "concat:a%2Cb,c?sizes=1MiB,-"
    parts_text([0, 2, 3, 4])                             # "0,2-4"
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence

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
