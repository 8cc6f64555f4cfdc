"""The driver of database durability: refreshes of decision support, a server that is killed, and what is there after its restart.

Model: the target is a private database, loaded as decision support loads it (`plimsoll.apps.decision`), whose verbs for targets are used.
A job is a trial (`plimsoll.apps.durability.trial`). Refreshes are operations; what became of them is the section ``durability`` of the
outcome. A commit that was acknowledged and is not there, or half a one, makes the point fail like wrong data.
Limits: a server of the user's is not killed.

    [workload file]  driver = "database-durability"
                     [[stream]]
                     kills = 10

    engine = DatabaseDurability(native(), definition)
    job = {"workload": definition, "job": options, "target": Target("duckdb:/mnt/array/db"), "permission": None}
    engine.run_job(job, on_event, control)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

from plimsoll.apps.application import Application, as_blocks, only_stream
from plimsoll.apps.course import Course, Timing
from plimsoll.apps.databases.address import Address, parse
from plimsoll.apps.databases.engines import ENGINES
from plimsoll.apps.decision import options as decision
from plimsoll.apps.decision.driver import DecisionSupport
from plimsoll.apps.durability import options
from plimsoll.apps.durability.holder import holder_of
from plimsoll.apps.durability.trial import STREAM, Plan, Trial
from plimsoll.engine.files import native_files
from plimsoll.engine.protocol import Control, Engine, Job, OnEvent, OnProgress, Permission
from plimsoll.errors import InputError
from plimsoll.stored import Definition, EngineOutcome, Inspection, Json, Options
from plimsoll.target import Target

NAME = "database-durability"
#: What a run without a target takes.
DEFAULT_TARGET = "duckdb:./plimsoll-scratch.durability"
#: A point ends with its last kill; the duration is only the limit.
TIMING = {"duration": "24h", "warmup": "0s"}
_INTERVAL_NS = 250_000_000
#: So many refresh sets a round needs at least.
_PAIRS_LEAST = 10


class DatabaseDurability(Application):
    """`plimsoll.engine.protocol.Engine` whose jobs kill servers; what is not about that is handed on to ``engine``."""

    default_target = DEFAULT_TARGET
    #: Its target is written to, whatever the workload says.
    fills_target = True
    #: The job options of a workload that says none.
    timing = TIMING

    def __init__(self, engine: Engine, definition: Mapping[str, object]) -> None:
        super().__init__(engine)
        self._definition = definition
        self._files = native_files()

    def check_workload(self, workload: Mapping[str, Any], source: str) -> Definition:
        """The canonical form. The engine checks what stands above the stream."""
        given = only_stream(workload, f"{source}: database durability has one stream; write one [[stream]] table or none.")
        stream = options.canonical(given, f"{source}: stream")
        plain = self._engine.check_workload(as_blocks(workload, STREAM), source)
        return cast("Definition", {**plain, "driver": NAME, "stream": [stream]})

    def set_option(self, workload: Definition, options_: Options, key: str, value: Any) -> tuple[Definition, Options]:
        """Both with one option changed."""
        stream = workload["stream"][0]
        try:
            changed = options.changed(stream, key.removeprefix(f"{stream['name']}."), value)
        except InputError as problem:
            raise InputError(f"{key}: {problem}") from None
        if changed is not None:
            return cast("Definition", {**workload, "stream": [changed]}), options_
        before = self._engine.check_workload(as_blocks(workload, STREAM), key)
        after, found = self._engine.set_option(before, options_, key, value)
        if after != before or key == "size":
            known = ", ".join(option.name for option in options.OPTIONS)
            raise InputError(f"{key}: database durability has no such option; it has {known} and the options of a job.")
        return workload, found

    def inspect_target(self, target: Target) -> Inspection:
        """What is at the directory. Raises `InputError` for what cannot be killed."""
        _private(target)
        return self._loading.inspect_target(target)

    def write_refusal(self, target: Target, permission: Permission | None) -> str | None:
        """Why no database may be made there."""
        _private(target)
        return self._loading.write_refusal(target, permission)

    def prepare_target(
        self, target: Target, size_bytes: int | None, permission: Permission | None, on_progress: OnProgress, control: Control
    ) -> Inspection:
        """Load the database, unless what is there is of the right scale and has refresh sets enough."""
        return self._loading.prepare_target(target, size_bytes, permission, on_progress, control)

    def remove_target(self, target: Target) -> list[str]:
        """Remove the database, and the directory if it was made for that."""
        return self._loading.remove_target(target)

    def release_target(self, target: Target) -> None:
        """Note that the database stays and that no run uses it any more."""
        self._loading.release_target(target)

    def run_job(self, job: Job, on_event: OnEvent, control: Control) -> EngineOutcome:
        """Carry the trial out."""
        address, stream = _private(job["target"]), cast("Json", job["workload"]["stream"][0])
        home = self._files.own(str(address.directory), job["permission"], address.engine)
        holder = holder_of(address, home, stream["scale"])
        trial = Trial(Plan(stream["kills"], stream["spread"], stream["scale"], job["job"]["seed"]), holder)
        timing = Timing.of(job["job"])
        if job["job"]["interval"] == "auto":
            timing = replace(timing, interval_ns=_INTERVAL_NS)
        course = Course(timing, on_event, control, tells_silence=False)
        # What holds the database is started by this process, and after each kill anew.
        course.servers = ()
        try:
            ended = course.run(trial)
        finally:
            holder.end()
        return ended.outcome(address.engine, str(job["job"].get("backend")), 1, dict(trial.facts), durability=trial.section())

    @property
    def _loading(self) -> DecisionSupport:
        """Decision support that has the data of a trial made, and looks after them."""
        stream = cast("Json", cast("Definition", self._definition)["stream"][0])
        pairs = max(int(stream["kills"]) * _PAIRS_LEAST, 1)
        wanted = decision.canonical({"scale": stream["scale"], "streams": pairs, "queries": "1"}, NAME)
        return DecisionSupport(self._engine, {"stream": [wanted]})


def _private(target: Target) -> Address:
    """The address of a database that may be killed; a directory alone is one that a killed run has left."""
    if target.text.startswith("/"):
        return Address(target.text, "duckdb", directory=target.text)
    address = parse(target.text, tuple(ENGINES))
    if not address.is_private or address.directory is None or address.engine == "spark":
        raise InputError(
            f"target {address}: a server of yours is not killed; write duckdb:DIR or postgresql:new:DIR, where Plimsoll makes one."
        )
    return address
