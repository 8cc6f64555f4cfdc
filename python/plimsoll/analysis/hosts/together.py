"""The intervals of several hosts as those of all together: counts add, histograms merge without loss.

Model: hosts began at one instant and cut their time alike, so their intervals go together by phase and number, and what follows the end
(the drain) by its phase alone. An interval is told once every host that still takes part has told its own; a host that has ended, or is
lost, is waited for no longer. Parts of a target carry the name of their host, since the same path is another device there.
Limits: instants differ by the skew of the start. A percentile of the lag cannot be added: it is the largest of the hosts' own.

    together = Together(["db1", "db2"])
    together.add("db1", first), together.add("db2", second)       # [], [the sum of both]
    together.leave("db1")
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from plimsoll.histogram import Histogram, decoded
from plimsoll.stored import Cell, Entry, Interval, Lag, Waiting

#: The phases in their order. What follows the end of the measured time is one interval of all, whatever its number.
_PHASES = ("warmup", "measure", "after", "drain")
_Moment = tuple[int, int]


class Together:
    """Takes the hosts' intervals, each host's in order, and tells those of all."""

    def __init__(self, hosts: Sequence[str]) -> None:
        self._waiting: dict[str, dict[_Moment, Interval]] = {host: {} for host in hosts}
        self._present = set(hosts)
        self._told = 0

    def add(self, host: str, interval: Interval) -> list[Interval]:
        """What is complete now that ``host`` has told an interval."""
        phase = _PHASES.index(interval["phase"])
        own, moment = self._waiting[host], (phase, 0 if interval["phase"] == "drain" else interval["index"])
        own[moment] = interval if moment not in own else summed([(host, own[moment]), (host, interval)], by_host=False)
        return list(self._complete())

    def leave(self, host: str) -> list[Interval]:
        """What is complete now that ``host`` tells no more."""
        self._present.discard(host)
        return list(self._complete())

    def _complete(self) -> Iterator[Interval]:
        while True:
            moments = [moment for own in self._waiting.values() for moment in own]
            if not moments:
                return
            moment = min(moments)
            # Who has told a later one tells this one no more.
            if any(host in self._present and max(self._waiting[host], default=(-1, -1)) < moment for host in self._waiting):
                return
            found = [(host, own.pop(moment)) for host, own in self._waiting.items() if moment in own]
            yield {**summed(found), "index": self._told}
            self._told += 1


def summed(intervals: Sequence[tuple[str, Interval]], *, by_host: bool = True) -> Interval:
    """One interval of the same time on several hosts; ``by_host`` tells their parts apart."""
    own = [interval for _, interval in intervals]
    cells = [(host if by_host else None, cell) for host, interval in intervals for cell in interval["cells"]]
    added = _cells(cells)
    found: Interval = {
        "index": own[0]["index"],
        "phase": own[0]["phase"],
        "start_ns": min(one["start_ns"] for one in own),
        "end_ns": max(one["end_ns"] for one in own),
        "inflight_mean": _inflight(own),
        "inflight_age_ns": _sum(one.get("inflight_age_ns") for one in own),
        "write_caches": None,
        "summary": _summary(added),
        "cells": added,
        "outstanding": _outstanding(own),
        "lag": _lag([lag for one in own if (lag := one.get("lag"))]),
        "backlog_ns": max((backlog for one in own if (backlog := one.get("backlog_ns")) is not None), default=None),
    }
    if queries := [query for one in own for query in one.get("queries") or ()]:
        found["queries"] = queries
    return found


def _sum(values: Iterable[int | float | None]) -> int | float | None:
    """None when one of them is not known."""
    known = list(values)
    return None if any(value is None for value in known) else sum(value for value in known if value is not None)


def _inflight(own: Sequence[Interval]) -> float | None:
    """The mean over the time of all, of which a host that has ended before did nothing in the rest."""
    length_ns = max(one["end_ns"] for one in own) - min(one["start_ns"] for one in own)
    lengths = [one["end_ns"] - one["start_ns"] for one in own]
    if len(set(lengths)) == 1 or length_ns <= 0:
        return _sum(one.get("inflight_mean") for one in own)
    parts = [None if (mean := one.get("inflight_mean")) is None else mean * part for one, part in zip(own, lengths, strict=True)]
    whole = _sum(parts)
    return None if whole is None else whole / length_ns


def _cells(cells: Sequence[tuple[str | None, Cell]]) -> list[Cell]:
    groups: dict[tuple[str | None, str, str | None], list[Cell]] = {}
    for host, cell in cells:
        groups.setdefault((cell["stream"], cell["op"], _part(cell.get("part"), host)), []).append(cell)
    return [_cell(key, group) for key, group in groups.items()]


def _part(part: str | None, host: str | None) -> str | None:
    """``0:/dev/sdb`` of db1 is ``0:db1:/dev/sdb``."""
    if part is None or host is None:
        return part
    number, colon, path = part.partition(":")
    return f"{number}:{host}:{path}" if colon and number.isdigit() else f"{host}:{part}"


def _cell(key: tuple[str | None, str, str | None], group: Sequence[Cell]) -> Cell:
    errors: Counter[str] = Counter()
    for cell in group:
        errors.update(cell.get("errors") or {})
    # A null ``service`` says: the same as ``latency``.
    serviced = any(cell.get("service") for cell in group)
    return {
        "stream": key[0],
        "op": key[1],
        "part": key[2],
        "count": sum(cell["count"] for cell in group),
        "bytes": sum(cell["bytes"] for cell in group),
        "errors": dict(errors),
        "latency": _merged(group, lambda cell: cell.get("latency")),
        "service": _merged(group, lambda cell: cell.get("service") or cell.get("latency")) if serviced else None,
        "latency_sum_ns": _sum(cell.get("latency_sum_ns") for cell in group),
        "service_sum_ns": _sum(_service_sum(cell) for cell in group) if serviced else None,
    }


def _service_sum(cell: Cell) -> int | float | None:
    return cell.get("service_sum_ns") if cell.get("service") else cell.get("latency_sum_ns")


def _merged(group: Sequence[Any], text_of: Callable[[Any], str | None]) -> str | None:
    texts = [text for one in group if (text := text_of(one))]
    if len(texts) < 2:
        return texts[0] if texts else None
    return _added(texts).encode()


def _added(texts: Sequence[str]) -> Histogram:
    total = decoded(texts[0])
    for text in texts[1:]:
        total.add(decoded(text))
    return total


def _summary(cells: Sequence[Cell]) -> dict[str, Entry]:
    """The figures of the live view, per operation over all streams."""
    by_op: dict[str, list[Cell]] = {}
    for cell in cells:
        if cell.get("part") is None:
            by_op.setdefault(cell["op"], []).append(cell)
    return {op: _entry(own) for op, own in by_op.items()}


def _entry(cells: Sequence[Cell]) -> Entry:
    texts = [text for cell in cells if (text := cell.get("latency"))]
    latency = _added(texts) if texts else Histogram()
    total_ns = _sum(cell.get("latency_sum_ns") for cell in cells)
    return {
        "count": latency.count,
        "bytes": sum(cell["bytes"] for cell in cells),
        "errors": sum(sum((cell.get("errors") or {}).values()) for cell in cells),
        "mean_ns": latency.mean if total_ns is None else total_ns / max(1, latency.count),
        "p50_ns": latency.percentile(50.0),
        "p99_ns": latency.percentile(99.0),
        "max_ns": latency.max,
    }


def _outstanding(intervals: Sequence[Interval]) -> list[Waiting]:
    groups: dict[tuple[str | None, str], list[Waiting]] = {}
    for interval in intervals:
        for waiting in interval.get("outstanding") or ():
            groups.setdefault((waiting["stream"], waiting["op"]), []).append(waiting)
    return [
        {"stream": stream, "op": op, "latency": _added([one["latency"] for one in own]).encode()} for (stream, op), own in groups.items()
    ]


def _lag(lags: Sequence[Lag]) -> Lag | None:
    if not lags:
        return None
    return {
        "late": sum(lag.get("late") or 0 for lag in lags),
        "p99_ns": max(lag.get("p99_ns") or 0 for lag in lags),
        "max_ns": max(lag.get("max_ns") or 0 for lag in lags),
    }
