"""What one round of a run drives: streams on a target, and what is known of it.

Model: a load of block devices has streams alone; one of file systems has the trees that its streams work on, too, and another driver.

    load.workload()        # {'driver': 'files', 'tree': […], 'stream': […]}
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from plimsoll.formats.vdbench.parameter import Word

Json = dict[str, Any]

#: Least rate that a stream has, per second.
RATE_MIN = 0.001


@dataclass(frozen=True)
class Rate:
    """The rate of the whole run, and how requests arrive."""

    per_s: float
    arrival: str


@dataclass(frozen=True)
class Load:
    """What runs at the same time, where, on what parts of the file (``label``), and job options that follow from these."""

    target: str
    streams: list[Json]
    label: str
    empties_cache: bool
    trees: list[Json] = field(default_factory=list)
    settings: Json = field(default_factory=dict, compare=False)

    def workload(self) -> Json:
        """As the tables of a workload."""
        if not self.trees:
            return {"stream": self.streams}
        return {"driver": "files", "tree": self.trees, "stream": self.streams}


class Composing(Protocol):
    """What makes the loads of one run."""

    def load(self, choice: Mapping[str, Word], rate: Rate | None) -> Load:
        """The load of one round; without a rate its streams are closed loops."""
