"""Rounds until the storage is in its steady state."""

from __future__ import annotations

from plimsoll.experiments import forms
from plimsoll.experiments.experiment import Experiment
from plimsoll.experiments.forms import whole
from plimsoll.experiments.kind import Kind, Outlook, Source
from plimsoll.experiments.option import OBJECTIVE, PRECISION, Option
from plimsoll.experiments.plan import Plan, Subject
from plimsoll.stored import Json


def _build(experiment: Experiment, _: Subject) -> Plan:
    from plimsoll.analysis.objective.clause import parse_metric
    from plimsoll.experiments.steady import steady

    op, metric = parse_metric(experiment.parameters["metric"])
    chosen = {name: experiment.parameters[name] for name in ("rounds_max", "window", "precondition")}
    return steady(metric, op, **chosen)


def _ahead(experiment: Experiment) -> Outlook:
    parameters = experiment.parameters
    words = f"rounds until {parameters['window']} of them are steady"
    return Outlook(parameters["window"], parameters["rounds_max"], words, filling=parameters["precondition"])


def _check(_: Json, values: Json, source: Source) -> None:
    if values["window"] > values["rounds_max"]:
        raise source.wrong(f"{values['rounds_max']} rounds hold no window of {values['window']}; write a larger 'rounds_max'.")


STEADY = Kind(
    "steady",
    "rounds to steady state",
    "Measure in rounds until the storage is in its steady state.",
    "Rounds of the workload until the last `window` of them stay within 20 % of their mean and their fitted line within 10 %, as in "
    "the SNIA Solid State Storage Performance Test Specification; otherwise *not attained* is reported after `rounds_max`. With "
    "`precondition`, twice the capacity is first written sequentially in 128 KiB requests.",
    "none",
    'name = "steady state"\nkind = "steady"\nworkloads = ["random-write-4k"]\nset = { duration = "60s" }\nprecondition = true\n'
    'metric = "write iops"',
    _build,
    (
        OBJECTIVE,
        PRECISION,
        Option("metric", forms.METRIC, "What has to be steady.", "write iops", default="iops"),
        Option("window", whole(2, 1000), "How many rounds must be steady.", 5, default=5),
        Option("rounds_max", whole(2, 10_000), "Give up after this many rounds.", 25, default=25),
        Option("precondition", forms.SWITCH, "Write twice the capacity sequentially first.", example=True, default=False),
    ),
    ahead=_ahead,
    check=_check,
    fills=lambda experiment: bool(experiment.parameters["precondition"]),
    role="round",
    drawings=("rounds",),
    adaptive=True,
)
