"""How long a run lasts: elapsed, warm-up, interval, as settings of an experiment.

Model: Vdbench measures ``elapsed`` seconds after the warm-up. Without a warm-up it leaves the first interval out of its averages, so that
one is the warm-up here and what is measured is shorter by it.

    timing(run)        # {'duration': '145s', 'warmup': '5s', 'interval': '5s'} of elapsed=150,interval=5
"""

from __future__ import annotations

from typing import Any

from plimsoll.formats.vdbench.definition import Definition
from plimsoll.formats.vdbench.numbers import seconds, seconds_text
from plimsoll.formats.vdbench.verdicts import Verdicts

Json = dict[str, Any]

ELAPSED = 30
INTERVAL_MAX = 60
SECONDS_MAX = 1000 * 86_400
INTERVAL_SECONDS_MAX = 86_400


def timing(run: Definition, verdicts: Verdicts) -> Json:
    """Duration, warm-up and interval; raises `InputError` when nothing is left to measure."""
    elapsed = _seconds(run, "elapsed", ELAPSED)
    interval = _seconds(run, "interval", max(1, min(elapsed // 2, INTERVAL_MAX)))
    warmup = run.get("warmup")
    if interval > INTERVAL_SECONDS_MAX:
        raise (run.get("interval") or run.head).wrong("an interval lasts a day at most; write a shorter one.")
    if warmup is not None:
        before, measured = _seconds(run, "warmup", 0), elapsed
    else:
        before, measured = interval, elapsed - interval
        if measured <= 0:
            parameter = run.get("elapsed") or run.get("interval") or run.head
            raise parameter.wrong(
                f"{elapsed:g} s hold no interval of {interval:g} s after the first, which does not count; write a longer elapsed."
            )
        _say_first_interval(run, interval, verdicts)
    return {"duration": seconds_text(measured), "warmup": seconds_text(before), "interval": seconds_text(min(interval, measured))}


def _say_first_interval(run: Definition, interval: float, verdicts: Verdicts) -> None:
    parameter = run.get("elapsed")
    if parameter is not None:
        verdicts.native(parameter, f"the first interval of {interval:g} s does not count in Vdbench, so it is the warm-up")


def _seconds(run: Definition, name: str, default: float) -> float:
    parameter = run.get(name)
    if parameter is None:
        return default
    found = seconds(parameter)
    if found > SECONDS_MAX or (found <= 0 and name != "warmup") or 0 < found < 1:
        raise parameter.wrong(f"{name} lasts from 1 second to 1000 days; write for example {name}=60.")
    return found
