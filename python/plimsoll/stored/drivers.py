"""What drivers other than the block engine say at the end of a run: the sections of the outcome that carry their names."""

# Annotations are evaluated here: as texts each would be compiled when its class is made, which every run would wait for.
from typing import Any, TypedDict

from plimsoll.stored.json import Json, Number


class WorkflowOutcome(TypedDict, total=False):
    """One process of analytics; ``check`` is ``ok``, or the first sentence of what was wrong."""

    number: int
    iteration: int
    status: str
    failure: str | None
    check: str | None
    start_s: Number
    end_s: Number
    real_s: Number
    user_s: Number
    system_s: Number
    max_rss_bytes: int
    memory_bytes: int
    steps: list[Json]


class IterationOutcome(TypedDict, total=False):
    """One time that all workflows ran; figures of the processors are percent of all of them, by state."""

    number: int
    workflows: int
    failed: int
    start_s: Number
    end_s: Number
    real_s: Number
    user_s: Number
    system_s: Number
    cpu_s: Number
    cpu: dict[str, Number] | None
    device_read_bytes: int | None
    device_written_bytes: int | None


class AnalyticsOutcome(TypedDict, total=False):
    """Workflows of analytics."""

    banner: str
    engine: str
    asked: Json
    row_bytes: int
    data_bytes: int
    cores: int | None
    physical_cores: int | None
    devices: list[str]
    workflows: list[WorkflowOutcome]
    iterations: list[IterationOutcome]
    failed: int
    wrong_data: int
    watching_cpu_s: Number
    whole: bool


class DurabilityRound(TypedDict, total=False):
    """One kill, and what the database had afterwards; ``unopened`` says why it did not open again."""

    moment_s: Number
    begin_s: Number
    kill_s: Number
    open_s: Number
    seconds: Number
    recovery_s: Number | None
    acknowledged: int
    under_way: str | None
    became: str | None
    unopened: str | None
    lost: list[str]
    halves: list[str]
    miscounted: bool


class DurabilityOutcome(TypedDict, total=False):
    """A trial of durability."""

    kills: int
    kills_asked: int
    acknowledged: int
    rounds: list[DurabilityRound]
    broken_promises: list[str]
    settings: dict[str, Any]
    scale: Number


class OrderEntryOutcome(TypedDict, total=False):
    """Terminals of order entry; counts are of the measured time, and waits are shares of the transactions' time."""

    derived_from: str
    terminals: int
    committed: dict[str, int]
    rolled_back: int
    rolled_back_share: Number
    failed: dict[str, int]
    retries: dict[str, int]
    watched_s: Number | None
    wal_bytes: int | None
    flush_ns: Any
    waits: dict[str, Number] | None
    events: dict[str, Number] | None
    counters: dict[str, Number] | None
    own_share: Number | None
    loop_cpu_ns: int | None
    starved_ns: int | None
    settings: dict[str, Any]
    consistent: bool | None
    broken: list[str]
    unchecked: str


class DecisionOutcome(TypedDict, total=False):
    """A test of decision support; a metric is None where its test did not come to its end."""

    banner: str
    scale: Number
    standard: bool
    test: str
    streams: int
    least_streams: int
    refresh: bool
    queries_asked: list[int]
    spec_rounding: bool
    metrics: dict[str, Number | None]
    load: Json
    memory_bytes: int | None
    own_cpu_share: Number
    whole: bool
    phases: list[Json]
    queries: list[Json]
    refreshes: list[Json]
