"""Searches for the mark: ramp and search, on a bracket of levels.

A bracket: the two levels between which the objective fails. Climb until it does, then halve what lies between.

Model: the response does not fall as the load rises, so every level below one that held holds, too. The climb goes from the first level up
by the growth, until a level is too much or the last one allowed was not. When already the first is too much, the way goes down by halves:
whole numbers to 1, others at most `HALVINGS_MAX` times. Then bisection, until the resolution is reached; whole numbers end at neighbours.
A level that had too few requests to show that it holds is passed over on the way. When the bracket ends at such a level, it is measured for
as long as these take (`Probe.longer`); if it is too much then, the level passed below it is, and what lies between is halved anew.
On a model both ends are then decided (`Probe.decided`), and the bracket moves with an end that turns out to lie on the other side.
Limits: where the response falls again with more load, some crossing is found, not all.

    bracket = yield from find_bracket(probe, bounds, resolution, growth)
    bracket.low, bracket.high                # None: even the lowest level was too much, or none was

The conclusion: the mark, and what to know about it in sentences.

Model: the mark is made by `plimsoll.analysis.load_line.mark` from everything measured, so that a report that reads the stored points back
says the same. Sentences: the highest load that held with what failed above it; levels left undecided; points that failed.

    conclude(probe, bracket).sentences[0]
    # "1,234 IOPS at queue_depth 24 held 'read mean <= 20ms'; at 25 read mean was 20.4 ms."

A ramp: raise the load until the objective fails, then bisect; the highest load that held, and what failed first.

Model: Jetstress raises threads until reads or writes take 20 ms on average; this is the same on any option. Every level is measured once
and decided by its value, except that no mark rests on too few requests (`plimsoll.experiments.probe`);
`search` repeats where the value alone does not decide.
Limits: a level nearer to the limit than its own noise may fall on either side; the mark's interval says how near that is.

    plan = ramp("threads", Bounds(1, 64, integer=True), parse_objective("read mean <= 20ms and write mean <= 20ms"))

A search: like a ramp, for noisy answers. A level near the limit is measured again until it is statistically settled or called undecided.

Model: a level is settled when the 95 % interval over all its repeats lies wholly on one side of the limit. Far from the limit one repeat
does that; near it, repeats with other seeds narrow the interval. What the last repeat allowed leaves open is undecided: the conclusion says
so, and the value decides. So most of the time is spent where it matters, and a mark costs less than measuring every level long enough.
Limits: an interval that is looked at after every repeat is on the wrong side more often than one in twenty times. That happens to levels
near the limit only, where a wrong answer shifts the mark by no more than the noise. A metric without interval (points of a few seconds)
is settled by the scatter between repeats.

    plan = search("rate", Bounds(100, 20_000), parse_objective("p99 <= 5ms"), repeats_max=8)
"""

from __future__ import annotations

from collections.abc import Generator

from plimsoll.analysis.load_line.mark import Mark, mark_of
from plimsoll.analysis.objective.judgement import Objective
from plimsoll.experiments import phrases
from plimsoll.experiments.experiment import Experiment
from plimsoll.experiments.kind import Outlook
from plimsoll.experiments.levels import is_whole
from plimsoll.experiments.plan import Ask, Conclusion, Plan
from plimsoll.experiments.probe import HALVINGS_MAX, Bounds, Growth, Probe, Probed, Resolution, points_between, points_of_search
from plimsoll.records import dataclass
from plimsoll.result import Result

#: How often ends of the bracket may turn out to lie on the other side.
MOVES_MAX = 4


@dataclass(frozen=True)
class Bracket:
    """The highest level that was not too much below the lowest that was."""

    low: float | None
    high: float | None


def find_bracket(probe: Probe, bounds: Bounds, resolution: Resolution, growth: Growth) -> Generator[Ask, Result, Bracket]:
    """Find the bracket with the levels that ``probe`` asks for."""
    bracket = yield from _climbed(probe, bounds, resolution, growth)
    if bracket.low is None:
        bracket = yield from _descended(probe, bounds)
    bracket = yield from _bisected(probe, bracket, bounds, resolution)
    low, high = bracket.low, bracket.high
    while low is not None and not (yield from probe.longer(low)):
        low, high = max((level for level in probe.not_too_much if level < low), default=None), low
    if low != bracket.low:
        bracket = yield from _bisected(probe, Bracket(low, high), bounds, resolution)
    return (yield from _decided(probe, bracket, bounds, resolution, growth))


