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

    pace_of(run).rates                                    # (100, 200)
    timing(run).options                                             # {'duration': '145s', 'warmup': '5s', 'interval': '5s'}
    amount_per_thread(run, 70, Whole(32, 1 << 30)).options          # {'amount': 33554432}
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from plimsoll.displayed import quoted
from plimsoll.formats.vdbench.model import Parameter
from plimsoll.formats.vdbench.notes import Notes, Translated, ignored, native, unsupported
from plimsoll.formats.vdbench.resolve import RunSettings
from plimsoll.formats.vdbench.values import is_number, number, seconds, seconds_text, series

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
    """``rates`` of kind 'rates' in requests per second, None for the maximum; ``percents`` of the kinds 'curve' and 'percents'.
    ``notes`` are on all parameters that it was made of."""

    kind: Literal["max", "rates", "curve", "percents"]
    parameter: Parameter
    arrival: str = "poisson"
    rates: tuple[float | None, ...] = ()
    percents: tuple[float, ...] = ()
    notes: Notes = ()


def pace_of(run: RunSettings) -> Pace:
    """What iorate or fwdrate and its companions ask for."""
    parameter, rate = run.rate, run.rate_word
    if parameter is None:
        raise run.head.wrong(f"RD {quoted(run.name)} has no {rate}; write {rate}=max, {rate}=curve or a rate such as {rate}=1000.")
    arrival, notes = _arrival(run)
    pace = _pace(run, parameter, rate, arrival)
    return replace(pace, notes=(*notes, *pace.notes))


def _pace(run: RunSettings, parameter: Parameter, rate: str, arrival: str) -> Pace:
    word = parameter.word.lower()
    if word in ("max", "curve") and len(parameter.values) == 1:
        if word == "max":
            return Pace("max", parameter, arrival, notes=(native(parameter, "closed loop, as fast as the threads go"), *_curve_unused(run)))
        return Pace("curve", parameter, arrival, percents=_percents(run.curve), notes=(native(parameter, _CURVE[rate]),))
    if rate == "iorate" and any(value.text.lower() == "max" for value in parameter.values):
        return _with_maximum(run, parameter, arrival)
    if not all(is_number(value) or value.text.lower() == "d" for value in parameter.values):
        raise parameter.wrong(f"{_article(rate)} is max, curve, a rate such as 1000, a list of rates, or percentages such as (50%,100%).")
    return _numbers(parameter, rate, arrival, _curve_unused(run))


def _with_maximum(run: RunSettings, parameter: Parameter, arrival: str) -> Pace:
    """A list that holds ``max``: a maximum and percentages of it, or rates one after the other."""
    unused = _curve_unused(run)
    texts = [value.text.lower() for value in parameter.values]
    rest = replace(parameter, values=tuple(value for value in parameter.values if value.text.lower() != "max"))
    if not rest.values:
        note = native(parameter, "closed loop, as fast as the threads go, so many times")
        return Pace("rates", parameter, arrival, rates=(None,) * len(texts), notes=(*unused, note))
    found = series(rest)
    if any(item.percent or item.value < 0 for item in found):
        if texts.index("max") > 0 or texts.count("max") > 1 or not all(item.percent or item.value < 0 for item in found):
            raise parameter.wrong("percentages are of a maximum before them; write for example (max,50%,80%).")
        percents = _unique(parameter, [abs(item.value) for item in found], PERCENT_MAX)
        return Pace("curve", parameter, arrival, percents=percents, notes=(*unused, native(parameter, _CURVE["iorate"])))
    if len(found) != len(rest.values):
        raise parameter.wrong("a series and max stand in one list; write the rates out, as in (100,200,max).")
    rates = iter(_unique(parameter, [item.value for item in found], RATE_MAX))
    note = native(parameter, "open loops at the rates, and a closed loop, as fast as the threads go, for max")
    levels = tuple(None if text == "max" else next(rates) for text in texts)
    return Pace("rates", parameter, arrival, rates=levels, notes=(*unused, note))


def _article(rate: str) -> str:
    return f"an {rate}" if rate.startswith("i") else f"a {rate}"


def _numbers(parameter: Parameter, rate: str, arrival: str, unused: Notes) -> Pace:
    found = series(parameter)
    if all(item.percent or item.value < 0 for item in found):
        percents = _unique(parameter, [abs(item.value) for item in found], PERCENT_MAX)
        return Pace("percents", parameter, arrival, percents=percents, notes=unused)
    if any(item.percent or item.value < 0 for item in found):
        raise parameter.wrong("rates and percentages stand in one list; write one or the other.")
    rates = _unique(parameter, [item.value for item in found], RATE_MAX)
    return Pace("rates", parameter, arrival, rates=rates, notes=(*unused, native(parameter, _OPEN[rate])))


