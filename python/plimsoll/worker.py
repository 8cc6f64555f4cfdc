"""A worker of a gang: measures on its host what it is handed, stores it there, and tells of it meanwhile.

Model: a worker is a run like any other. Points come in over a socket in place of a planner's, and go through the same loop: targets are
prepared, judged and claimed by this host's own rules, results are stored by the same writer, complete on the medium before they are told.
Only the start is another: the engine makes ready, the worker says so, and waits until it hears the instant. It imports nothing of what
carries the gang.
Limits: whoever is at the other end of the socket may make it measure; nobody but its own user can open it. When the other end goes, a
worker finishes the point that it measures, stores it, removes its scratch files and leaves.

    python -m plimsoll.worker /tmp/plimsoll-x1/db1
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import asdict, replace
from queue import SimpleQueue
from typing import Any, cast

from plimsoll.doctor import diagnose
from plimsoll.doctor.examination import examine
from plimsoll.engine.block import native
from plimsoll.engine.claims import borrow_claims, forgo_reading, lent_claims, this_process
from plimsoll.engine.protocol import Clients, Control, Engine, OnEvent, Permission
from plimsoll.engine.protocol import Job as Order
from plimsoll.errors import EngineError, PlimsollError, StoreError
from plimsoll.gang.loan import borrowed, lend
from plimsoll.gang.nest import SOCKET, SPECIFICATION
from plimsoll.gang.own_cost import Meter
from plimsoll.gang.shared_server import FOLDER
from plimsoll.gang.shared_target import boot_id, reach, storage_of
from plimsoll.gang.traces import Arriving
from plimsoll.gang.wire import Wire, listening
from plimsoll.host.machine import host_facts, versions
from plimsoll.host.target import target_identity
from plimsoll.passwords import keep
from plimsoll.points.ahead import Kept
from plimsoll.points.brake import Brake
from plimsoll.points.drivers import driver_name, driver_of
from plimsoll.points.listener import Listener, Unwatched
from plimsoll.points.loop import Loop
from plimsoll.points.model_queue import ModelQueue
from plimsoll.points.outcome import Outcome
from plimsoll.points.point import PlannedPoint
from plimsoll.points.setup import Setup
from plimsoll.points.targets import Targets
from plimsoll.points.traces import cache_folder, forget_oldest, header_of, scratch_bytes
from plimsoll.store.writer import RunInfo, RunWriter
from plimsoll.stored import Definition, EngineOutcome, Interval, Json, Options, Silence
from plimsoll.target import Target

#: Drivers whose engine waits for the instant itself, everything made ready; None is the block engine.
WAIT_THEMSELVES = (None, "files", "io-test", "mail", "mailstore")
#: What is asked of models alone, of whatever run.
_OF_MODELS = ("trial", "chain")
#: How long before the instant a driver that does not wait itself sleeps no more.
_SPIN_NS = 2_000_000
#: How long nobody has to come before a worker leaves.
_NOBODY_S = 120.0
Say = Callable[[Json], None]


class Stage:
    """Where a running point is told to begin and to stop; any thread may tell it."""

    def __init__(self, say: Say) -> None:
        self.say = say
        #: Whether the job begins when it is ready: a model has a time of its own.
        self.free = False
        #: The bytes of a shared target that this host may touch; None for a target of its own.
        self.touches: list[list[int]] | None = None
        #: Which of several clients of one server this host is; None for a target that it prepares and checks itself.
        self.clients: Clients | None = None
        #: What the outcome of the job says of its start besides.
        self.appointed: Json = {}
        self._control: Control | None = None
        self._instant_ns: int | None = None
        self._told = threading.Event()
        self._for_good = False

    def enter(self, control: Control) -> Control:
        """A job that is about to run; stopped at once when the worker is to leave."""
        self._control, self._instant_ns, self.appointed = control, None, {}
        self._told.clear()
        if self._for_good:
            control.stop()
        return control

    def begin(self, at_ns: int, clocks: Json) -> None:
        """The instant of this host's clock, and how it compares with that of who names it."""
        self.appointed = {"appointed_ns": at_ns, **clocks}
        begin = getattr(self._control, "begin", None)
        if begin is not None:
            begin(at_ns)
        self._instant_ns = at_ns
        self._told.set()

    def stop(self) -> None:
        """Issue nothing more."""
        if self._control is not None:
            self._control.stop()
        self._told.set()

    def alone(self) -> None:
        """Nobody says the instant any more: what has begun goes on to its end, what has not never begins."""
        self._for_good = True
        if self._instant_ns is None:
            self.stop()

    def await_instant(self) -> None:
        """Return at the instant, or when it was stopped; for drivers that do not wait themselves."""
        self.say({"say": "ready"})
        self._told.wait()
        if self._instant_ns is None:
            return
        time.sleep(max(0.0, (self._instant_ns - time.monotonic_ns() - _SPIN_NS) / 1e9))
        while time.monotonic_ns() < self._instant_ns:
            pass


