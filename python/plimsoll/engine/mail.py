"""Mail users over the extension module.

native_mail().check(document, "mine.toml")
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from plimsoll.engine.exchange import forwarded, name_text, value_of
from plimsoll.engine.protocol import Control, OnEvent, OnProgress
from plimsoll.handover import as_json
from plimsoll.stored import Definition, EngineOutcome, Json, Options


class NativeMail:
    """Mail users over the extension module: the verbs that differ from those of block I/O."""

    def __init__(self, core: Any) -> None:
        self._core = core

    def check(self, workload: Mapping[str, Any], source: str) -> Definition:
        """The canonical form of a workload of mail users; ``source`` names its file in messages."""
        return cast("Definition", value_of(self._core.check_mail(as_json(workload, source), name_text(source))))

    def set_option(self, workload: Definition, options: Options, key: str, value: Any) -> tuple[Definition, Options]:
        """Both with one option changed: ``key`` is an option of the job, of the server, of every group of users, or ``NAME.option``."""
        changed = self._core.set_mail_option(as_json(workload), as_json(options), name_text(key), as_json(value, key))
        return value_of(changed[0]), value_of(changed[1])

    def schema(self) -> Json:
        """JSON Schema (2020-12) of a workload file of mail users."""
        return cast("Json", value_of(self._core.mail_schema()))

    def lay_out(
        self, workload: Definition, root: str, owner: tuple[int, int] | None, on_progress: OnProgress, control: Control
    ) -> dict[str, int]:
        """Write the mailboxes of users who have none; ``messages`` and ``bytes`` that were written."""
        return cast("dict[str, int]", value_of(self._core.lay_out_mail(as_json(workload), root, owner, on_progress, control)))

    def run(self, job: Json, on_event: OnEvent, control: Control) -> EngineOutcome:
        """Run one job to its end: `workload`, `job`, `server`, `run`, `date`, `ledger`; `clients` for the users of one host of several."""
        return cast("EngineOutcome", value_of(self._core.run_mail(as_json(job), forwarded(on_event), control)))

    def letter(self, workload: Mapping[str, Any], user: int, place: int) -> bytes:
        """The letter at a place of what a user has in the beginning, as it travels."""
        found: bytes = self._core.mail_letter(as_json(workload), user, place)
        return found

    @property
    def mark(self) -> str:
        """The header that says which letter a message is."""
        return str(self._core.mail_mark())

    def hash(self, body: bytes) -> str:
        """The hash of a letter's body as its mark has it."""
        return str(self._core.mail_hash(body))


def native_mail() -> NativeMail:
    """The mail users of this installation."""
    from plimsoll import _core

    return NativeMail(_core)
