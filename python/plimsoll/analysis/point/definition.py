"""Facts of a canonical workload definition that summaries and judgements need.

Model: a canonical definition holds, per stream, the options as `crates/workload` normalised them; an option that is absent has its
declared default. Only what is shown or judged is read here; the meaning of the options stays in Rust.

    concurrency(definition)          # (threads, queue depth or None)
    offered_per_s(definition)        # {"log": 2000.0}
"""

from __future__ import annotations

from typing import Any

from plimsoll.stored import Definition, Number, Stream

#: What `block_size` is when no size is given (crates/workload/src/stream.rs).
DEFAULT_BLOCK_BYTES = 4096
#: Completed over offered below which an offered rate was not achieved (METHODOLOGY, flag ``rate_not_achieved``).
ACHIEVED_SHARE_MIN = 0.97
#: Options that give a stream an end of its own.
_ENDS = ("amount", "requests", "passes", "trace")
#: Operations on files that open a file and close it again.
_IN_OPEN_FILES = ("read", "write", "flush", "open", "close")
#: Operations on files, and transactions, that change what the target holds.
_ON_FILES = ("write", "create", "setattr", "rename", "copy", "move", "delete", "mkdir", "rmdir", "deliver")
_CHANGING = (*_ON_FILES, "new-order", "payment", "delivery")
#: Operations of a mail store that nobody waits for, and the options that ask for them.
IN_BACKGROUND = {"maintenance-read": "maintenance", "replication-read": "copies"}
#: The operation that the rate of a stream of transactions is of; the others come with it.
_RATED = "new-order"
#: Drivers whose results are told of in words of their own.
DECISION_SUPPORT, ORDER_ENTRY, ANALYTICS = "decision-support", "order-entry", "analytics"
#: Streams of decision support in which refreshes come with the queries, or are alone.
_POWER, _REFRESH = "power", "refresh"


def streams(definition: Definition) -> list[Stream]:
    """The streams in order; a mail store has one for each database."""
    if definition.get("driver") == "mailstore":
        return [_database(definition, number) for number in range(1, definition.get("databases", 1) + 1)]
    return definition.get("stream") or []


def _database(definition: Definition, number: int) -> Stream:
    """What a mail store is asked for are transfers of its databases; how many are reads follows from what it does, so their shares are only
    those of a usual one. Log, maintenance and replication come with them."""
    test = definition.get("test", "operations")
    drawn: dict[str, Number] = {"maintenance-read": 100} if test == "backup" else {"read": 60, "write": 40}
    also = {"backup": [], "recovery": ["log-read", "log-write"]}.get(test, ["log-write", *_in_background(definition)])
    return {
        "name": f"database-{number}",
        "threads": definition.get("threads", 1),
        "operation": drawn,
        "also": also,
        "direct": definition.get("direct", True),
    }


def _in_background(definition: Definition) -> list[str]:
    return [op for op, key in IN_BACKGROUND.items() if definition.get(key)]


def concurrency(definition: Definition) -> tuple[int, int | None]:
    """Threads of all streams, and the queue depth per thread when all streams agree on it; a mail store's threads have none."""
    threads = sum(int(stream.get("threads", stream.get("terminals", 1))) for stream in streams(definition))
    depths = {int(stream.get("queue_depth", 1)) for stream in streams(definition)}
    if definition.get("driver") == "mailstore":
        return threads, None
    return threads, depths.pop() if len(depths) == 1 else None


def is_open(stream: Stream) -> bool:
    """Whether requests are due at instants that do not wait for earlier ones."""
    return bool(stream.get("arrival", "closed") != "closed")


def arrival(definition: Definition) -> str:
    """``open``, ``closed`` or ``mixed``."""
    kinds = {is_open(stream) for stream in streams(definition)}
    if len(kinds) > 1:
        return "mixed"
    return "open" if kinds == {True} else "closed"


def offered_per_s(definition: Definition) -> dict[str, float]:
    """The constant rate offered by each open stream that has one; schedules vary and are left out."""
    rates: dict[str, float] = {}
    for stream in streams(definition):
        rate = stream.get("rate")
        if is_open(stream) and isinstance(rate, (int, float)):
            rates[stream["name"]] = float(rate)
    return rates


def ends_by_itself(definition: Definition) -> bool:
    """Whether every stream has an amount or a number of requests (of passes, of a trace), after which nothing is left to do; so has a mail
    store that is read for a backup, or recovered."""
    if definition.get("driver") == "mailstore":
        return definition.get("test", "operations") != "operations"
    found = streams(definition)
    return bool(found) and all(any(stream.get(option) for option in _ENDS) for stream in found)


def is_direct(stream: Stream) -> bool:
    """Whether the stream bypasses the page cache."""
    return bool(stream.get("direct", True))


def overwrites(definition: Definition) -> bool:
    """Whether some request changes what the target holds, by a write or a trim; those of a trace are taken to do so."""
    return any(_overwrites(stream) for stream in streams(definition))


