"""How many points lie ahead: of an experiment before it begins, and of a ramp while it goes on.

Model: where results decide what is measured next, the kind says the bounds (`Kind.ahead`); of all others their number is known.

    outlook(experiment)                   # Outlook(least=5, most=15, words="threads 1 to 1,024 …")
    list(known_requests(experiment))      # every request in its order, where results decide nothing
"""

from __future__ import annotations

from collections.abc import Iterator

from plimsoll.experiments.experiment import Experiment
from plimsoll.experiments.kind import Outlook
from plimsoll.experiments.kinds import KINDS_BY_NAME
from plimsoll.experiments.plan import Request
from plimsoll.experiments.schedule import planned_points, schedule
from plimsoll.result import JobRecord, Result


def outlook(experiment: Experiment) -> Outlook:
    """What is known of one subject before anything is measured."""
    kind = KINDS_BY_NAME[experiment.kind]
    if kind.ahead is not None:
        return kind.ahead(experiment)
    known = kind.points(experiment)
    assert known is not None, f"{kind.name} says neither how many points it has nor between which numbers they lie"
    return Outlook(known, known)


def is_known(experiment: Experiment) -> bool:
    """Whether no result decides what is measured next."""
    return not KINDS_BY_NAME[experiment.kind].adaptive


def most_points(experiment: Experiment) -> int:
    """Of all its subjects."""
    return (outlook(experiment).most + outlook(experiment).filling) * len(experiment.workloads) * len(experiment.configurations)


def known_requests(experiment: Experiment) -> Iterator[Request]:
    """Every request in the order of measuring; only where it `is_known`."""
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
