"""The driver of decision support: a database on the target, loaded once, then asked 22 queries alone and in streams; derived from TPC-H.

Model: the target is the address of a database. A private one lives in a directory that Plimsoll makes in that of the address and marks as
its own, like the trees of file operations; it is loaded before the first point of a scale and used by the following ones. Each point opens
it with the memory that was asked for, carries out its tests, and closes it. Queries and refreshes are operations, streams are streams, so
rates, latencies, objectives and load lines are those of every load; what only this driver knows is the section ``decision`` of the outcome.
Streams ask from this host, or from several that are clients of one PostgreSQL server (`plimsoll.apps.decision.shared_server`).
Limits: the answers are compared right after a load at scales that have expected answers.

    [workload file]  driver = "decision-support"
                     [[stream]]
                     scale = 10
                     streams = 3

    engine = DecisionSupport(native(), definition)
    engine.prepare_target(Target("duckdb:/mnt/array/dss"), None, None, on_progress, control)
    job = {"workload": definition, "job": options, "target": Target("duckdb:/mnt/array/dss"), "permission": None}
    engine.run_job(job, on_event, control)
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, cast

from plimsoll.apps.application import as_blocks, only_stream
from plimsoll.apps.course import Course, Timing
from plimsoll.apps.databases import own_schemas
from plimsoll.apps.databases.address import Address
from plimsoll.apps.databases.application import DatabaseApplication
from plimsoll.apps.databases.database import Database, Settings
from plimsoll.apps.databases.engines import ENGINES, check, client_of, database_of, memory_least
from plimsoll.apps.databases.schema import DECISION_SUPPORT as SCHEMA
from plimsoll.apps.decision import dataset, options
from plimsoll.apps.decision.dataset import Hearing, Note
from plimsoll.apps.decision.observation import Observer, seen
from plimsoll.apps.decision.options import QueryOptions
from plimsoll.apps.decision.procedure import Plan, Procedure
from plimsoll.apps.decision.records import Whole, figures
from plimsoll.apps.decision.shared_server import SharedServer
from plimsoll.decision import BANNER, data, metrics
from plimsoll.decision.queries import translator
from plimsoll.engine.protocol import Control, Engine, Job, OnEvent, OnProgress, Permission
from plimsoll.errors import InputError, TargetError
from plimsoll.host.device import free_bytes
from plimsoll.host.target import existing, target_facts
from plimsoll.stored import Cache, Definition, EngineOutcome, Headline, Inspection, Json, Options, top_devices
from plimsoll.target import Target
from plimsoll.units import binary

if TYPE_CHECKING:
    from plimsoll.apps.databases.postgresql import PostgreSql

NAME = "decision-support"
#: What a run without a target takes.
DEFAULT_TARGET = "duckdb:./plimsoll-scratch.dss"
#: A point ends when everything was asked; the duration is only the limit.
TIMING = {"duration": "24h", "warmup": "0s"}
#: Bytes on the target per byte of text, at most, with room for what spills and comes.
_ROOM = {"duckdb": 0.9, "postgresql": 3.0, "spark": 1.2}
#: Lengths of an interval from each scale on.
_INTERVALS_NS = ((100.0, 10_000_000_000), (10.0, 1_000_000_000), (0.5, 250_000_000), (0.0, 100_000_000))
#: Bytes that are stored per byte of text, about, before anything is loaded.
_STORED = 0.35


class DecisionSupport(DatabaseApplication):
    """`plimsoll.engine.protocol.Engine` whose jobs ask a database; what is not about that is handed on to ``engine``."""

    engines = tuple(ENGINES)
    schema = SCHEMA
    default_target = DEFAULT_TARGET
    #: Its target is written to, whatever the workload says.
    fills_target = True
    #: The job options of a workload that says none.
    timing = TIMING
    #: It brings caches about itself, as its option ``cache`` says.
    keeps_caches = True

    def __init__(self, engine: Engine, definition: Mapping[str, object]) -> None:
        super().__init__(engine)
        self._definition = definition
        #: Whether other runs are kept away from the database.
        self._claims = True

    @property
    def makes(self) -> str:
        """What becomes of the target, in words."""
        asked = self._asked
        changed = ", changed by refreshes" if asked.refresh else ""
        return f"a database of scale {asked.scale:g} is loaded (about {binary(asked.scale * dataset.TEXT_BYTES)} of text), asked{changed}"

    @property
    def _asked(self) -> QueryOptions:
        return QueryOptions.of(cast("Definition", self._definition)["stream"][0])

    def check_workload(self, workload: Mapping[str, Any], source: str) -> Definition:
        """The canonical form. The engine checks what stands above the stream."""
        given = only_stream(
            workload, f"{source}: decision support has one [[stream]] table, whose option 'streams' says how many ask at a time."
        )
        stream = options.canonical(given, f"{source}: stream")
        rest = {key: value for key, value in workload.items() if key != "driver"}
        plain = self._engine.check_workload({**rest, "stream": [{"name": stream["name"]}]}, source)
        return cast("Definition", {**plain, "driver": NAME, "stream": [stream]})

    def set_option(self, workload: Definition, options_: Options, key: str, value: Any) -> tuple[Definition, Options]:
        """Both with one option changed."""
        stream = workload["stream"][0]
        name = key.removeprefix(f"{stream['name']}.")
        try:
            changed = options.changed(stream, name, value)
        except InputError as problem:
            raise InputError(f"{key}: {problem}") from None
        if changed is not None:
            return cast("Definition", {**workload, "stream": [changed]}), options_
        before = self._engine.check_workload(as_blocks(workload, "queries"), key)
        after, found = self._engine.set_option(before, options_, key, value)
        if after != before or name == "size":
            known = ", ".join(option.name for option in options.OPTIONS)
            raise InputError(f"{key}: decision support has no such option; it has {known} and the options of a job.")
        return workload, found

    def inspect_target(self, target: Target) -> Inspection:
        """What is at the directory of a private database, or that a server is the user's. Raises `InputError` for what is no address of an
        engine that can do this."""
        address = self.address_of(target)
        if address.directory is None:
            return {"kind": "server", "spec": address.text, "exists": True, "made_by_plimsoll": False}
        return {**self._files.inspect(address.directory), "spec": address.text}

    def write_refusal(self, target: Target, permission: Permission | None) -> str | None:
        """Why no database may be made there. Raises a sentence where it could not be: a missing package, too little room."""
        found = self.inspect_target(target)
        address = self.address_of(target)
        check(address, self._memory_bytes(address, round(dataset.TEXT_BYTES * self._asked.scale * _STORED)))
        check_asked(address, self._asked)
        if address.engine == "postgresql":
            translator("postgres")
        if address.directory is None:
            own_schemas.check(address, SCHEMA)
            return None
        check_room(address, self._asked.scale)
        return found.get("write_refusal") if permission is None else None

    def prepare_target(
        self, target: Target, size_bytes: int | None, permission: Permission | None, on_progress: OnProgress, control: Control
    ) -> Inspection:
        """Load the database, unless what is there is of the right scale and unused enough."""
        if size_bytes is not None:
            raise InputError("size: how large the database becomes is said by its scale; set that in place of size.")
        address, asked = self.address_of(target), self._asked
        check_asked(address, asked)
        check_room(address, asked.scale)
        with self._open(address, permission, Settings()) as database:
            pairs = (asked.has_power + self.hosts * asked.streams * asked.has_throughput) * asked.refresh
            note = dataset.note_of(database)
            if note is None or not dataset.serves(note, database, asked.scale, pairs):
                note = self._loaded(database, target, Hearing(on_progress, control))
        found = self.inspect_target(target)
        scratch = {} if address.directory else {"scratch": [address.text]}
        sizes = {"size_bytes": note.data_bytes or 0, "file_bytes": note.text_bytes}
        return cast("Inspection", {**found, **sizes, **scratch, "changes_between_points": True})

    def _loaded(self, database: Database, target: Target, hearing: Hearing) -> Note:
        """The note of a new load, which is complete once it is written."""
        # An engine that starts with the first question says now what it lacks, and not after hours of loading.
        database.facts()
        observer = Observer(_tops(self.inspect_target(target)), database.processes)
        try:
            before = observer.glance()
            note = dataset.load(database, self._asked.scale, hearing)
            written = seen(before, observer.glance()).get("bytes_written")
        finally:
            observer.close()
        note = dataset.checked(database, note.with_written(written), hearing)
        dataset.write(database, note)
        return note

    def cache_of(self, workload: Definition, target: Target) -> Cache:
        """What the caches hold when a test begins, and how that comes."""
        state = QueryOptions.of(workload["stream"][0]).cache
        opened = "The engine was opened anew for this point, so that it held nothing; the page cache was left as it was."
        how = {
            "cold": f"Before each test {database_of(self.address_of(target), '', Settings()).cold_how()}.",
            "warm": "Every query ran once before each test.",
        }.get(state, opened)
        return {"state": state, "how": how}

    def serves(self, target: Target) -> bool:
        """Whether several hosts can be clients of one server there. Raises `InputError` with why they cannot."""
        address = self.address_of(target)
        if address.engine != "postgresql":
            raise InputError(
                f"target {target.text}: {address.engine} answers queries in processes of the host that asks and has no clients on other"
                " hosts; name a PostgreSQL server by its URL, or give each host a database of its own with {host}."
            )
        if self._asked.has_power:
            raise InputError("test: the power test asks one query at a time, which one host does; with --hosts ask test=throughput.")
        if self._asked.cache == "cold":
            raise InputError(
                "cache: a server that several hosts ask is not started anew for each point; say --cache warm, or leave it out."
            )
        return True

    @contextmanager
    def shared_server(self, job: Job, _on_event: OnEvent, _control: Control, count: int) -> Iterator[SharedServer]:
        """The database of a job whose streams are on ``count`` hosts: its server runs and is claimed from here."""
        address = self.address_of(job["target"])
        note = self._note_at(address, job["permission"])
        settings = Settings(self._memory_bytes(address, note.data_bytes or 0))
        with self._open(address, job["permission"], settings) as database:
            url = address.text if address.directory is None else cast("PostgreSql", database).url
            yield SharedServer(url, count, QueryOptions.of(job["workload"]["stream"][0]), settings.memory_bytes)

    def _note_at(self, address: Address, permission: Permission | None) -> Note:
        with self._open(address, permission, Settings()) as database:
            note = dataset.note_of(database)
            if note is None:
                raise TargetError(f"{address}: the database was not loaded; it was there when the run began.")
        return note

    def run_job(self, job: Job, on_event: OnEvent, control: Control) -> EngineOutcome:
        """Carry out the tests. Raises `TargetError` where the database cannot be opened."""
        address, asked, clients = self.address_of(job["target"]), QueryOptions.of(job["workload"]["stream"][0]), job.get("clients")
        self._claims = clients is None
        note = self._note_at(address, job["permission"])
        settings = Settings(self._memory_bytes(address, note.data_bytes or 0))
        with self._open(address, job["permission"], settings) as database:
            plan = Plan.of(asked, note, database.dialect, job["job"]["seed"], clients)
            observer = Observer(_tops(self.inspect_target(job["target"])), database.processes)
            try:
                return _Point(job, plan, settings).outcome(database, observer, on_event, control)
            finally:
                observer.close()

    def _memory_bytes(self, address: Address, data_bytes: int) -> int | None:
        """What the engine may use with so much data: what was asked for, but not less than it needs; None for its own choice."""
        found = self._asked.memory_bytes(data_bytes) if is_ours_to_set(address) else None
        return None if found is None else max(found, memory_least(address.engine))

    @contextmanager
    def _open(self, address: Address, permission: Permission | None, settings: Settings) -> Iterator[Database]:
        directory = "" if address.directory is None else self._files.own(address.directory, permission, address.engine)
        database = database_of(address, directory, settings) if self._claims else client_of(address, settings)
        database.open()
        try:
            yield database
        finally:
            database.close()


class _Point:
    """One job on an open database, and what it tells at its end."""

    def __init__(self, job: Job, plan: Plan, settings: Settings) -> None:
        self._job = job
        self._plan = plan
        self._settings = settings

    def outcome(self, database: Database, observer: Observer, on_event: OnEvent, control: Control) -> EngineOutcome:
        """Carry it out; what is known then."""
        procedure = Procedure(self._plan, database, observer)

        def forward(kind: str, event: Json) -> None:
            if kind == "interval":
                event["queries"] = procedure.kept.fresh()
            on_event(kind, event)

        facts = dict(database.facts())
        course = Course(_timing(self._job["job"], self._plan.asked.scale), forward, control, tells_silence=False)
        with data.kept() if self._plan.asked.refresh else nullcontext():
            procedure.prepare_caches(lambda: control.stopped)
            course.servers = None if database.runs_here else database.processes()
            procedure.own_cpu_s, begun_s = 0.0, time.thread_time() + _storing_s()
            ended = course.run(procedure)
            own_s = time.thread_time() + _storing_s() - begun_s + procedure.own_cpu_s
        options_ = self._job["job"]
        decision = self._decision(procedure, own_s / max(ended.end_ns / 1e9, 1e-9), ended.stopped_by)
        return ended.outcome(
            database.engine, str(options_.get("backend")), self._plan.asked.streams, facts, decision=decision, headline=_headline(decision)
        )

    def _decision(self, procedure: Procedure, own_share: float, stopped_by: str) -> Json:
        asked, note, kept = self._plan.asked, self._plan.note, procedure.kept
        records = [done.to_json() for done in sorted(kept.done, key=lambda done: done.start_ns)]
        whole = Whole(asked.scale, asked.queries, asked.streams, asked.refresh, asked.spec_rounding)
        return {
            "banner": BANNER,
            "scale": asked.scale,
            "standard": data.is_standard(asked.scale),
            "test": asked.test,
            "streams": asked.streams,
            "least_streams": metrics.streams_min(asked.scale),
            "refresh": asked.refresh,
            "queries_asked": list(asked.queries),
            "spec_rounding": asked.spec_rounding,
            "metrics": figures(kept, whole),
            "load": asdict(note),
            "memory_bytes": self._settings.memory_bytes,
            "own_cpu_share": max(own_share, 0.0),
            "whole": stopped_by == "amount",
            "phases": [span.to_json() for span in kept.spans],
            "queries": [record for record in records if "number" in record],
            "refreshes": [record for record in records if "refresh" in record],
        }


def _storing_s() -> float:
    """Processor time of the main thread, which stores and shows what this one hands on; 0 where both are one."""
    main = threading.main_thread()
    if main is threading.current_thread() or main.ident is None:
        return 0.0
    return time.clock_gettime(time.pthread_getcpuclockid(main.ident))


def _headline(decision: Json) -> Headline | None:
    """The composite, which is what a price is divided by; None where a test is missing."""
    value = decision["metrics"]["composite"]
    unit = f"composite@{decision['scale']:g}"
    return None if value is None else {"value": value, "figure": "composite", "unit": unit, "fair": BANNER}


def _timing(options_: Options, scale: float) -> Timing:
    """That of the job, with intervals that fit a test whose length nobody knows before."""
    found = Timing.of(options_)
    if options_["interval"] != "auto":
        return found
    return replace(found, interval_ns=next((length_ns for least, length_ns in _INTERVALS_NS if scale >= least), found.interval_ns))


def _tops(inspection: Inspection) -> list[str]:
    """Kernel names of the devices whose counters are those of the database."""
    return [str(device["name"]) for device in top_devices(target_facts(inspection))]


def is_ours_to_set(address: Address) -> bool:
    """Whether Plimsoll says how much memory the engine has: a Spark cluster gives an application what that asks for."""
    return address.is_private or address.engine == "spark"


def check_asked(address: Address, asked: QueryOptions) -> None:
    """Raise the sentence of an option that a server or cluster of the user's cannot follow."""
    if address.is_private:
        return
    if address.engine == "spark":
        if asked.cache == "cold":
            raise InputError(
                f"cache: {address}: the page caches of a cluster's workers cannot be emptied from here; say --cache warm, or measure on"
                " spark:local."
            )
        return
    if asked.cache == "cold":
        raise InputError(f"cache: {address}: a server of yours is not restarted; say --cache warm, or measure on postgresql:new:DIR.")
    if asked.memory not in ("engine", options.default("memory")):
        raise InputError(f"memory: {address}: a server of yours keeps the memory that it has (shared_buffers); leave --memory away.")


def check_room(address: Address, scale: float) -> None:
    """Raise `TargetError` where a database of this scale does not fit beside what is there; one that is loaded already needs no more."""
    directory = address.directory
    if directory is None or os.path.isdir(os.path.join(directory, address.engine)):
        return
    needed = round(dataset.TEXT_BYTES * scale * _ROOM.get(address.engine, 1.0))
    free = free_bytes(_standing(directory))
    if free < needed:
        raise TargetError(
            f"{directory}: a database of scale {scale:g} needs about {binary(needed)} with what queries spill, and {binary(free)} are "
            "free; name another directory, or a smaller --scale."
        )


def _standing(directory: str) -> str:
    """The nearest directory above that exists."""
    found = existing(directory)
    while not os.path.exists(found):
        found = os.path.dirname(found)
    return found