def _decided(probe: Probe, bracket: Bracket, bounds: Bounds, resolution: Resolution, growth: Growth) -> Generator[Ask, Result, Bracket]:
    """The bracket with both ends decided, where time is cheap; an end that turns out to lie on the other side moves it."""
    for _ in range(MOVES_MAX):
        low, high = bracket.low, bracket.high
        probe.left = None
        if low is not None and not (yield from probe.decided(low)):
            low, high = max((level for level in probe.not_too_much if level < low), default=None), low
        elif high is not None and (yield from probe.decided(high)):
            beyond = [level for level in probe.too_much if level > high]
            found = Bracket(high, min(beyond)) if beyond else (yield from _climbed(probe, bounds, resolution, growth, high))
            low, high = found.low, found.high
        else:
            return bracket
        bracket = yield from _bisected(probe, Bracket(low, high), bounds, resolution)
    return bracket


def _bisected(probe: Probe, bracket: Bracket, bounds: Bounds, resolution: Resolution) -> Generator[Ask, Result, Bracket]:
    if bracket.low is None or bracket.high is None:
        return bracket
    low, high = bracket.low, bracket.high
    while (level := resolution.between(low, high, bounds)) is not None:
        probe.left = points_between(low, high, bounds, resolution) - 1
        if (yield from probe.at(level)):
            low = level
        else:
            high = level
    return Bracket(low, high)


def _climbed(
    probe: Probe, bounds: Bounds, resolution: Resolution, growth: Growth, low: float | None = None
) -> Generator[Ask, Result, Bracket]:
    """From the first level up, or from the one after ``low``, which was not too much."""
    if low is not None and low >= bounds.stop:
        return Bracket(low, None)
    level = float(bounds.start) if low is None else growth.after(low, bounds)
    probe.left = points_of_search(bounds, resolution, growth, low)[1] - 1
    while (yield from probe.at(level)):
        if level >= bounds.stop:
            return Bracket(level, None)
        low, level = level, growth.after(level, bounds)
        probe.left = points_of_search(bounds, resolution, growth, low)[1] - 1
    return Bracket(low, level)


