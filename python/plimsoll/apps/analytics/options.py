"""The options of analytics workflows, declared once: reader, default and meaning of each, and the canonical stream they make.

Model: a workload has one stream, whose keys are those of `OPTIONS`. The canonical form holds every option and, besides them, what the rest
of Plimsoll asks of any stream: that a point ends by itself, and which operations it does. Reads and writes are what the workflows do to
storage; a workflow and its steps are told of beside them.
Limits: options of the job (duration, seed, ...) are the engine's.

    stream = canonical({"workflows": 4, "rows": "1M"}, "mine.toml: stream")
    WorkflowOptions.of(stream).data_bytes         # 200_000_000
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from plimsoll.apps.option import Declared, Option, one_of
from plimsoll.errors import InputError
from plimsoll.stored import Json
from plimsoll.units import size_bytes

#: What the one stream is called.
STREAM = "workflows"
#: The steps of a workflow, in their order; each is an operation.
STEPS = ("data-step", "iterate", "format", "index", "sort", "summary")
#: The operation that a whole workflow is.
WORKFLOW = "workflow"
#: What carries out the steps: ours, or DuckDB.
ENGINES = ("native", "duckdb")
#: Where the rows of the first step come from: a file of each workflow, one for all, or nowhere, since they are made when they are needed.
INPUTS = ("own", "shared", "generated")
#: A row of the data, in bytes (`crates/analytics/src/row.rs`).
ROW_BYTES = 200
WORKFLOWS_MAX = 64
ROWS_MAX = 10**11
ITERATIONS_MAX = 100
LOOPS_MAX = 100_000
#: A process of the interpreter and the steps takes some of it before the first row.
MEMORY_MIN_BYTES = {"native": 48 << 20, "duckdb": 256 << 20}
BUFFER_MIN_BYTES, BUFFER_MAX_BYTES = 4096, 16 << 20
#: So many buffers have to fit into the memory of a workflow, so that runs can be merged.
BUFFERS_LEAST = 8
_COUNTS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9}


def _whole(least: int, most: int) -> Callable[[Any], int]:
    def read(value: Any) -> int:
        text = str(value).strip().lower().replace(",", "").replace("_", "")
        digits = text.rstrip("kmg")
        factor = _COUNTS.get(text[len(digits) :], 0)
        try:
            number = float(digits) * factor
        except ValueError:
            number = -1.0
        if isinstance(value, bool) or number != int(number) or not least <= number <= most:
            raise ValueError(f"a whole number from {least:,} to {most:,}")
        return int(number)

    return read


def _size(least: int, most: int, right: str, multiple: int = 1) -> Callable[[Any], int]:
    def read(value: Any) -> int:
        try:
            found = size_bytes(str(value))
        except InputError:
            found = -1
        if isinstance(value, bool) or not least <= found <= most or found % multiple:
            raise ValueError(right)
        return found

    return read


def _switch(value: Any) -> bool:
    words = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}
    found = words.get(str(value).strip().lower())
    if found is None:
        raise ValueError("true or false")
    return found


#: Every option, in the order of the reference.
OPTIONS: dict[str, Option] = {
    "workflows": Option(1, _whole(1, WORKFLOWS_MAX), "Workflows at the same time, each a process of its own; the level."),
    "iterations": Option(1, _whole(1, ITERATIONS_MAX), "How often all workflows of a point run; each time they start together."),
    "rows": Option(10_000_000, _whole(1000, ROWS_MAX), "Rows of each workflow, of 200 bytes each."),
    "memory": Option(
        256 << 20,
        _size(min(MEMORY_MIN_BYTES.values()), 1 << 44, "a size from 48MiB on (duckdb: 256MiB)"),
        "What the process of a workflow may use; a sort of more spills to disk.",
    ),
    "buffer": Option(
        64 << 10,
        _size(BUFFER_MIN_BYTES, BUFFER_MAX_BYTES, "a size from 4KiB to 16MiB that is a multiple of 4KiB", BUFFER_MIN_BYTES),
        "Bytes of each read and write.",
    ),
    "direct": Option(False, _switch, "Whether reads and writes bypass the page cache (O_DIRECT)."),
    "flush_at_close": Option(False, _switch, "Whether each file is made durable (fsync) when the step that wrote it ends."),
    "input": Option("own", one_of(INPUTS), "own: a workflow reads rows of its own; shared: all read the same; generated: none reads any."),
    "data_seed": Option(1, _whole(0, 2**63 - 1), "What the rows follow from: the same for the same, whatever the seed of the job."),
    "loops": Option(1000, _whole(1, LOOPS_MAX), "Turns of each of the three loops of step iterate, which are as many additions, cubed."),
    "engine": Option("native", one_of(ENGINES), "What carries out the steps: native, or duckdb with the same memory."),
}
#: Options that other drivers have, and what is meant here.
_OTHER_WORDS = {
    "threads": "workflows",
    "users": "workflows",
    "streams": "workflows",
    "terminals": "workflows",
    "queue_depth": "workflows",
    "block_size": "buffer",
    "scale": "rows",
    "size": "rows",
    "iterate": "loops",
}
DECLARED = Declared("analytics workflows have", OPTIONS, _OTHER_WORDS, quotes_numbers=True)


@dataclass(frozen=True)
class WorkflowOptions:
    """The options, read."""

    workflows: int
    iterations: int
    rows: int
    memory: int
    buffer: int
    direct: bool
    flush_at_close: bool
    input: str
    data_seed: int
    loops: int
    engine: str

    @classmethod
    def of(cls, stream: Mapping[str, Any]) -> WorkflowOptions:
        """Of a canonical stream."""
        return cls(**{name: stream[name] for name in OPTIONS})

    @property
    def data_bytes(self) -> int:
        """The rows of one workflow."""
        return self.rows * ROW_BYTES

    @property
    def work_bytes(self) -> int:
        """What the files of one workflow take at their most, about: three copies of the rows, run files of a sort, two indexes."""
        return round(self.data_bytes * (4.4 if self.engine == "native" else 6.0)) + (1 << 20)

    @property
    def inputs(self) -> int:
        """How many files of rows there have to be before a point."""
        return {"own": self.workflows, "shared": 1, "generated": 0}[self.input]


def canonical(given: Mapping[str, Any], where: str) -> Json:
    """The stream with every option; ``where`` names it in messages."""
    fixed = _fixed()
    for key, value in given.items():
        if key not in OPTIONS and key != "threads" and not (key in fixed and fixed[key] == value):
            raise DECLARED.unknown(key, where)
    values = DECLARED.read_all(given, where)
    if given.get("threads", values["workflows"]) != values["workflows"]:
        raise DECLARED.unknown("threads", where)
    least = MEMORY_MIN_BYTES[values["engine"]]
    if values["memory"] < least:
        raise InputError(f"{where}: memory is {values['memory'] >> 20} MiB, but engine {values['engine']} needs {least >> 20} MiB.")
    if values["memory"] < (least >> 1) + BUFFERS_LEAST * values["buffer"]:
        raise InputError(
            f"{where}: a buffer of {values['buffer'] >> 10} KiB is too large for a memory of {values['memory'] >> 20} MiB; at least "
            f"{BUFFERS_LEAST} buffers have to fit beside the process."
        )
    if values["engine"] == "duckdb" and values["input"] == "generated":
        raise InputError(f"{where}: DuckDB reads its rows; set input to own or shared with engine duckdb.")
    if values["engine"] == "duckdb" and (values["direct"] or values["buffer"] != OPTIONS["buffer"].default):
        raise InputError(f"{where}: DuckDB chooses its own reads and writes; leave direct and buffer out with engine duckdb.")
    return {**fixed, **values, "threads": values["workflows"]}


def changed(stream: Mapping[str, Any], key: str, value: Any) -> Json:
    """A canonical stream with one option changed; whether options go together is for `canonical` to say, once all are there."""
    found = {**stream, key: DECLARED.read(key, value, key)}
    return found | {"threads": found["workflows"]}


def _fixed() -> Json:
    """What the canonical form says besides its options: reads and writes are drawn, workflows and steps come with them."""
    return {
        "name": STREAM,
        "queue_depth": 1,
        "arrival": "closed",
        "passes": 1,
        "operation": {"read": 55.0, "write": 45.0},
        "also": [WORKFLOW, *STEPS],
    }
