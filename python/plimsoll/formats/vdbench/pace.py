"""Pace and length of a run: iorate or fwdrate, curve and distribution, elapsed and warm-up, ``maxdata``.

Model: a number is an open loop at that rate, ``max`` a closed loop, also in a list of rates, ``curve`` a closed loop for the maximum and
then open loops at percentages of it. A percentage (Vdbench writes it as a negative number, too) is of the rate that the run before reached,
by the rounding of a curve.
Vdbench measures ``elapsed`` seconds after the warm-up. Without a warm-up it leaves the first interval out of its averages, so that one is
the warm-up here and what is measured is shorter by it. A run with ``maxdata`` or its kin ends when so much was transferred: the bytes are
divided by all threads, and each thread ends when it has transferred its part; a number below 100 is a multiple of the total size of the
SDs.
Limits: rates that change during a run are not drawn. Where several streams have unequal speed, the fast ones end early, and the total is
reached later than in Vdbench.

    pace_of(run, "iorate", verdicts).rates                          # (100, 200)
    timing(run, verdicts)                                           # {'duration': '145s', 'warmup': '5s', 'interval': '5s'}
    amount_per_thread(run, 70, Whole(32, 1 << 30), verdicts)        # {'amount': 33554432}
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

from plimsoll.displayed import quoted
from plimsoll.formats.vdbench.model import Definition, Parameter, Verdicts
from plimsoll.formats.vdbench.values import is_number, number, seconds, seconds_text, series

Json = dict[str, Any]

PERCENTS = (10, 50, 70, 80, 90, 100)
PERCENT_MAX = 1000
RATE_MAX = 1_000_000_000

_ARRIVALS = {"exponential": "poisson", "deterministic": "constant", "uniform": "poisson"}
#: What is said of curves and rates of devices, and of files.
_CURVE = {
    "iorate": 'kind "curve" with rounding = "vdbench" and outstanding = "kept"; what Vdbench calls response is the service time',
    "fwdrate": 'kind "curve" with rounding = "vdbench"',
}
_OPEN = {
    "iorate": "open loop with as many requests outstanding as the SD has threads; latency counts from when a request was due, and what "
    "Vdbench calls response, which leaves out the wait for a thread, is the service time",
    "fwdrate": "open loop; latency counts from when a request was due, and what Vdbench calls response is the service time",
}
_CHANGING = ("variable", "spike")


@dataclass(frozen=True)
class Pace:
    """``rates`` of kind 'rates' in requests per second, None for the maximum; ``percents`` of the kinds 'curve' and 'percents'."""

    kind: Literal["max", "rates", "curve", "percents"]
    parameter: Parameter
    arrival: str = "poisson"
    rates: tuple[float | None, ...] = ()
    percents: tuple[float, ...] = ()


def pace_of(run: Definition, rate: str, verdicts: Verdicts) -> Pace:
    """What the keyword ``rate``, iorate or fwdrate, and its companions ask for."""
    parameter = run.get(rate)
    if parameter is None:
        raise run.head.wrong(f"RD {quoted(run.name)} has no {rate}; write {rate}=max, {rate}=curve or a rate such as {rate}=1000.")
    arrival = _arrival(run, verdicts)
    word = parameter.word.lower()
    if word in ("max", "curve") and len(parameter.values) == 1:
        if word == "max":
            verdicts.native(parameter, "closed loop, as fast as the threads go")
            _curve_unused(run, verdicts)
            return Pace("max", parameter, arrival)
        verdicts.native(parameter, _CURVE[rate])
        return Pace("curve", parameter, arrival, percents=_percents(run.get("curve")))
    if rate == "iorate" and any(value.text.lower() == "max" for value in parameter.values):
        return _with_maximum(run, parameter, arrival, verdicts)
    if not all(is_number(value) or value.text.lower() == "d" for value in parameter.values):
        raise parameter.wrong(f"{_article(rate)} is max, curve, a rate such as 1000, a list of rates, or percentages such as (50%,100%).")
    _curve_unused(run, verdicts)
    return _numbers(parameter, rate, arrival, verdicts)


def _with_maximum(run: Definition, parameter: Parameter, arrival: str, verdicts: Verdicts) -> Pace:
    """A list that holds ``max``: a maximum and percentages of it, or rates one after the other."""
    _curve_unused(run, verdicts)
    texts = [value.text.lower() for value in parameter.values]
    rest = replace(parameter, values=tuple(value for value in parameter.values if value.text.lower() != "max"))
    if not rest.values:
        verdicts.native(parameter, "closed loop, as fast as the threads go, so many times")
        return Pace("rates", parameter, arrival, rates=(None,) * len(texts))
    found = series(rest)
    if any(item.percent or item.value < 0 for item in found):
        if texts.index("max") > 0 or texts.count("max") > 1 or not all(item.percent or item.value < 0 for item in found):
            raise parameter.wrong("percentages are of a maximum before them; write for example (max,50%,80%).")
        verdicts.native(parameter, _CURVE["iorate"])
        return Pace("curve", parameter, arrival, percents=_unique(parameter, [abs(item.value) for item in found], PERCENT_MAX))
    if len(found) != len(rest.values):
        raise parameter.wrong("a series and max stand in one list; write the rates out, as in (100,200,max).")
    rates = iter(_unique(parameter, [item.value for item in found], RATE_MAX))
    verdicts.native(parameter, "open loops at the rates, and a closed loop, as fast as the threads go, for max")
    return Pace("rates", parameter, arrival, rates=tuple(None if text == "max" else next(rates) for text in texts))


def _article(rate: str) -> str:
    return f"an {rate}" if rate.startswith("i") else f"a {rate}"


def _numbers(parameter: Parameter, rate: str, arrival: str, verdicts: Verdicts) -> Pace:
    found = series(parameter)
    if all(item.percent or item.value < 0 for item in found):
        return Pace("percents", parameter, arrival, percents=_unique(parameter, [abs(item.value) for item in found], PERCENT_MAX))
    if any(item.percent or item.value < 0 for item in found):
        raise parameter.wrong("rates and percentages stand in one list; write one or the other.")
    verdicts.native(parameter, _OPEN[rate])
    return Pace("rates", parameter, arrival, rates=_unique(parameter, [item.value for item in found], RATE_MAX))


def _unique(parameter: Parameter, values: list[float], most: float) -> tuple[float, ...]:
    for value in values:
        if not 0 < value <= most:
            raise parameter.wrong(f"{value:g} is out of range; write numbers above 0 and up to {most}.")
    return tuple(values)


def _percents(parameter: Parameter | None) -> tuple[float, ...]:
    if parameter is None:
        return PERCENTS
    return tuple(dict.fromkeys(_unique(parameter, [item.value for item in series(parameter)], PERCENT_MAX)))


def _curve_unused(run: Definition, verdicts: Verdicts) -> None:
    for name in ("curve", "stopcurve"):
        parameter = run.get(name)
        if parameter is not None:
            verdicts.native(parameter, "the run is no curve, so it changes nothing")


def _arrival(run: Definition, verdicts: Verdicts) -> str:
    parameter = run.get("distribution")
    if parameter is None:
        return "poisson"
    word = parameter.word.lower()
    if word in _CHANGING:
        why = 'rates that change within a run are not translated; the nearest thing is arrival = "schedule" with the same rates and times'
        verdicts.unsupported(parameter, why)
        return "poisson"
    if word not in _ARRIVALS:
        raise parameter.wrong(f"{quoted(parameter.word)} is not known; there are exponential, uniform, deterministic, variable and spike.")
    if word == "uniform":
        verdicts.ignored(parameter, "gaps are exponential instead of uniform on 0 to twice their mean, so requests come in larger clusters")
    else:
        verdicts.native(parameter, f"arrival = {_ARRIVALS[word]}")
    return _ARRIVALS[word]


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


#: Numbers below this are multiples of the total size.
MULTIPLE_BELOW = 100
#: More than this a thread is never asked to transfer.
AMOUNT_MAX = 1 << 50


@dataclass(frozen=True)
class Whole:
    """What the threads of a run are in total, and the bytes of its SDs; None where these are not known."""

    threads: int
    size: int | None


def amount_per_thread(run: Definition, reads: float, whole: Whole, verdicts: Verdicts) -> Json:
    """What each thread transfers at most; nothing where the time decides alone."""
    for name, share in (("maxdata", 100.0), ("maxdataread", reads), ("maxdatawritten", 100 - reads)):
        parameter = run.get(name)
        if parameter is None:
            continue
        value = number(parameter).value
        if value <= 0:
            raise parameter.wrong("that is no amount of data; write bytes such as 100g, or a multiple of the total size such as 2.")
        if share == 0:
            verdicts.native(parameter, "no request of the run counts for it, so the time decides")
            continue
        if value < MULTIPLE_BELOW:
            if whole.size is None:
                why = "a multiple of the total size needs the sizes; write the size of every SD, or the amount in bytes"
                verdicts.unsupported(parameter, why)
                return {}
            value *= whole.size
        part = int(value * 100 / share) // whole.threads
        if part > AMOUNT_MAX:
            verdicts.native(parameter, "it is more than elapsed leaves time for, so the time decides")
            return {}
        verdicts.native(parameter, "amount, divided by all threads and counted from the warm-up on; fast streams end before slow ones")
        return {"amount": max(1, part)}
    return {}
