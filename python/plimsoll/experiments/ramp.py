"""Raise the load until the objective fails, then bisect: the highest load that held, and what failed first.

Model: Jetstress raises threads until reads or writes take 20 ms on average; this is the same on any option. Every level is measured once
and decided by its value, except that no mark rests on too few requests (`plimsoll.experiments.probe`);
`plimsoll.experiments.search` repeats where the value alone does not decide.
Limits: a level nearer to the limit than its own noise may fall on either side; the mark's interval says how near that is.

    plan = ramp("threads", Bounds(1, 64, integer=True), parse_objective("read mean <= 20ms and write mean <= 20ms"))
"""

from __future__ import annotations

from plimsoll.analysis.objective.judgement import Objective
from plimsoll.experiments.bounds import Bounds, Growth, Resolution
from plimsoll.experiments.bracket import bracketed
from plimsoll.experiments.marking import concluded
from plimsoll.experiments.plan import Plan
from plimsoll.experiments.probe import Probe


def ramp(axis: str, bounds: Bounds, objective: Objective, resolution: Resolution | None = None, growth: Growth | None = None) -> Plan:
    """Levels of ``axis`` from ``bounds.start`` up; 2 % and doubling unless told otherwise."""
    probe = Probe(axis, objective)
    bracket = yield from bracketed(probe, bounds, resolution or Resolution(), growth or Growth())
    return concluded("ramp", probe, bracket)