def checks_journal(definition: Definition) -> bool:
    """Whether a workload issues nothing and looks for what a journal names."""
    return any(stream.get("verify") == "journal-check" for stream in streams(definition))


def drawn_operations(stream: Stream) -> dict[str, float] | None:
    """The share of each operation that a stream of file operations or of mail users draws; None for a stream of block requests."""
    found = stream.get("operation") or stream.get("tasks")
    if found is None:
        return None
    return dict(found) if isinstance(found, dict) else {str(found): 100.0}


def rated_operations(stream: Stream) -> frozenset[str] | None:
    """The operations that count against the rate of a stream: of file operations those drawn, of transactions new orders; None for all."""
    drawn = drawn_operations(stream)
    if drawn is None:
        return None
    return frozenset((_RATED,)) if _RATED in drawn else frozenset(drawn)


def drawn_by_stream(definition: Definition) -> dict[str, frozenset[str]]:
    """The operations that each stream of file operations draws; of other streams there are none that merely come with others.

    The refreshes of decision support are no queries: they are none of its rate and of its latencies.
    """
    found = {str(stream.get("name")): drawn_operations(stream) for stream in streams(definition)}
    drawn = {name: frozenset(drawn) for name, drawn in found.items() if drawn is not None}
    if definition.get("driver") == DECISION_SUPPORT:
        return {_POWER: frozenset().union(*drawn.values()), _REFRESH: frozenset()}
    return drawn


def asks_a_list(definition: Definition) -> bool:
    """Whether a point asks for everything of a list once, so that what it measured is all there is, and no sample of more."""
    return definition.get("driver") == DECISION_SUPPORT


def is_all_there_is(definition: Definition, op: str) -> bool:
    """Whether what a point measured of an operation is all there is, and no sample of more: queries of a list, workflows, steps."""
    return asks_a_list(definition) or (runs_workflows(definition) and op not in ("read", "write", "all"))


def has_rate(definition: Definition) -> bool:
    """Whether a load can be offered at a rate."""
    return not asks_a_list(definition) and not runs_workflows(definition)


def runs_workflows(definition: Definition) -> bool:
    """Whether a point runs analytics workflows, each of which does its steps once."""
    return definition.get("driver") == ANALYTICS


def file_operations(stream: Stream) -> frozenset[str]:
    """The operations on files that can occur: those drawn, and those that come with them."""
    drawn = set(drawn_operations(stream) or ())
    if (also := stream.get("also")) is not None:
        return frozenset(drawn | set(also))
    opens = not drawn.isdisjoint(_IN_OPEN_FILES)
    with_open = {"open", "close"} if opens else {"close"} if "create" in drawn else set()
    written = {"write"} if "create" in drawn and stream.get("write_created") else set()
    flushed = {"flush"} if stream.get("flush_at_close") else set()
    return frozenset(drawn | with_open | written | flushed)


def _overwrites(stream: Stream) -> bool:
    if stream.get("verify") == "journal-check":
        return False
    if (drawn := drawn_operations(stream)) is not None:
        return not drawn.keys().isdisjoint(_CHANGING)
    if stream.get("trace"):
        return True
    read_percent = stream.get("read_percent", 100)
    shares = [entry.get("read_percent", read_percent) for entry in stream.get("access") or ()] or [read_percent]
    return bool(stream.get("trim_percent")) or any(share < 100 for share in shares)


def stores_little(stream: Stream) -> str | None:
    """Why a target that compresses or deduplicates would store less than the stream writes; None when it would not."""
    content = stream.get("content")
    if content in ("zeros", "pattern") or (content is None and stream.get("pattern") is not None):
        return "a repeated pattern" if content != "zeros" else "zeros"
    for ratio, noun in ((stream.get("compress_ratio") or 1, "compressible"), (stream.get("duplicate_ratio") or 1, "duplicate")):
        if ratio > 1:
            return f"{noun} data ({ratio:g} to 1)"
    return None


def size_bounds(stream: Stream, op: str) -> tuple[int, int] | None:
    """Smallest and largest request of ``op`` in bytes; None where it does not say: a file's last piece is any size."""
    if drawn_operations(stream) is not None or stream.get("trace"):
        return None
    entries = stream.get("access")
    if entries:
        sizes: list[Any] = [entry["size"] for entry in entries]
    else:
        own: Any = stream.get(f"{op}_block_size")
        sizes = [own or stream.get("block_size") or DEFAULT_BLOCK_BYTES]
    named = [size for value in sizes for size in _named_sizes(value)]
    return (min(named), max(named)) if named else None


def _named_sizes(value: Any) -> list[int]:
    """The sizes a canonical block size names: one, both ends of ``"4096-65536"``, or the keys of a table."""
    if isinstance(value, int):
        return [value]
    if isinstance(value, str):
        return [int(end) for end in value.split("-") if end.isdigit()]
    return [int(size) for size in value if str(size).isdigit()] if isinstance(value, dict) else []
