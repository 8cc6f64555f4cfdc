"""How many points lie ahead: of an experiment before it begins, and of a ramp while it goes on.

Model: where results decide what is measured next, the planner's own steps are gone through with a limit in each place where it can lie; the
fewest and the most that this takes are the bounds. A ramp that is going on knows a part of that, so its bound falls with every point.
Limits: points that are measured again, because requests were too few or a level was too near the limit to tell, are not counted for a ramp;
for a search every level counts as often as it may be repeated, which most levels are not.

    outlook(experiment)                   # Outlook(least=5, most=15, words="threads 1 to 1,024 …")
    list(known_requests(experiment))      # every request in its order, where results decide nothing
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from plimsoll.experiments.experiment import Experiment
from plimsoll.experiments.kinds import PLANNERS, is_whole, planned_points, schedule
from plimsoll.experiments.plan import Request
from plimsoll.result import JobRecord, Result

#: Kinds whose points do not depend on results.
KNOWN = ("single", "steps", "matrix", "scaling", "precondition")


@dataclass(frozen=True)
class Outlook:
    """The fewest and the most points of one subject; ``words`` say what they are where results decide. ``filling`` is a point before them
    that fills the target."""

    least: int
    most: int
    words: str = ""
    filling: bool = False


def outlook(experiment: Experiment) -> Outlook:
    """What is known of one subject before anything is measured."""
    known = PLANNERS[experiment.kind].points(experiment)
    parameters = experiment.parameters
    if known is not None:
        words = ""
        if experiment.kind == "curve":
            first = "" if parameters["maximum"] is not None else "the maximum, then "
            words = f"{first}{', '.join(f'{percent:g}' for percent in parameters['percent'])} % of it"
        return Outlook(known, known, words)
    if experiment.kind == "steady":
        words = f"rounds until {parameters['window']} of them are steady"
        return Outlook(parameters["window"], parameters["rounds_max"], words, filling=parameters["precondition"])
    return _of_search(experiment)


def _of_search(experiment: Experiment) -> Outlook:
    from plimsoll.experiments.probe import Bounds, Growth, Resolution, points_of_search
    from plimsoll.experiments.wording import number

    start, stop = experiment.over[experiment.axis]
    bounds = Bounds(start, stop, integer=is_whole(experiment.axis))
    parameters = experiment.parameters
    resolution = Resolution.parse(parameters["resolution"])
    growth = Growth.parse(parameters.get("growth") or "2x")
    least, most = points_of_search(bounds, resolution, growth)
    words = (
        f"{experiment.axis} {number(start)} to {number(stop)} by {growth} until '{experiment.objective}' fails, "
        f"then between, to {resolution}"
    )
    return Outlook(least, most * int(parameters.get("repeats_max") or 1), words)


def most_points(experiment: Experiment) -> int:
    """Of all its subjects."""
    return (outlook(experiment).most + outlook(experiment).filling) * len(experiment.workloads) * len(experiment.configurations)


def known_requests(experiment: Experiment) -> Iterator[Request]:
    """Every request in the order of measuring; only of the kinds in `KNOWN`."""
    requests = schedule(experiment)
    for number in range(planned_points(experiment) or 0):
        yield requests.send(_UNMEASURED) if number else next(requests)
    requests.close()


#: Stands for results that decide nothing.
_UNMEASURED = Result(
    id="",
    status="failed",
    error="it was not measured.",
    started="",
    modelled=False,
    job=JobRecord("", "", "", "", 0, 1, 0.0, 0.0, 1, 1, "closed", {}, {}),
)
