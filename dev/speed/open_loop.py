"""Goals for the open loop: the asked rate is kept, a stop of the process shows in the percentiles, and it costs little.

Model of the stop: of the arrivals of a run of T seconds, those of the s seconds in which the process is stopped wait
between s and 0, evenly; so p99 is the wait that 1 % of all arrivals exceed, s − T/100. The backlog's own service is
neglected: it takes milliseconds.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from statistics import median

from speed.fio import Fio, on_file
from speed.load import Load
from speed.process import Child
from speed.row import Row
from speed.setting import Setting

RATES = (20_000, 70_000, 300_000)
DEPTH = 1024
STALL_S = 0.2
#: Enough that chance moves the rate of one run by no more than half a percent.
ARRIVALS_MIN = 40_000

Stalled = tuple[Load, float]


def rows(setting: Setting) -> list[Row]:
    """All goals of this group."""
    return [row for rate in RATES for row in _at(setting, rate)] + [_stop(setting)]


def _at(setting: Setting, rate: int) -> list[Row]:
    what = f"Poisson, {rate // 1000} k/s"
    seconds = max(setting.seconds, ARRIVALS_MIN / rate)
    contestants: dict[str, Callable[[int], Load]] = {"plimsoll": lambda number: _plimsoll(setting, rate, seconds, number)}
    fio = setting.fio
    if fio is not None:
        contestants["fio"] = lambda _: fio.run(seconds=seconds, **_fio_job(setting, rate))
    loads = setting.interleaved(what, contestants)
    found = [_rate(what, rate, loads)]
    return [*found, _cost(what, loads)] if rate == RATES[0] else found


def _plimsoll(setting: Setting, rate: int, seconds: float, seed: int) -> Load:
    # Another seed each time, because equal seeds repeat one draw of arrivals.
    return setting.plimsoll.run(setting.holes[0], seconds=seconds, seed=seed, **_job(rate))


def _job(rate: int) -> dict[str, object]:
    return {"arrival": "poisson", "rate": rate, "queue_depth": DEPTH}


def _fio_job(setting: Setting, rate: int) -> dict[str, object]:
    pace = {"rate_iops": rate, "rate_process": "poisson", "randrepeat": 0}
    return {**on_file(setting.holes[0], depth=DEPTH), **pace}


def _rate(what: str, rate: int, loads: dict[str, list[Load]]) -> Row:
    errors = {name: [load.rate_per_s / rate - 1 for load in found] for name, found in loads.items()}
    chance = 1 / math.sqrt(rate * loads["plimsoll"][0].seconds)
    beside = f", fio {_spread(errors['fio'])}" if "fio" in errors else ""
    detail = f"Plimsoll {_spread(errors['plimsoll'])}{beside}; chance alone ±{chance:.2%} in a run"
    return Row(what, "at most", 1.0, "% rate error", abs(median(errors["plimsoll"])) * 100, detail)


def _spread(errors: list[float]) -> str:
    # A machine busy with other things keeps any generator from running: that shows in the range.
    return f"{median(errors):+.2%} ({min(errors):+.2%} to {max(errors):+.2%})"


def _cost(what: str, loads: dict[str, list[Load]]) -> Row:
    shares = {name: median(load.core_share for load in found) for name, found in loads.items()}
    command = median(load.command_cpu_ns / 1e9 / load.seconds for load in loads["plimsoll"])
    beside = f"; fio {shares['fio']:.0%}" if "fio" in shares else ""
    detail = f"the whole command with its start {command:.0%}{beside}"
    return Row(what, "at most", 40.0, "% of a core", shares["plimsoll"] * 100, detail)


def _stop(setting: Setting) -> Row:
    rate, seconds = RATES[0], 4.0 if setting.quick else 10.0
    what = f"Poisson, {rate // 1000} k/s, stopped {STALL_S * 1000:.0f} ms"
    contestants: dict[str, Callable[[int], Stalled]] = {"plimsoll": lambda _: _stopped_plimsoll(setting, rate, seconds)}
    fio = setting.fio
    if fio is not None:
        contestants["fio"] = lambda _: _stopped_fio(setting, fio, rate, seconds)
    found = setting.interleaved(what, contestants, setting.long_rounds)
    expected_ms = median(stall_s - seconds / 100 for _, stall_s in found["plimsoll"]) * 1e3
    p99_ms = {name: median(load.latency_p99_ns for load, _ in loads) / 1e6 for name, loads in found.items()}
    beside = f"; fio says {p99_ms['fio']:.3g} ms" if "fio" in p99_ms else ""
    detail = f"p99 {p99_ms['plimsoll']:.3g} ms where {expected_ms:.3g} ms are true ({seconds:.0f} s run){beside}"
    return Row(what, "at least", 0.9, "× true p99", p99_ms["plimsoll"] / expected_ms, detail)


def _stopped_plimsoll(setting: Setting, rate: int, seconds: float) -> Stalled:
    child = Child(setting.plimsoll.argv(setting.holes[0], seconds=seconds, **_job(rate)))
    stall_s = _stall_midway(child, seconds)
    return setting.plimsoll.load(child.finish()), stall_s


def _stopped_fio(setting: Setting, fio: Fio, rate: int, seconds: float) -> Stalled:
    child = Child(fio.argv(seconds=seconds, **_fio_job(setting, rate)))
    stall_s = _stall_midway(child, seconds)
    return fio.load(child.finish()), stall_s


def _stall_midway(child: Child, seconds: float) -> float:
    time.sleep(seconds / 2)
    return child.stall(STALL_S)
