"""How fast the requests of a job are issued: rates, pauses, and what holds requests back.

Model: a capped rate of fio is due at equal (or, with ``rate_process=poisson``, exponential) gaps and catches up when it has fallen behind:
our open arrival. Caps are per job and per operation; a mixed job runs both at their caps, whatever ``rwmixread`` says. A pause after every
``thinktime_blocks`` requests begins when all of them have completed.
fio fills its queue, waits for ``iodepth_batch_complete_min`` completions at once and until no more than ``iodepth_low`` are
outstanding, and fills it up again: our ``refill_depth``. It hands over ``iodepth_batch`` requests at once, as far as so many are missing;
from three on the kernel joins those that touch: our ``merge_depth``. ``flow`` is the weight of a job among those with its ``flow_id``:
our ``share``.
Limits: requests of a rate are due whatever is outstanding, so with a rate nothing holds them back.

    pace, notes = pace_of(values, requests)
    paced(pace, Crew(queue_depth=8, threads=4), shares)       # {"queue_depth": 8, "arrival": "constant", "rate": 4000}
    held(pace, Crew(queue_depth=16))                          # {"refill_depth": 8}
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from plimsoll.formats.fio.notes import Note, Translated, Unfit, all_idle, idle, ignored, native, surprise, unsupported
from plimsoll.formats.fio.quantity import rounded, time_text
from plimsoll.formats.fio.requests import OPS, Requests, Values
from plimsoll.stored import Json

#: What holds requests back, in our words.
HELD = frozenset(("refill_depth", "share", "serialize_overlap"))
_BATCHES = ("iodepth_low", "iodepth_batch_complete_min", "iodepth_batch")
#: From so many requests in one call on the kernel joins neighbours (fs/aio.c, io_uring/io_uring.c).
_PLUGGED = 3
#: Requests per second of the slowest stream.
_SLOWEST = 0.001


@dataclass(frozen=True)
class Crew:
    """What issues the requests of a stream: so many outstanding in each of so many threads; whether neighbours can be joined."""

    queue_depth: int
    threads: int = 1
    joins: bool = False


@dataclass(frozen=True)
class Pace:
    """What a job says of its pace; 0 where it says nothing."""

    #: Requests per second of one clone, of each operation that is capped.
    rates: Mapping[str, float]
    #: The option that says so, and whether it does for every operation.
    rates_from: str
    all_capped: bool
    poisson: bool
    think_ns: int
    #: Requests before a pause; None where a time decides.
    blocks: int | None
    counts_issues: bool
    interval_ns: int
    low: int
    complete_min: int
    batch: int
    #: Those of the options of batches that are given.
    batches: tuple[str, ...]
    weight: int
    group: int
    serialized: bool


def pace_of(values: Values, requests: Requests) -> tuple[Pace, tuple[Note, ...]]:
    """The pace of a job; raises `Unfit` for options that fio does not take together."""
    rates, notes = _rates(values, requests)
    if rates and values.get("rate_process", "linear") not in ("linear", "poisson"):
        raise Unfit("rate_process", "a rate is linear or poisson.")
    if not rates:
        notes += all_idle(("rate_process", "rate_ignore_thinktime"), "there is no rate")
    interval_ns, weight = values.get("thinktime_iotime", 0), values.get("flow", 0)
    if not values.get("thinktime", 0):
        if "thinktime_iotime" in values:
            raise Unfit("thinktime_iotime", "it says how long requests go on before thinktime, which is missing; write thinktime=.")
        notes += all_idle(("thinktime_blocks", "thinktime_blocks_type"), "there is no thinktime")
    if not weight:
        notes += all_idle(("flow_id", "flow_sleep", "flow_watermark"), "there is no flow")
    pace = Pace(
        rates=rates,
        rates_from="rate" if "rate" in values else "rate_iops",
        all_capped=len(rates) == len(requests.mode.ops),
        poisson=values.get("rate_process") == "poisson",
        think_ns=values.get("thinktime", 0),
        blocks=values.get("thinktime_blocks", None if interval_ns else 1),
        counts_issues=values.get("thinktime_blocks_type", "complete") == "issue",
        interval_ns=interval_ns,
        low=values.get("iodepth_low", 0),
        complete_min=values.get("iodepth_batch_complete_min", 1),
        batch=values.get("iodepth_batch", 1),
        batches=tuple(name for name in _BATCHES if name in values),
        weight=weight,
        group=values.get("flow_id", 0),
        serialized=bool(values.get("serialize_overlap")),
    )
    return pace, tuple(notes)


def _rates(values: Values, requests: Requests) -> tuple[dict[str, float], list[Note]]:
    if "rate" in values and "rate_iops" in values:
        raise Unfit("rate_iops", "fio takes either rate or rate_iops; drop one of the two.")
    bytes_s, requests_s = values.get("rate", (None,) * 3), values.get("rate_iops", (None,) * 3)
    rates: dict[str, float] = {}
    notes = []
    for op, sizes in requests.sizes.items():
        index = OPS.index(op)
        if requests_s[index] and not sizes.fixed:
            why = "fio caps as many bytes as so many requests of the least size have, so longer requests are fewer"
            notes.append(surprise("rate_iops", why))
        rate = (requests_s[index] or 0) * sizes.least / sizes.mean or (bytes_s[index] or 0) / sizes.mean
        if rate:
            rates[op] = float(rate)
    return rates, notes


def paced(pace: Pace, crew: Crew, shares: Mapping[str, float]) -> Translated:
    """The options; ``shares`` are the percent of the requests that each operation has where no rate decides."""
    holding = held(pace, crew)
    arrival = _arrival(pace, crew.threads, shares) if pace.rates else Translated({})
    thinking = _thinking(pace, crew.queue_depth, holds=bool(HELD & holding.options.keys()))
    options = {"queue_depth": crew.queue_depth, **holding.options, **arrival.options, **thinking.options}
    return Translated(options, (*holding.notes, *arrival.notes, *thinking.notes))


def held(pace: Pace, crew: Crew) -> Translated:
    """What holds requests back that have no instants of their own."""
    waves, share = _waves(pace, crew), _share(pace)
    late = (ignored("serialize_overlap", "requests of a rate wait for nobody"),) if pace.serialized and pace.rates else ()
    serialized = {"serialize_overlap": True} if pace.serialized and not pace.rates and crew.queue_depth > 1 else {}
    return Translated({**waves.options, **share.options, **serialized}, (*waves.notes, *share.notes, *late))


def _waves(pace: Pace, crew: Crew) -> Translated:
    depth = crew.queue_depth
    if depth == 1:
        return Translated({}, all_idle(_BATCHES, "one request is outstanding"))
    low = min(pace.low or depth, depth)
    refill_depth = min(low, depth - min(max(1, pace.complete_min), depth))
    if refill_depth >= depth - 1:
        why = "each completion is followed by one request, so fio hands over one at a time whatever it says"
        return Translated({}, (idle("iodepth_batch", why),))
    if pace.rates:
        return Translated({}, tuple(ignored(name, "requests of a rate are issued when they are due") for name in pace.batches))
    together = min(pace.batch, depth - refill_depth)
    return Translated({"refill_depth": refill_depth, **({"merge_depth": together} if together >= _PLUGGED and crew.joins else {})})


def _share(pace: Pace) -> Translated:
    if not pace.weight:
        return Translated({})
    if pace.weight < 0:
        why = "negative weights are of old files, and fio 3.33 runs such jobs without a ratio; write positive ones: the larger runs more"
        return Translated({}, (unsupported("flow", why),))
    if pace.rates:
        why = "requests of a rate wait for nobody; drop flow, and give the jobs rates of this ratio"
        return Translated({}, (unsupported("flow", why),))
    return Translated({"share": pace.weight, **({"share_group": pace.group} if pace.group else {})})


def _arrival(pace: Pace, threads: int, shares: Mapping[str, float]) -> Translated:
    name, rates = pace.rates_from, pace.rates
    if not pace.all_capped:
        why = "one operation of a mix is capped and the other is not; make a job of each operation"
        return Translated({}, (unsupported(name, why),))
    total = sum(rates.values())
    if total * threads < _SLOWEST:
        return Translated({}, (unsupported(name, "it is less than a request in 1000 seconds; write a higher rate"),))
    options: Json = {"arrival": "poisson" if pace.poisson else "constant", "rate": rounded(total * threads)}
    notes = []
    if len(rates) > 1:
        options["read_percent"] = rounded(100 * rates.get("r", 0) / total)
        if abs(options["read_percent"] - shares.get("r", 0)) > 0.01:
            why = "fio caps reads and writes by themselves, so the two rates decide the mix and rwmixread does not"
            notes.append(surprise(name, why))
    notes.append(native(name, "arrival and rate; latency counts from the instant a request is due, with fio from its issue"))
    return Translated(options, tuple(notes))


def _thinking(pace: Pace, queue_depth: int, *, holds: bool) -> Translated:
    if not pace.think_ns:
        return Translated({})
    if pace.rates:
        return Translated({}, (unsupported("thinktime", "requests of a rate have no pauses; drop thinktime or the rate"),))
    notes = []
    if pace.blocks == 1 and queue_depth > 1:
        notes.append(surprise("thinktime", "fio waits for every request before it pauses, so with thinktime_blocks=1 one is in flight"))
    if pace.blocks == 1 and not holds:
        return Translated({"queue_depth": 1, "think_time": time_text(pace.think_ns)}, tuple(notes))
    found: Json = {"pause": time_text(pace.think_ns)}
    if pace.blocks:
        found["pause_requests"] = pace.blocks
        if queue_depth > 1 and not pace.counts_issues:
            why = "fio counts completions, so its first pause comes up to iodepth - 1 requests later; the next do not"
            notes.append(surprise("thinktime_blocks", why))
    if pace.interval_ns:
        found["pause_interval"] = time_text(pace.interval_ns)
    return Translated(found, tuple(notes))
