"""The driver of analytics workflows: processes that take rows through a DATA step, formats, indexes, a sort and a summary on the target.

Model: the target is a directory, in which Plimsoll makes two that are its own: ``input`` with a file of rows for each workflow, kept
between the points, and ``work`` with a directory for each process, gone when its process is. With ``concat:A,B`` the inputs are in A and
the work is in B. Each workflow is a process of the operating system (`plimsoll.apps.analytics.process`); all start at one instant. Reads
and writes are the operations; workflows and steps come with them. What only this driver knows is the section ``analytics``.
Limits: one host.

    [workload file]  driver = "analytics"
                     [[stream]]
                     workflows = 4
                     rows = "1M"

    engine = Analytics(native(), definition)
    engine.prepare_target(Target("/mnt/array/sas"), None, None, on_progress, control)
    job = {"workload": definition, "job": options, "target": Target("/mnt/array/sas"), "permission": None}
    engine.run_job(job, on_event, control)
"""

from __future__ import annotations

import os
import resource
from collections.abc import Mapping
from dataclasses import asdict, replace
from importlib.util import find_spec
from typing import Any, cast

from plimsoll.apps.analytics import options as own
from plimsoll.apps.analytics import work as work_of
from plimsoll.apps.analytics.crew import Crew, Plan
from plimsoll.apps.analytics.inputs import Inputs, check_room
from plimsoll.apps.analytics.options import STREAM, WorkflowOptions
from plimsoll.apps.analytics.orders import Orders
from plimsoll.apps.analytics.outcome import BANNER
from plimsoll.apps.application import Application, as_blocks, only_stream
from plimsoll.apps.course import Course, Ended, Timing
from plimsoll.apps.decision.observation import Observer
from plimsoll.displayed import quoted
from plimsoll.engine.files import native_files
from plimsoll.engine.protocol import Control, Engine, Job, OnEvent, OnProgress, Permission
from plimsoll.errors import InputError
from plimsoll.host.machine import cpu_cores
from plimsoll.host.target import target_facts
from plimsoll.stored import Definition, EngineOutcome, Inspection, Json, Options, top_devices
from plimsoll.target import Target
from plimsoll.units import binary

NAME = "analytics"
#: Where it works when no target is named.
DEFAULT_DIRECTORY = "./plimsoll-scratch.analytics"
#: A point ends when every workflow has; the duration is only the limit.
TIMING = {"duration": "24h", "warmup": "0s"}
_INPUT = "input"
_INTERVAL_NS, _SHORT_NS = 2_000_000_000, 250_000_000
#: Workflows with so little end within seconds.
_LITTLE_BYTES = 10**9
_SCHEMES = ("null:", "queue:", "stripe:", "array:")
_NO_SIZE = "size: the data are as large as their rows make them; set rows in place of size."


