"""What performs the requests of a job: its engine as a backend of ours, with the depth that it really keeps.

Model: an engine with one request outstanding has a depth of 1, whatever ``iodepth`` says. Options of another engine have no effect, with
fio neither.

    performer_of({"ioengine": "psync", "iodepth": 8})      # Performer("sync", depth=1, word="psync"), and a surprise
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from plimsoll.displayed import quoted
from plimsoll.formats.fio.engines import ENGINE_ALIASES, ENGINES
from plimsoll.formats.fio.notes import Note, Unfit, idle, native, surprise, unsupported
from plimsoll.formats.fio.options import OPTIONS
from plimsoll.formats.fio.requests import Values

#: What fio takes on Linux when nothing is said.
_DEFAULT = "psync"
#: Engines of which the kernel takes no flush beside other requests: the thread that issues one waits for it.
_WAITING = ("libaio", *ENGINE_ALIASES)
#: Engines that hand over several requests in one call.
_BATCHING = (*_WAITING, "io_uring")


@dataclass(frozen=True)
class Performer:
    """``backend`` is empty for an engine without counterpart; ``word`` is the engine as the job names it, empty where it does not."""

    backend: str
    depth: int
    polled: bool = False
    word: str = ""

    @property
    def has_target(self) -> bool:
        """Whether it reaches the files of the job."""
        return self.backend != "null"

    @property
    def batches(self) -> bool:
        """Whether it hands over several requests in one call."""
        return self.word in _BATCHING

    @property
    def waits(self) -> bool:
        """Whether its thread waits for a flush, and for each request that goes through the page cache."""
        return self.word in _WAITING


def performer_of(values: Values) -> tuple[Performer, tuple[Note, ...]]:
    """The backend and depth of a job; raises `Unfit` for a name that fio does not know either."""
    word = values.get("ioengine", "")
    given = (word or _DEFAULT).partition(":")[0]
    name = ENGINE_ALIASES.get(given, given)
    engine = ENGINES.get(name)
    if engine is None:
        raise Unfit("ioengine", f"fio has no engine {quoted(name)}; nearest is ioengine=io_uring or ioengine=psync.")
    if not engine.backend:
        return Performer("", 1, word=word), (unsupported("ioengine", engine.why),)
    notes = [native("ioengine", engine.why)] if engine.why else []
    notes += _of_others(values, name)
    depth = values.get("iodepth", 1)
    if engine.synchronous and depth > 1:
        default = "" if word else ", which fio takes when none is named,"
        notes.append(
            surprise("iodepth", f"the engine {name}{default} has one request outstanding, whatever iodepth says; queue_depth is 1")
        )
        depth = 1
    return Performer(engine.backend, depth, bool(values.get("hipri")) and engine.backend == "auto", word), tuple(notes)


def _of_others(names: Iterable[str], engine: str) -> list[Note]:
    owners = {name: OPTIONS[name].engine for name in names}
    return [idle(name, f"belongs to ioengine={owner}") for name, owner in owners.items() if owner and engine not in owner.split(", ")]


def backend_notes(performer: Performer) -> tuple[Note, ...]:
    """What is to be said where performers beside this one ask for other backends."""
    if performer.backend == "mmap":
        return (unsupported("ioengine", "a point has one backend; put stonewall between mmap and the others"),)
    if performer.backend == "sync" and performer.word:
        why = "io_uring with one request outstanding, because jobs beside it have more"
        return (native("ioengine", why),)
    return ()
