"""Options that have no effect on modelled arrays: refused where they were typed, told where a file sets them.

Model: an array has no scratch file whose size could be chosen or that could be kept, and no page cache of this machine that could be
dropped; its own host decides whether requests pass a page cache by. What was typed is refused when no target of the command takes it.
Beside a target that does, and where a suite, an experiment or a workload sets it for real storage, the points are run and a line says so.
Limits: ``queue:`` and ``null:`` are not looked at. Levels typed with ``--over`` count as set by a file.

    check_effect(typed, ["array:nvme"], [workload])        # InputError: --keep has no effect on array:nvme: …
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any

import click

from plimsoll.analysis.definition import is_direct, streams
from plimsoll.engine import Json
from plimsoll.errors import InputError

_SIZE = "its volumes have the size that the array's file gives them (volumes.size_bytes); --set region_length={size} loads a part of them"
_CACHE = "a modelled array begins every point with empty caches, but for what its file says of host.page_cache.warm_range_bytes"
_KEEP = "nothing of a modelled array is kept, it begins anew with every point"


def check_effect(
    typed: Mapping[str, Any], targets: Iterable[str], workloads: Iterable[Json], written: Mapping[str, Any] | None = None
) -> None:
    """Raise `InputError` for the first typed option that none of ``targets`` takes, and tell of others on stderr.

    ``typed`` has the options by their names, ``settings`` as they were typed; ``written`` has ``size`` and ``cache`` where a file sets
    them.
    """
    targets = list(dict.fromkeys(targets))
    arrays = [target for target in targets if target.strip().startswith("array:")]
    if not arrays:
        return
    hosts = {target: _host(target) for target in arrays}
    forms = list(workloads)
    asked = dict(_typed(typed, forms))
    for option, why_on in asked.items():
        without = [(target, why) for target in arrays if (why := why_on(target, hosts[target]))]
        if len(without) == len(targets):
            raise InputError(f"{option} has no effect on {without[0][0]}: {without[0][1]}; leave it out.")
        _tell(option, without)
    for option, why_on in _written(written or {}, forms, asked):
        _tell(option, [(target, why) for target in arrays if (why := why_on(target, hosts[target]))])


#: Why an option has no effect on a target with this host; empty where it agrees with the host.
Why = Callable[[str, Json], str]


def _host(target: str) -> Json:
    from plimsoll.catalog.arrays import described

    host: Json = described(target).get("host", {})
    return host


def _tell(option: str, without: Collection[tuple[str, str]]) -> None:
    if without:
        names = ", ".join(target for target, _ in without)
        click.echo(f"{option} has no effect on {names}: {next(iter(without))[1]}.", err=True)


def _typed(typed: Mapping[str, Any], workloads: Collection[Json]) -> Iterator[tuple[str, Why]]:
    if typed.get("size") is not None:
        yield f"--size {typed['size']}", _always(_SIZE.format(size=typed["size"]))
    if typed.get("cache") == "cold":
        yield "--cache cold", _always(_CACHE)
    if typed.get("keep"):
        yield "--keep", _always(_KEEP)
    for text in typed.get("settings", ()):
        stream, _, key = text.partition("=")[0].strip().rpartition(".")
        if key == "size":
            yield f"--set {text}", _always(_SIZE.format(size=text.partition("=")[2]))
        elif key == "direct":
            yield f"--set {text}", _contradicted(workloads, stream)


def _written(written: Mapping[str, Any], workloads: Collection[Json], asked: Collection[str]) -> Iterator[tuple[str, Why]]:
    typed = " ".join(asked)
    if written.get("size") is not None and "size" not in typed:
        yield f"size={written['size']}", _always(_SIZE.format(size=written["size"]))
    if written.get("cache") == "cold" and "cache" not in typed:
        yield 'cache="cold"', _always(_CACHE)
    if "direct" not in typed:
        # Direct streams on a host with a page cache are what workloads are unless they say otherwise.
        buffered = [workload for workload in workloads if not all(map(is_direct, streams(workload)))]
        yield "direct=false", lambda target, host: "" if _is_buffered(host) else _contradicted(buffered, "")(target, host)


def _always(why: str) -> Why:
    return lambda _target, _host: why


def _contradicted(workloads: Collection[Json], named: str) -> Why:
    """For streams, or those called ``named``, that would go another way through the host than it goes."""
    ways = {is_direct(stream) for workload in workloads for stream in streams(workload) if named in ("", stream.get("name"))}

    def why(target: str, host: Json) -> str:
        buffered = _is_buffered(host)
        if buffered not in ways:
            return ""
        other = f"{target}{'&' if '?' in target else '?'}host.mode={'direct' if buffered else 'buffered'}"
        if buffered or "page_cache" in host:
            return f"the array's host.mode decides that, as in '{other}'"
        return "its host has no page cache; host.mode and host.page_cache in the array's file decide that"

    return why


def _is_buffered(host: Json) -> bool:
    return bool(host.get("mode") == "buffered")
