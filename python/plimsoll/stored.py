"""The form of what the store holds, as far as code takes it for granted; what no line here names may be anything, or may be missing.

Model: typed dictionaries for `plimsoll.shape.fitted`. Keys of a class without ``total=False`` have to be there. The classes of
`plimsoll.result` say the rest of a result.

    fitted(json.loads(line), Interval)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypedDict

Number = int | float
Json = dict[str, Any]
Phase = Literal["warmup", "measure", "drain", "after"]


class _EntryCount(TypedDict):
    count: int


class Entry(_EntryCount, total=False):
    """An operation in the summary of an interval."""

    bytes: int | None
    errors: int | None
    mean_ns: Number | None
    p50_ns: int | None
    p99_ns: int | None
    max_ns: int | None


class _CellFigures(TypedDict):
    stream: str | None
    op: str
    count: int
    bytes: int


class Cell(_CellFigures, total=False):
    """A stream × operation of an interval, or part × operation."""

    part: str | None
    errors: dict[str, int] | None
    latency: str | None
    service: str | None
    latency_sum_ns: Number | None
    service_sum_ns: Number | None


class Waiting(TypedDict):
    """What was outstanding at the end of an interval, by age."""

    stream: str | None
    op: str
    latency: str


class Lag(TypedDict, total=False):
    """How late requests left."""

    late: int | None
    p99_ns: int | None
    max_ns: int | None


class WriteCaches(TypedDict, total=False):
    """What the write caches of a modelled array held at the end of an interval."""

    dirty_bytes: Number
    begins_bytes: Number
    destages: bool


class _IntervalTimes(TypedDict):
    index: int
    phase: Phase
    start_ns: int
    end_ns: int
    cells: list[Cell]


class Interval(_IntervalTimes, total=False):
    """A line of intervals.jsonl."""

    inflight_mean: Number | None
    inflight_age_ns: Number | None
    write_caches: WriteCaches | None
    backlog_ns: Number | None
    lag: Lag | None
    outstanding: list[Waiting] | None
    summary: dict[str, Entry]


class Sample(TypedDict, total=False):
    """A line of monitor.jsonl, and the section ``monitor`` of a result."""

    index: int
    end_ns: int
    seconds: Number
    devices: Mapping[str, Mapping[str, Number | None]] | None
    cpu: Mapping[str, Number | None] | None
    paging: Mapping[str, Number | None] | None


class _AccessSize(TypedDict):
    size: int | str


class Access(_AccessSize, total=False):
    """A line of an access specification."""

    weight: Number
    read_percent: Number
    random_percent: Number
    delay: Number | str
    burst: int
    align: int


class _StreamName(TypedDict):
    name: str


class Stream(_StreamName, total=False):
    """The options of a stream that are read again."""

    threads: int
    users: int
    terminals: int
    queue_depth: int
    arrival: str
    read_percent: Number
    write_percent: Number
    trim_percent: Number
    flush_percent: Number
    random_percent: Number
    compress_ratio: Number
    duplicate_ratio: Number
    think_time: Number | str
    block_size: int | str | dict[str, Number]
    read_block_size: int | str | dict[str, Number]
    write_block_size: int | str | dict[str, Number]
    trim_block_size: int | str | dict[str, Number]
    rate: Number | str | Json | list[Any]
    verify: str
    content: str
    direct: bool
    trace: str
    trace_map: str
    trace_speed: Number
    trace_skip: list[str]
    access: list[Access]
    operation: str | dict[str, Number]
    amount: Any
    requests: Any
    passes: Any
    pattern: Any
    region_start: Any
    region_length: Any
    write_created: Any
    flush_at_close: Any
    flush_every: Any
    merge_depth: Any


class Definition(TypedDict, total=False):
    """A workload."""

    name: str
    title: str
    group: str
    driver: str
    purpose: str | None
    expect: str | None
    stream: list[Stream]
    tree: list[Json]


class Options(TypedDict, total=False):
    """The options of a job."""

    duration: Number
    warmup: Number
    seed: int
    on_error: str
    size: Any
    interval: Any
    backend: Any


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


class Silence(TypedDict, total=False):
    """How long a target gave no answer, while so many requests waited; None while it is opened."""

    target: str
    ns: int
    waiting: int | None


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
    decision: Json | None
    orders: Json | None
    lateness_report: Json | None
    headline: Headline | None


class Failure(TypedDict):
    """When a member of a modelled array is to fail, or a new drive to come."""

    time_s: Number
    member: int | str
    group: str


class PartInspection(TypedDict, total=False):
    """What is at one part of a target."""

    kind: str
    path: str
    exists: bool
    size_bytes: int
    logical_block_bytes: int
    direct: bool | None
    rotational: bool | None
    made_by_plimsoll: bool
    left_behind: bool
    sample: Json | None
    facts: Json | None


class Inspection(TypedDict, total=False):
    """What looking at a target tells, without touching it; after it was prepared, which files were made, too."""

    kind: str
    spec: str
    path: str | None
    exists: bool
    modelled: bool
    size_bytes: int
    logical_block_bytes: int
    rotational: bool | None
    made_by_plimsoll: bool
    left_behind: bool
    write_refusal: str | None
    parts: list[PartInspection]
    scratch: list[str]
    file_bytes: int
    changes_between_points: bool


class TargetFacts(Inspection, total=False):
    """The inspection, with what the host says of what stands behind the target."""

    devices: list[Json]
    devices_absent: str
    filesystem: Json
    allocated_bytes: int
    apparent_bytes: int
    medium: Json
    failures: list[Failure] | None
    replacements: list[Failure] | None


class HostFacts(TypedDict, total=False):
    """What the machine is."""

    machine: Json | None
    cpu: Json | None
    kernel: Json | None
    memory: Json | None
    os: Json | None
    numa: Json | None
    target: TargetFacts | None


class _PlaceNames(TypedDict):
    experiment: str
    kind: str
    role: str


class Coordinates(TypedDict, total=False):
    """Where a point stands in its experiment; points of no experiment have an empty one."""

    experiment: str
    kind: str
    role: str
    key: str
    subject: str
    configuration: str
    label: str | None
    level: float | None
    settings: dict[str, Any]
    again: int


class Placed(TypedDict):
    """The part of a result that says where it stands."""

    place: _PlaceNames


class Cache(TypedDict, total=False):
    """What the caches held."""

    state: str
    how: str | None


class Ended(TypedDict, total=False):
    """Why the measured time ended."""

    by: str
    how: str
    goal: str
    settled_s: Number


class ResultParts(TypedDict):
    """The parts of a result that have to be there although its class can do without them."""

    job: Any
    engine: Any
    host: Any
    monitor: Any


class _ConfigurationName(TypedDict):
    name: str


class Configuration(_ConfigurationName, total=False):
    """One of the things compared."""

    target: str | None
    set: Json | None


class _ExperimentName(TypedDict):
    name: str
    configurations: list[Configuration]


class Experiment(_ExperimentName, total=False):
    """An experiment as run.json keeps it."""

    kind: str
    objective: str | None
    workloads: list[str]
    over: Any
    parameters: Json


class _MarkFigures(TypedDict):
    iops: Number
    bytes_per_s: Number
    level: Number
    interval: list[Number] | None
    objective: str
    failed_by: str | None
    next_level: Number | None


class Mark(_MarkFigures, total=False):
    """A mark."""

    crossing: Number | None
    notes: list[str]


class _ConclusionPlace(TypedDict):
    experiment: str
    kind: str
    workload: str
    configuration: str
    sentences: list[str]


class Conclusion(_ConclusionPlace, total=False):
    """What an experiment found."""

    mark: Mark | None
    figures: Json


class Process(TypedDict, total=False):
    """Which process writes a run."""

    pid: int | None
    boot_id: str | None
    start_ticks: int | None


class Suite(TypedDict, total=False):
    """Where the experiments come from."""

    name: str
    title: str | None
    purpose: str | None
    source: str | None
    published: list[Json] | None


class PriceItem(TypedDict):
    """A line of a price list; ``amount`` is that of one piece."""

    name: str
    amount: float
    count: int


class _PriceAmount(TypedDict):
    amount: float


class StoredPrice(_PriceAmount, total=False):
    """What a side costs: an amount, empty or with its currency, for so many years, and the items that it is the sum of."""

    currency: str | None
    years: float | None
    items: list[PriceItem]


class _RunStatus(TypedDict):
    status: str


class Run(_RunStatus, total=False):
    """run.json."""

    name: str
    label: str | None
    created: str | None
    #: Nanoseconds since 1970: tells apart what began in one second.
    created_ns: Number | None
    finished: str | None
    command: list[str]
    points_planned: int | None
    process: Process | None
    host: HostFacts | None
    versions: Json | None
    experiments: list[Experiment] | None
    conclusions: list[Conclusion] | None
    suite: Suite | None
    #: What each side costs, by its name.
    prices: dict[str, StoredPrice] | None
    scratch: list[str]
    resumed: list[str]
    fingerprint: str | None
