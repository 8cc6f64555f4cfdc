"""The driver of order entry: transactions derived from TPC-C on a database, with the verbs of any other load.

Model: the target is a database (`plimsoll.apps.databases.address`): an SQLite file or a PostgreSQL server that Plimsoll makes in a
directory on the target, or the user's own server, where it works in a schema of its own. It is filled before the first point and used on
by the next ones. Terminals are the level; every transaction is recorded under its kind. After each job the conditions of consistency are
checked: where one does not hold, the point has failed and its figures mean nothing.
Limits: one host drives all terminals.

    [workload file]  driver = "order-entry"
                     [[stream]]
                     terminals = 16
                     warehouses = 10

    engine = OrderEntry(native(), definition)
    job = {"workload": definition, "job": options, "target": Target("sqlite:/mnt/array/db"), "permission": None}
    engine.run_job(job, on_event, engine.control())
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any, cast

from plimsoll.apps.course import Course, Ended, Timing
from plimsoll.apps.databases.address import Address, parse
from plimsoll.apps.databases.address import Engine as EngineName
from plimsoll.apps.order_entry import options as own
from plimsoll.apps.order_entry.store import MEMORY_MIN_BYTES, MEMORY_SHARE, Filling, Store, Watch, Watched
from plimsoll.apps.order_entry.terminals import STREAM, Terminals
from plimsoll.engine import Control, Engine, Job, Json, OnEvent, OnProgress, native_files
from plimsoll.errors import InputError, PlimsollError, TargetError
from plimsoll.host.device import free_bytes
from plimsoll.orders import BANNER
from plimsoll.orders.requests import NEW_ORDER
from plimsoll.stored import Definition, EngineOutcome, Inspection, Options
from plimsoll.target import Target
from plimsoll.units import binary

NAME = "order-entry"
ENGINES: tuple[EngineName, ...] = ("sqlite", "postgresql")
#: Where the database is when no target is named.
DEFAULT_TARGET = "sqlite:./plimsoll-scratch.orders"
#: What the data take on a disk while they are measured, beside their own size: logs and growth.
_ROOM = {"sqlite": 1.5, "postgresql": 2.0}
_LOG_BYTES = {"sqlite": 64 << 20, "postgresql": 2 << 30}
_LOOK_S = 0.02
#: Connections of a private server besides those of terminals: ours, and those that PostgreSQL keeps back.
_OTHER_CONNECTIONS = 20
_NO_SIZE = "size: a database is as large as its warehouses make it; set warehouses in place of size."


class OrderEntry:
    """`plimsoll.engine.Engine` whose jobs are transactions on a database; what is not about them is handed on to ``engine``."""

    #: What a run without a target takes.
    default_target = DEFAULT_TARGET
    #: Its target is written to, whatever the workload says.
    fills_target = True

    def __init__(self, engine: Engine, definition: Mapping[str, Any]) -> None:
        self._engine = engine
        self._definition = definition
        self._files = native_files()

    def control(self) -> Control:
        return self._engine.control()

    def check_workload(self, workload: Mapping[str, Any], source: str) -> Definition:
        """The canonical form of order entry. The engine checks what a workload says besides its stream."""
        streams = workload.get("stream") or [{}]
        if not isinstance(streams, list) or len(streams) != 1 or not isinstance(streams[0], dict):
            raise InputError(f"{source}: order entry has one stream; write one [[stream]] table or none.")
        stream = own.canonical(streams[0], f"{source}: stream")
        rest = {key: value for key, value in workload.items() if key not in ("driver", "stream")}
        plain = self._engine.check_workload({**rest, "stream": [{"name": STREAM}]}, source)
        return _canonical(plain, stream)

    def check_job(self, options: Json) -> Options:
        return self._engine.check_job(options)

    def set_option(self, workload: Definition, options: Options, key: str, value: Any) -> tuple[Definition, Options]:
        """Both with one option changed: of the job, or of the terminals."""
        option = key.removeprefix(f"{STREAM}.")
        stream = cast("Json", workload["stream"][0])
        if option in own.OPTIONS:
            return _canonical(workload, own.changed(stream, option, value)), options
        if key == "size":
            raise InputError(_NO_SIZE)
        plain: Definition = {**workload, "stream": [{"name": STREAM}]}
        plain.pop("driver", None)
        before = self._engine.check_workload(plain, key)
        try:
            after, changed = self._engine.set_option(before, options, key, value)
        except InputError:
            if key in options:
                raise
            raise own.unknown(option, key) from None
        if after != before:
            raise own.unknown(option, key)
        return workload, changed

    def workload_schema(self) -> Json:
        return self._engine.workload_schema()

    def inspect_target(self, target: Target) -> Inspection:
        """What is at the directory of a database, or that a server is the user's. Raises `InputError` for what is no address of either."""
        address = _address(target)
        _check_installed(address)
        if address.directory is None:
            return {"kind": "server", "spec": target.text, "exists": True, "made_by_plimsoll": False}
        return {**self._files.inspect(address.directory), "spec": target.text}

    def write_refusal(self, target: Target, permission: Json | None) -> str | None:
        """Why nothing may be made there: a directory that Plimsoll did not make needs a permission."""
        return self.inspect_target(target).get("write_refusal") if permission is None else None

    def prepare_target(
        self, target: Target, size_bytes: int | None, permission: Json | None, on_progress: OnProgress, control: Control
    ) -> Inspection:
        """Make the database and fill it, unless it is as the point before left it."""
        if size_bytes is not None:
            raise InputError(_NO_SIZE)
        before = self.inspect_target(target)
        scale = own.scale_of(cast("Json", self._definition["stream"][0]))
        address = _address(target)
        _check_room(address, scale.size_bytes, there=bool(before.get("made_by_plimsoll")))
        with self._store(address, permission, control) as store:
            fills = not store.holds(scale)
            if fills:
                store.fill(scale, Filling(scale, on_progress, control))
            size = store.size_bytes() or scale.size_bytes
        found = self.inspect_target(target)
        return {**found, "size_bytes": size, "scratch": [address.directory] if address.directory else [], "changes_between_points": True}

    def remove_target(self, target: Target) -> list[str]:
        """Remove the database; nothing that Plimsoll did not make."""
        address = _address(target)
        return self._files.remove(address.directory) if address.directory else []

    def release_target(self, target: Target) -> None:
        """Note that the database stays and that no run uses it any more."""
        address = _address(target)
        if address.directory:
            self._files.release(address.directory)

    def run_job(self, job: Job, on_event: OnEvent, control: Control) -> EngineOutcome:
        """Carry transactions out until the job is over, then check what has to hold. Raises `TargetError` where that cannot begin."""
        stream = cast("Json", job["workload"]["stream"][0])
        plan = own.plan_of(stream, job["job"])
        with self._store(_address(job["target"]), job["permission"], control) as store:
            begun, facts, size = store.orders(), dict(store.facts()), store.size_bytes()
            course = Course(Timing.of(job["job"]), on_event, control)
            with store.working(stream) as working:
                load = _Watching(Terminals(plan, working.sessions), working.watch)
                ended = course.run(load)
                found = working.watch.watched()
                retries = dict(working.retries)
            section = _section(load.terminals, plan.terminals, found, retries)
            section |= {"engine": store.engine, "stream": dict(stream), "orders_before": begun, "size_bytes": size, "settings": facts}
            section |= _checked(store, ended)
            return ended.outcome(NAME, str(job["job"].get("backend", "")), 1, facts, orders=section)

    @contextmanager
    def _store(self, address: Address, permission: Json | None, control: Control | None = None) -> Iterator[Store]:
        """The database at an address; a private one is made ours, and its server runs for as long as it is needed here."""
        if address.engine == "sqlite":
            from plimsoll.apps.order_entry.sqlite_store import SqliteStore

            yield SqliteStore(self._files.own(str(address.directory), permission, "sqlite"))
            return
        from plimsoll.apps.order_entry.postgresql_store import PostgresqlStore, connection_of

        if address.directory is None:
            yield PostgresqlStore(connection_of(address), str(address))
            return
        from plimsoll.apps.databases.server import PrivateServer

        server = PrivateServer(self._files.own(address.directory, permission, "postgresql"), address.directory, self._settings())
        server.start(lambda: control is not None and control.stopped)
        try:
            yield PostgresqlStore(server.connection, str(address))
        finally:
            server.stop()

    def _settings(self) -> dict[str, str]:
        """What a private server is told: memory for as much of the data as asked for, a connection for each terminal, room for its log."""
        stream = cast("Json", self._definition["stream"][0])
        memory = stream["memory"]
        if memory == "auto":
            memory = max(own.scale_of(stream).size_bytes // MEMORY_SHARE, MEMORY_MIN_BYTES)
        return {
            "shared_buffers": f"{int(memory) >> 10}kB",
            "max_connections": str(int(stream["terminals"]) + _OTHER_CONNECTIONS),
            "max_wal_size": f"{_LOG_BYTES['postgresql'] >> 20}MB",
        }

    def calibrate(self, seconds: float) -> Json:
        return self._engine.calibrate(seconds)

    def probe_io_uring(self) -> Json:
        return self._engine.probe_io_uring()


class _Watching:
    """`plimsoll.apps.course.Load`: the terminals, and beside them what reads the engine's counters at both ends of the measured time."""

    def __init__(self, terminals: Terminals, watch: Watch) -> None:
        self.terminals = terminals
        self._watch = watch
        self._done = threading.Event()
        self._mistakes: list[BaseException] = []

    def carry_out(self, course: Course) -> None:
        """Both until the terminals have ended."""
        thread = threading.Thread(target=self._follow, args=(course,), name="plimsoll-watch", daemon=True)
        thread.start()
        try:
            self.terminals.carry_out(course)
        finally:
            self._done.set()
            thread.join()
        if self._mistakes:
            raise self._mistakes[0]

    def interrupt(self) -> None:
        """The terminals are told."""
        self.terminals.interrupt()

    def _follow(self, course: Course) -> None:
        began = False
        try:
            while not self._done.wait(_LOOK_S):
                if course.recorder.phase == "measure" and not course.stopped:
                    if not began:
                        self._watch.begin()
                    began = True
                    self._watch.look()
                elif began:
                    break
            if began:
                self._watch.end()
        except PlimsollError:
            # A server that is gone tells nothing more; the terminals say so.
            return
        except BaseException as mistake:
            self._mistakes.append(mistake)


def _canonical(workload: Definition, stream: Json) -> Definition:
    return cast("Definition", {**workload, "driver": NAME, "stream": [stream]})


def _address(target: Target) -> Address:
    """The address of a target; a path alone is the directory of a database that Plimsoll made, when it is to be removed."""
    if os.path.isabs(target.text) and os.path.isdir(target.text):
        return Address(target.text, "sqlite", directory=target.text)
    return parse(target.text, ENGINES)


def _check_installed(address: Address) -> None:
    """Raise `InputError` where what the engine takes is not installed."""
    if address.engine != "postgresql":
        return
    if find_spec("psycopg") is None:
        raise InputError(f"{address}: order entry on PostgreSQL needs psycopg; install it (pip install 'plimsoll[postgresql]').")
    if address.directory is not None:
        from plimsoll.apps.databases.programs import programs

        programs()


def _check_room(address: Address, size_bytes: int, *, there: bool) -> None:
    """Raise `TargetError` where the data do not fit; what is there already has its room."""
    if address.directory is None or there:
        return
    place = os.path.abspath(address.directory)
    while not os.path.isdir(place):
        place = os.path.dirname(place)
    needed, free = round(size_bytes * _ROOM[address.engine]) + _LOG_BYTES[address.engine], free_bytes(place)
    if free < needed:
        raise TargetError(
            f"{address}: so many warehouses need about {binary(needed)} with their logs, but {binary(free)} are free; "
            "ask for fewer (--set warehouses=N), or make room."
        )


def _section(terminals: Terminals, number: int, found: Watched, retries: Mapping[str, int]) -> Json:
    """What only order entry knows of its job; counts are of the measured time."""
    counts = terminals.counts["measure"]
    verdicts: Json = {}
    for name, count in counts.items():
        verdict, _, kind = name.rpartition(" ")
        verdicts.setdefault(verdict, {})[kind] = count
    new_orders = sum(verdicts.get(verdict, {}).get(NEW_ORDER, 0) for verdict in ("committed", "rolled back"))
    rolled_back = verdicts.get("rolled back", {}).get(NEW_ORDER, 0)
    return {
        "derived_from": BANNER,
        "terminals": number,
        "committed": verdicts.get("committed", {}),
        "rolled_back": rolled_back,
        "rolled_back_share": rolled_back / new_orders if new_orders else 0.0,
        "failed": verdicts.get("failed", {}),
        "retries": dict(retries),
        "watched_s": found.seconds,
        "wal_bytes": found.wal_bytes,
        "flush_ns": found.flush,
        "waits": found.waits,
        "events": found.events,
        "counters": found.counters,
        "own_share": found.own_share,
        "loop_cpu_ns": terminals.busy_ns,
    }


def _checked(store: Store, ended: Ended) -> Json:
    """What the conditions of consistency say; not known where the database is gone."""
    try:
        broken = list(store.broken())
    except PlimsollError as problem:
        if ended.first_error is None:
            raise
        return {"consistent": None, "broken": [], "unchecked": str(problem)}
    return {"consistent": not broken, "broken": broken}
