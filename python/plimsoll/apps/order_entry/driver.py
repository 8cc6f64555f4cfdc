"""The driver of order entry: transactions derived from TPC-C on a database, with the verbs of any other load.

Model: the target is a database (`plimsoll.apps.databases.address`): an SQLite file or a PostgreSQL server that Plimsoll makes in a
directory on the target, or the user's own server, where it works in a schema of its own. It is filled before the first point and used on
by the next ones. Terminals are the level; every transaction is recorded under its kind. After each job the conditions of consistency are
checked: where one does not hold, the point has failed and its figures mean nothing.
Terminals are on this host, or on several that are clients of one server (`plimsoll.apps.order_entry.shared_server`).

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
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, cast

from plimsoll.apps.application import as_blocks, only_stream
from plimsoll.apps.course import Course, Ended, Timing
from plimsoll.apps.databases import own_schemas
from plimsoll.apps.databases.address import Address
from plimsoll.apps.databases.address import Engine as EngineName
from plimsoll.apps.databases.application import DatabaseApplication
from plimsoll.apps.databases.schema import ORDER_ENTRY as SCHEMA
from plimsoll.apps.order_entry import options as own
from plimsoll.apps.order_entry.counters import CountedTerminals, watched_section
from plimsoll.apps.order_entry.shared_server import UNCHECKED, SharedServer, checked
from plimsoll.apps.order_entry.store import MEMORY_MIN_BYTES, MEMORY_SHARE, AtWork, Filling, Store, Watched
from plimsoll.apps.order_entry.terminals import STREAM
from plimsoll.engine.protocol import Control, Engine, Job, OnEvent, OnProgress, Permission
from plimsoll.errors import InputError, TargetError
from plimsoll.host.device import free_bytes
from plimsoll.orders import BANNER
from plimsoll.orders.requests import NEW_ORDER
from plimsoll.stored import Definition, EngineOutcome, Inspection, Json, Options
from plimsoll.target import Target
from plimsoll.units import binary

if TYPE_CHECKING:
    from plimsoll.apps.order_entry.postgresql_store import PostgresqlStore

NAME = "order-entry"
ENGINES: tuple[EngineName, ...] = ("sqlite", "postgresql")
#: Where the database is when no target is named.
DEFAULT_TARGET = "sqlite:./plimsoll-scratch.orders"
#: What the data take on a disk while they are measured, beside their own size: logs and growth.
_ROOM = {"sqlite": 1.5, "postgresql": 2.0}
_LOG_BYTES = {"sqlite": 64 << 20, "postgresql": 2 << 30}
#: Connections of a private server besides those of terminals: ours, and those that PostgreSQL keeps back.
_OTHER_CONNECTIONS = 20
_NO_SIZE = "size: a database is as large as its warehouses make it; set warehouses in place of size."


class OrderEntry(DatabaseApplication):
    """`plimsoll.engine.protocol.Engine` whose jobs are transactions on a database; what is not about them is handed on to ``engine``."""

    engines = ENGINES
    schema = SCHEMA
    #: What a run without a target takes.
    default_target = DEFAULT_TARGET
    #: Its target is written to, whatever the workload says.
    fills_target = True

    def __init__(self, engine: Engine, definition: Mapping[str, Any]) -> None:
        super().__init__(engine)
        self._definition = definition

    @property
    def makes(self) -> str:
        """What becomes of the target, in words."""
        scale = own.scale_of(cast("Json", self._definition["stream"][0]))
        return f"a database of {scale.warehouses:,} warehouses is filled (about {binary(scale.size_bytes)}) and changed"

    def check_workload(self, workload: Mapping[str, Any], source: str) -> Definition:
        """The canonical form of order entry. The engine checks what a workload says besides its stream."""
        given = only_stream(workload, f"{source}: order entry has one stream; write one [[stream]] table or none.")
        stream = own.canonical(given, f"{source}: stream")
        plain = self._engine.check_workload(as_blocks(workload, STREAM), source)
        return _canonical(plain, stream)

    def set_option(self, workload: Definition, options: Options, key: str, value: Any) -> tuple[Definition, Options]:
        """Both with one option changed: of the job, or of the terminals."""
        option = key.removeprefix(f"{STREAM}.")
        stream = cast("Json", workload["stream"][0])
        if option in own.OPTIONS:
            return _canonical(workload, own.changed(stream, option, value)), options
        if key == "size":
            raise InputError(_NO_SIZE)
        return workload, self.job_option(as_blocks(workload, STREAM), options, key, value, lambda: own.DECLARED.unknown(option, key))

    def inspect_target(self, target: Target) -> Inspection:
        """What is at the directory of a database, or that a server is the user's. Raises `InputError` for what is no address of either."""
        address = self.address_of(target)
        _check_installed(address)
        if address.directory is None:
            return {"kind": "server", "spec": target.text, "exists": True, "made_by_plimsoll": False}
        return {**self._files.inspect(address.directory), "spec": target.text}

    def write_refusal(self, target: Target, permission: Permission | None) -> str | None:
        """Why nothing may be made there: a directory that Plimsoll did not make needs a permission. Raises the sentence of a server where
        our schema cannot be made."""
        address = self.address_of(target)
        if address.directory is None:
            _check_installed(address)
            own_schemas.check(address, SCHEMA)
            return None
        return self.inspect_target(target).get("write_refusal") if permission is None else None

    def prepare_target(
        self, target: Target, size_bytes: int | None, permission: Permission | None, on_progress: OnProgress, control: Control
    ) -> Inspection:
        """Make the database and fill it, unless it is as the point before left it."""
        if size_bytes is not None:
            raise InputError(_NO_SIZE)
        before = self.inspect_target(target)
        scale = own.scale_of(cast("Json", self._definition["stream"][0]))
        address = self.address_of(target)
        _check_room(address, scale.size_bytes, there=bool(before.get("made_by_plimsoll")))
        with self._store(address, permission, control) as store:
            fills = not store.holds(scale)
            if fills:
                store.fill(scale, Filling(scale, on_progress, control))
            size = store.size_bytes() or scale.size_bytes
        found = self.inspect_target(target)
        return {**found, "size_bytes": size, "scratch": [address.directory or address.text], "changes_between_points": True}

    def files_of(self, target: Target) -> list[str]:
        """The files of a private database, which is closed between points; none of a server of the user's."""
        directory = self.directory_of(target)
        return [os.path.join(here, name) for here, _, names in os.walk(directory) for name in names] if directory else []

    def cold_refusal(self, target: Target) -> str | None:
        """Why a point cannot begin with empty caches there."""
        if self.address_of(target).directory is not None:
            return None
        return f"{target}: a server of yours is not restarted, so that it cannot start cold; leave out --cache, or use postgresql:new:DIR."

    def serves(self, target: Target) -> bool:
        """Whether several hosts can be clients of one server there. Raises `InputError` for an engine that has none."""
        address = self.address_of(target)
        if address.engine == "sqlite":
            raise InputError(
                f"target {target.text}: SQLite works in the process that asks it and has no clients on other hosts; name a PostgreSQL"
                " server by its URL, or give each host a database of its own with {host}."
            )
        return True

    @contextmanager
    def shared_server(self, job: Job, _on_event: OnEvent, control: Control, count: int) -> Iterator[SharedServer]:
        """The database of a job whose terminals are on ``count`` hosts: its server runs, is watched, and checked at the end, from here."""
        address = self.address_of(job["target"])
        stream = cast("Json", job["workload"]["stream"][0])
        terminals = count * int(stream["terminals"])
        with self._store(address, job["permission"], control, terminals) as found:
            store = cast("PostgresqlStore", found)
            url = address.text if address.directory is None else store.url
            with store.watching() as watch:
                yield SharedServer(url, store, watch, {**stream, "terminals": terminals}, Timing.of(job["job"]))

    def run_job(self, job: Job, on_event: OnEvent, control: Control) -> EngineOutcome:
        """Carry transactions out until the job is over, then check what has to hold. Raises `TargetError` where that cannot begin."""
        if "clients" in job:
            return self._as_client(job, on_event, control)
        with self._store(self.address_of(job["target"]), job["permission"], control) as store:
            begun, size = store.orders(), store.size_bytes()
            ended, section = _worked(store, job, on_event, control)
            section |= {"orders_before": begun, "size_bytes": size, **checked(store, failed=ended.first_error is not None)}
            return ended.outcome(NAME, str(job["job"].get("backend", "")), 1, section["settings"], orders=section)

    def _as_client(self, job: Job, on_event: OnEvent, control: Control) -> EngineOutcome:
        """The terminals of one host of several; whoever runs all of them claims, watches and checks the database."""
        from plimsoll.apps.order_entry.postgresql_store import PostgresqlStore, connection_of

        address = self.address_of(job["target"])
        ended, section = _worked(PostgresqlStore(connection_of(address), str(address)), job, on_event, control)
        section |= {"orders_before": None, "size_bytes": None, **UNCHECKED}
        return ended.outcome(NAME, str(job["job"].get("backend", "")), 1, section["settings"], orders=section)

    @contextmanager
    def _store(
        self, address: Address, permission: Permission | None, control: Control | None = None, terminals: int | None = None
    ) -> Iterator[Store]:
        """The database at an address, for so many terminals; a private one is made ours, and its server runs while it is needed."""
        if address.engine == "sqlite":
            from plimsoll.apps.order_entry.sqlite_store import SqliteStore

            yield SqliteStore(self._files.own(str(address.directory), permission, "sqlite"))
            return
        from plimsoll.apps.order_entry.postgresql_store import PostgresqlStore, connection_of

        if address.directory is None:
            own_schemas.claim(address)
            yield PostgresqlStore(connection_of(address), str(address))
            return
        from plimsoll.apps.databases.server import PrivateServer

        server = PrivateServer(self._files.own(address.directory, permission, "postgresql"), address.directory, self._settings(terminals))
        server.start(lambda: control is not None and control.stopped)
        try:
            yield PostgresqlStore(server.connection, str(address))
        finally:
            server.stop()

    def _settings(self, terminals: int | None = None) -> dict[str, str]:
        """What a private server is told: memory for as much of the data as asked for, a connection for each terminal, room for its log."""
        stream = cast("Json", self._definition["stream"][0])
        memory = stream["memory"]
        if memory == "auto":
            memory = max(own.scale_of(stream).size_bytes // MEMORY_SHARE, MEMORY_MIN_BYTES)
        return {
            "shared_buffers": f"{int(memory) >> 10}kB",
            "max_connections": str((terminals or int(stream["terminals"])) + _OTHER_CONNECTIONS),
            "max_wal_size": f"{_LOG_BYTES['postgresql'] >> 20}MB",
        }


def _worked(store: Store, job: Job, on_event: OnEvent, control: Control) -> tuple[Ended, Json]:
    """The terminals at work until the job is over, and what is known of it but for the state of the database; clients leave watching it to
    who runs all of them."""
    stream, clients = cast("Json", job["workload"]["stream"][0]), job.get("clients")
    plan, facts = own.plan_of(stream, job["job"], clients), dict(store.facts())
    course = Course(Timing.of(job["job"]), on_event, control)
    with store.working(stream) as working:
        terminals = working.terminals(plan)
        course.recorder = terminals.recorder(course)
        course.servers = None if store.engine == "sqlite" else store.processes()
        ended = course.run(CountedTerminals(terminals, working.watch) if clients is None else terminals)
        section = _section(terminals, plan.terminals, working.retries)
        section |= watched_section(working.watch.watched() if clients is None else Watched())
        facts |= working.settings
    return ended, {**section, "engine": store.engine, "client": working.client, "stream": dict(stream), "settings": facts}


def _canonical(workload: Definition, stream: Json) -> Definition:
    return cast("Definition", {**workload, "driver": NAME, "stream": [stream]})


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


def _section(terminals: AtWork, number: int, retries: Mapping[str, int]) -> Json:
    """What the terminals know of their job; counts are of the measured time."""
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
        "loop_cpu_ns": terminals.busy_ns,
        "starved_ns": terminals.starved_ns,
    }
