"""What became of analytics workflows: a record for each process, for each of its steps, and for each time that all of them ran.

Model: these records are the section ``analytics`` of a point's outcome, which pages, tables and suites read. Instants are seconds from the
start of the job, by the one monotonic clock of the machine, so that workflows can be drawn beside each other. A workflow that failed has
the steps that it came to; its own record has the sentence.

Bytes are told three times, since they are three things: what a step *needed* to move follows from the rows and the memory; what it *read*
and *wrote* is the sum of its system calls; what was *stored* is what the kernel charged to the process (/proc/self/io), which leaves out
reads that the page cache answered. What the *devices* did in the same seconds is of all processes together.

    section["workflows"][0]["steps"][4]["name"]          # "sort"
    Workflow.from_json(section["workflows"][0]).real_s
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from plimsoll.stored import Json

Status = Literal["complete", "failed", "stopped"]
BANNER = "analytics workflow, modelled on published descriptions of SAS jobs; not a SAS benchmark"


@dataclass(frozen=True)
class Step:
    """One step of one workflow. ``check`` is ``ok``, the sentence of what was wrong, or None where it did not come to its check.

    ``needed_*``: what rows and memory make necessary. ``*_bytes``: moved by system calls. ``stored_*``: charged to the process by the
    kernel; None where it does not say. ``device_*``: of the target's devices meanwhile, whoever caused it; None without such counters.
    ``passes``: of a sort, how often the rows were written to run files; 0 where they fitted into memory.
    """

    name: str
    start_s: float
    end_s: float
    rows: int = 0
    user_s: float = 0.0
    system_s: float = 0.0
    needed_read_bytes: int | None = None
    needed_written_bytes: int | None = None
    read_bytes: int = 0
    written_bytes: int = 0
    stored_read_bytes: int | None = None
    stored_written_bytes: int | None = None
    device_read_bytes: int | None = None
    device_written_bytes: int | None = None
    passes: int | None = None
    check: str | None = None

    @property
    def real_s(self) -> float:
        """From its beginning to the end of its check."""
        return self.end_s - self.start_s

    @property
    def device_share(self) -> float | None:
        """The part of what it moved that the kernel charged to it as reads and writes of storage; None where that is not known."""
        moved = self.read_bytes + self.written_bytes
        if self.stored_read_bytes is None or self.stored_written_bytes is None or not moved:
            return None
        return (self.stored_read_bytes + self.stored_written_bytes) / moved


@dataclass(frozen=True)
class Workflow:
    """One process. ``number`` counts from 1 within its iteration, ``iteration`` from 1. ``user_s`` and ``system_s`` are those of the
    whole process (wait4), ``max_rss_bytes`` is the most that it ever had resident (wait4), ``memory_bytes`` its cap."""

    number: int
    iteration: int
    status: Status
    start_s: float
    end_s: float
    failure: str | None = None
    user_s: float = 0.0
    system_s: float = 0.0
    max_rss_bytes: int = 0
    memory_bytes: int = 0
    steps: Sequence[Step] = field(default_factory=tuple)

    @property
    def real_s(self) -> float:
        """From the common start to its end."""
        return self.end_s - self.start_s

    @property
    def check(self) -> str | None:
        """``ok`` when every step's results were right, else the first sentence of what was wrong; None where there were no results."""
        told = [step.check for step in self.steps if step.check is not None]
        return next((check for check in told if check != "ok"), "ok" if told else None)

    def to_json(self) -> Json:
        """As it is stored: with what follows from its fields, so that readers need not work it out."""
        steps = [{**asdict(step), "real_s": step.real_s, "device_share": step.device_share} for step in self.steps]
        return {**asdict(self), "real_s": self.real_s, "check": self.check, "steps": steps}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Workflow:
        """Of a stored one."""
        steps = tuple(Step(**_known(Step, step)) for step in value["steps"])
        return cls(**{**_known(cls, value), "steps": steps})


@dataclass(frozen=True)
class Iteration:
    """One time that all workflows ran: from the common start to the end of the last. ``failed`` counts workflows, ``cpu`` is percent of
    all processors by state (``user_percent`` …), ``device_*`` are those of the target's devices, None where none counts."""

    number: int
    start_s: float
    end_s: float
    workflows: int
    failed: int = 0
    user_s: float = 0.0
    system_s: float = 0.0
    cpu: Mapping[str, float] | None = None
    device_read_bytes: int | None = None
    device_written_bytes: int | None = None

    @property
    def real_s(self) -> float:
        """Last end less first start."""
        return self.end_s - self.start_s

    @property
    def cpu_s(self) -> float:
        """Processor time of all workflows."""
        return self.user_s + self.system_s

    def to_json(self) -> Json:
        """As it is stored."""
        return {**asdict(self), "real_s": self.real_s, "cpu_s": self.cpu_s}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Iteration:
        """Of a stored one."""
        return cls(**_known(cls, value))


def _known(kind: Any, value: Mapping[str, Any]) -> Json:
    """The fields of a record; what a later version added is left out."""
    return {name: value[name] for name in kind.__dataclass_fields__ if name in value}
