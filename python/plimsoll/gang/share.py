"""One host's share of a load that several carry: its part of every rate and of people, its own seed, its own target.

Model: queue depth, threads and amounts are each host's own, as if it were alone; a rate is that of all hosts together, and divided so that
the parts add up to it exactly, in thousandths of a request per second, the finest that the engine has. So are mail users, one by one.
Each host draws from seeds of its own, so hosts are independent draws of the same load. ``{host}`` in a target stands for the host's name.
Limits: equal gaps that are divided come from all hosts at once, not in turn.

    share_of(workload, options, Rank(1, 3))
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

from plimsoll.errors import InputError
from plimsoll.stored import Definition, Options

#: Seeds of hosts lie further apart than repeats of a run ever do.
SEED_STEP = 1_000_003
_GRAIN = 1000


@dataclass(frozen=True)
class Rank:
    """Host ``number`` of ``count``, from 0."""

    number: int
    count: int


def share_of(workload: Definition, options: Options, rank: Rank) -> tuple[Definition, Options]:
    """The workload and options of one host."""
    own: Any = {**workload}
    if "stream" in workload:
        own["stream"] = [_stream(dict(stream), rank) for stream in workload["stream"]]
    seed = options.get("seed")
    mine = options if seed is None else {**options, "seed": int(seed) + SEED_STEP * rank.number}
    return cast("Definition", own), mine


def rate_of(rate_per_s: float, rank: Rank) -> float:
    """One host's part of a rate; those of all hosts add up to it exactly."""
    whole = round(rate_per_s * _GRAIN)
    part = whole // rank.count + (1 if rank.number < whole % rank.count else 0)
    return part // _GRAIN if part % _GRAIN == 0 else part / _GRAIN


def users_of(users: int, rank: Rank) -> int:
    """One host's part of a group of users. Raises `InputError` where a host would have none."""
    if users < rank.count:
        raise InputError(
            f"users={users}: a group of {users} cannot be divided among {rank.count} hosts; ask for more users, or fewer hosts."
        )
    return users // rank.count + (1 if rank.number < users % rank.count else 0)


def target_of(text: str, host: str) -> str:
    """The target of one host."""
    return text.replace("{host}", host)


def _stream(stream: dict[str, Any], rank: Rank) -> dict[str, Any]:
    if isinstance(rate := stream.get("rate"), int | float):
        stream["rate"] = rate_of(rate, rank)
    if schedule := stream.get("schedule"):
        stream["schedule"] = [{**entry, "rate": rate_of(entry["rate"], rank)} for entry in schedule]
    if isinstance(users := stream.get("users"), int):
        stream["users"] = users_of(users, rank)
    return stream
