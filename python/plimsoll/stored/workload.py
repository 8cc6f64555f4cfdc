"""What was to be done: a workload, its streams, and the options of a job."""

# Annotations are evaluated here: as texts each would be compiled when its class is made, which every run would wait for.
from typing import Any, TypedDict

from plimsoll.stored.json import Json, Number


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
    also: list[str]
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
    tags: list[str]
    stream: list[Stream]
    tree: list[Json]
    generation: str
    databases: int
    threads: int
    direct: bool
    test: str
    maintenance: int
    copies: int


class Options(TypedDict, total=False):
    """The options of a job."""

    duration: Number
    warmup: Number
    seed: int
    on_error: str
    size: Any
    interval: Any
    backend: Any
