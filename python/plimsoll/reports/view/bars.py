"""Bars of a report: points by access pattern, workload and configuration, one set of bars per settings of the experiments.

Model: points of the same workload, configuration and settings are repeats; a bar is their mean, its error bar their extremes, or for a
single point the 95 % interval it was stored with. Points of experiments that are drawn as lines, heat maps or rounds have no bars.
Limits: no statistics of repeats beyond mean, minimum and maximum; whether two configurations differ is not decided here.

    slices(points, 2)[0]["groups"][0]["profiles"][0]["cells"][1]["all"]["iops"]["mean"]
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from plimsoll.result import OPS

Json = Mapping[str, Any]

GROUPS = ("sequential", "random", "combined")
LATENCIES = ("mean", "p50", "p99", "p999", "max")
#: Kinds whose points are bars; those of the others are points of a line, cells of a map, or rounds.
BAR_KINDS = ("single", "steps")


def slices(points: Sequence[Json], configurations: int) -> list[dict[str, Any]]:
    """The bars for each set of settings, in the order they were measured; the settings are empty outside experiments."""
    members: dict[tuple[str, int], list[Json]] = {}
    taken: dict[tuple[str, int, str], str] = {}
    for point in points:
        place = point.get("place") or {}
        if place and (place["kind"] not in BAR_KINDS or place["role"] != "point"):
            continue
        settings = json.dumps(place.get("settings") or {}, sort_keys=True)
        name, layer = place.get("experiment") or "", 0
        # Two experiments may measure the same workload under the same settings, one of them cold; these are no repeats of each other.
        while taken.setdefault((settings, layer, point["workload"]), name) != name:
            layer += 1
        members.setdefault((settings, layer), []).append(point)
    return [
        {"settings": json.loads(settings), "layer": layer, "groups": groups(own, configurations)}
        for (settings, layer), own in members.items()
    ]


def largest(found: Sequence[Json]) -> Json:
    """The slice with the most bars, the last of several: the deepest level of a step."""
    return max(reversed(found), key=lambda item: sum(len(group["profiles"]) for group in item["groups"]))


def groups(points: Sequence[Json], configurations: int) -> list[dict[str, Any]]:
    groups = []
    for name in (*GROUPS, "other"):
        members = [point for point in points if point["group"] == name]
        workloads = list(dict.fromkeys(point["workload"] for point in members))
        if members:
            groups.append({"name": name, "profiles": [_profile(workload, members, configurations) for workload in workloads]})
    return groups


def _profile(workload: str, members: Sequence[Json], configurations: int) -> dict[str, Any]:
    own = [point for point in members if point["workload"] == workload]
    cells = [[point for point in own if point["configuration"] == index] for index in range(configurations)]
    return {"workload": workload, "title": own[0]["title"], "cells": [_cell(cell) for cell in cells]}


def _cell(repeats: Sequence[Json]) -> dict[str, Any] | None:
    """The bars of one workload in one configuration; None when it was not measured there."""
    if not repeats:
        return None
    ops = [op for op in OPS if any(op in point["totals"] for point in repeats)]
    return {
        "points": [point["index"] for point in repeats],
        "status": next((point["status"] for point in repeats if point["status"] != "complete"), "complete"),
        "ops": {op: _bars(op, [point for point in repeats if op in point["totals"]]) for op in ops},
        "all": {key: _whole(key, [point for point in repeats if point["totals"]]) for key in ("iops", "bytes_per_s")},
    }


def _whole(key: str, repeats: Sequence[Json]) -> dict[str, Any] | None:
    """A rate of all operations together."""
    values = [point["together"][key] for point in repeats if key in point["together"]]
    return _spread(values, _interval(repeats, "all", key))


def _interval(repeats: Sequence[Json], op: str, metric: str) -> list[float] | None:
    """The 95 % interval of a point that was measured once; that of the only operation stands for all."""
    if len(repeats) != 1:
        return None
    estimates = repeats[0].get("estimates") or {}
    ops = list(repeats[0]["totals"])
    estimate = estimates.get(op, {}).get(metric)
    if estimate is None and op == "all" and len(ops) == 1:
        estimate = estimates.get(ops[0], {}).get(metric)
    return [estimate["low"], estimate["high"]] if estimate and estimate["high"] is not None else None


def _bars(op: str, repeats: Sequence[Json]) -> dict[str, Any]:
    totals = [point["totals"][op] for point in repeats]
    latencies = [total.get("latency_ns") or {} for total in totals]
    return {
        "iops": _spread([total["iops"] for total in totals], _interval(repeats, op, "iops")),
        "bytes_per_s": _spread([total["bytes_per_s"] for total in totals], _interval(repeats, op, "bytes_per_s")),
        **{
            f"{key}_ns": _spread([latency[key] for latency in latencies if latency.get(key) is not None], _interval(repeats, op, key))
            for key in LATENCIES
        },
    }


def _spread(values: Sequence[float], interval: list[float] | None = None) -> dict[str, Any] | None:
    """Mean and extremes of the repeats; a single value keeps its stored form and its interval, where it has one."""
    if not values:
        return None
    mean = values[0] if len(values) == 1 else sum(values) / len(values)
    spread = {"mean": mean, "min": min(values), "max": max(values), "n": len(values)}
    return spread if interval is None else {**spread, "interval": interval}
