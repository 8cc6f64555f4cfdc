"""A demand as an experiment: the rate is raised from a part of what is asked for until the objective fails, on each target.

Model: a ramp over the rate of `plimsoll.analysis.sizing.demanded_workload`, open loop, so that the response is what users of that rate
would meet. Without an objective the rate has to be kept up.
Limits: rates beyond eight times the demand are not tried; the headroom is then a lower end.

    carry_out(demand_undertaking(demand, targets=["array:nvme"], objective="p99 <= 5ms"), options, listener)
"""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping, Sequence
from typing import Any

from plimsoll.analysis.sizing.demand import Demand
from plimsoll.analysis.sizing.demanded_workload import demanded_workload, measured_rates
from plimsoll.catalog.arrays import PREFIX, array_names
from plimsoll.engine import Json
from plimsoll.errors import InputError
from plimsoll.experiments.document import TYPED, read_experiments
from plimsoll.near import family_hint
from plimsoll.points.undertaking import Undertaking

NAME = "demand"
#: What has to hold where nothing is said of the response.
KEPT_UP = "achieved >= 97%"
#: Half an octave is told apart well enough for sizing.
_RESOLUTION = "5%"


def demand_undertaking(demand: Demand, *, targets: Sequence[str], objective: str | None, settings: Mapping[str, Any]) -> Undertaking:
    """The ramp of every target; ``settings`` are options of the job such as the duration."""
    experiment: Json = {
        "name": NAME,
        "kind": "ramp",
        "workloads": [NAME],
        "over": {"rate": measured_rates(demand)},
        "objective": objective or KEPT_UP,
        "resolution": _RESOLUTION,
        "set": dict(settings),
    }
    document = {"title": f"demand: {demand.source}", "workload": [demanded_workload(demand, NAME)], "experiment": [experiment]}
    return Undertaking(read_experiments(document, TYPED, targets=targets), NAME)


def arrays_like(pattern: str) -> list[str]:
    """The shipped arrays whose name the pattern matches, as targets; raises `InputError` with what is near when there is none."""
    bare = pattern.removeprefix(PREFIX)
    found = [f"{PREFIX}{name}" for name in array_names() if fnmatch.fnmatchcase(name, bare)]
    if not found:
        hint = family_hint(bare.strip("*?"), array_names()) or "'plimsoll list --arrays' names them; * stands for any letters"
        raise InputError(f"--arrays {pattern}: no shipped array is called so; {hint.rstrip('?.')}.")
    return found