class Analytics(Application):
    """`plimsoll.engine.protocol.Engine` whose jobs are workflows; what is not about them is handed on to ``engine``."""

    #: What a run without a target takes.
    default_target = DEFAULT_DIRECTORY
    #: Its target is written to, whatever the workload says.
    fills_target = True
    #: The job options of a workload that says none.
    timing = TIMING

    def __init__(self, engine: Engine, definition: Mapping[str, object]) -> None:
        super().__init__(engine)
        self._definition = definition
        self._files = native_files()

    @property
    def makes(self) -> str:
        """What becomes of the target, in words."""
        asked = self._asked
        inputs = f"rows are written ({asked.inputs} × {binary(asked.data_bytes)}), " if asked.inputs else ""
        if asked.workflows == 1:
            return f"{inputs}1 workflow writes about {binary(asked.work_bytes)} and removes it again"
        return f"{inputs}{asked.workflows} workflows write about {binary(asked.work_bytes)} each and remove it again"

    @property
    def _asked(self) -> WorkflowOptions:
        return WorkflowOptions.of(cast("Json", cast("Definition", self._definition)["stream"][0]))

    def check_workload(self, workload: Mapping[str, Any], source: str) -> Definition:
        """The canonical form. The engine checks what stands above the stream."""
        given = only_stream(
            workload, f"{source}: analytics has one [[stream]] table, whose option 'workflows' says how many run at a time."
        )
        stream = own.canonical(given, f"{source}: stream")
        plain = self._engine.check_workload(as_blocks(workload, STREAM), source)
        return cast("Definition", {**plain, "driver": NAME, "stream": [stream]})

    def set_option(self, workload: Definition, options: Options, key: str, value: Any) -> tuple[Definition, Options]:
        """Both with one option changed: of the job, or of the workflows."""
        option = key.removeprefix(f"{STREAM}.")
        stream = cast("Json", workload["stream"][0])
        if option in own.OPTIONS:
            return cast("Definition", {**workload, "stream": [own.changed(stream, option, value)]}), options
        if key == "size":
            raise InputError(_NO_SIZE)
        return workload, self.job_option(as_blocks(workload, STREAM), options, key, value, lambda: own.DECLARED.unknown(option, key))

    def inspect_target(self, target: Target) -> Inspection:
        """What is at the directories. Raises `InputError` for what is no path, or for more than two."""
        if target.text.startswith(_SCHEMES) or len(_directories(target)) > 2:
            raise InputError(
                f"target {quoted(target.text)}: analytics workflows need a directory; name one, for example -t /mnt/array/sas, or one for "
                "inputs and one for work, as concat:/mnt/data,/mnt/work."
            )
        return self._files.inspect(target.text)

    def write_refusal(self, target: Target, permission: Permission | None) -> str | None:
        """Why nothing may be made there. Raises the sentence of what is missing: a package, or room."""
        found = self.inspect_target(target)
        check_installed(self._asked)
        check_room(self._asked, *self._ends(target))
        return found.get("write_refusal") if permission is None else None

    def prepare_target(
        self, target: Target, size_bytes: int | None, permission: Permission | None, on_progress: OnProgress, control: Control
    ) -> Inspection:
        """Write the inputs that are missing, and clear what a killed run left of its work."""
        if size_bytes is not None:
            raise InputError(_NO_SIZE)
        asked, (input_end, work_end) = self._asked, self._ends(target)
        check_installed(asked)
        check_room(asked, input_end, work_end)
        work_of.clear(self._files.own(work_end, permission, work_of.NAME))
        inputs = Inputs(self._files.own(input_end, permission, _INPUT), asked)
        inputs.make(on_progress, control)
        sizes = {"size_bytes": asked.data_bytes * asked.workflows, "file_bytes": inputs.size_bytes}
        return cast("Inspection", {**self.inspect_target(target), **sizes, "changes_between_points": True})

    def remove_target(self, target: Target) -> list[str]:
        """Remove inputs and work, and the directories if they were made for that."""
        return self._files.remove(target.text)

    def release_target(self, target: Target) -> None:
        """Note that the inputs stay and that no run uses them any more."""
        self._files.release(target.text)

    def files_of(self, target: Target) -> list[str]:
        """What is read at the beginning of a point: the inputs."""
        folder = os.path.join(self._ends(target)[0], _INPUT)
        return [os.path.join(here, name) for here, _, names in os.walk(folder) for name in names]

    def run_job(self, job: Job, on_event: OnEvent, control: Control) -> EngineOutcome:
        """Carry the workflows out."""
        asked = WorkflowOptions.of(cast("Json", job["workload"]["stream"][0]))
        input_end, work_end = self._ends(job["target"])
        work = self._files.own(work_end, job["permission"], work_of.NAME)
        inputs = Inputs(self._files.own(input_end, job["permission"], _INPUT), asked)
        devices = [str(device["name"]) for device in top_devices(target_facts(self._files.inspect(work_end)))]
        observer = Observer(devices, tuple)
        plan = Plan(asked.workflows, asked.iterations, work, Orders(asked, inputs, devices).order)
        crew = Crew(plan, observer)

        def forward(kind: str, event: Json) -> None:
            if kind == "interval":
                event["workflows"], event["steps"] = crew.fresh(), crew.steps()
            on_event(kind, event)

        course = Course(_timing(job["job"], asked), forward, control, tells_silence=False)
        work_of.note(work_end)
        try:
            crew.get_ready(course)
            # From here on others wait for what we use.
            begun_ns = _own_cpu_ns()
            ended = course.run(crew)
        finally:
            crew.end(course)
            observer.close()
            work_of.clear(work)
            work_of.forget(work_end)
        # The processes were waited for, but what they took is the load's and not ours.
        ended.cpu_ns = tuple(after - before for before, after in zip(begun_ns, _own_cpu_ns(), strict=True))  # type: ignore[assignment]
        section = self._section(asked, crew, ended, devices)
        return ended.outcome(asked.engine, str(job["job"].get("backend")), asked.workflows, {}, analytics=section)

    def _section(self, asked: WorkflowOptions, crew: Crew, ended: Ended, devices: list[str]) -> Json:
        workflows = sorted(crew.workflows, key=lambda workflow: (workflow.iteration, workflow.number))
        return {
            "banner": BANNER,
            "engine": asked.engine,
            "asked": asdict(asked),
            "row_bytes": own.ROW_BYTES,
            "data_bytes": asked.data_bytes,
            "cores": len(os.sched_getaffinity(0)),
            "physical_cores": cpu_cores(),
            "devices": devices,
            "workflows": [workflow.to_json() for workflow in workflows],
            "iterations": [iteration.to_json() for iteration in crew.iterations],
            "failed": sum(workflow.status == "failed" for workflow in workflows),
            "wrong_data": sum(workflow.check not in (None, "ok") for workflow in workflows),
            "watching_cpu_s": sum(ended.cpu_ns) / 1e9,
            "whole": ended.stopped_by == "amount",
        }

    def _ends(self, target: Target) -> tuple[str, str]:
        """The directories of inputs and work, which may be one."""
        directories = _directories(target)
        return directories[0], directories[-1]


def _timing(options: Options, asked: WorkflowOptions) -> Timing:
    """That of the job; its intervals are the two seconds of published reports, or shorter ones for little data."""
    found = Timing.of(options)
    if options["interval"] != "auto":
        return found
    little = asked.workflows * asked.iterations * asked.data_bytes < _LITTLE_BYTES
    return replace(found, interval_ns=_SHORT_NS if little else _INTERVAL_NS)


def check_installed(asked: WorkflowOptions) -> None:
    """Raise `InputError` where the engine's package is missing."""
    if asked.engine == "duckdb" and find_spec("duckdb") is None:
        raise InputError("engine duckdb needs DuckDB; install it (pip install 'plimsoll[duckdb]').")


def _directories(target: Target) -> list[str]:
    """Of a target; a path alone is one."""
    return target.text.removeprefix("concat:").split(",") if target.text.startswith("concat:") else [target.text]


def _own_cpu_ns() -> tuple[int, int]:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return int(used.ru_utime * 1e9), int(used.ru_stime * 1e9)
