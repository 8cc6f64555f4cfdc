"""Mail users on a terminal: a row per point with the score and the way of letters, then a row per task of the point with most users; where
servers were killed, a row per point on that.

Model: latencies are times, percentiles those that the score rests on. Points of other loads have no rows here.
Limits: what a server does not tell is a dash.

    print(users(results)); print(tasks(results)); print(kills(results))
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from plimsoll.analysis.comparison.names import names_of
from plimsoll.analysis.point.definition import streams
from plimsoll.analysis.point.metric import ALL, SCORE, metric
from plimsoll.analysis.point.score import PERCENTILE, score_weights
from plimsoll.reports.mail import hurried
from plimsoll.reports.phrases import bounded
from plimsoll.reports.progress import settings_text
from plimsoll.reports.terminal.points import marks_of
from plimsoll.reports.terminal.screen import ANY, Screen
from plimsoll.reports.terminal.table import table
from plimsoll.result import OPS, Result
from plimsoll.units import count, duration, significant

_POINT = ("users", "tasks/s", "score", "letters", "handed over p95", "delivered/s", "delay p50", "delay p95", "queue", "kept", "")
_KILLED = ("killed", "kills", "down for", "queued then", "accepted", "found", "lost", "wrong", "again", "copied")
_TASK = ("task", "weight", "per second", "mean", "p50", "p95", "max", "errors")


def has_users(result: Result) -> bool:
    """Whether the point's load is of mail users, and something was measured."""
    return bool(score_weights(result.job.definition)) and bool(result.totals)


def users(results: Sequence[Result], screen: Screen = ANY) -> str:
    """A row per point; empty without any."""
    own = [result for result in results if has_users(result)]
    if not own:
        return ""
    names, placed = names_of(results), any(settings_text(result) for result in own)
    head = ("target", "point") if placed else ("target",)
    rows = [(names[result.side], *((settings_text(result),) if placed else ()), *_point(result, screen)) for result in own]
    found = table([(*head, *_POINT), *rows], left=len(head), screen=screen)
    return f"{found}\n{screen.wrapped(f'{pace[0].upper()}{pace[1:]}.')}" if (pace := hurried(own)) else found


def tasks(results: Sequence[Result], screen: Screen = ANY) -> str:
    """A row per task of the point with most users on each side; empty without any."""
    most: dict[str, Result] = {}
    for result in (one for one in results if has_users(one)):
        if result.side not in most or _users(result) >= _users(most[result.side]):
            most[result.side] = result
    names = names_of(results)
    rows = [(names[side], f"{_users(result):,}", *row) for side, result in most.items() for row in _tasks(result)]
    return table([("target", "users", *_TASK), *rows], left=3, screen=screen) if rows else ""


def kills(results: Sequence[Result], screen: Screen = ANY) -> str:
    """A row per point whose servers were killed, with what became of its letters; empty where none was."""
    names, rows = names_of(results), []
    for result in results:
        found: Any = result.engine.get("mail") or {}
        if own := found.get("kills"):
            rows.append((names[result.side], settings_text(result), *_killed(own), *_kept(found.get("account") or {})))
    placed = any(row[1] for row in rows)
    head = ("target", *(("point",) if placed else ()), *_KILLED)
    return table([head, *((row if placed else (row[0], *row[2:])) for row in rows)], left=len(head) - 9, screen=screen) if rows else ""


def _killed(own: Sequence[Any]) -> tuple[str, ...]:
    servers = dict.fromkeys(str(kill["server"]).capitalize() for kill in own)
    down = [float(kill["down_s"]) * 1e9 for kill in own]
    queued = sum(int(kill["queued"]) for kill in own)
    return " and ".join(servers), f"{len(own):,}", f"{duration(min(down))} to {duration(max(down))}", f"{queued:,}"


def _kept(account: Any) -> tuple[str, ...]:
    """Accepted, found, lost, wrong otherwise, delivered once more, in two folders."""
    taken, lost = int(account.get("taken", 0)), int(account.get("lost", 0))
    wrong = sum(int(account.get(fault, 0)) for fault in ("doubled", "misdelivered", "damaged"))
    return tuple(
        f"{value:,}" for value in (taken, taken - lost, lost, wrong, int(account.get("repeated", 0)), int(account.get("copied", 0)))
    )


def _users(result: Result) -> int:
    return sum(stream.get("users", 0) for stream in streams(result.job.definition))


def _point(result: Result, screen: Screen) -> tuple[str, ...]:
    found: Any = result.engine.get("mail") or {}
    way, queue, account = found.get("delivery") or {}, found.get("queue") or {}, found.get("account") or {}
    iops, delay = metric(result, ALL, "iops"), way.get("delay_ms") or {}
    wrong = sum(int(account.get(fault, 0)) for fault in ("lost", "doubled", "misdelivered", "damaged"))
    kept = "–" if not account else f"all {account['taken']:,}" if not wrong else f"{wrong:,} wrong ✗"
    return (
        f"{_users(result):,}",
        count(iops.value) if iops else "–",
        bounded(metric(result, ALL, SCORE)),
        f"{found.get('letters', 0):,}",
        _ms((found.get("handover_ms") or {}).get(PERCENTILE)),
        count(way["per_s"]) if way.get("count") else "–",
        _ms(delay.get("p50")),
        _ms(delay.get(PERCENTILE)),
        significant(queue["mean"]) if way.get("count") else "–",
        screen.paint(kept, "bad") if wrong else kept,
        f"{marks_of(result, screen)} {'' if result.status == 'complete' else result.status}".strip(),
    )


def _tasks(result: Result) -> list[tuple[str, ...]]:
    weights = score_weights(result.job.definition)
    rows = []
    for op in (op for op in OPS if op in result.totals):
        total = result.totals[op]
        figures = (bounded(metric(result, op, name)) for name in ("mean", "p50", PERCENTILE, "max"))
        rows.append((op, f"{weights.get(op, 0):g}", count(total.iops), *figures, f"{total.errors:,}" if total.errors else ""))
    return rows


def _ms(value: Any) -> str:
    return "–" if value is None else duration(float(value) * 1e6)