def _descended(probe: Probe, bounds: Bounds) -> Generator[Ask, Result, Bracket]:
    high = float(bounds.start)
    for _ in range(HALVINGS_MAX if not bounds.integer else int(high).bit_length()):
        level = float(int(high) // 2) if bounds.integer else bounds.level(high / 2, high / 2)
        if level <= 0:
            break
        probe.left = int(level).bit_length() if bounds.integer else HALVINGS_MAX
        if (yield from probe.at(level)):
            return Bracket(level, high)
        high = level
    return Bracket(None, high)


def conclude(probe: Probe, bracket: Bracket) -> Conclusion:
    """What the levels of ``probe`` say."""
    mark = mark_of(probe.results, probe.objective)
    undecided = probe.undecided
    points = [(phrases.level_text(probe.axis, probed.level), result) for probed in probe.levels for result in probed.results]
    return Conclusion(
        sentences=(
            _held(probe, mark) if mark else _nothing_held(probe),
            *(_undecided(probe.axis, probed) for probed in undecided if not probed.judgement.too_few),
            *(() if mark or _told(probe).judgement.too_few else _too_few(probe)),
            *phrases.failures(points),
        ),
        mark=mark,
        figures={
            "axis": probe.axis,
            "objective": str(probe.objective),
            "levels": [probed.to_json() for probed in probe.levels],
            "points": len(points),
            "beyond": mark is not None and mark.next_level is None,
            "bracket": [bracket.low, bracket.high],
            "undecided": [probed.level for probed in undecided],
        },
    )


def _held(probe: Probe, mark: Mark) -> str:
    load = phrases.load(mark.iops, mark.bytes_per_s, probe.results)
    met = f"Meets '{mark.objective}' up to {phrases.level_text(probe.axis, mark.level)} ({load})"
    if mark.next_level is None:
        return f"{met}. {phrases.number(mark.level)} was the highest level allowed; the limit is higher."
    failed = next(probed for probed in probe.levels if probed.level == mark.next_level)
    return f"{met}; at {phrases.number(failed.level)}, {_why(failed)}."


def _nothing_held(probe: Probe) -> str:
    """Said of the lowest level that was too much, or of the highest when none was."""
    told = _told(probe)
    end = "lowest" if told.too_much else "highest"
    return f"No level meets '{probe.objective}': at the {end} measured, {phrases.level_text(probe.axis, told.level)}, {_why(told)}."


def _told(probe: Probe) -> Probed:
    too_much = [probed for probed in probe.levels if probed.too_much]
    return min(too_much, key=lambda probed: probed.level) if too_much else max(probe.levels, key=lambda probed: probed.level)


def _why(failed: Probed) -> str:
    """What was measured where the objective failed, the clause that is named as the reason."""
    clauses = [item for item in failed.judgement.clauses if not item.holds]
    named = [item for item in clauses if failed.judgement.failed_by and failed.judgement.failed_by.startswith(item.text)]
    if not clauses:
        return (failed.judgement.failed_by or "the point failed").removesuffix(".")
    return phrases.measured((named or clauses)[0])


def _too_few(probe: Probe) -> list[str]:
    """One sentence for all levels that had too few requests, with what the highest of them lacked."""
    short = [(probed.level, lacking) for probed in probe.levels if (lacking := probed.judgement.too_few) is not None]
    if not short:
        return []
    last, lacking = max(short, key=lambda pair: pair[0])
    levels = sorted(level for level, _ in short)
    named = ", ".join(map(phrases.number, levels)) if len(levels) < 5 else f"{phrases.number(levels[0])} to {phrases.number(levels[-1])}"
    at = "" if len(levels) == 1 else f", at {phrases.number(last)}"
    return [f"Not known at {probe.axis} {named}{at}: {lacking.text}."]


def _undecided(axis: str, probed: Probed) -> str:
    doubt = probed.nearest
    said = phrases.measured(doubt) if doubt else "it could not be measured"
    side = "meets" if probed.judgement.holds else "misses"
    return (
        f"Undecided at {phrases.level_text(axis, probed.level)} after {len(probed.results)} repeats: {said}, "
        f"too close to the limit to tell. The value itself {side} the objective."
    )


def ramp(axis: str, bounds: Bounds, objective: Objective, resolution: Resolution | None = None, growth: Growth | None = None) -> Plan:
    """Levels of ``axis`` from ``bounds.start`` up; 2 % and doubling unless told otherwise."""
    probe = Probe(axis, objective)
    bracket = yield from find_bracket(probe, bounds, resolution or Resolution(), growth or Growth())
    return conclude(probe, bracket)


REPEATS_MAX = 5


def search(axis: str, bounds: Bounds, objective: Objective, resolution: Resolution | None = None, repeats_max: int = REPEATS_MAX) -> Plan:
    """Levels of ``axis``, doubled from ``bounds.start`` on, each measured at most ``repeats_max`` times."""
    probe = Probe(axis, objective, max(1, repeats_max))
    bracket = yield from find_bracket(probe, bounds, resolution or Resolution(), Growth())
    return conclude(probe, bracket)


def ahead_of_search(experiment: Experiment) -> Outlook:
    """How many points lie ahead of a subject of a ramp or search.

    Its own steps are gone through with a limit in each place where it can lie; the fewest and the most that this takes are the bounds.
    A ramp that is going on knows a part of that, so its bound falls with every point. Points that are measured again, because requests
    were too few or a level was too near the limit to tell, are not counted for a ramp; for a search every level counts as often as it
    may be repeated, which most levels are not.
    """
    start, stop = experiment.over[experiment.axis]
    bounds = Bounds(start, stop, integer=is_whole(experiment.axis))
    parameters = experiment.parameters
    resolution = Resolution.parse(parameters["resolution"])
    growth = Growth.parse(parameters.get("growth") or "2x")
    least, most = points_of_search(bounds, resolution, growth)
    words = (
        f"{experiment.axis} {phrases.number(start)} to {phrases.number(stop)} by {growth} until '{experiment.objective}' fails, "
        f"then between, to {resolution}"
    )
    return Outlook(least, most * int(parameters.get("repeats_max") or 1), words)