class Held:
    """A driver whose runs begin at the instant that the stage is told."""

    def __init__(self, driver: Engine, stage: Stage, *, waits: bool) -> None:
        self._driver = driver
        self._stage = stage
        self._waits = waits

    def __getattr__(self, name: str) -> Any:
        return getattr(self._driver, name)

    def control(self) -> Control:
        return self._stage.enter(self._driver.control())

    def run_job(self, job: Order, on_event: OnEvent, control: Control) -> EngineOutcome:
        def heard(kind: str, event: Any) -> None:
            if kind == "ready":
                # First, as the silence that follows is a wait for the instant and not for the target.
                on_event(kind, event)
            if kind == "ready" and not self._waits:
                # An application is ready once its servers and connections are, and begins when this returns.
                self._stage.await_instant()
            elif kind in ("ready", "start"):
                self._stage.say({**event, "say": kind})
            if kind != "ready":
                on_event(kind, event)

        if self._waits and not self._stage.free:
            control.hold()  # type: ignore[attr-defined]
        if self._stage.clients is not None:
            job = {**job, "clients": self._stage.clients}
        outcome: Any = self._driver.run_job(job, heard, control)
        said: Json = {**(outcome.get("start") or {}), **self._stage.appointed}
        if self._stage.touches is not None:
            said["touches"] = self._stage.touches
        return cast("EngineOutcome", {**outcome, "start": said})


class HeldEngine:
    """The engine of this host, whose drivers are held."""

    def __init__(self, engine: Engine, stage: Stage) -> None:
        self._engine = engine
        self._stage = stage

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)

    def driver_of(self, workload: Any) -> Engine:
        """The driver of a workload, held."""
        driver: Any = Held(driver_of(workload, self._engine), self._stage, waits=driver_name(workload) in WAIT_THEMSELVES)
        return driver  # type: ignore[no-any-return]


class _Told(Unwatched):
    """Says what the other end wants to hear."""

    def __init__(self, say: Say) -> None:
        self._say = say

    def preparing(self, target: str, done_bytes: int, total_bytes: int) -> None:
        self._say({"say": "preparing", "target": target, "done": done_bytes, "total": total_bytes})

    def interval(self, interval: Interval) -> None:
        self._say({"say": "interval", "interval": interval})

    def silent(self, silence: Silence) -> None:
        self._say({"say": "silence", "silence": silence})


class _Models:
    """The brakes of models that run beside each other; once stopped, nothing more begins."""

    def __init__(self) -> None:
        self._controls: list[Control] = []
        self._stopped = False

    def guard(self, control: Control) -> Control:
        """A model that is about to run."""
        self._controls.append(control)
        if self._stopped:
            control.stop()
        return control

    def stop(self) -> None:
        """All end at once."""
        self._stopped = True
        for control in tuple(self._controls):
            control.stop()


