"""From the command line as typed to the list of points: names become definitions, settings are applied, everything is checked.

Model: done completely before anything is touched, so that a typing mistake in the twelfth workload costs nothing. Repeats are interleaved
(A B A B), so that a slow change of the host falls on all alike.

    points = planned(typed, engine)
    points[0].workload["name"], points[0].options["duration"]
"""

from __future__ import annotations

from dataclasses import dataclass

from plimsoll import catalog
from plimsoll.engine import Engine, Json
from plimsoll.errors import InputError
from plimsoll.scratch import DEFAULT_TARGET

#: Timing of shipped workloads, unless their file or the user says otherwise: twelve of them fit into three minutes.
CATALOG_TIMING = {"duration": "10s", "warmup": "2s"}


@dataclass(frozen=True)
class Typed:
    """What was typed."""

    workloads: tuple[str, ...]
    targets: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    options: tuple[tuple[str, str], ...] = ()
    repeat: int = 1


@dataclass(frozen=True)
class PlannedPoint:
    """One point to measure."""

    workload: Json
    options: Json
    target: str
    repeat: int


def planned(typed: Typed, engine: Engine) -> list[PlannedPoint]:
    """The points in the order they run: target by target, repeat by repeat."""
    sources = list(dict.fromkeys(source for asked in typed.workloads for source in catalog.sources(asked)))
    definitions = [planned_workload(source, typed, engine) for source in sources]
    targets = typed.targets or (DEFAULT_TARGET,)
    for target in targets:
        engine.inspect_target(target)
    return [
        PlannedPoint(workload, options, target, repeat)
        for target in targets
        for repeat in range(1, typed.repeat + 1)
        for workload, options in definitions
    ]


def planned_workload(source: str, typed: Typed, engine: Engine) -> tuple[Json, Json]:
    """The canonical workload and job options of one source, with all settings applied."""
    name = catalog.file_of(source)
    workload = engine.check_workload(catalog.load(source), name)
    options = engine.check_job({} if catalog.is_file(source) else CATALOG_TIMING)
    for key, value in (*typed.options, *(_setting(text) for text in typed.settings)):
        workload, options = engine.set_option(workload, options, key, value)
    return workload, options


def _setting(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals or not key.strip() or not value.strip():
        raise InputError(f"--set {text}: not a setting; write KEY=VALUE, for example --set queue_depth=32.")
    return key.strip(), value.strip()
