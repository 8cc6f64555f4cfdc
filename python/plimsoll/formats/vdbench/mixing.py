"""Several WDs at iorate=max with skews: one stream that draws every request by skew.

Model: without a rate, separate streams would be served as fast as each can, and their ratio would follow from the storage. Vdbench holds
the ratio. A stream with an access list holds it, too: one line for each WD, weighted by skew.
Limits: only for WDs that differ in nothing but mix and size, and whose requests are all random, since the lines of an access list
share one sequential pointer. The results of such WDs are not apart.

    mixed(streams, {"wd1": 75, "wd2": 25})        # one stream, or None where that is not possible
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Json = dict[str, Any]

#: What a line of an access list says in place of its stream.
_OF_A_LINE = ("read_percent", "block_size", "random_percent", "align")
_OF_A_STREAM = ("name", "threads")


def mixed(streams: Sequence[Json], weights: Mapping[str, float]) -> Json | None:
    """The stream that draws from all of them, on the target they have in common."""
    if len(streams) < 2 or any(not _is_a_line(stream) for stream in streams):
        return None
    rests = [{key: value for key, value in stream.items() if key not in (*_OF_A_LINE, *_OF_A_STREAM)} for stream in streams]
    if any(rest != rests[0] for rest in rests):
        return None
    lines = [_line(stream, weights[stream["name"]]) for stream in streams]
    name = "-".join(stream["name"] for stream in streams)
    return {"name": name, "access": lines, **rests[0], "threads": sum(stream["threads"] for stream in streams)}


def _is_a_line(stream: Json) -> bool:
    fixed = isinstance(stream["block_size"], int) or (isinstance(stream["block_size"], str) and "-" not in stream["block_size"])
    return fixed and stream["random_percent"] == 100


def _line(stream: Json, weight: float) -> Json:
    line: Json = {"weight": weight, "size": stream["block_size"], "read_percent": stream["read_percent"]}
    if "align" in stream:
        line["align"] = stream["align"]
    return line
