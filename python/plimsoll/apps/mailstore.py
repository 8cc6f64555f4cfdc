"""The driver of mail stores: a storage engine's I/O on any target of the block engine, in real and in virtual time.

Model: the work is done in Rust (``crates/mailstore`` says which requests follow from which, the engine's worker loop issues them). What a
workload leaves out is what its ``generation`` says (`plimsoll.catalog.generations`); from then on the definition holds every value. Targets
are those of the block engine. Modelled on Jetstress, and not Jetstress.

    [workload file]  driver = "mailstore"
                     generation = "2003"
                     databases = 2

    engine = Mailstore(native(), definition)
    engine.run_job({"workload": definition, "job": options, "target": Target("array:msa50"), "permission": None}, on_event, control)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plimsoll.apps.application import Application
from plimsoll.catalog.generations import generation_names, limits, values
from plimsoll.displayed import quoted
from plimsoll.engine.mailstore import native_mailstore
from plimsoll.engine.protocol import Control, Engine, Job, OnEvent, OnProgress, Permission
from plimsoll.errors import InputError, TargetError
from plimsoll.near import meant
from plimsoll.stored import Definition, EngineOutcome, Inspection, Json, Options
from plimsoll.target import Target

NAME = "mailstore"
#: What is done where nothing else is asked for: threads carry operations out, for as long as the job says.
OPERATIONS = "operations"
#: Longer than any backup or recovery takes: a week.
_LONGEST_S = 7 * 86_400.0


class Mailstore(Application):
    """`plimsoll.engine.protocol.Engine` whose jobs are mail stores; what is not about them is handed on to ``engine``."""

    def __init__(self, engine: Engine, definition: Definition) -> None:
        super().__init__(engine)
        self._definition = definition
        self._store = native_mailstore()

    def check_workload(self, workload: Mapping[str, Any], source: str) -> Definition:
        """The canonical form, with what the generation says filled in."""
        return self._store.check({**_of_generation(workload, source), **workload}, source)

    def set_option(self, workload: Definition, options: Options, key: str, value: Any) -> tuple[Definition, Options]:
        """Both with one option changed; another generation brings all its values, so it is given before the others."""
        if key != "generation":
            return self._store.set_option(workload, options, key, value)
        found = _of_generation({"generation": str(value)}, "generation")
        changed = self._store.check({**workload, **found, "generation": str(value)}, "workload")
        return changed, options

    def workload_schema(self) -> Json:
        return self._store.schema()

    def inspect_target(self, target: Target) -> Inspection:
        return self._engine.inspect_target(target)

    def write_refusal(self, target: Target, permission: Permission | None) -> str | None:
        return self._engine.write_refusal(target, permission)

    def prepare_target(
        self, target: Target, size_bytes: int | None, permission: Permission | None, on_progress: OnProgress, control: Control
    ) -> Inspection:
        return self._engine.prepare_target(target, size_bytes, permission, on_progress, control)

    def remove_target(self, target: Target) -> list[str]:
        return self._engine.remove_target(target)

    def release_target(self, target: Target) -> None:
        self._engine.release_target(target)

    def run_job(self, job: Job, on_event: OnEvent, control: Control) -> EngineOutcome:
        """What the databases say of themselves, with what their generation asks of them, is ``mailstore`` of the outcome.

        A backup, a recovery and tuning last as long as they take. Raises `TargetError` where a recovery or a database could not go on.
        """
        definition: Mapping[str, Any] = dict(job["workload"])
        if definition.get("test", OPERATIONS) != OPERATIONS:
            job = {**job, "job": {**job["job"], "duration": _LONGEST_S, "warmup": 0.0}}
        outcome = self._store.run(job, on_event, control)
        for database in outcome.get("databases", ()):
            failure = database.get("failure") or (database.get("recovery") or {}).get("failure")
            if failure:
                raise TargetError(f"{job['target'].text}: {database['database']}: {failure}.")
        generation = str(definition.get("generation") or "")
        seconds = float(job["job"].get("duration", 0))
        found: Json = {
            "generation": generation,
            "limits": limits(generation, seconds) if generation else {},
            "warnings": self._store.warnings(definition),
            "databases": outcome.pop("databases", []),
        }
        return {**outcome, "mailstore": found}


def _of_generation(workload: Mapping[str, Any], source: str) -> Json:
    name = str(workload.get("generation") or "")
    if not name:
        return {}
    if name not in generation_names():
        raise InputError(f"{source}: generation {quoted(name)} is unknown; {meant(name, generation_names())}")
    return values(name)
