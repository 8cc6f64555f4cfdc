"""What every driver of an application has in common: it is an engine whose jobs are its own, and the rest is the block engine's.

Model: the options of a job, its control, calibration and what io_uring can do are the block engine's business, whatever carries the job
out. An application whose workload is one ``[[stream]]`` table has what stands above the table checked by the block engine as well, beside a
stream of that engine's that only has a name.

    class OrderEntry(Application): ...
    stream = only_stream(workload, f"{source}: order entry has one stream; write one [[stream]] table or none.")
    options = self.job_option(before, options, key, value, lambda: unknown(key))
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

from plimsoll.engine.protocol import Control, Engine, IoUring
from plimsoll.errors import InputError
from plimsoll.own_cost import OwnCost
from plimsoll.stored import Definition, Json, Options


class Application:
    """The part of `plimsoll.engine.protocol.Engine` that is handed on to the block ``engine``."""

    #: How many hosts may be clients of its server in a point.
    hosts = 1

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def control(self) -> Control:
        return self._engine.control()

    def check_job(self, options: Json) -> Options:
        return self._engine.check_job(options)

    def workload_schema(self) -> Json:
        return self._engine.workload_schema()

    def calibrate(self, seconds: float) -> OwnCost:
        return self._engine.calibrate(seconds)

    def probe_io_uring(self) -> IoUring:
        return self._engine.probe_io_uring()

    def job_option(self, plain: Definition, options: Options, key: str, value: Any, unknown: Callable[[], InputError]) -> Options:
        """``options`` with the job's option ``key`` changed; raises what ``unknown`` makes where a job has none of that name.

        ``plain`` is the workload as one of the block engine (`as_blocks`).
        """
        before = self._engine.check_workload(plain, key)
        try:
            after, changed = self._engine.set_option(before, options, key, value)
        except InputError:
            if key in options:
                raise
            raise unknown() from None
        if after != before:
            raise unknown()
        return changed


def only_stream(workload: Mapping[str, Any], sentence: str) -> Json:
    """The one ``[[stream]]`` table, empty where there is none; raises `InputError` with ``sentence`` where there are several."""
    streams = workload.get("stream") or [{}]
    if not isinstance(streams, list) or len(streams) != 1 or not isinstance(streams[0], dict):
        raise InputError(sentence)
    return cast("Json", streams[0])


def as_blocks(workload: Mapping[str, Any], stream: str) -> Definition:
    """What stands above the stream of an application, as a workload of the block engine with a stream of that name."""
    rest = {key: value for key, value in workload.items() if key not in ("driver", "stream")}
    return cast("Definition", {**rest, "stream": [{"name": stream}]})
