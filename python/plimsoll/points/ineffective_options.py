"""Options that have no effect on targets that are no storage of this machine: refused where they were typed, told where a file sets them.

Model: such a target is a modelled array, a queueing model (``queue:``) or nothing at all (``null:``). None has a scratch file whose size
could be chosen or that could be kept, a page cache of this machine that could be dropped, or a device that could be polled; an array's own
host decides whether requests pass a page cache by, and only what runs in real time has threads and memory of this machine to choose. What
was typed is refused when no target of the command takes it. Beside a target that does, and where a suite, an experiment or a workload sets
it for real storage, the points are run and a line says so.
Limits: levels typed with ``--over`` count as set by a file, and of what files set only ``size``, ``cache`` and ``direct`` are looked at.
``--destroy-data`` permits and asks for nothing, so every target takes it. That ``null:`` prepares what it writes is a cost of ours, so
options of the content have an effect there.

    check_effect(typed, [target_of("array:nvme")], [workload], {}, print)        # InputError: --keep has no effect on array:nvme: …
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import field
from typing import Any

from plimsoll.analysis.point.definition import is_direct, streams
from plimsoll.errors import InputError
from plimsoll.points.arguments import Arguments
from plimsoll.points.listener import Remark
from plimsoll.records import dataclass
from plimsoll.stored import Definition, Json
from plimsoll.target import Target

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


def check_effect(
    typed: Arguments, targets: Iterable[Target], workloads: Iterable[Definition], written: Mapping[str, Any], remark: Remark
) -> None:
    """Raise `InputError` for the first typed option that none of ``targets`` takes, and tell ``remark`` of others.

    ``written`` has ``size`` and ``cache`` where a file sets
    them.
    """
    targets = list({target.text: target for target in targets}.values())
    stands = [Stand(one.text, one.kind, (one.document or {}).get("host", {})) for one in targets if one.kind in KINDS]
    if not stands:
        return
    forms = list(workloads)
    asked = list(_typed(typed, forms))
    for option in asked:
        without = _without(option, stands)
        if len(without) == len(targets):
            raise InputError(f"{option.said} has no effect on {_named(without[0][0])}: {without[0][1]}; leave it out.")
        _tell(remark, option, without)
    for option in _written(written, forms, {option.key for option in asked}):
        _tell(remark, option, _without(option, stands))


def _without(option: Option, stands: Iterable[Stand]) -> list[tuple[str, str]]:
    """The targets that do not take the option, each with the reason."""
    return [(stand.target, why) for stand in stands if (why := _reason(option, stand))]


def _tell(remark: Remark, option: Option, without: Iterable[tuple[str, str]]) -> None:
    """A remark for each reason."""
    alike: dict[str, list[str]] = {}
    for target, why in without:
        alike.setdefault(why, []).append(_named(target))
    for why, names in alike.items():
        remark(f"{option.said} has no effect on {', '.join(names)}: {why}.")


def _named(target: str) -> str:
    """A target in front of a colon."""
    return f"'{target}'" if target.endswith(":") else target


def _typed(typed: Arguments, workloads: Collection[Definition]) -> Iterator[Option]:
    if typed.size is not None:
        yield Option(f"--size {typed.size}", "size", typed.size)
    if typed.cache is not None:
        yield Option(f"--cache {typed.cache}", "cache", typed.cache)
    if typed.keep:
        yield Option("--keep", "keep", "true")
    for text in typed.settings:
        name, _, value = text.partition("=")
        stream, _, key = name.strip().rpartition(".")
        yield Option(f"--set {text}", key, value.strip(), frozenset(_ways(workloads, stream)))


def _written(written: Mapping[str, Any], workloads: Collection[Definition], asked: Collection[str]) -> Iterator[Option]:
    if written.get("size") is not None and "size" not in asked:
        yield Option(f"size={written['size']}", "size", str(written["size"]))
    if written.get("cache") is not None and "cache" not in asked:
        yield Option(f'cache="{written["cache"]}"', "cache", written["cache"])
    if "direct" not in asked and False in _ways(workloads, ""):
        # Direct streams on a host with a page cache are what workloads are unless they say otherwise.
        yield Option("direct=false", "direct", "false", frozenset((False,)))


def _ways(workloads: Collection[Definition], named: str) -> set[bool]:
    """Whether streams, or those called ``named``, bypass the page cache."""
    return {is_direct(stream) for workload in workloads for stream in streams(workload) if named in ("", stream.get("name"))}


def _reason(option: Option, stand: Stand) -> str:
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
        said = "but for what its file says of host.page_cache.warm_range_bytes and of flash caches"
        empty = f"a modelled array begins every point with empty caches, {said}"
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


def _memory(option: Option, stand: Stand) -> str:
    # What is written to null: is prepared in memory.
    return "it moves no data" if stand.kind != "null" and option.value == "pages" else ""


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
    "memory": _memory,
    "workers": _workers,
    "content": _content,
    "pattern": _content,
    "compress_ratio": _content,
    "duplicate_ratio": _content,
}
