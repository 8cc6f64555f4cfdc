"""A scripted `measure` for planners: a function from what is asked to what a made-up target answers, conducted without engine or store.

Model: an `Answer` says how many requests completed and how long each operation took on average; it becomes a `Result` with the place of
its ask. Throughput is shared equally among operations; percentiles are those of an exponential distribution. A point lasts 10 s, or as long as its
ask says.

    conclusion, asks = conducted(ramp(…), lambda ask: Answer(iops=100 * ask.level, mean_ms={"read": ask.level, "write": 2}))
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from plimsoll.experiments.plan import Ask, Conclusion, Configuration, Plan, Request, Subject
from plimsoll.result import Estimate, Result
from support.made_results import Load, Setting, made

SUBJECT = Subject("oltp-db", Configuration("bench", "/dev/sdb"))


@dataclass(frozen=True)
class Answer:
    """What a point comes to. ``spread`` is the relative half-width of every interval, None for none; ``error`` makes the point fail."""

    iops: float = 1000.0
    mean_ms: Mapping[str, float] = field(default_factory=lambda: {"read": 1.0})
    spread: float | None = 0.001
    error: str | None = None
    #: Requests per second of each stream, where there are several.
    streams: Mapping[str, float] = field(default_factory=dict)
    #: Options of every stream in the definition that the job ran.
    options: Mapping[str, Any] = field(default_factory=dict)
    block_bytes: int = 4096


Respond = Callable[[Ask], Answer]


def conducted(plan: Plan, respond: Respond) -> tuple[Conclusion, list[Ask]]:
    """The conclusion of ``plan``, and what it asked on the way."""
    asks: list[Ask] = []
    try:
        ask = next(plan)
        while True:
            asks.append(ask)
            ask = plan.send(result_of(ask, respond(ask)))
    except StopIteration as stop:
        return stop.value, asks


def result_of(ask: Ask, answer: Answer) -> Result:
    """The point that ``answer`` describes, where ``ask`` stands."""
    place = Request("test", "test", SUBJECT, ask).place
    if answer.error is not None:
        failed = made(Load(1.0, 1.0), repeat=ask.repeat, setting=Setting(place=place))
        return replace(failed, status="failed", error=answer.error, totals={}, estimates={})
    parts = {op: _part(answer, op, mean_ms) for op, mean_ms in answer.mean_ms.items()}
    whole = made(_load(answer, answer.iops, _mean_ms(answer)), repeat=ask.repeat, setting=Setting(place=place))
    names = answer.streams or {"main": answer.iops}
    definition = {"name": "oltp-db", "stream": [{"name": name, **answer.options} for name in names]}
    duration_s = float(str(ask.settings.get("duration", whole.job.duration_s)).removesuffix("s"))
    totals = {op: part.totals["read"] for op, part in parts.items()}
    return replace(
        whole,
        job=replace(whole.job, definition=definition, arrival=answer.options.get("arrival", "closed"), duration_s=duration_s),
        totals={
            op: replace(total, count=round(total.iops * duration_s), bytes=round(total.bytes_per_s * duration_s))
            for op, total in totals.items()
        },
        streams={name: made(_load(answer, iops, _mean_ms(answer))).totals for name, iops in names.items()},
        estimates=_estimates(whole, parts),
    )


def _part(answer: Answer, op: str, mean_ms: float) -> Result:
    return made(_load(answer, answer.iops / len(answer.mean_ms), mean_ms))


def _load(answer: Answer, iops: float, mean_ms: float) -> Load:
    return Load(iops=iops, mean_ns=mean_ms * 1e6, spread=answer.spread, block_bytes=answer.block_bytes)


def _mean_ms(answer: Answer) -> float:
    return sum(answer.mean_ms.values()) / len(answer.mean_ms)


def _estimates(whole: Result, parts: Mapping[str, Result]) -> dict[str, dict[str, Estimate]]:
    if not whole.estimates:
        return {}
    return {"all": whole.estimates["all"], **{op: part.estimates["read"] for op, part in parts.items()}}
