"""A Spark cluster of the user's: whether its master answers, whether somebody works for us, and what goes wrong with them.

Model: Spark waits for ever for workers, those that never came and those that died, and tasks wait with it. A watch asks Spark's driver
every second how many executors it has; when there has been none for a minute, everything that waits is cancelled, and the sentence is
that of the missing workers.
Limits: workers that die while others live cost time and nothing else: Spark does their tasks again, which is part of what is measured.

    check_masters(parse("spark://master:7077?data=/mnt/array/dss"))   # raises the sentence of a master that does not answer
    watch = Watch(address, context)
    watch.await_workers()
    told_of(address, str(problem), process.failure, watch)            # the sentence of what is the cluster's fault, or None
"""

from __future__ import annotations

import re
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from plimsoll.apps.databases.address import Address
from plimsoll.apps.databases.database import DatabaseError
from plimsoll.errors import InputError

_CONNECT_S = 10.0
#: So long a cluster may take to give us somebody who works, at the start and after the last one is gone.
_WORKERS_S = 60.0
_AWAIT_S = 0.1
_END_S = 5.0
_WATCH_S = 1.0
#: What Spark says where tasks failed on the workers, though the driver sees the same path.
_TASKS = r"Job aborted|stage failure|FAILED_READ_FILE|TASK_WRITE_FAILED"
_UNWRITTEN = r"Mkdirs failed|(_temporary|making)\S*.*Permission denied|not writable|Read-only file system"
_UNREAD = r"does not exist|FileNotFound|No such file|Permission denied"


def check_masters(address: Address) -> None:
    """Raise `InputError` where nobody listens at any of the masters' addresses."""
    problems: list[str] = []
    for master in str(address.url).removeprefix("spark://").split(","):
        host, _, port = master.rpartition(":")
        try:
            socket.create_connection((host, int(port)), _CONNECT_S).close()
        except (OSError, OverflowError) as problem:
            problems.append(f"{master}: {str(getattr(problem, 'strerror', None) or problem).lower()}")
        else:
            return
    raise InputError(f"target {address}: no Spark master answers ({'; '.join(problems)}); start it, or write the address that it shows.")


class Watch:
    """Looks at the executors of ``context``, a pyspark ``SparkContext``, from `await_workers` until `stop`."""

    def __init__(self, address: Address, context: Any) -> None:
        self._address = address
        self._context = context
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look, name="plimsoll-spark-watch", daemon=True)
        #: Whether there has been nobody who works for so long that nothing is waited for.
        self.is_deserted = False

    def await_workers(self) -> None:
        """Wait for somebody who works; then a thread looks. Raises `DatabaseError` where nobody comes."""
        until = time.monotonic() + _WORKERS_S
        while not self._workers():
            if time.monotonic() > until:
                memory = self._context.getConf().get("spark.executor.memory", "1g")
                raise DatabaseError(
                    f"{self._address}: the master gave nobody who works within {_WORKERS_S:.0f} s: no worker lives, none has {memory} of"
                    " memory to spare, or none reaches this host; start workers, end other applications, or give less --memory.",
                    "refused",
                )
            time.sleep(_AWAIT_S)
        self._thread.start()

    def stop(self) -> None:
        """Look no more."""
        self._ended.set()
        if self._thread.is_alive():
            self._thread.join(_END_S)

    def _workers(self) -> int:
        """Executors; the driver, which Spark counts as one, is none."""
        return int(self._context._jsc.sc().statusStore().executorList(True).size()) - 1

    def _look(self) -> None:
        # What is wrong with the driver itself is told by whoever asks it something.
        with suppress(Exception):
            seen_s = time.monotonic()
            while not self._ended.wait(_WATCH_S):
                if self._workers():
                    seen_s = time.monotonic()
                self.is_deserted = time.monotonic() - seen_s > _WORKERS_S
                if self.is_deserted:
                    self._context.cancelAllJobs()


def told_of(address: Address, said: str, failure: Callable[[str], str | None], watch: Watch | None) -> DatabaseError | None:
    """What is the fault of a cluster: Spark ``said`` something of a statement, and its log may have a ``failure`` in certain words."""
    if watch is not None and watch.is_deserted:
        return DatabaseError(
            f"{address}: the cluster's last worker is gone, and no other came within {_WORKERS_S:.0f} s; start workers, then give the same"
            " command again.",
            "lost",
        )
    if failure("masters are unresponsive"):
        return DatabaseError(
            f"{address}: what listens there does not answer as a Spark master of this version does; write the address that the master's"
            " page shows (usually port 7077), and install pyspark in the cluster's version.",
            "refused",
        )
    if (why := failure(r"Application has been killed|Master removed our application")) is not None:
        return DatabaseError(f"{address}: the master ended our application ({why}); its log and those of the workers say why.", "lost")
    if re.search(_TASKS, said) is None:
        return None
    if re.search(_UNWRITTEN, said):
        return DatabaseError(
            f"{address}: a worker cannot write below {address.directory}; let the user of the workers write there, or measure with"
            " --no-refresh.",
            "refused",
        )
    if re.search(_UNREAD, said):
        return DatabaseError(
            f"{address}: a worker cannot read {address.directory}; name a directory that every worker sees by the same path.", "refused"
        )
    return None
