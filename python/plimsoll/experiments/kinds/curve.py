"""The load line at percentages of the maximum."""

from __future__ import annotations

from collections.abc import Sequence

from plimsoll.analysis.point.definition import arrival, has_rate, runs_workflows
from plimsoll.experiments import forms
from plimsoll.experiments.experiment import Experiment
from plimsoll.experiments.forms import words
from plimsoll.experiments.kind import Kind, Outlook, objective_of
from plimsoll.experiments.option import OBJECTIVE, PRECISION, REPEAT, Option, meanings
from plimsoll.experiments.plan import Plan, Subject
from plimsoll.stored import Definition

_ROUNDINGS = {
    "none": "the percentage itself",
    "vdbench": "as Vdbench does it: up to the next 10, above 1000 to the next 100",
}
_OUTSTANDING = {
    "raised": "four times as many as at the maximum and at least 32 per thread, so that clusters of arrivals reach the target",
    "kept": "never more than at the maximum, as the threads of an SD in Vdbench; the others wait for the first free slot of their stream, "
    "which is in the latency and not in the service time",
}
_ARRIVALS = {"poisson": "as many independent users produce them", "constant": "at equal gaps"}


def _build(experiment: Experiment, _: Subject) -> Plan:
    from plimsoll.experiments.curve import Pace, curve

    pace = Pace(**{name: experiment.parameters[name] for name in ("rounding", "arrival", "outstanding", "maximum")})
    return curve(experiment.parameters["percent"], pace, objective_of(experiment), experiment.repeat)


def _points(experiment: Experiment) -> int:
    """At most: percentages of a small maximum may be rounded to the same rate, which is asked once."""
    parameters = experiment.parameters
    if parameters["maximum"] is None:
        return len(parameters["percent"]) * experiment.repeat + 1
    from plimsoll.experiments.curve import ROUNDINGS

    rounded = ROUNDINGS[parameters["rounding"]]
    return len({rounded(parameters["maximum"], percent) for percent in parameters["percent"]}) * experiment.repeat


def _ahead(experiment: Experiment) -> Outlook:
    known, parameters = _points(experiment), experiment.parameters
    first = "" if parameters["maximum"] is not None else "the maximum, then "
    return Outlook(known, known, f"{first}{', '.join(f'{percent:g}' for percent in parameters['percent'])} % of it")


def _unsuited(experiment: Experiment, workloads: Sequence[Definition]) -> str | None:
    rateless = next((workload for workload in workloads if not has_rate(workload)), None)
    if rateless is not None:
        axis = "workflows" if runs_workflows(rateless) else "streams"
        return f"the load of {rateless['name']} has no rate, which a curve offers; measure its levels: plimsoll steps --over {axis}=1..8."
    waiting = [workload["name"] for workload in workloads if arrival(workload) != "closed"]
    if experiment.parameters["maximum"] is not None or not waiting:
        return None
    return f"the maximum is looked for in a closed loop, but {waiting[0]} has open arrival; set arrival=closed, or name the maximum."


CURVE = Kind(
    "curve",
    "response curve",
    "Measure the load line at percentages of the maximum.",
    "First the workload as it stands, closed loop, for its maximum; then open loop at the given percentages of it. Several streams are "
    "given rates in proportion to what they did at the maximum.",
    "none",
    'name = "curve"\nkind = "curve"\nworkloads = ["random-read-4k"]\nset = { queue_depth = 32 }\n'
    'percent = [10, 50, 70, 80, 90, 100]\nrounding = "vdbench"',
    _build,
    (
        OBJECTIVE,
        REPEAT,
        PRECISION,
        Option(
            "percent",
            forms.PERCENTAGES,
            "Which percentages of the maximum are measured.",
            [10, 50, 80, 90, 95, 100],
            default=[10, 50, 70, 80, 90, 100],
        ),
        Option("rounding", words(_ROUNDINGS), f"How a rate follows from a percentage. {meanings(_ROUNDINGS)}", "vdbench", default="none"),
        Option("arrival", words(_ARRIVALS), f"When requests are due. {meanings(_ARRIVALS)}", "constant", default="poisson"),
        Option(
            "outstanding",
            words(_OUTSTANDING),
            f"How many requests may be outstanding at a percentage of the maximum. {meanings(_OUTSTANDING)}",
            "kept",
            default="raised",
        ),
        Option("maximum", forms.RATE, "The rate that counts as 100 %.", "20k", absent="it is measured first"),
    ),
    points=_points,
    ahead=_ahead,
    unsuited=_unsuited,
    drawings=("line",),
    varies_load=True,
    adaptive=True,
    offers_rates=True,
)
