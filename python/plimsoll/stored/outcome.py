"""What the engine, or the driver in its place, says at the end of a run."""

# Annotations are evaluated here: as texts each would be compiled when its class is made, which every run would wait for.
from typing import Any, TypedDict

from plimsoll.stored.drivers import AnalyticsOutcome, DecisionOutcome, DurabilityOutcome, OrderEntryOutcome
from plimsoll.stored.json import Json, Number


class Fault(TypedDict, total=False):
    """How often a fault was found."""

    findings: int
    sectors: int


class Example(TypedDict):
    """Where a fault was found."""

    fault: str
    address: int


class Verify(TypedDict, total=False):
    """What verification found."""

    sectors_checked: int
    lost: Fault
    torn: Fault
    misdirected: Fault
    stale: Fault
    corrupt: Fault
    examples: list[Example]


class Backend(TypedDict, total=False):
    """Which backend was asked for and used."""

    asked: str
    used: str | None
    fallback_reason: str | None


class _ComponentUse(TypedDict):
    name: str
    set: str
    kind: str
    elapsed_ns: Number
    utilisation: Number
    operations: Number
    bytes: Number
    mean_queue: Number


class Component(_ComponentUse, total=False):
    """What a part of a modelled array did."""

    servers: Number
    hit_share: Number | None
    read_ahead_bytes: Number
    read_ahead_wasted_bytes: Number
    written_bytes: Number
    programmed_bytes: Number


class EngineFacts(TypedDict, total=False):
    """What the engine says of itself; ``origin`` is the tool that measured instead."""

    origin: str
    workers: int
    unissued: int
    iou_wrk_threads: int | None
    clock: Json | None
    facts: dict[str, str] | None
    components: list[Component] | None
    #: When each worker of the block engine had done all that its streams ask for, from the start; empty unless all had.
    spent_ns: list[int]


class Silence(TypedDict, total=False):
    """How long a target gave no answer, while so many requests waited; None while it is opened."""

    target: str
    ns: int
    waiting: int | None


class HostAt(TypedDict):
    """How far one of several hosts is in a point that goes on: getting ready, ready, measuring, ended, failed or lost; figures are those of
    its newest interval."""

    name: str
    state: str
    #: What is wrong, where something is.
    why: str | None
    passed_s: float
    per_s: float | None
    bytes_per_s: float | None
    mean_ns: float | None


class JournalOutcome(TypedDict, total=False):
    """What was told to a power-cut journal, or found by one; ``did`` says which."""

    did: str
    journal: str
    begun: int
    durable: int
    acknowledged: int
    sectors_checked: int
    counts: dict[str, int]
    complete: bool
    violations: list[Any]


class _HeadlineValue(TypedDict):
    value: Number
    #: What the figure is, and what one of it is called.
    figure: str
    unit: str


class Headline(_HeadlineValue, total=False):
    """The figure that a driver is asked for, where that is no rate; ``fair`` is what has to stand wherever it does."""

    fair: str | None


class EngineOutcome(TypedDict, total=False):
    """What the engine says at the end of a run."""

    backend: Backend | None
    engine: EngineFacts | None
    verify: Verify | None
    end_ns: int
    first_error: Json | str | None
    cpu_ns: dict[str, Number] | None
    replays: list[Json] | None
    journal: JournalOutcome | None
    stopped_by: str | None
    silence: Silence | None
    files: Json | None
    mail: Json | None
    analytics: AnalyticsOutcome | None
    decision: DecisionOutcome | None
    orders: OrderEntryOutcome | None
    durability: DurabilityOutcome | None
    lateness_report: Json | None
    headline: Headline | None
    databases: list[Json]
    mailstore: Json | None
    hosts: list[Json]
    io_test: Json | None
