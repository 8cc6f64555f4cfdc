"""Whether a translated document is one that can be carried out: what the reader of experiments and the engine say of it."""

from __future__ import annotations

from typing import Any

from plimsoll.engine import native
from plimsoll.experiments.document import read_experiments
from plimsoll.experiments.schedule import settings_of


def check_document(document: dict[str, Any], source: str) -> None:
    """Experiments are read, and the engine takes every workload with every setting; raises `InputError` otherwise."""
    engine = native()
    workloads = {workload["name"]: engine.check_workload(workload, source) for workload in document["workload"]}
    suite = read_experiments(document, source)
    for experiment in suite.experiments:
        for name in experiment.workloads:
            for settings in settings_of(experiment):
                checked, options = workloads[name], engine.check_job({})
                for option, value in settings.items():
                    checked, options = engine.set_option(checked, options, option, value)
