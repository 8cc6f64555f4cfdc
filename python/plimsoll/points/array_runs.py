"""What a modelled array gives under a load, for many settings of the array and many loads at once.

Model: a load is run on the array in virtual time by the engine's own loop: first until the caches hold what they hold in the long run, then
for a number of requests that count. Reads at uniform places of a range begin with the host's page cache as they leave it, full of blocks
from all over the range; sequential reads over more than all caches leave nothing behind that is met again; both then only need a quarter of
the requests to settle. All else fills the caches by itself: uniform requests over W bytes touch C of them after -W·ln(1 - C/W) bytes, and a
third more is waited for, at the rate that was measured. A process does one run at a time; which process does which makes no difference.

Limits: an array that is far slower than the rate that was measured counts before it has filled its caches by itself. Controllers' caches
begin empty where the host's is filled: behind a larger page cache, they answer next to nothing of a uniform load.

    with Modelling(processes=2) as modelling:
        modelling.rates([Trial("array:se6920-raid1", load), …])
"""

from __future__ import annotations

import math
import signal
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Any

from plimsoll.engine import Job, native
from plimsoll.errors import EngineError
from plimsoll.stored import Definition
from plimsoll.target import Target, target_of

Json = dict[str, Any]

#: Requests that count, unless asked for otherwise.
REQUESTS = 10_000
_FILL_MARGIN = 1.33
#: Requests that do not count yet, where caches begin full, as a part of those that do.
_SETTLING = 0.25
#: A cache that is as large as this part of the range is filled as if it were this large: the rest is hardly met.
_MOST_OF_RANGE = 0.95


@dataclass(frozen=True)
class Load:
    """What was asked for when a rate was measured."""

    workload: Definition
    iops: float
    #: Mean size of a request, and the bytes over which requests go.
    block_bytes: float
    range_bytes: float
    #: ``uniform`` or ``sequential`` where nothing but reads of one size is so; else ``other``.
    places: str = "other"


@dataclass(frozen=True)
class Trial:
    """A load on an array."""

    target: str
    load: Load
    requests: int = REQUESTS
    seed: int = 1


class Modelling:
    """Processes that work trials out."""

    def __init__(self, processes: int) -> None:
        self._pool = ProcessPoolExecutor(processes, get_context("spawn"), _deaf) if processes > 1 else None

    def rates(self, trials: Sequence[Trial]) -> list[float]:
        """Requests per second of each trial, in their order."""
        if self._pool is None:
            return [modelled_rate(trial) for trial in trials]
        try:
            return list(self._pool.map(modelled_rate, trials))
        except BrokenProcessPool:
            raise EngineError("a process of the fit was ended from outside; fit again, with --processes 1 if memory was short.") from None

    def __enter__(self) -> Modelling:
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool:
            self._pool.shutdown(cancel_futures=True)


def modelled_rate(trial: Trial) -> float:
    """Requests per second of one trial."""
    engine = native()
    load = trial.load
    seconds = trial.requests / load.iops
    target, settling = _begun(trial, seconds)
    asked = {"duration": f"{seconds:.6f}s", "warmup": f"{settling:.6f}s", "interval": f"{max(seconds, 0.001):.6f}s", "seed": trial.seed}
    done = 0
    measured_ns = 0

    def take(kind: str, event: Json) -> None:
        nonlocal done, measured_ns
        if kind == "interval" and event["phase"] == "measure":
            done += sum(cell["count"] for cell in event["cells"])
            measured_ns += event["end_ns"] - event["start_ns"]

    job: Job = {"workload": load.workload, "job": engine.check_job(asked), "target": target, "permission": None}
    engine.run_job(job, take, engine.control())
    return done * 1e9 / measured_ns if measured_ns else 0.0


def _begun(trial: Trial, seconds: float) -> tuple[Target, float]:
    """The target as it begins, and the seconds until requests count."""
    load, target = trial.load, target_of(trial.target)
    document = target.document or {}
    host = document.get("host", {})
    buffered = host.get("mode") == "buffered"
    page_bytes = host.get("page_bytes", 4096)
    if load.places == "uniform" and buffered and load.block_bytes % page_bytes == 0:
        warm = f"host.page_cache.warm_range_bytes={load.range_bytes:.0f}&host.page_cache.warm_block_bytes={load.block_bytes:.0f}"
        return target_of(f"{trial.target}{'&' if '?' in trial.target else '?'}{warm}"), seconds * _SETTLING
    cached = _cache_bytes(document)
    if load.places == "sequential" and load.range_bytes > cached:
        return target, seconds * _SETTLING
    return target, fill_bytes(cached, load.range_bytes) / (load.iops * load.block_bytes)


def fill_bytes(cache_bytes: float, range_bytes: float) -> float:
    """Bytes to ask for before caches of this size hold what they hold in the long run."""
    share = min(cache_bytes / range_bytes, _MOST_OF_RANGE)
    return -_FILL_MARGIN * range_bytes * math.log(1 - share)


def _cache_bytes(document: Json) -> float:
    """All that the host and the controllers of an array can keep."""
    host = document.get("host", {})
    pages = host.get("page_cache") if host.get("mode") == "buffered" else None
    caches = [controller.get("cache") for controller in document.get("controller", [])]
    return float(sum(cache["size_bytes"] for cache in (pages, *caches) if cache))


def _deaf() -> None:
    # An interrupt is for the process that was asked; it ends the others.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
