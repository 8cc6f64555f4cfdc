"""The points of experiments in the order in which planners ask for them, each with how many are still to come.

Model: a planner is sent the result of its point before it says the next; what it concludes is judged against the objective at once. How
many points are left is what the planner knows, or the most that it may ask for.

    points = feed(experiments, points_of)
    point = next(points)
    point = points.send(result)        # until StopIteration, whose value is what was found
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import replace

from plimsoll.experiments.experiment import Experiment
from plimsoll.experiments.outlook import most_points, outlook
from plimsoll.experiments.plan import Conclusion, Subject
from plimsoll.experiments.schedule import schedule
from plimsoll.points.experiment_points import ExperimentPoints
from plimsoll.points.loop import Feed
from plimsoll.points.outcome import Found
from plimsoll.points.point import PlannedPoint
from plimsoll.result import Result


def feed(experiments: Sequence[Experiment], points_of: Sequence[ExperimentPoints]) -> Feed:
    """The points of all experiments, one experiment after the other; takes the result of each, and returns what was found."""
    found: list[Found] = []
    later = [most_points(experiment) for experiment in experiments]
    for number, (experiment, points) in enumerate(zip(experiments, points_of, strict=True), start=1):
        measured: list[Result] = []
        conclusions = yield from _points(experiment, points, measured, sum(later[number:]))
        concluded = [Found(experiment.name, experiment.kind, subject, conclusion) for subject, conclusion in conclusions.items()]
        found += _marked(concluded, measured, experiment)
    return found


def _marked(concluded: Sequence[Found], measured: Sequence[Result], experiment: Experiment) -> Sequence[Found]:
    if experiment.objective is None:
        return concluded
    from plimsoll.points.verdicts import marked

    return [marked(one, measured, experiment.objective) for one in concluded]


def _points(
    experiment: Experiment, points: ExperimentPoints, measured: list[Result], later: int
) -> Generator[PlannedPoint, Result, Mapping[Subject, Conclusion]]:
    """The points of one experiment, after which ``later`` more come at most; ``measured`` takes their results."""
    plan = schedule(experiment)
    most = outlook(experiment).most + outlook(experiment).filling
    left = {subject: most for workload in experiment.workloads for subject in experiment.subjects(workload)}
    try:
        request = next(plan)
        while True:
            known = request.ask.left
            left[request.subject] = max(0, left[request.subject] - 1) if known is None else known
            result = yield replace(points.point(request), left=sum(left.values()) + later)
            measured.append(result)
            before, request = request.subject, plan.send(result)
            if request.subject != before and not experiment.interleave:
                # A plan that has concluded asks nothing more.
                left[before] = 0
    except StopIteration as end:
        conclusions: Mapping[Subject, Conclusion] = end.value
        return conclusions
