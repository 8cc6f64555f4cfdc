"""The section of mail users: how long each task took beside what it weighs, the score, the way of letters, and what storage did for it.

Model: a side is one configuration at one setting, a level of users for example; repeats are pooled as everywhere, what the driver and the
host counted is their mean.
Limits: what a server does not tell, as the queue of the user's own, is null, never 0.

    mail_users(members)["sides"][0]["score"]["value"]          # nanoseconds
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from plimsoll.analysis.point.definition import streams
from plimsoll.analysis.point.metric import ALL, SCORE
from plimsoll.analysis.point.repeats import pooled_metric
from plimsoll.analysis.point.score import PERCENTILE, score_weights
from plimsoll.analysis.point.verification import letters_astray
from plimsoll.reports.mail import paced
from plimsoll.reports.view.experiments import Member
from plimsoll.reports.view.point import EstimateView, Settings, estimate_view
from plimsoll.result import OPS, Op, Result
from plimsoll.stored import counted_once

#: Facts of the servers that figures depend on, in this order.
_FACTS = ("dovecot", "postfix", "mailbox format", "mail_fsync", "IMAP server", "letters go by")


class MailTask(TypedDict):
    """A task: how often, how long, how much it counts, and how often it failed."""

    op: Op
    weight: float
    per_s: float
    mean: EstimateView | None
    p95: EstimateView | None
    errors: int


class MailWay(TypedDict):
    """A part of a letter's way and how long it took on average, in nanoseconds."""

    what: str
    mean_ns: float


class MailStorage(TypedDict):
    """What the devices below the mailboxes did, summed; ``write_ns`` is the mean time of a write."""

    writes_per_s: float
    write_bytes_per_s: float
    flushes_per_s: float
    reads_per_s: float
    write_ns: float | None


class MailKill(TypedDict):
    """A kill of a server: seconds from the start, how long until it answered again, and letters in the queue then."""

    server: str
    at_s: float
    down_s: float
    queued: int


class MailAccount(TypedDict):
    """What became of deliveries that were accepted."""

    taken: int
    found: int
    lost: int
    repeated: int
    copied: int
    #: Doubled without a reason, damaged, or in a mailbox that they were not sent to.
    wrong: int


class MailSide(TypedDict):
    """One configuration at one setting."""

    configuration: int
    points: list[int]
    settings: Settings
    users: int
    score: EstimateView | None
    per_s: EstimateView | None
    tasks: list[MailTask]
    letters: int
    handover_p95_ns: float | None
    deliveries_per_s: float | None
    delay_p50_ns: float | None
    delay_p95_ns: float | None
    way: list[MailWay]
    queue_mean: float | None
    queue_max: int | None
    #: Seconds from the start, and letters in the queue; of the first repeat.
    queue_course: list[tuple[float, int]]
    storage: MailStorage | None
    kills: int
    #: Of the first repeat.
    kill_course: list[MailKill]
    seconds: float
    account: MailAccount
    taken: int
    repeated: int
    #: What became of letters that are not where they belong; null when all are.
    astray: str | None
    facts: list[tuple[str, str]]


class MailUsers(TypedDict):
    """Mail users on all sides."""

    sides: list[MailSide]


def mail_users(members: Sequence[Member]) -> MailUsers | None:
    """None where nothing was measured."""
    groups: dict[tuple[int, str], list[Member]] = {}
    for member in members:
        if member.result.totals and member.result.place.get("role") != "precondition":
            groups.setdefault((member.configuration, repr(sorted(_settings(member).items()))), []).append(member)
    sides = [_side(group) for group in groups.values()]
    return {"sides": sides} if sides else None


def _settings(member: Member) -> Settings:
    """What the experiment set, and which servers were killed: points with and without are not repeats of each other."""
    killed = member.result.job.definition.get("kill", "none")
    return {**(member.result.place.get("settings") or {}), **({} if killed == "none" else {"kill": str(killed)})}


