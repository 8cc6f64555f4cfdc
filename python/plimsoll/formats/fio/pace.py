"""How fast a job goes: the arrival, think time and concurrency options of a stream.

Model: a capped rate of fio is due at equal (or, with ``rate_process=poisson``, exponential) gaps and catches up when it has fallen behind:
our open arrival. Caps are per job and per operation; a mixed job runs both at their caps, whatever ``rwmixread`` says. A pause after every
``thinktime_blocks`` requests begins when all of them have completed.

    pace(job, queue_depth=8, threads=4)        # {"queue_depth": 8, "arrival": "constant", "rate": 4000}
"""

from __future__ import annotations

from typing import Any

from plimsoll.formats.fio.addresses import mode_of, shares_of, sizes_of
from plimsoll.formats.fio.holding import HELD, holding
from plimsoll.formats.fio.job import Job
from plimsoll.formats.fio.quantity import rounded, time_text

Json = dict[str, Any]

_OPS = "rwt"


def pace(job: Job, *, queue_depth: int, threads: int) -> Json:
    """The options; ``threads`` clones share the stream."""
    rates = _rates(job)
    options: Json = {"queue_depth": queue_depth, **holding(job, queue_depth, paced=bool(rates))}
    if rates:
        options.update(_arrival(job, rates, threads))
    else:
        for name in ("rate_process", "rate_ignore_thinktime"):
            job.idle(name, "there is no rate")
    options.update(_thinking(job, options, paced=bool(rates)))
    return options


def _rates(job: Job) -> dict[str, float]:
    """Requests per second of one clone, per operation that is capped."""
    if job.has("rate") and job.has("rate_iops"):
        raise job.wrong("rate_iops", "fio takes either rate or rate_iops; drop one of the two.")
    bytes_s, requests_s = job.get("rate", (None,) * 3), job.get("rate_iops", (None,) * 3)
    rates = {}
    for op, sizes in sizes_of(job).items():
        index = _OPS.index(op)
        if requests_s[index] and not sizes.fixed:
            job.surprise("rate_iops", "fio caps as many bytes as so many requests of the least size have, so longer requests are fewer")
        rate = (requests_s[index] or 0) * sizes.least / sizes.mean or (bytes_s[index] or 0) / sizes.mean
        if rate:
            rates[op] = float(rate)
    return rates


def _arrival(job: Job, rates: dict[str, float], threads: int) -> Json:
    name = "rate" if job.has("rate") else "rate_iops"
    mode = mode_of(job)
    word = job.get("rate_process", "linear")
    if word not in ("linear", "poisson"):
        raise job.wrong("rate_process", "a rate is linear or poisson.")
    if len(rates) < len(mode.ops):
        job.unsupported(name, "one operation of a mix is capped and the other is not; make a job of each operation")
        return {}
    total = sum(rates.values())
    if total * threads < 0.001:
        job.unsupported(name, "it is less than a request in 1000 seconds; write a higher rate")
        return {}
    options: Json = {"arrival": "poisson" if word == "poisson" else "constant", "rate": rounded(total * threads)}
    if len(rates) > 1:
        options["read_percent"] = rounded(100 * rates.get("r", 0) / total)
        if abs(options["read_percent"] - shares_of(job).get("r", 0)) > 0.01:
            job.surprise(name, "fio caps reads and writes by themselves, so the two rates decide the mix and rwmixread does not")
    job.native(name, "arrival and rate; latency counts from the instant a request is due, with fio from its issue")
    return options


def _thinking(job: Job, options: Json, *, paced: bool) -> Json:
    think_ns = job.get("thinktime", 0)
    if not think_ns:
        if job.has("thinktime_iotime"):
            raise job.wrong("thinktime_iotime", "it says how long requests go on before thinktime, which is missing; write thinktime=.")
        for name in ("thinktime_blocks", "thinktime_blocks_type"):
            job.idle(name, "there is no thinktime")
        return {}
    if paced:
        job.unsupported("thinktime", "requests of a rate have no pauses; drop thinktime or the rate")
        return {}
    blocks = job.get("thinktime_blocks", None if job.get("thinktime_iotime") else 1)
    if blocks == 1 and options["queue_depth"] > 1:
        job.surprise("thinktime", "fio waits for every request before it pauses, so with thinktime_blocks=1 one is in flight")
    if blocks == 1 and not HELD & options.keys():
        return {"queue_depth": 1, "think_time": time_text(think_ns)}
    found: Json = {"pause": time_text(think_ns)}
    if blocks:
        found["pause_requests"] = blocks
        if options["queue_depth"] > 1 and job.get("thinktime_blocks_type", "complete") != "issue":
            job.surprise(
                "thinktime_blocks", "fio counts completions, so its first pause comes up to iodepth - 1 requests later; the next do not"
            )
    if job.get("thinktime_iotime"):
        found["pause_interval"] = time_text(job.get("thinktime_iotime"))
    return found
