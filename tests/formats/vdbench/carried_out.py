"""Whether a translated document is one that can be carried out: what the reader of experiments and the engine say of it."""

from __future__ import annotations

from typing import Any

from plimsoll.apps import DRIVERS, check_workload, driver_of
from plimsoll.engine.block import native
from plimsoll.experiments.document import read_experiments
from plimsoll.experiments.schedule import settings_of


def check_document(document: dict[str, Any], source: str) -> None:
    """Experiments are read, and the driver takes every workload with every setting; raises `InputError` otherwise."""
    engine = native()
    if any(workload.get("driver", "filecopy") not in DRIVERS for workload in document["workload"]):
        return
    workloads = {workload["name"]: check_workload(workload, source, engine) for workload in document["workload"]}
    suite = read_experiments(document, source)
    for experiment in suite.experiments:
        for name in experiment.workloads:
            for settings in settings_of(experiment):
                driver = driver_of(workloads[name], engine)
                checked, options = workloads[name], driver.check_job({})
                for option, value in settings.items():
                    checked, options = driver.set_option(checked, options, option, value)
                check_workload(checked, source, engine)
