"""The conclusion of a plan that looked for a mark: the mark, and what to know about it in sentences.

Model: the mark is made by `plimsoll.analysis.load_line.mark` from everything measured, so that a report that reads the stored points back
says the same. Sentences: the highest load that held with what failed above it; levels left undecided; points that failed.

    concluded("ramp", probe, bracket).sentences[0]
    # "1,234 IOPS at queue_depth 24 held 'read mean <= 20ms'; at 25 read mean was 20.4 ms."
"""

from __future__ import annotations

from plimsoll.analysis.load_line.mark import Mark, mark_of
from plimsoll.experiments import wording
from plimsoll.experiments.bracket import Bracket
from plimsoll.experiments.plan import Conclusion
from plimsoll.experiments.probe import Probe, Probed


def concluded(kind: str, probe: Probe, bracket: Bracket) -> Conclusion:
    """What the levels of ``probe`` say."""
    mark = mark_of(probe.results, probe.objective)
    undecided = probe.undecided
    points = [(wording.place(probe.axis, probed.level), result) for probed in probe.levels for result in probed.results]
    return Conclusion(
        kind,
        sentences=(
            _held(probe, mark) if mark else _nothing_held(probe),
            *(_undecided(probe.axis, probed) for probed in undecided if not probed.judgement.too_few),
            *(() if mark or _told(probe).judgement.too_few else _too_few(probe)),
            *wording.failures(points),
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
    held = f"{wording.rate(mark.iops)} at {wording.place(probe.axis, mark.level)} held '{mark.objective}'"
    if mark.next_level is None:
        return f"{held}; no higher level was allowed, so the mark lies beyond."
    failed = next(probed for probed in probe.levels if probed.level == mark.next_level)
    return f"{held}; at {wording.number(failed.level)} {_why(failed)}."


def _nothing_held(probe: Probe) -> str:
    """Said of the lowest level that was too much, or of the highest when none was."""
    told = _told(probe)
    end = "lowest" if told.too_much else "highest"
    return f"No level held '{probe.objective}': at the {end} asked, {wording.place(probe.axis, told.level)}, {_why(told)}."


def _told(probe: Probe) -> Probed:
    too_much = [probed for probed in probe.levels if probed.too_much]
    return min(too_much, key=lambda probed: probed.level) if too_much else max(probe.levels, key=lambda probed: probed.level)


def _why(failed: Probed) -> str:
    """What was measured where the objective failed, the clause that is named as the reason."""
    clauses = [item for item in failed.judgement.clauses if not item.holds]
    named = [item for item in clauses if failed.judgement.failed_by and failed.judgement.failed_by.startswith(item.text)]
    if not clauses:
        return (failed.judgement.failed_by or "the point failed").removesuffix(".")
    return wording.measured((named or clauses)[0])


def _too_few(probe: Probe) -> list[str]:
    """One sentence for all levels that had too few requests, with what the highest of them lacked."""
    short = [(probed.level, lacking) for probed in probe.levels if (lacking := probed.judgement.too_few) is not None]
    if not short:
        return []
    last, lacking = max(short, key=lambda pair: pair[0])
    levels = sorted(level for level, _ in short)
    named = ", ".join(map(wording.number, levels)) if len(levels) < 5 else f"{wording.number(levels[0])} to {wording.number(levels[-1])}"
    at = "" if len(levels) == 1 else f", at {wording.number(last)}"
    return [f"Not known at {probe.axis} {named}{at}: {lacking.text}."]


def _undecided(axis: str, probed: Probed) -> str:
    doubt = probed.nearest
    said = wording.measured(doubt) if doubt else "it could not be measured"
    side = "held" if probed.judgement.holds else "failed"
    return (
        f"Undecided after {len(probed.results)} repeats: at {wording.place(axis, probed.level)} {said}, "
        f"too near the limit to tell; by its value it {side}."
    )
