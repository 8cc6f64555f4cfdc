"""A point that can be measured, and what it is made of: definitions in canonical form, settings applied, a seed for each repeat.

Model: done completely before anything is touched, so that a typing mistake in the twelfth workload costs nothing. The n-th repeat has the
job's seed plus n − 1, so that repeats are independent draws of the same load.

    workload, options = changed(*defined("oltp-db", engine), engine, [setting("queue_depth=32")])
    point = PlannedPoint(workload, repeated(options, 2), Target("/dev/sdb"), repeat=2)
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field, replace
from typing import Any

from plimsoll import catalog
from plimsoll.displayed import quoted
from plimsoll.engine.protocol import Engine
from plimsoll.errors import InputError
from plimsoll.points.drivers import checked, checked_workload, driver_of
from plimsoll.records import dataclass
from plimsoll.stored import Coordinates, Definition, Json, Options
from plimsoll.target import Target

#: Timing of shipped workloads, unless their file or the user says otherwise: twelve of them fit into three minutes.
CATALOG_TIMING = {"duration": "10s", "warmup": "2s"}


@dataclass(frozen=True)
class PlannedPoint:
    """One point to measure; ``workload`` and ``options`` are canonical.

    ``place`` says where it stands in its experiment. ``cache`` is what the caches shall hold, ``precision`` how narrow the interval of a
    metric shall become, ``amount`` the multiple of the target's size to transfer. ``refusal`` is why there is nothing to measure.
    ``chosen`` names the options of the job that somebody chose, which nothing else may change. A point with a precision is measured for
    ``least_s`` at least; ``decides_itself`` says that nobody asked for the precision, so that missing it is no fault.
    ``left`` is how many points follow at most.
    """

    workload: Definition
    options: Options
    target: Target
    repeat: int = 1
    place: Coordinates = field(default_factory=Coordinates)
    cache: str | None = None
    precision: str | None = None
    least_s: float = 0.0
    decides_itself: bool = False
    amount: float | None = None
    refusal: str | None = None
    chosen: frozenset[str] = frozenset()
    left: int | None = None


def defined(source: str, engine: Engine) -> tuple[Definition, Options]:
    """The canonical workload and job options of one source, as they stand in it."""
    workload = checked_workload(source, engine)
    driver = driver_of(workload, engine)
    return workload, driver.check_job(getattr(driver, "timing", {} if catalog.is_file(source) else CATALOG_TIMING))


def own_defined(name: str, document: Json, engine: Engine) -> tuple[Definition, Options]:
    """The same for a workload that a file of experiments defines itself."""
    workload = checked(document, f"workload {quoted(name)}", engine)
    driver = driver_of(workload, engine)
    return workload, driver.check_job(getattr(driver, "timing", {}))


def changed(workload: Definition, options: Options, engine: Engine, settings: Iterable[tuple[str, Any]]) -> tuple[Definition, Options]:
    """Workload and options with settings applied in order."""
    driver = driver_of(workload, engine)
    for key, value in settings:
        if key == "hosts" and not hasattr(driver, "hosts_of"):
            raise InputError(f"hosts={value}: this host measures alone; name several with --hosts, for example --hosts local:3.")
        workload, options = driver.set_option(workload, options, key, value)
    return workload, options


def repeated(options: Options, repeat: int) -> Options:
    """The options of the ``repeat``-th time: another seed, the same load."""
    return {**options, "seed": options["seed"] + repeat - 1} if repeat > 1 and "seed" in options else options


def warmed(point: PlannedPoint) -> PlannedPoint:
    """For a warm cache the warm-up is at least as long as the measurement."""
    if point.cache != "warm":
        return point
    options = point.options
    return replace(point, options={**options, "warmup": max(options["warmup"], options["duration"])})


def setting(text: str) -> tuple[str, str]:
    """What ``--set`` says."""
    key, equals, value = text.partition("=")
    if not equals or not key.strip() or not value.strip():
        raise InputError(f"--set {text}: not a setting; write KEY=VALUE, for example --set queue_depth=32.")
    return key.strip(), value.strip()