def _side(members: Sequence[Member]) -> MailSide:
    results = [member.result for member in members]
    said: list[Mapping[str, Any]] = [result.engine.get("mail") or {} for result in results]
    ways = [found.get("delivery") or {} for found in said]
    queues = [found["queue"] for found, way in zip(said, ways, strict=True) if found.get("queue") and way.get("count")]
    astray = next((sentence for result in results if (sentence := letters_astray(result.engine)) is not None), None)
    facts = (results[0].engine.get("engine") or {}).get("facts") or {}
    pace = paced(results)
    return {
        "configuration": members[0].configuration,
        "points": [member.index for member in members],
        "settings": _settings(members[0]),
        "users": sum(stream.get("users", 0) for stream in streams(results[0].job.definition)),
        "score": _view(results, ALL, SCORE),
        "per_s": _view(results, ALL, "iops"),
        "tasks": [task for op in OPS if (task := _task(op, results)) is not None],
        "letters": sum(int(found.get("letters", 0)) for found in said),
        "handover_p95_ns": _mean([_ns((found.get("handover_ms") or {}).get(PERCENTILE)) for found in said]),
        "deliveries_per_s": _mean([way.get("per_s") for way in ways if way.get("count")]),
        "delay_p50_ns": _mean([_ns((way.get("delay_ms") or {}).get("p50")) for way in ways]),
        "delay_p95_ns": _mean([_ns((way.get("delay_ms") or {}).get(PERCENTILE)) for way in ways]),
        "way": _way(ways),
        "queue_mean": _mean([queue.get("mean") for queue in queues]),
        "queue_max": max((int(queue["max"]) for queue in queues), default=None),
        "queue_course": [(float(at_s), int(letters)) for at_s, letters in queues[0]["course"]] if queues else [],
        "storage": _storage(results),
        "kills": sum(len(found.get("kills") or ()) for found in said),
        "kill_course": [_kill(one) for one in said[0].get("kills") or ()],
        "seconds": float(results[0].engine.get("end_ns") or 0) / 1e9,
        "account": _account(said),
        "taken": sum(int((found.get("account") or {}).get("taken", 0)) for found in said),
        "repeated": sum(int((found.get("account") or {}).get("repeated", 0)) for found in said),
        "astray": astray,
        "facts": [*([("day's speed", pace)] if pace != "1 ×" else []), *((name, str(facts[name])) for name in _FACTS if name in facts)],
    }


def _kill(one: Mapping[str, Any]) -> MailKill:
    return {"server": str(one["server"]), "at_s": float(one["at_s"]), "down_s": float(one["down_s"]), "queued": int(one["queued"])}


def _account(said: Sequence[Mapping[str, Any]]) -> MailAccount:
    """Of all repeats together."""

    def whole(*names: str) -> int:
        return sum(int((found.get("account") or {}).get(name, 0)) for found in said for name in names)

    return {
        "taken": whole("taken"),
        "found": whole("taken") - whole("lost"),
        "lost": whole("lost"),
        "repeated": whole("repeated"),
        "copied": whole("copied"),
        "wrong": whole("doubled", "misdelivered", "damaged"),
    }


def _task(op: Op, results: Sequence[Result]) -> MailTask | None:
    rate = pooled_metric(results, op, "iops")
    errors = sum(result.totals[op].errors for result in results if op in result.totals)
    if rate is None or not (rate.value or errors):
        return None
    weight = score_weights(results[0].job.definition).get(op, 0.0)
    mean, p95 = _view(results, op, "mean"), _view(results, op, PERCENTILE)
    return {"op": op, "weight": weight, "per_s": rate.value, "mean": mean, "p95": p95, "errors": errors}


def _view(results: Sequence[Result], op: str, name: str) -> EstimateView | None:
    found = pooled_metric(results, op, name)
    return None if found is None else estimate_view(found)


def _way(ways: Sequence[Mapping[str, Any]]) -> list[MailWay]:
    names = dict.fromkeys(name for way in ways for name in way.get("mean_ms") or ())
    found = [(name, _mean([_ns((way.get("mean_ms") or {}).get(name)) for way in ways])) for name in names]
    return [{"what": name, "mean_ns": mean_ns} for name, mean_ns in found if mean_ns is not None]


def _storage(results: Sequence[Result]) -> MailStorage | None:
    watched = [found for result in results if (found := counted_once(result.host.get("target"), result.monitor.get("devices") or {}))]
    if not watched:
        return None

    def summed(name: str) -> float:
        return _mean([sum(float(device.get(name) or 0.0) for device in devices) for devices in watched]) or 0.0

    writes = summed("w_per_s")
    waited = _mean([sum(float(each.get("w_per_s") or 0) * float(each.get("w_await_ms") or 0) for each in devices) for devices in watched])
    return {
        "writes_per_s": writes,
        "write_bytes_per_s": summed("write_bytes_per_s"),
        "flushes_per_s": summed("flushes_per_s"),
        "reads_per_s": summed("r_per_s"),
        "write_ns": _ns(waited / writes) if writes and waited is not None else None,
    }


def _ns(ms: Any) -> float | None:
    return None if ms is None else float(ms) * 1e6


def _mean(values: Sequence[Any]) -> float | None:
    known = [float(value) for value in values if value is not None]
    return sum(known) / len(known) if known else None
