"""run.json, and where a point stands in its run."""

# Annotations are evaluated here: as texts each would be compiled when its class is made, which every run would wait for.
from typing import Any, TypedDict

from plimsoll.stored.json import Json, Number
from plimsoll.stored.target import HostFacts


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
    #: What is varied: a table ``{"option": …, "levels": […]}`` for each axis, in the order asked.
    over: Any
    #: Options over those of the workloads.
    set: Json
    repeat: int
    interleave: bool
    cache: str
    precision: Any
    #: Options of its kind.
    parameters: Json
    #: Workloads that the file of experiments holds itself, by name.
    definitions: Json


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


class FigureMatch(TypedDict, total=False):
    """The points that a published figure stands beside."""

    workload: str
    configuration: str
    settings: dict[str, Any]


class FigureRow(TypedDict, total=False):
    """One published figure; without ``match`` it stands beside no point."""

    label: str
    metric: str
    value: Number
    text: str
    match: FigureMatch | None


class PublishedFigures(TypedDict, total=False):
    """What one source published."""

    name: str
    title: str
    source: str
    note: str
    claims: list[Any]
    rows: list[FigureRow]


class Suite(TypedDict, total=False):
    """Where the experiments come from."""

    name: str
    quick: bool
    title: str | None
    purpose: str | None
    source: str | None
    rationale: str | None
    published: list[PublishedFigures] | None


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
    #: The hosts that measured, and where each kept what it measured.
    gang: Json | None
    scratch: list[str]
    resumed: list[str]
    fingerprint: str | None
