"""What the short commands (``plimsoll run``, ``steps``, ``ramp``, ``curve`` …) do once their options are typed: read, then carry out.

short_experiment("ramp", typed, parameters=("resolution", "growth"), axis="queue_depth=1..1024")
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from plimsoll.cli.experiment.documenting import run_name, short_document
from plimsoll.cli.experiment.experimenting import carry_out
from plimsoll.experiments.document import read_experiments
from plimsoll.experiments.naming import TYPED


def short_experiment(kind: str, typed: Mapping[str, Any], parameters: Iterable[str] = (), axis: str | None = None) -> int:
    """Measure one experiment of ``kind`` as typed, and return the exit code."""
    document = short_document(kind, typed, parameters, axis)
    suite = read_experiments(document, TYPED, targets=typed["targets"])
    return carry_out(suite, typed, name=run_name(kind, typed["workloads"]))
