"""Why an option has no effect on a target that is no storage of this machine.

Model: such a target is a modelled array, a queueing model (``queue:``) or nothing at all (``null:``). None has a scratch file whose size
could be chosen or that could be kept, a page cache of this machine that could be dropped, or a device that could be polled; an array's own
host decides whether requests pass a page cache by, and only what runs in real time has threads of this machine to choose.
Limits: that ``null:`` prepares what it writes is a cost of ours, so options of the content have an effect there.

    reason(Option("--size 8GiB", "size", "8GiB"), Stand("null:", "null"))        # "its size is part of its name, as in …"
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from plimsoll.engine import Json

#: Targets that are no storage of this machine, by the word before the colon.
KINDS = ("array", "queue", "null")


@dataclass(frozen=True)
class Option:
    """An option as it was said, with its key and value; ``ways`` has, for ``direct``, how its streams go past the page cache now."""

    said: str
    key: str
    value: str
    ways: frozenset[bool] = frozenset()


@dataclass(frozen=True)
class Stand:
    """A target of one of `KINDS`; ``host`` is that of an array."""

    target: str
    kind: str
    host: Json = field(default_factory=dict)


def reason(option: Option, stand: Stand) -> str:
    """Why ``option`` has no effect there; empty where it has one, or asks for what is so anyway."""
    why = _REASONS.get(option.key)
    return why(option, stand) if why else ""


def _size(option: Option, stand: Stand) -> str:
    if stand.kind == "array":
        return (
            "its volumes have the size that the array's file gives them (volumes.size_bytes); "
            f"--set region_length={option.value} loads a part of them"
        )
    return f"its size is part of its name, as in '{stand.kind}:?size={option.value}'"


def _cache(option: Option, stand: Stand) -> str:
    if stand.kind == "array":
        empty = "a modelled array begins every point with empty caches, but for what its file says of host.page_cache.warm_range_bytes"
        return empty if option.value == "cold" else ""
    longer = "; --warmup says how long the load runs before it is measured" if option.value == "warm" else ""
    return f"it has no cache{longer}" if option.value != "as found" else ""


def _keep(_option: Option, stand: Stand) -> str:
    what = "a modelled array" if stand.kind == "array" else "it"
    return f"nothing of {what} is kept, it begins anew with every point"


def _direct(option: Option, stand: Stand) -> str:
    """For streams that would go another way through the host than it goes."""
    if stand.kind != "array":
        return "it has no page cache" if False in option.ways else ""
    target, buffered = stand.target, stand.host.get("mode") == "buffered"
    if buffered not in option.ways:
        return ""
    other = f"{target}{'&' if '?' in target else '?'}host.mode={'direct' if buffered else 'buffered'}"
    if buffered or "page_cache" in stand.host:
        return f"the array's host.mode decides that, as in '{other}'"
    return "its host has no page cache; host.mode and host.page_cache in the array's file decide that"


def _dsync(option: Option, _stand: Stand) -> str:
    return "its writes complete alike with and without O_DSYNC" if option.value == "true" else ""


def _polled(option: Option, _stand: Stand) -> str:
    return "it is no device that could be polled" if option.value == "true" else ""


def _workers(option: Option, stand: Stand) -> str:
    # 0 leaves the number to the engine, which takes one.
    return "it runs in virtual time, in one thread" if stand.kind != "null" and option.value not in ("0", "1") else ""


def _content(option: Option, stand: Stand) -> str:
    # Stamps are looked at when they are read back; an array refuses them.
    return "what is written does not change how it answers" if stand.kind != "null" and option.value != "stamps" else ""


_REASONS: dict[str, Callable[[Option, Stand], str]] = {
    "size": _size,
    "cache": _cache,
    "keep": _keep,
    "direct": _direct,
    "dsync": _dsync,
    "polled": _polled,
    "workers": _workers,
    "content": _content,
    "pattern": _content,
    "compress_ratio": _content,
    "duplicate_ratio": _content,
}
