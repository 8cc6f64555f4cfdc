"""The driver of the published I/O test: a file for each core, written by as many streams at once and flushed, or read by as many.

Model: the target is a directory in which Plimsoll makes the files (`plimsoll.apps.io_test.files`); the block engine writes and reads them,
one request at a time per stream, through the page cache unless told otherwise, as a program would. A point is one phase. Files are written
by the phase that measures writing; the phase that reads finds them, or writes them first where nobody did.
Source: the method of the vendor's published test for Linux (rhel_iotest.sh, k8s_iotest): streams as many as physical cores, files as large
as memory together, 64 KiB, concurrent writing with a flush at the end, then concurrent reading. This is an implementation of its own.
Limits: one host. Files are given their length before they are written, where the published test lets them grow.

    [workload file]  driver = "io-test"
                     [[stream]]
                     phase = "write"

    engine = IoTest(native(), definition)
    job = {"workload": definition, "job": options, "target": Target("/mnt/array/iotest"), "permission": None}
    engine.run_job(job, on_event, control)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from plimsoll.apps.application import Application, only_stream
from plimsoll.apps.io_test import files, options
from plimsoll.apps.io_test.files import Extent
from plimsoll.displayed import quoted
from plimsoll.engine.files import native_files
from plimsoll.engine.protocol import Control, Engine, Job, OnEvent, OnProgress, Permission
from plimsoll.errors import InputError, Interrupted, TargetError
from plimsoll.host.machine import cpu_cores, meminfo
from plimsoll.near import meant
from plimsoll.stored import Definition, EngineOutcome, Inspection, Json, Options
from plimsoll.target import Target
from plimsoll.units import binary

NAME = "io-test"
#: What a run without a target takes.
DEFAULT_TARGET = "./plimsoll-scratch.io-test"
#: A point ends when every file is through; the duration is only the limit.
TIMING = {"duration": "24h", "warmup": "0s", "interval": "1s"}
#: What begins a target that is no directory.
_SCHEMES = ("null:", "queue:", "stripe:", "array:", "concat:")


class IoTest(Application):
    """`plimsoll.engine.protocol.Engine` whose jobs are phases of the I/O test; what is not about that is handed on to ``engine``."""

    default_target = DEFAULT_TARGET
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
        stream = self._stream
        total = f"as large as memory ({binary(meminfo('MemTotal'))})" if stream["total_size"] == options.MEMORY else stream["total_size"]
        several = f"{_streams(stream)} files are" if _streams(stream) > 1 else "a file is"
        return f"{several} made, {total} together or as there is room, written and read"

    def check_workload(self, workload: Mapping[str, Any], source: str) -> Definition:
        """The canonical form. The engine checks what the streams have in common with block I/O."""
        given = only_stream(workload, f"{source}: the I/O test has one [[stream]] table, whose option 'streams' says how many there are.")
        found = self._canonical(workload, options.canonical(given, f"{source}: stream"), source)
        known = {**found["stream"][0], "name": given.get("name")}
        unknown = [key for key, value in given.items() if key not in options.NAMES and (key not in known or known[key] != value)]
        if unknown:
            raise InputError(f"{source}: stream: the I/O test has no option {quoted(unknown[0])}; {meant(unknown[0], options.NAMES)}")
        return found

    def set_option(self, workload: Definition, options_: Options, key: str, value: Any) -> tuple[Definition, Options]:
        """Both with one option changed."""
        stream = cast("Json", workload["stream"][0])
        try:
            changed = options.changed(stream, key.removeprefix(f"{stream['name']}."), value)
        except InputError as problem:
            raise InputError(f"{key}: {problem}") from None
        if changed is not None:
            return self._canonical(workload, changed, key), options_
        before = self._engine.check_workload(self._plain(workload, stream), key)
        after, found = self._engine.set_option(before, options_, key, value)
        if after != before:
            raise InputError(f"{key}: the I/O test has no such option; it has {', '.join(options.NAMES)} and the options of a job.")
        return workload, found

    def _canonical(self, workload: Mapping[str, Any], values: Json, source: str) -> Definition:
        plain = self._plain(workload, values)
        found = self._engine.check_workload(plain, source)
        (stream,) = found["stream"]
        return cast("Definition", {**found, "driver": NAME, "stream": [{**values, **stream, "passes": 1}]})

    @staticmethod
    def _plain(workload: Mapping[str, Any], values: Mapping[str, Any], extent: Extent | None = None) -> Definition:
        """The same as block I/O: one stream that stands for all, or with ``extent`` one for each file, which ends with it."""
        phase = values["phase"]
        stream: Json = {
            "name": phase,
            "threads": _streams(values),
            "queue_depth": 1,
            "read_percent": 100 if phase == "read" else 0,
            "random_percent": 0,
            **{name: values[name] for name in ("block_size", "content", "direct")},
        }
        of_files = [stream]
        if extent is not None:
            ending = {"threads": 1, "amount": f"{extent.file_bytes}B", "flush_at_end": phase == "write"}
            several = extent.streams > 1
            of_files = [
                {**stream, **ending, "name": f"{phase}-{number}", **({"parts": number} if several else {})}
                for number in range(extent.streams)
            ]
        rest = {key: value for key, value in workload.items() if key not in ("driver", "stream")}
        return cast("Definition", {**rest, "stream": of_files})

    def inspect_target(self, target: Target) -> Inspection:
        """What is at the directory. Raises `InputError` for what is none."""
        if target.text.startswith(_SCHEMES):
            raise InputError(f"target {quoted(target.text)}: the I/O test makes files; name a directory, for example -t /mnt/array/iotest.")
        return self._files.inspect(target.text)

    def write_refusal(self, target: Target, permission: Permission | None) -> str | None:
        """Why no files may be made there: a directory that Plimsoll did not make needs a permission."""
        return self.inspect_target(target).get("write_refusal") if permission is None else None

    def prepare_target(
        self, target: Target, size_bytes: int | None, permission: Permission | None, on_progress: OnProgress, control: Control
    ) -> Inspection:
        """Make the files: without content to be written, written to be read."""
        stream = self._stream
        home = self._files.own(target.text, permission, NAME)
        extent = files.extent(home, _streams(stream), stream["total_size"], int(stream["block_size"]))
        if stream["phase"] == "write":
            files.make(home, extent)
        elif not files.are_written(home, extent):
            files.make(home, extent)
            self._fill(home, extent, on_progress, control)
        total = extent.total_bytes
        found = self.inspect_target(target)
        return cast("Inspection", {**found, "size_bytes": total, "file_bytes": total, "changes_between_points": True})

    def _fill(self, home: str, extent: Extent, on_progress: OnProgress, control: Control) -> None:
        done = 0

        def hear(kind: str, event: Any) -> None:
            nonlocal done
            if kind == "interval":
                done += sum(cell["bytes"] for cell in event["cells"])
                on_progress(min(done, extent.total_bytes), extent.total_bytes)

        options_ = self._engine.check_job({**TIMING, "backend": "sync"})
        ended = self._carry_out({**self._stream, "phase": "write"}, extent, home, options_, (hear, control))
        if ended.get("stopped_by") != "amount":
            first = ended.get("first_error")
            if isinstance(first, dict):
                raise TargetError(f"{home}: {first.get('message')}.")
            raise Interrupted("stopped while the files were written")
        files.note(home, extent)

    def files_of(self, target: Target) -> list[str]:
        """The files, whose page cache a cold point drops."""
        return files.paths(self._files.own(target.text, None, NAME))

    def remove_target(self, target: Target) -> list[str]:
        """Remove the files, and the directory if it was made for that."""
        return self._files.remove(target.text)

    def release_target(self, target: Target) -> None:
        """Note that the files stay and that no run uses them any more."""
        self._files.release(target.text)

    def run_job(self, job: Job, on_event: OnEvent, control: Control) -> EngineOutcome:
        """Write and flush, or read, every file once. Raises `TargetError` where the files are not there."""
        stream = cast("Json", job["workload"]["stream"][0])
        home = self._files.own(job["target"].text, job["permission"], NAME)
        extent = files.read_note(home, stream["phase"])
        options_ = job["job"]
        if options_.get("backend") == "auto":
            options_ = {**options_, "backend": "sync"}
        outcome = self._carry_out(stream, extent, home, options_, (on_event, control))
        if stream["phase"] == "write" and outcome.get("stopped_by") == "amount":
            files.note(home, extent)
        through_ns = (outcome.get("engine") or {}).get("spent_ns") or []
        section = {
            **extent.to_json(),
            **{name: stream[name] for name in ("phase", "content", "direct")},
            "cores": cpu_cores(),
            "stream_s": [ns / 1e9 for ns in through_ns],
        }
        return cast("EngineOutcome", {**outcome, "io_test": section})

    def _carry_out(self, stream: Json, extent: Extent, home: str, options_: Options, hearing: tuple[OnEvent, Control]) -> EngineOutcome:
        plain = self._engine.check_workload(self._plain({"name": NAME}, stream, extent), NAME)
        job: Job = {
            "workload": plain,
            "job": options_,
            "target": files.target_of(home, extent),
            # The files are in a directory of ours.
            "permission": Permission(),
        }
        return self._engine.run_job(job, *hearing)

    @property
    def _stream(self) -> Json:
        return cast("Json", cast("Definition", self._definition)["stream"][0])


def _streams(values: Mapping[str, Any]) -> int:
    return cpu_cores() if values["streams"] == options.CORES else int(values["streams"])
