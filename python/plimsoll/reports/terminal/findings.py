"""What experiments found, as text for a terminal: per subject the sentences of its conclusion and the mark with its interval.

Model: the planners' own sentences, wrapped; the mark once more as figures, because it is what the experiment was for.

    print(conclusions([Concluded("ramp", "oltp-db", "/dev/sdb", conclusion)]))

    ramp: oltp-db on /dev/sdb
      1,234 IOPS at queue_depth 24 held 'read mean <= 20ms'; at 25 read mean was 20.4 ms.
      mark  1,234 IOPS [1,190, 1,280], 10.1 MB/s, at queue_depth 24
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from plimsoll.analysis.comparison.assertion import Asserted
from plimsoll.analysis.comparison.names import names_of
from plimsoll.analysis.load_line.mark import Mark
from plimsoll.analysis.objective.judgement import Objective, judge
from plimsoll.analysis.objective.misses import missed
from plimsoll.analysis.point.metric import IOPS, spoken
from plimsoll.records import dataclass
from plimsoll.reports.terminal.screen import ANY, Screen
from plimsoll.result import Result, tells
from plimsoll.units import count, megabytes

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
    #: What people call the rate of the load.
    noun: str = IOPS


def conclusions(found: Sequence[Concluded], screen: Screen = ANY) -> str:
    """Every conclusion that says something."""
    return "\n".join(line for one in found if one.sentences or one.mark for line in _lines(one, screen))


def kept(objective: Objective, results: Sequence[Result], screen: Screen = ANY) -> str:
    """Which points kept the objective, and what failed where they did not."""
    lines, names = [], names_of(results)
    for result in results:
        judgement = judge(objective, result)
        word = "held" if judgement.holds else "undecided" if judgement.undecided else "failed"
        verdict = screen.paint(word, "good" if judgement.holds else "doubt" if judgement.undecided else "bad")
        failed = "" if judgement.holds else f": {judgement.failed_by if judgement.undecided else missed(judgement)}"
        doubt = "" if judgement.settled or judgement.undecided else _NOT_SETTLED
        repeat = f" #{result.job.repeat}" if result.job.repeat > 1 else ""
        where = f"{names[result.side]}{' (modelled)' if result.modelled else ''}"
        lines += screen.lines(f"{result.job.workload}{repeat} on {where}: {verdict}{failed}{doubt}", "  ", "    ")
    return "\n".join([f"objective {objective.text}", *lines])


def asserted_text(judged: Sequence[Asserted], screen: Screen = ANY) -> str:
    """Every asserted condition: that it held, with the value that came nearest to the limit, or all that keeps it from holding."""
    lines: list[str] = []
    for one in judged:
        if one.holds:
            nearest = min(one.judged, key=lambda found: abs((found.ratio or 0.0) - one.assertion.limit))
            held = f"{one.assertion.text}: held at {_everywhere(one)}; nearest is {nearest.where} on {nearest.side}, {nearest.text}"
            lines += screen.lines(held, f"{screen.paint('✓', 'good')} ", "  ")
        else:
            lines += [line for sentence in one.sentences() for line in screen.lines(sentence, f"{screen.paint('✗', 'bad')} ", "  ")]
    return "\n".join(lines)


def _everywhere(one: Asserted) -> str:
    return "the only point" if len(one.judged) == 1 else f"all {len(one.judged)} points"


def mark_text(mark: Mark, axis: str, noun: str = IOPS) -> str:
    """The mark as figures: throughput with its interval, bandwidth where there is any, level of the option ``axis``."""
    ends = [count(spoken(end, noun)) for end in mark.interval or ()]
    interval = f" [{ends[0]}, {ends[1]}]" if mark.interval and tells(*mark.interval) else ""
    moved = f", {megabytes(mark.bytes_per_s)} MB/s" if mark.bytes_per_s or noun == IOPS else ""
    return f"{count(spoken(mark.iops, noun))} {noun}{interval}{moved}, at {axis} {mark.level:g}"


def _lines(one: Concluded, screen: Screen) -> Iterator[str]:
    yield f"{one.name}: {one.workload} on {one.configuration}"
    for sentence in one.sentences:
        yield from screen.lines(sentence, "  ", "    ")
    if one.mark is not None:
        yield f"  mark  {mark_text(one.mark, one.axis, one.noun)}"
        for note in one.mark.notes:
            yield from screen.lines(note, "        ", "        ")
