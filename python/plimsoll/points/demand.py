"""A demand as an experiment: the rate is raised from what is asked for until the objective fails, on each target.

Model: a ramp over the rate of `plimsoll.analysis.sizing.demanded_workload`, open loop, so that the response is what users of that rate
would meet. Without an objective the rate has to be kept up. Of mailboxes, it is a ramp of a mail store of their generation.
Where the demand itself is too much, the rate is lowered until the objective holds.
Limits: rates beyond eight times the demand are not tried; the headroom is then a lower end.

    carry_out(demand_undertaking(demand, targets=["array:nvme"], objective="p99 <= 5ms"), options, listener)
"""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping, Sequence
from typing import Any

from plimsoll.analysis.mailstore.mark import RULE
from plimsoll.analysis.sizing.demand import Demand
from plimsoll.analysis.sizing.demanded_workload import demanded_workload, measured_rates
from plimsoll.catalog.arrays import PREFIX, array_names
from plimsoll.errors import InputError
from plimsoll.experiments.document import TYPED, read_experiments
from plimsoll.near import family_hint
from plimsoll.points.undertaking import Undertaking
from plimsoll.stored import Json

NAME = "demand"
#: What has to hold where nothing is said of the response.
KEPT_UP = "achieved >= 97%"
#: Threads of a mail store that are tried.
_THREADS = "1..1024"
#: A tenth of what is carried is told apart well enough for sizing.
_RESOLUTION = "10%"


def demand_undertaking(demand: Demand, *, targets: Sequence[str], objective: str | None, settings: Mapping[str, Any]) -> Undertaking:
    """The ramp of every target; ``settings`` are options of the job such as the duration."""
    if demand.generation is not None:
        return _of_mailboxes(demand, targets, objective, settings)
    experiment: Json = {
        "name": NAME,
        "kind": "ramp",
        "workloads": [NAME],
        "over": {"rate": measured_rates(demand)},
        "objective": required(demand, objective),
        "resolution": _RESOLUTION,
        "set": dict(settings),
    }
    document = {"title": f"demand: {demand.source}", "workload": [demanded_workload(demand, NAME)], "experiment": [experiment]}
    return Undertaking(read_experiments(document, TYPED, targets=targets), NAME)


def required(demand: Demand, objective: str | None) -> str:
    """The objective that is asked, or what has to hold where none is."""
    return objective or (KEPT_UP if demand.generation is None else RULE)


def _of_mailboxes(demand: Demand, targets: Sequence[str], objective: str | None, settings: Mapping[str, Any]) -> Undertaking:
    """The ramp of a mail store of their generation over its threads: the load itself and not requests that are like it."""
    experiment: Json = {
        "name": NAME,
        "kind": "ramp",
        "workloads": [f"mailstore-{demand.generation}"],
        "over": {"threads": _THREADS},
        "objective": required(demand, objective),
        "resolution": _RESOLUTION,
        "growth": "2x",
        "set": dict(settings),
    }
    document = {"title": f"demand: {demand.source}", "experiment": [experiment]}
    return Undertaking(read_experiments(document, TYPED, targets=targets), NAME)


def arrays_like(pattern: str) -> list[str]:
    """The shipped arrays whose name the pattern matches, as targets; raises `InputError` with what is near when there is none."""
    bare = pattern.removeprefix(PREFIX)
    found = [f"{PREFIX}{name}" for name in array_names() if fnmatch.fnmatchcase(name, bare)]
    if not found:
        hint = family_hint(bare.strip("*?"), array_names()) or "'plimsoll list --arrays' names them; * stands for any letters"
        ending = "" if hint.endswith("?") else "."
        raise InputError(f"--arrays {pattern}: no shipped array is called so; {hint}{ending}")
    return found
