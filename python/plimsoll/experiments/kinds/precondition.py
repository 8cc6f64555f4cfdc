"""The target filled, so that later points find it written."""

from __future__ import annotations

from plimsoll.experiments import forms
from plimsoll.experiments.experiment import Experiment
from plimsoll.experiments.kind import Kind
from plimsoll.experiments.option import Option
from plimsoll.experiments.plan import Plan, Subject


def _build(experiment: Experiment, _: Subject) -> Plan:
    from plimsoll.experiments.steady import precondition

    return precondition(experiment.parameters["amount"])


PRECONDITION = Kind(
    "precondition",
    "preconditioning",
    "Fill the target, so that later points find it written.",
    "Writes the target sequentially in 128 KiB requests, `amount` times its size.",
    "none",
    'name = "fill"\nkind = "precondition"\nworkloads = ["sequential-write-128k"]\namount = 2',
    _build,
    (Option("amount", forms.MULTIPLE, "How much is written.", 2, default=2),),
    points=lambda _: 1,
    fills=lambda _: True,
    role="precondition",
)
