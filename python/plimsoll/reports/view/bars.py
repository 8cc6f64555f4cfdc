"""Bars of a report: points by access pattern, workload and configuration, one set of bars per settings of the experiments.

Model: points of the same workload, configuration and settings are repeats; a bar is their mean, its error bar their extremes, or for a
single point the 95 % interval it was stored with. Points of experiments that are drawn as lines, heat maps or rounds have no bars.
Limits: no statistics of repeats beyond mean, minimum and maximum; whether two configurations differ is not decided here.

    slices(points, 2)[0]["groups"][0]["profiles"][0]["cells"][1]["all"]["iops"]["mean"]
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Literal, NotRequired, TypedDict

from plimsoll.experiments.kinds import is_drawn
from plimsoll.reports.view.point import GROUPS, GroupName, PointView, Settings
from plimsoll.result import OPS, Op, Status

Rate = Literal["iops", "bytes_per_s"]
Time = Literal["mean", "p50", "p99", "p999", "max"]


class Spread(TypedDict):
    """Mean and extremes of n repeats; a single measurement has the 95 % interval it was stored with, if any."""

    mean: float
    min: float
    max: float
    n: int
    interval: NotRequired[tuple[float, float]]


class Rates(TypedDict):
    """Rates of all operations together."""

    iops: Spread | None
    bytes_per_s: Spread | None


class Bars(Rates):
    """What of one operation has bars."""

    mean_ns: Spread | None
    p50_ns: Spread | None
    p99_ns: Spread | None
    p999_ns: Spread | None
    max_ns: Spread | None


class Cell(TypedDict):
    """The bars of one workload in one configuration."""

    points: list[int]
    status: Status
    ops: dict[Op, Bars]
    #: Of all operations together.
    all: Rates


class Profile(TypedDict):
    """One workload."""

    workload: str
    title: str
    #: One per configuration.
    cells: list[Cell | None]


class Group(TypedDict):
    """The workloads of one access pattern."""

    name: GroupName
    profiles: list[Profile]


class Slice(TypedDict):
    """The bars of one set of settings."""

    settings: Settings
    #: Above 0 where another experiment measured the same workloads under the same settings.
    layer: int
    groups: list[Group]


def slices(points: Sequence[PointView], configurations: int) -> list[Slice]:
    """The bars for each set of settings, in the order they were measured; the settings are empty outside experiments."""
    members: dict[tuple[str, int], list[PointView]] = {}
    taken: dict[tuple[str, int, str], str] = {}
    for point in points:
        place = point["place"]
        if place and (not is_drawn(place["kind"], "bars") or place["role"] != "point"):
            continue
        settings = json.dumps(place["settings"] if place else {}, sort_keys=True)
        name, layer = place["experiment"] if place else "", 0
        # Two experiments may measure the same workload under the same settings, one of them cold; these are no repeats of each other.
        while taken.setdefault((settings, layer, point["workload"]), name) != name:
            layer += 1
        members.setdefault((settings, layer), []).append(point)
    return [
        {"settings": json.loads(settings), "layer": layer, "groups": groups(own, configurations)}
        for (settings, layer), own in members.items()
    ]


def largest(found: Sequence[Slice]) -> Slice:
    """The slice with the most bars, the last of several: the deepest level of a step."""
    widest: Slice = max(reversed(found), key=_bar_count)
    return widest


def _bar_count(found: Slice) -> int:
    return sum(len(group["profiles"]) for group in found["groups"])


def groups(points: Sequence[PointView], configurations: int) -> list[Group]:
    groups: list[Group] = []
    names: tuple[GroupName, ...] = (*GROUPS, "other")
    for name in names:
        members = [point for point in points if point["group"] == name]
        workloads = list(dict.fromkeys(point["workload"] for point in members))
        if members:
            groups.append({"name": name, "profiles": [_profile(workload, members, configurations) for workload in workloads]})
    return groups


def _profile(workload: str, members: Sequence[PointView], configurations: int) -> Profile:
    own = [point for point in members if point["workload"] == workload]
    cells = [[point for point in own if point["configuration"] == index] for index in range(configurations)]
    return {"workload": workload, "title": own[0]["title"], "cells": [_cell(cell) for cell in cells]}


def _cell(repeats: Sequence[PointView]) -> Cell | None:
    """The bars of one workload in one configuration; None when it was not measured there."""
    if not repeats:
        return None
    ops = [op for op in OPS if any(op in point["totals"] for point in repeats)]
    measured = [point for point in repeats if point["totals"]]
    return {
        "points": [point["index"] for point in repeats],
        "status": next((point["status"] for point in repeats if point["status"] != "complete"), "complete"),
        "ops": {op: _bars(op, [point for point in repeats if op in point["totals"]]) for op in ops},
        "all": {"iops": _whole("iops", measured), "bytes_per_s": _whole("bytes_per_s", measured)},
    }


def _whole(key: Rate, repeats: Sequence[PointView]) -> Spread | None:
    """A rate of all operations together."""
    values = [point["together"][key] for point in repeats if key in point["together"]]
    return _spread(values, _interval(repeats, "all", key))


def _interval(repeats: Sequence[PointView], op: str, metric: str) -> tuple[float, float] | None:
    """The 95 % interval of a point that was measured once; that of the only operation stands for all."""
    if len(repeats) != 1:
        return None
    estimates = repeats[0]["estimates"]
    ops = list(repeats[0]["totals"])
    estimate = estimates.get(op, {}).get(metric)
    if estimate is None and op == "all" and len(ops) == 1:
        estimate = estimates.get(ops[0], {}).get(metric)
    if estimate is None or estimate["low"] is None or estimate["high"] is None:
        return None
    return estimate["low"], estimate["high"]


def _bars(op: Op, repeats: Sequence[PointView]) -> Bars:
    totals = [point["totals"][op] for point in repeats]
    return {
        "iops": _spread([total["iops"] for total in totals], _interval(repeats, op, "iops")),
        "bytes_per_s": _spread([total["bytes_per_s"] for total in totals], _interval(repeats, op, "bytes_per_s")),
        "mean_ns": _times(op, "mean", repeats),
        "p50_ns": _times(op, "p50", repeats),
        "p99_ns": _times(op, "p99", repeats),
        "p999_ns": _times(op, "p999", repeats),
        "max_ns": _times(op, "max", repeats),
    }


def _times(op: Op, key: Time, repeats: Sequence[PointView]) -> Spread | None:
    """A figure of the latencies of one operation."""
    latencies = [point["totals"][op]["latency_ns"] for point in repeats]
    return _spread([latency[key] for latency in latencies if latency], _interval(repeats, op, key))


def _spread(values: Sequence[float], interval: tuple[float, float] | None = None) -> Spread | None:
    """Mean and extremes of the repeats; a single value keeps its stored form and its interval, where it has one."""
    if not values:
        return None
    mean = values[0] if len(values) == 1 else sum(values) / len(values)
    spread: Spread = {"mean": mean, "min": min(values), "max": max(values), "n": len(values)}
    return spread if interval is None else {**spread, "interval": interval}
