"""Options that have no effect on targets that are no storage of this machine: refused where they were typed, told where a file sets them.

Model: `vain_option` says why a modelled array, a queueing model or ``null:`` does not take an option. What was typed is refused when no
target of the command takes it. Beside a target that does, and where a suite, an experiment or a workload sets it for real storage, the
points are run and a line says so.
Limits: levels typed with ``--over`` count as set by a file, and of what files set only ``size``, ``cache`` and ``direct`` are looked at.
``--destroy-data`` permits and asks for nothing, so every target takes it.

    check_effect(typed, ["array:nvme"], [workload])        # InputError: --keep has no effect on array:nvme: …
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

import click

from plimsoll.analysis.definition import is_direct, streams
from plimsoll.cli.conduct.vain_option import KINDS, Option, Stand, reason
from plimsoll.engine import Json
from plimsoll.errors import InputError


def check_effect(
    typed: Mapping[str, Any], targets: Iterable[str], workloads: Iterable[Json], written: Mapping[str, Any] | None = None
) -> None:
    """Raise `InputError` for the first typed option that none of ``targets`` takes, and tell of others on stderr.

    ``typed`` has the options by their names, ``settings`` as they were typed; ``written`` has ``size`` and ``cache`` where a file sets
    them.
    """
    targets = list(dict.fromkeys(targets))
    stands = [_stand(target) for target in targets if _kind(target) in KINDS]
    if not stands:
        return
    forms = list(workloads)
    asked = list(_typed(typed, forms))
    for option in asked:
        without = _without(option, stands)
        if len(without) == len(targets):
            raise InputError(f"{option.said} has no effect on {_named(without[0][0])}: {without[0][1]}; leave it out.")
        _tell(option, without)
    for option in _written(written or {}, forms, {option.key for option in asked}):
        _tell(option, _without(option, stands))


def _kind(target: str) -> str:
    return target.strip().partition(":")[0]


def _stand(target: str) -> Stand:
    if _kind(target) != "array":
        return Stand(target, _kind(target))
    from plimsoll.catalog.arrays import described

    return Stand(target, "array", described(target).get("host", {}))


def _without(option: Option, stands: Iterable[Stand]) -> list[tuple[str, str]]:
    """The targets that do not take the option, each with the reason."""
    return [(stand.target, why) for stand in stands if (why := reason(option, stand))]


def _tell(option: Option, without: Iterable[tuple[str, str]]) -> None:
    """A line for each reason."""
    alike: dict[str, list[str]] = {}
    for target, why in without:
        alike.setdefault(why, []).append(_named(target))
    for why, names in alike.items():
        click.echo(f"{option.said} has no effect on {', '.join(names)}: {why}.", err=True)


def _named(target: str) -> str:
    """A target in front of a colon."""
    return f"'{target}'" if target.endswith(":") else target


def _typed(typed: Mapping[str, Any], workloads: Collection[Json]) -> Iterator[Option]:
    if typed.get("size") is not None:
        yield Option(f"--size {typed['size']}", "size", typed["size"])
    if typed.get("cache") is not None:
        yield Option(f"--cache {typed['cache']}", "cache", typed["cache"])
    if typed.get("keep"):
        yield Option("--keep", "keep", "true")
    for text in typed.get("settings", ()):
        name, _, value = text.partition("=")
        stream, _, key = name.strip().rpartition(".")
        yield Option(f"--set {text}", key, value.strip(), frozenset(_ways(workloads, stream)))


def _written(written: Mapping[str, Any], workloads: Collection[Json], asked: Collection[str]) -> Iterator[Option]:
    if written.get("size") is not None and "size" not in asked:
        yield Option(f"size={written['size']}", "size", str(written["size"]))
    if written.get("cache") is not None and "cache" not in asked:
        yield Option(f'cache="{written["cache"]}"', "cache", written["cache"])
    if "direct" not in asked and False in _ways(workloads, ""):
        # Direct streams on a host with a page cache are what workloads are unless they say otherwise.
        yield Option("direct=false", "direct", "false", frozenset((False,)))


def _ways(workloads: Collection[Json], named: str) -> set[bool]:
    """Whether streams, or those called ``named``, pass the page cache by."""
    return {is_direct(stream) for workload in workloads for stream in streams(workload) if named in ("", stream.get("name"))}
