"""What experiments found, as text for a terminal: per subject the sentences of its conclusion and the mark with its interval.

Model: the planners' own sentences, wrapped; the mark once more as figures, because it is what the experiment was for.

    print(conclusions([Concluded("ramp", "oltp-db", "/dev/sdb", conclusion)]))

    ramp: oltp-db on /dev/sdb
      1,234 IOPS at queue_depth 24 held 'read mean <= 20ms'; at 25 read mean was 20.4 ms.
      mark  1,234 IOPS [1,190, 1,280], 10.1 MB/s, at queue_depth 24
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from plimsoll.analysis.load_line.mark import Mark
from plimsoll.analysis.objective.judgement import Objective, judge
from plimsoll.result import Result
from plimsoll.units import count, megabytes

_WIDTH = 100
_NOT_SETTLED = " (not settled: the interval contains the limit, or there is none)"


@dataclass(frozen=True)
class Concluded:
    """One conclusion with its place; ``name`` is the experiment's."""

    name: str
    workload: str
    configuration: str
    sentences: Sequence[str]
    mark: Mark | None = None
    axis: str = "level"


def conclusions(found: Sequence[Concluded]) -> str:
    """Every conclusion that says something."""
    return "\n".join(line for one in found if one.sentences or one.mark for line in _lines(one))


def kept(objective: Objective, results: Sequence[Result]) -> str:
    """Which points kept the objective, and what failed where they did not."""
    lines = []
    for result in results:
        judgement = judge(objective, result)
        verdict = "held" if judgement.holds else f"{'undecided' if judgement.undecided else 'failed'}: {judgement.failed_by}"
        doubt = "" if judgement.settled or judgement.undecided else _NOT_SETTLED
        repeat = f" #{result.job.repeat}" if result.job.repeat > 1 else ""
        lines.append(f"  {result.job.workload}{repeat} on {result.job.target}{' (modelled)' if result.modelled else ''}: {verdict}{doubt}")
    return "\n".join([f"objective {objective.text}", *lines])


def mark_text(mark: Mark, axis: str) -> str:
    """The mark as figures: throughput with its interval, bandwidth, level of the option ``axis``."""
    interval = f" [{count(mark.interval[0])}, {count(mark.interval[1])}]" if mark.interval else ""
    return f"{count(mark.iops)} IOPS{interval}, {megabytes(mark.bytes_per_s)} MB/s, at {axis} {mark.level:g}"


def _lines(one: Concluded) -> Iterator[str]:
    yield f"{one.name}: {one.workload} on {one.configuration}"
    for sentence in one.sentences:
        yield from textwrap.wrap(sentence, _WIDTH, initial_indent="  ", subsequent_indent="    ")
    if one.mark is not None:
        yield f"  mark  {mark_text(one.mark, one.axis)}"
        for note in one.mark.notes:
            yield from textwrap.wrap(note, _WIDTH, initial_indent="        ", subsequent_indent="        ")
