"""What fio's "job options" say of a stream, in our words, as far as a result needs them: mix, sizes, concurrency, pace.

Model: the words are as typed, so sizes are read with fio's suffixes (1024 per step) and options that are absent have fio's defaults. What
cannot be read here is left out: a result that is read in is described, not run again.

    known_options({"rw": "randrw", "rwmixread": "70", "bs": "8k"})      # {"read_percent": 70, "random_percent": 100, "block_size": 8192, …}
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Json = dict[str, Any]

_STEPS = {"k": 10, "m": 20, "g": 30, "t": 40}


def known_options(options: Mapping[str, str]) -> Json:
    """Our options of the stream."""
    word = options.get("rw") or options.get("readwrite") or "read"
    known: Json = {**_mix(word.partition(":")[0], options), "random_percent": 100 if word.startswith("rand") else 0}
    sizes = _bytes(options.get("bs") or options.get("blocksize") or "4k")
    if sizes is not None and "bssplit" not in options and "bsrange" not in options:
        known["block_size"] = sizes
    if "percentage_random" in options:
        known["random_percent"] = _integer(options["percentage_random"], 100)
    known["threads"] = _integer(options.get("numjobs", "1"), 1)
    known["queue_depth"] = _integer(options.get("iodepth", "1"), 1)
    known["direct"] = options.get("direct", "0") == "1"
    rate = _integer(options.get("rate_iops", "").split(",")[0], 0)
    if rate:
        known |= {"arrival": "poisson" if options.get("rate_process") == "poisson" else "constant", "rate": rate * known["threads"]}
    return known


def _mix(word: str, options: Mapping[str, str]) -> Json:
    word = word.removeprefix("rand")
    if word in ("rw", "readwrite"):
        writes = _integer(options["rwmixwrite"], 50) if "rwmixwrite" in options else 100 - _integer(options.get("rwmixread", "50"), 50)
        return {"read_percent": 100 - writes}
    return {
        "write": {"read_percent": 0},
        "trim": {"read_percent": 0, "write_percent": 0, "trim_percent": 100},
        "trimwrite": {"read_percent": 0, "write_percent": 50, "trim_percent": 50},
    }.get(word, {"read_percent": 100})


def _integer(text: str, default: int) -> int:
    return int(text) if text.isdecimal() and len(text) < 16 else default


def _bytes(text: str) -> int | None:
    """A plain size; None for lists and ranges."""
    lowered = text.lower().removesuffix("b")
    step = _STEPS.get(lowered[-1:], 0)
    digits = lowered[:-1] if step else lowered
    return int(digits) << step if digits.isdecimal() and len(digits) < 16 else None
