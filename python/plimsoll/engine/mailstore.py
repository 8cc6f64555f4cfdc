"""Mail stores over the extension module.

native_mailstore().check(document, "mine.toml")
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from plimsoll.engine.exchange import forwarded, job_text, name_text, value_of
from plimsoll.engine.protocol import Control, Job, OnEvent
from plimsoll.handover import as_json
from plimsoll.silence import no_answer
from plimsoll.stored import Definition, EngineOutcome, Json, Options


class NativeMailstore:
    """Mail stores over the extension module: the verbs that differ from those of block I/O."""

    def __init__(self, core: Any) -> None:
        self._core = core

    def check(self, workload: Mapping[str, Any], source: str) -> Definition:
        """The canonical form of a workload of a mail store; ``source`` names its file in messages."""
        return cast("Definition", value_of(self._core.check_mailstore(as_json(workload, source), name_text(source))))

    def warnings(self, workload: Mapping[str, Any]) -> list[str]:
        """What is doubtful about a workload, and allowed."""
        warnings: list[str] = self._core.mailstore_warnings(as_json(workload))
        return warnings

    def set_option(self, workload: Definition, options: Options, key: str, value: Any) -> tuple[Definition, Options]:
        """Both with one option changed: ``key`` is an option of the job or of the store."""
        changed = self._core.set_mailstore_option(as_json(workload), as_json(options), name_text(key), as_json(value, key))
        return value_of(changed[0]), value_of(changed[1])

    def schema(self) -> Json:
        """JSON Schema (2020-12) of a workload file of a mail store."""
        return cast("Json", value_of(self._core.mailstore_schema()))

    def run(self, job: Job, on_event: OnEvent, control: Control) -> EngineOutcome:
        """Run one job to its end."""
        asked = job_text(job, job["target"].handed)
        return cast("EngineOutcome", value_of(self._core.run_mailstore(asked, forwarded(on_event), control, no_answer)))


def native_mailstore() -> NativeMailstore:
    """The mail store of this installation."""
    from plimsoll import _core

    return NativeMailstore(_core)