def _unique(parameter: Parameter, values: list[float], most: float) -> tuple[float, ...]:
    for value in values:
        if not 0 < value <= most:
            raise parameter.wrong(f"{value:g} is out of range; write numbers above 0 and up to {most}.")
    return tuple(values)


def _percents(parameter: Parameter | None) -> tuple[float, ...]:
    if parameter is None:
        return PERCENTS
    return tuple(dict.fromkeys(_unique(parameter, [item.value for item in series(parameter)], PERCENT_MAX)))


def _curve_unused(run: RunSettings) -> Notes:
    given = [parameter for parameter in (run.curve, run.stopcurve) if parameter is not None]
    return tuple(native(parameter, "the run is no curve, so it changes nothing") for parameter in given)


def _arrival(run: RunSettings) -> tuple[str, Notes]:
    parameter = run.distribution
    if parameter is None:
        return "poisson", ()
    word = parameter.word.lower()
    if word in _CHANGING:
        why = 'rates that change within a run are not translated; the nearest thing is arrival = "schedule" with the same rates and times'
        return "poisson", (unsupported(parameter, why),)
    if word not in _ARRIVALS:
        raise parameter.wrong(f"{quoted(parameter.word)} is not known; there are exponential, uniform, deterministic, variable and spike.")
    if word == "uniform":
        note = ignored(parameter, "gaps are exponential instead of uniform on 0 to twice their mean, so requests come in larger clusters")
    else:
        note = native(parameter, f"arrival = {_ARRIVALS[word]}")
    return _ARRIVALS[word], (note,)


ELAPSED = 30
INTERVAL_MAX = 60
SECONDS_MAX = 1000 * 86_400
INTERVAL_SECONDS_MAX = 86_400


def timing(run: RunSettings) -> Translated:
    """Duration, warm-up and interval; raises `InputError` when nothing is left to measure."""
    elapsed = _seconds(run.elapsed, "elapsed", ELAPSED)
    interval = _seconds(run.interval, "interval", max(1, min(elapsed // 2, INTERVAL_MAX)))
    warmup = run.warmup
    notes: Notes = ()
    if interval > INTERVAL_SECONDS_MAX:
        raise (run.interval or run.head).wrong("an interval lasts a day at most; write a shorter one.")
    if warmup is not None:
        before, measured = _seconds(warmup, "warmup", 0), elapsed
    else:
        before, measured = interval, elapsed - interval
        if measured <= 0:
            parameter = run.elapsed or run.interval or run.head
            raise parameter.wrong(
                f"{elapsed:g} s hold no interval of {interval:g} s after the first, which does not count; write a longer elapsed."
            )
        notes = _first_interval(run, interval)
    options = {"duration": seconds_text(measured), "warmup": seconds_text(before), "interval": seconds_text(min(interval, measured))}
    return Translated(options, notes)


def _first_interval(run: RunSettings, interval: float) -> Notes:
    parameter = run.elapsed
    if parameter is None:
        return ()
    return (native(parameter, f"the first interval of {interval:g} s does not count in Vdbench, so it is the warm-up"),)


def _seconds(parameter: Parameter | None, name: str, default: float) -> float:
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


def amount_per_thread(run: RunSettings, reads: float, whole: Whole) -> Translated:
    """What each thread transfers at most; nothing where the time decides alone."""
    notes: Notes = ()
    for parameter, share in ((run.maxdata, 100.0), (run.maxdataread, reads), (run.maxdatawritten, 100 - reads)):
        if parameter is None:
            continue
        value = number(parameter).value
        if value <= 0:
            raise parameter.wrong("that is no amount of data; write bytes such as 100g, or a multiple of the total size such as 2.")
        if share == 0:
            notes += (native(parameter, "no request of the run counts for it, so the time decides"),)
            continue
        if value < MULTIPLE_BELOW:
            if whole.size is None:
                why = "a multiple of the total size needs the sizes; write the size of every SD, or the amount in bytes"
                return Translated({}, (*notes, unsupported(parameter, why)))
            value *= whole.size
        part = int(value * 100 / share) // whole.threads
        if part > AMOUNT_MAX:
            return Translated({}, (*notes, native(parameter, "it is more than elapsed leaves time for, so the time decides")))
        why = "amount, divided by all threads and counted from the warm-up on; fast streams end before slow ones"
        return Translated({"amount": max(1, part)}, (*notes, native(parameter, why)))
    return Translated({}, notes)
