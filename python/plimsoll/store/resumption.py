"""Resumption of a run that was killed or interrupted: finding it, taking it over alone, and putting aside what was torn.

Model: runs that measure the same on the same machine have equal fingerprints. The newest such run that did not come to its end is taken
over under a lock on its directory (flock(2), which the kernel frees however a process ends): the status becomes ``running`` again and the
process is ours, so that a second one sees a run that is going on. Points that ended, also failed ones, stay; a point without an end is
moved to ``superseded/`` with everything it holds and will be measured anew.
Limits: on a network file system without flock two hosts are told apart only by the machine in the fingerprint.

    found = unfinished_run("results", fingerprint)
    writer, results = resume_run(found)          # measure what is missing, then writer.finish("complete")
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from plimsoll import displayed
from plimsoll.errors import InputError, StoreError
from plimsoll.result import Result, iso_time
from plimsoll.store.document import content, fitting, read_document
from plimsoll.store.durable import replace_file, store_error, sync
from plimsoll.store.writer import RunWriter, encoded, own_identity
from plimsoll.stored import HostFacts, Run, StoredPrice

if TYPE_CHECKING:
    from plimsoll.store.reader import StoredPoint, StoredRun

#: Endings after which a run can go on; a complete or failed one has nothing left to measure.
UNFINISHED = ("incomplete", "interrupted")
#: Ends as run.json has them.
ENDED = ("complete", "failed")
SUPERSEDED = "superseded"


def fingerprint(parts: Sequence[Any], host: HostFacts, versions: Mapping[str, Any]) -> str:
    """Equal for runs that measure the same with the same Plimsoll on the same machine; the boot may differ."""
    machine = [host.get("machine"), (host.get("cpu") or {}).get("model"), versions.get("plimsoll")]
    text = json.dumps([*parts, machine], sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(displayed.encoded(text)).hexdigest()[:32]


def unfinished_run(out: str, wanted: str) -> StoredRun | None:
    """The newest run in ``out`` with this fingerprint, if it can go on; None when there is none or it came to its end.

    Raises `InputError` when that run is going on in another process: both would load the same target.
    """
    alike = list(_alike(out, wanted))
    begun = [path for path, status in alike if status not in ENDED]
    if not begun:
        return None
    from plimsoll.store.reader import open_run

    runs = [open_run(path) for path in begun]
    for run in runs:
        if run.status == "running":
            raise _going_on(run)
    # Names begin with the time, so the newest comes last.
    return runs[-1] if begun[-1] == alike[-1][0] and runs[-1].status in UNFINISHED else None


def _alike(out: str, wanted: str) -> Iterator[tuple[str, str]]:
    """Path and status of every run with this fingerprint, oldest first. Only those that have it in their text are parsed, and only those
    that have not ended are checked: there may be thousands, and a run does not begin before this has ended."""
    try:
        names = sorted(name for name in os.listdir(out) if not name.startswith("."))
    except FileNotFoundError:
        return
    except OSError as problem:
        raise StoreError(f"{out}: cannot be read ({str(problem.strerror).lower()}).") from None
    for name in names:
        source = os.path.join(out, name, "run.json")
        # A run that cannot be read is none that can go on.
        with suppress(StoreError):
            if wanted.encode() in content(source):
                meta = read_document(source)
                if not (isinstance(meta, dict) and meta.get("status") in ENDED):
                    meta = fitting(meta, Run, source)
                if meta.get("fingerprint") == wanted:
                    yield os.path.dirname(source), meta["status"]


def resume_run(run: StoredRun, label: str | None = None, prices: Mapping[str, StoredPrice] | None = None) -> tuple[RunWriter, list[Result]]:
    """Take ``run`` over: a writer that goes on after its last point, and the results of the points that ended, in order."""
    with _alone(run):
        from plimsoll.store.reader import open_run

        # What was read before the lock may be out of date by now.
        run = open_run(run.path)
        if run.status not in UNFINISHED:
            raise _going_on(run)
        meta: dict[str, Any] = {**run.meta, "status": "running", "finished": None, "process": own_identity()}
        meta["resumed"] = [*meta.get("resumed", []), iso_time(time.time())]
        meta["label"] = label or meta.get("label")
        if prices:
            meta["prices"] = dict(prices)
        replace_file(os.path.join(run.path, "run.json"), encoded(meta))
    kept = [point for point in run.points if not _put_aside(run, point)]
    return RunWriter(run.path, meta, points=max((point.number for point in kept), default=0)), [point.result for point in kept]


@contextmanager
def _alone(run: StoredRun) -> Iterator[None]:
    try:
        folder = os.open(run.path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as problem:
        raise store_error(run.path, problem) from None
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    except OSError as problem:
        raise store_error(run.path, problem) from None
    finally:
        os.close(folder)


def _put_aside(run: StoredRun, point: StoredPoint) -> bool:
    """Move a point that has no end of its own out of the way; whether that was so."""
    try:
        ended = os.path.exists(os.path.join(point.path, "result.json")) and point.result.status in ("complete", "failed")
    except StoreError:
        ended = False
    if ended:
        return False
    folder = os.path.join(run.path, SUPERSEDED)
    try:
        os.makedirs(folder, exist_ok=True)
        os.rename(point.path, _free(folder, point.id))
        sync(folder)
    except OSError as problem:
        raise store_error(point.path, problem) from None
    return True


def _free(folder: str, name: str) -> str:
    """A path in ``folder`` that nothing has yet: a point can be torn more than once."""
    path, attempt = os.path.join(folder, name), 1
    while os.path.exists(path):
        attempt += 1
        path = os.path.join(folder, f"{name}-{attempt}")
    return path


def _going_on(run: StoredRun) -> InputError:
    pid = (run.meta.get("process") or {}).get("pid")
    return InputError(f"{run.path} is the same and still going on in process {pid}; wait for it, or start another beside it with --fresh.")