class Worker:
    """Answers what it is asked until it is to leave."""

    def __init__(self, folder: str, specification: Json, wire: Wire) -> None:
        self._folder = folder
        self._name = str(specification["name"])
        self._store = str(specification["store"])
        self._wire = wire
        self._stage = Stage(self._say)
        self._engine: Any = HeldEngine(native(), self._stage)
        self._inbox: SimpleQueue[Json] = SimpleQueue()
        self._opened = ExitStack()
        self._loop: Loop | None = None
        self._targets: Targets | None = None
        self._run: RunWriter | None = None
        self._outcome = Outcome()
        self._pool: ThreadPoolExecutor | None = None
        self._models = _Models()
        self._arriving = Arriving(cache_folder(), forget_oldest)
        self._queue: ModelQueue | None = None
        self._queued: dict[int, str] = {}

    def serve(self) -> None:
        """Until ``leave``, or until the other end has gone."""
        threading.Thread(target=self._listen, name="plimsoll-worker", daemon=True).start()
        try:
            while (request := self._inbox.get())["ask"] != "leave":
                self._answer(request)
        finally:
            self._stage.alone()
            self._leave()

    def leave(self) -> None:
        """Finish the point that is being measured, and go."""
        self._stage.alone()
        self._inbox.put({"ask": "leave"})

    def _listen(self) -> None:
        while (request := self._wire.received()) is not None:
            if request["ask"] == "begin":
                clocks = {name: request[name] for name in ("offset_ns", "offset_bound_ns")}
                self._stage.begin(int(request["at_ns"]), clocks)
            elif request["ask"] == "stop":
                self._stage.stop()
                self._models.stop()
            else:
                self._inbox.put(request)
        self.leave()

    def _answer(self, request: Json) -> None:
        if request["ask"] in _OF_MODELS:
            # A function of the request alone: as many at a time as there are processors.
            self._pool = self._pool or ThreadPoolExecutor(len(os.sched_getaffinity(0)), thread_name_prefix="plimsoll-model")
            self._pool.submit(self._answer_now, request)
        elif request["ask"] == "point" and request.get("alone") and request["places"] > 1:
            self._queue_point(request)
        else:
            self._answer_now(request)

    def _answer_now(self, request: Json) -> None:
        try:
            value = getattr(self, f"_{request['ask']}")(request)
        except PlimsollError as refusal:
            self._say({"say": "refused", "id": request["id"], "kind": type(refusal).__name__, "message": str(refusal)})
        else:
            self._say({"id": request["id"], **({"say": "answer", "value": value} if request["ask"] != "point" else value)})

    def _say(self, message: Json) -> None:
        # Nobody there any more: what is measured is stored all the same.
        with suppress(OSError):
            self._wire.send(message)

    def _introduce(self, _request: Json) -> Json:
        return {
            "versions": versions(),
            "host": host_facts(),
            "pid": os.getpid(),
            "process": this_process(),
            "machine": boot_id(),
            "reach": reach(),
            "processors": len(os.sched_getaffinity(0)),
        }

    def _trial(self, request: Json) -> dict[str, float]:
        from plimsoll.points.array_runs import modelled_of

        return modelled_of(request)

    def _chain(self, request: Json) -> list[Json]:
        from plimsoll.reproduction.host_bench import readings_at

        return readings_at(request, native(), self._models.guard)

    def _examine(self, _request: Json) -> list[Json]:
        return [asdict(check) for check in diagnose(examine(native(), None))]

    def _take_trace(self, request: Json) -> Json:
        return self._arriving.begin(request["digest"], request["size"])

    def _take_piece(self, request: Json) -> None:
        self._arriving.take(request["digest"], base64.b64decode(request["piece"]))

    def _inspect(self, request: Json) -> Json:
        inspection = self._engine.driver_of(request["workload"]).inspect_target(_target(request))
        return {**inspection, "identity": target_identity(inspection), "storage": storage_of(inspection)}

    def _refusal(self, request: Json) -> str | None:
        allowed = Permission.from_json(request["permission"])
        refusal: str | None = self._engine.driver_of(request["workload"]).write_refusal(_target(request), allowed)
        return refusal

    def _open(self, request: Json) -> Json:
        """Begin the run of this host: from here on it stores."""
        info = RunInfo(request["name"], request["command"], None, host_facts(), versions(), label=self._name)
        self._run = RunWriter.create(self._store, info)
        allowed = Permission.from_json(request["permission"])
        setup = Setup(self._engine, self._run, Listener(_Told(self._say)), host_facts(), allowed, request["keep"])
        brake = self._opened.enter_context(Brake())
        self._targets = self._opened.enter_context(Targets(setup, brake, self._left_behind))
        self._loop = Loop(setup, brake, self._targets, self._outcome)
        return {"run": os.path.relpath(self._run.path, self._store)}

    def _prepare(self, request: Json) -> Json:
        _, targets, _ = self._begun()
        driver = self._engine.driver_of(request["workload"])
        options = {**_room_for_traces(request["workload"], driver, _target(request)), **request["options"]}
        inspection = targets.prepared(driver, PlannedPoint(request["workload"], cast("Options", options), _target(request)))
        return {**inspection, "identity": target_identity(inspection)}

    def _join(self, request: Json) -> Json:
        """A target that another host prepares, in its place."""
        _, targets, _ = self._begun()
        for address, secrets in (request.get("secrets") or {}).items():
            keep(address, secrets)
        inspection = targets.join(self._engine.driver_of(request["workload"]), _target(request), request["options"].get("size"))
        return {**inspection, "identity": target_identity(inspection)}

    def _lend(self, request: Json) -> str:
        """Claim a target that other workers of this machine use, too; where they get their part of the claim."""
        borrow_claims([], request["companions"])
        path = os.path.join(self._folder, "loan.sock")
        lend(path, lent_claims(_target(request), request["elsewhere"], writes=request["writes"]), request["count"])
        return path

    def _forgo(self, request: Json) -> None:
        forgo_reading(_target(request))

    def _borrow(self, request: Json) -> None:
        borrow_claims(borrowed(request["from"]), request["companions"])

    def _point(self, request: Json) -> Json:
        loop, _, run = self._begun()
        point = _planned(request)
        run.count_from(int(str(request["point"]).partition("-")[0]))
        self._stage.touches = request.get("touches")
        self._stage.clients = self._clients(request)
        self._stage.free = bool(request.get("alone"))
        meter = Meter(os.path.dirname(self._folder))
        meter.begin()
        result = loop.measured(point)
        if result is None:
            raise EngineError("the point was not begun")
        return {
            "say": "result",
            "gang": meter.end(),
            "result": result.to_json(),
            "point": os.path.relpath(os.path.join(run.path, "points", result.id), self._store),
        }

    def _clients(self, request: Json) -> Clients | None:
        """Which of several clients of one server this host is, with an empty directory for what its driver writes down."""
        if (clients := request.get("clients")) is None:
            return None
        folder = os.path.join(self._store, FOLDER)
        try:
            shutil.rmtree(folder, ignore_errors=True)
            os.makedirs(folder, mode=0o700)
        except OSError as problem:
            raise StoreError(f"{folder}: the directory cannot be made ({str(problem.strerror).lower()}).") from None
        return cast("Clients", {**clients, "folder": folder})

    def _queue_point(self, request: Json) -> None:
        """A point of a model for a process of its own; what comes of it is told when it has ended."""
        self._queue = self._queue or ModelQueue(request["places"], host_facts(), self._tell_queued)
        self._queued[request["id"]] = str(request["point"])
        self._queue.put(request["id"], _planned(request))

    def _tell_queued(self, number: int, kept: Kept | None) -> None:
        name, run = self._queued.pop(number), self._run
        if kept is None or run is None:
            self._say({"say": "refused", "id": number, "kind": "EngineError", "message": "the process that measured it has died"})
            return
        result = replace(kept.result, id=name)
        try:
            run.adopt_point(kept.folder, replace(kept.skeleton, id=name), result)
        except PlimsollError as problem:
            self._say({"say": "refused", "id": number, "kind": type(problem).__name__, "message": str(problem)})
            return
        point = os.path.relpath(os.path.join(run.path, "points", name), self._store)
        self._say({"say": "result", "id": number, "gang": None, "result": result.to_json(), "point": point})

    def _begun(self) -> tuple[Loop, Targets, RunWriter]:
        if self._loop is None or self._targets is None or self._run is None:
            raise EngineError("the run of this host has not been opened")
        return self._loop, self._targets, self._run

    def _left_behind(self, sentence: str) -> None:
        self._say({"say": "left_behind", "message": sentence})

    def _leave(self) -> None:
        self._models.stop()
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
        if self._queue is not None:
            self._queue.close()
        with suppress(PlimsollError):
            self._opened.close()
        if self._run is not None:
            with suppress(PlimsollError):
                self._run.finish(self._outcome.status)
        self._say({"say": "left"})
        self._wire.close()


