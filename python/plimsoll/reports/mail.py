"""Mail users as JSON: how long each task took, what it weighs, and the score, for every point.

Model: `plimsoll.analysis.point.score` says what counts; here is only the form. Times are milliseconds, as the names say.
Limits: nothing is judged here.

    document(results)      # {"score_ms": 214.0, "mail": [{"point": "0001-…", "users": 200, "score_ms": 214.0, "tasks": {"read": {…}}}]}
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from plimsoll.analysis.point.definition import streams
from plimsoll.analysis.point.metric import ALL, SCORE, metric
from plimsoll.analysis.point.score import PERCENTILE, score_weights
from plimsoll.analysis.point.verification import letters_astray
from plimsoll.result import Result
from plimsoll.stored import Json

#: What the driver says of letters that stands beside.
_OF_DRIVER = ("letters", "deliveries", "handover_ms", "delivery", "queue", "kills", "account")


def document(results: Sequence[Result]) -> Json:
    """The keys of ``--json``: every point, and the score where there is one point; empty for other loads."""
    points = [_point(result) for result in results if score_weights(result.job.definition)]
    if not points:
        return {}
    return {**({"score_ms": points[0]["score_ms"]} if len(results) == 1 else {}), "mail": points}


def hurried(results: Sequence[Result]) -> str:
    """What has to stand beside rates of days that passed faster than days do, without full stop; empty where none did."""
    own = [result for result in results if score_weights(result.job.definition)]
    if not own or (pace := paced(own)) == "1 ×":
        return ""
    return f"the working day passed at {pace} its speed, and every rate with it"


def paced(results: Sequence[Result]) -> str:
    """How many times as fast as a day the days of mail users passed: ``20 ×``, ``2 to 60 ×``."""
    speeds = [_speed(result) for result in results]
    slowest, fastest = min(speeds), max(speeds)
    return f"{fastest:g} ×" if slowest == fastest else f"{slowest:g} to {fastest:g} ×"


def _speed(result: Result) -> float:
    """Of the group whose day passes fastest."""
    return max((float(str(stream.get("speed", 1.0))) for stream in streams(result.job.definition)), default=1.0)


def kept(results: Sequence[Result]) -> str | None:
    """What became of mail whose servers were killed, without full stop; None where none was."""
    points = [(result, result.engine.get("mail") or {}) for result in results]
    killed = [(result, found, found["account"]) for result, found in points if found.get("kills") and found.get("account")]
    if not killed:
        return None
    kills = Counter(str(kill["server"]).capitalize() for _, found, _ in killed for kill in found["kills"])
    after = f"after {' and '.join(f'{count:,} kills of {name}' if count > 1 else f'a kill of {name}' for name, count in kills.items())}"
    for result, _, _ in killed:
        if (astray := letters_astray(result.engine)) is not None:
            return f"Mail was not kept on {result.side} {after}: {astray.rstrip('.')}"
    whole = {name: sum(int(account.get(name, 0)) for _, _, account in killed) for name in ("taken", "repeated", "copied")}
    more = ((whole["repeated"], "delivered once more"), (whole["copied"], "in two folders because a move was cut off"))
    told = ", ".join(f"{count:,} {words}" for count, words in more if count)
    places = " and ".join(dict.fromkeys(result.side for result, _, _ in killed))
    return f"All {whole['taken']:,} deliveries that were accepted on {places} are there and whole {after}{f' ({told})' if told else ''}"


def _point(result: Result) -> Json:
    weights = score_weights(result.job.definition)
    tasks = {task: {"p95_ms": _ms(result, task, PERCENTILE), "weight": weights.get(task, 0.0)} for task in result.totals}
    found = result.engine.get("mail") or {}
    users = sum(stream.get("users", 0) for stream in streams(result.job.definition))
    return {
        "point": result.id,
        "users": users,
        "speed": _speed(result),
        "score_ms": _ms(result, ALL, SCORE),
        "tasks": tasks,
        **{key: found[key] for key in _OF_DRIVER if key in found},
    }


def _ms(result: Result, op: str, name: str) -> float | None:
    found = metric(result, op, name)
    return None if found is None else found.value / 1e6
