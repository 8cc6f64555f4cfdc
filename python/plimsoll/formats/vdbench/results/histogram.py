"""Vdbench's histogram report: response times in its default buckets of 20 µs to 2 s, for all requests, reads and writes; of workloads on
file systems for every other operation, too.

Model: our buckets are far finer; one that crosses an edge of Vdbench's is counted where its upper end lies, within 1/256 of it.

    histogram_text([run_of(point, "oltp-db")])
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from plimsoll.formats.stored_point import MOVES, added
from plimsoll.formats.vdbench.results.file_rows import WORDS
from plimsoll.formats.vdbench.results.rows import Run
from plimsoll.histogram import Histogram

#: Upper edges in microseconds; the last bucket is open.
EDGES_US = (
    20,
    40,
    60,
    80,
    100,
    200,
    400,
    600,
    800,
    1000,
    *(step * 10**power for power in (3, 4, 5) for step in (2, 4, 6, 8, 10)),
    2_000_000,
)
_BAR = 50
_MOVES = (("Reads and writes", MOVES), ("Reads", ("read",)), ("Writes", ("write",)))
_OTHERS = {op: word for op, word in WORDS.items() if op not in MOVES}


def histogram_text(runs: Sequence[Run[Any]]) -> str:
    """Every run; runs whose distributions are not stored are left out."""
    lines = ["<pre>", "Vdbench histogram report, written by Plimsoll."]
    for run in runs:
        for title, ops in (*_MOVES, *((f"Operation {word}", (op,)) for op, word in _OTHERS.items())):
            lines += _table(f"{title} for {run.name}", _merged(run, ops))
    return "\n".join(lines) + "\n"


def counted(histogram: Histogram) -> list[int]:
    """How many values each bucket counts, the open one last."""
    counts = [0] * (len(EDGES_US) + 1)
    row = 0
    for value_ns, count in histogram.buckets():
        while row < len(EDGES_US) and value_ns >= EDGES_US[row] * 1000:
            row += 1
        counts[row] += count
    return counts


def _merged(run: Run[Any], ops: Sequence[str]) -> Histogram | None:
    total: Histogram | None = None
    for op in ops:
        found = run.course.service(None, op)
        if found is not None:
            total = added(total, found)
    return total


def _table(title: str, histogram: Histogram | None) -> Iterator[str]:
    if histogram is None or not histogram.count:
        return
    yield ""
    yield title
    yield f"{'min(ms)':>12} < {'max(ms)':>10} {'count':>12} {'%':>9} {'cum%':>9}  '+': Individual%; '-': Cumulative%"
    edges = [0, *EDGES_US]
    seen = 0.0
    for row, count in enumerate(counted(histogram)):
        share = 100.0 * count / histogram.count
        upper = f"{edges[row + 1] / 1000:.3f}" if row < len(EDGES_US) else "max"
        bar = "+" * round(share / 100 * _BAR) + "-" * round(seen / 100 * _BAR)
        seen += share
        yield f"{edges[row] / 1000:12.3f} < {upper:>10} {count:12d} {share:9.4f} {seen:9.4f}  {bar}".rstrip()