def _planned(request: Json) -> PlannedPoint:
    """The point that a request is about."""
    return PlannedPoint(
        request["workload"],
        request["options"],
        _target(request),
        request["repeat"],
        place=request["place"],
        cache=request["cache"],
        chosen=frozenset(request.get("chosen") or ()),
        **{name: request[name] for name in ("precision", "least_s", "decides_itself", "amount") if name in request},
    )


def _room_for_traces(workload: Definition, driver: Engine, target: Target) -> Json:
    """The size of a scratch file that does not exist and has to hold what traces touch, as an option; empty for all else."""
    sizes = [
        scratch_bytes(header_of(str(stream["trace"])), str(stream.get("trace_map")), driver.inspect_target(target))
        for stream in workload.get("stream", ())
        if stream.get("trace")
    ]
    known = [size for size in sizes if size is not None]
    return {"size": max(known)} if known else {}


def _target(request: Json) -> Target:
    return Target(request["target"], request.get("document"), driver_name(request["workload"]))


def main(folder: str) -> int:
    """Serve whoever connects to the socket in ``folder``, one after nobody else."""
    with open(os.path.join(folder, SPECIFICATION), encoding="utf-8") as file:
        specification = json.load(file)
    os.chdir(specification["cwd"])
    server = listening(os.path.join(folder, SOCKET))
    server.settimeout(_NOBODY_S)
    # Whoever started this ignores it; a worker that nobody has come to yet has nothing to end.
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    # A Ctrl-C in the terminal is for the command, which tells its workers what to do.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        connection, _ = server.accept()
    except TimeoutError:
        return 0
    finally:
        server.close()
        os.unlink(os.path.join(folder, SOCKET))
    connection.settimeout(None)
    worker = Worker(folder, specification, Wire(connection))
    signal.signal(signal.SIGTERM, lambda *_: worker.leave())
    worker.serve()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
