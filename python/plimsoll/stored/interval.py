"""Lines of a point as they arise: intervals.jsonl and monitor.jsonl."""

# Annotations are evaluated here: as texts each would be compiled when its class is made, which every run would wait for.
from collections.abc import Mapping
from typing import Any, Literal, TypedDict

from plimsoll.stored.json import Number

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
    #: Of decision support: the queries and refreshes that ended in it.
    queries: list[dict[str, Any]]
    #: Of analytics: the workflows that ended in it, and which step each of the others is in.
    workflows: list[dict[str, Any]]
    steps: dict[str, str]


class Sample(TypedDict, total=False):
    """A line of monitor.jsonl, and the section ``monitor`` of a result."""

    index: int
    end_ns: int
    seconds: Number
    devices: Mapping[str, Mapping[str, Number | None]] | None
    cpu: Mapping[str, Number | None] | None
    paging: Mapping[str, Number | None] | None
