"""What a modelled array gives under a load, for many settings of the array and many loads at once.

Model: a load is run on the array in virtual time by the engine's own loop: first until the caches hold what they hold in the long run, then
for a number of requests that count. Reads at uniform places of a range begin with the host's page cache as they leave it, full of blocks
from all over the range; sequential reads over more than all caches leave nothing behind that is met again; without a cache nothing is
filled: these three only need a quarter of the requests to settle. All else fills the caches by itself: uniform requests over W bytes touch
C of them after -W·ln(1 - C/W) bytes, and a third more is waited for, at the rate that was measured. A process does one run at a time; which
process does which makes no difference.

What is asked for is the rate, or responses: of all requests, of reads or writes, or of the parts of a trace, which is replayed at the
instants at which it was recorded.

Limits: an array that is far slower than the rate that was measured counts before it has filled its caches by itself. Controllers' caches
begin empty where the host's is filled: behind a larger page cache, they answer next to nothing of a uniform load.

    with Modelling(processes=2) as modelling:
        modelling.figures([Trial("array:se6920-raid1", load), …])        # [{"iops": 3350.0}, …]
"""

from __future__ import annotations

import math
import signal
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict, dataclass
from multiprocessing import get_context

from plimsoll.analysis.array_fit.figure import QUANTILES, RATE, demerit, is_latency, of_part, op_of, percent_of
from plimsoll.engine.block import native
from plimsoll.engine.protocol import Job
from plimsoll.errors import EngineError
from plimsoll.histogram import Histogram, decoded
from plimsoll.points.host_work import HostWork
from plimsoll.stored import Definition, Json
from plimsoll.target import Target, target_of

#: Requests that count, unless asked for otherwise.
REQUESTS = 10_000
_FILL_MARGIN = 1.33
#: Of requests that are due at instants, the rarer kind has at least this part of those that count.
_RAREST = 0.05
#: A trace may take that much longer than it took.
_LONGEST = 2.0
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
    #: Rate of the rarer kind, if there are several streams with rates.
    rarest_per_s: float | None = None
    #: Of a trace how long each part is; no rate counts.
    part_ns: int | None = None


@dataclass(frozen=True)
class Trial:
    """A load on an array."""

    target: str
    load: Load
    requests: int = REQUESTS
    seed: int = 1
    #: What is asked for.
    wanted: tuple[str, ...] = (RATE,)
    #: Of parts of a trace what was measured, as quantiles.
    measured: tuple[tuple[float, ...], ...] = ()


class Modelling:
    """Processes that work trials out."""

    def __init__(self, processes: int) -> None:
        self._pool = ProcessPoolExecutor(processes, get_context("spawn"), _deaf) if processes > 1 else None

    def figures(self, trials: Sequence[Trial]) -> list[dict[str, float]]:
        """What is asked for of each trial, in their order."""
        if self._pool is None:
            return [modelled(trial) for trial in trials]
        try:
            return list(self._pool.map(modelled, trials))
        except BrokenProcessPool:
            raise EngineError("a process of the fit was ended from outside; fit again, with --processes 1 if memory was short.") from None

    def __enter__(self) -> Modelling:
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool:
            self._pool.shutdown(cancel_futures=True)


class HostModelling:
    """Hosts that work trials out; what an array is called is known here, so they are told what it is."""

    def __init__(self, work: HostWork) -> None:
        self._work = work

    def figures(self, trials: Sequence[Trial]) -> list[dict[str, float]]:
        """What is asked for of each trial, in their order."""
        found = dict(self._work.done([_words(trial) for trial in trials]))
        return [found[place] for place in range(len(trials))]


def modelled(trial: Trial) -> dict[str, float]:
    """What is asked for of one trial; a response that no request had is endless."""
    return _figures(trial, *_laid(trial))


def _words(trial: Trial) -> Json:
    """What a host is asked."""
    target, times = _laid(trial)
    return {"ask": "trial", "trial": asdict(trial), "target": target.text, "document": target.document, "times": times}


def modelled_of(words: Json) -> dict[str, float]:
    """What a host answers."""
    said = words["trial"]
    measured = tuple(tuple(one) for one in said["measured"])
    trial = Trial(**{**said, "load": Load(**said["load"]), "wanted": tuple(said["wanted"]), "measured": measured})
    return _figures(trial, Target(words["target"], words["document"]), words["times"])


def _laid(trial: Trial) -> tuple[Target, dict[str, float]]:
    """The array as a trial begins, and its times in seconds."""
    load = trial.load
    if load.part_ns is not None:
        duration_s = load.part_ns / 1e9 * len(trial.measured) * _LONGEST
        return target_of(trial.target), {"duration": duration_s, "warmup": 0.0, "interval": load.part_ns / 1e9}
    seconds = trial.requests / load.iops
    if load.rarest_per_s is not None:
        seconds = max(seconds, trial.requests * _RAREST / load.rarest_per_s)
    target, settling = _begun(trial, seconds)
    return target, {"duration": seconds, "warmup": settling, "interval": max(seconds, 0.001)}


def _figures(trial: Trial, target: Target, times: Mapping[str, float]) -> dict[str, float]:
    return (_parts if trial.load.part_ns is not None else _run)(trial, target, times)


def _run(trial: Trial, target: Target, times: Mapping[str, float]) -> dict[str, float]:
    responses = {figure: Histogram() for figure in trial.wanted if is_latency(figure)}
    done = 0
    measured_ns = 0

    def take(kind: str, event: Json) -> None:
        nonlocal done, measured_ns
        if kind == "interval" and event["phase"] == "measure":
            done += sum(cell["count"] for cell in event["cells"])
            measured_ns += event["end_ns"] - event["start_ns"]
            for figure, histogram in responses.items():
                _add(histogram, event["cells"], op_of(figure))

    _carry_out(trial, target, times, take)
    found = {RATE: done * 1e9 / measured_ns if measured_ns else 0.0}
    return found | {figure: _of(histogram, percent_of(figure)) for figure, histogram in responses.items()}


def _parts(trial: Trial, target: Target, times: Mapping[str, float]) -> dict[str, float]:
    """The demerits of the parts of a trace; what ends after the last of them counts to it."""
    part_ns = trial.load.part_ns or 1
    last = len(trial.measured) - 1
    responses = [Histogram() for _ in trial.measured]

    def take(kind: str, event: Json) -> None:
        if kind == "interval":
            _add(responses[min(last, event["start_ns"] // part_ns)], event["cells"], None)

    _carry_out(trial, target, times, take)
    said = [tuple(_of(one, 100 * (number + 0.5) / QUANTILES) for number in range(QUANTILES)) for one in responses]
    return {of_part(part + 1): demerit(trial.measured[part], said[part]) for part in range(len(said))}


def _carry_out(trial: Trial, target: Target, times: Mapping[str, float], take: Callable[[str, Json], None]) -> None:
    engine = native()
    asked = {**{key: f"{seconds:.9f}s" for key, seconds in times.items()}, "seed": trial.seed}
    job: Job = {"workload": trial.load.workload, "job": engine.check_job(asked), "target": target, "permission": None}
    engine.run_job(job, take, engine.control())


def _add(histogram: Histogram, cells: Sequence[Json], op: str | None) -> None:
    for cell in cells:
        if cell.get("latency") and cell.get("part") is None and op in (None, cell["op"]):
            histogram.add(decoded(cell["latency"]))


def _of(histogram: Histogram, percent: float | None) -> float:
    if not histogram.count:
        return math.inf
    return histogram.mean if percent is None else float(histogram.percentile(percent))


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
    if not cached or (load.places == "sequential" and load.range_bytes > cached):
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
