"""The section of file operations: how often each operation was done per second and how long it took, the sides beside each other.

Model: a row is an operation at one setting, a cell one configuration of the report; repeats are pooled as everywhere. Operations that were
not done have no row.
Limits: what was read and written in bytes stands with the points.

    file_operations(members)["workloads"][0]["rows"][0]["cells"][0]["per_s"]["value"]
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

from plimsoll.analysis.point.repeats import pooled_metric
from plimsoll.reports.view.experiments import Member
from plimsoll.reports.view.point import EstimateView, Settings, estimate_view
from plimsoll.result import OPS, Op, Result


class FileOperationCell(TypedDict):
    """An operation in one configuration."""

    configuration: int
    points: list[int]
    per_s: EstimateView
    mean: EstimateView | None
    p99: EstimateView | None


class FileOperationRow(TypedDict):
    """An operation at one setting."""

    op: Op
    settings: Settings
    cells: list[FileOperationCell]


class FileWorkload(TypedDict):
    """The operations of one workload."""

    title: str
    modelled: bool
    rows: list[FileOperationRow]


class FileOperations(TypedDict):
    """File operations, by workload."""

    workloads: list[FileWorkload]


def file_operations(members: Sequence[Member]) -> FileOperations | None:
    """None where nothing was measured."""
    usable = [member for member in members if member.result.status != "failed" and member.result.totals]
    titles = dict.fromkeys(member.result.job.title for member in usable)
    workloads = [_workload(title, [member for member in usable if member.result.job.title == title]) for title in titles]
    return {"workloads": workloads} if workloads else None


def _workload(title: str, members: Sequence[Member]) -> FileWorkload:
    settings = {_key(member.result): member.result.place.get("settings") or {} for member in members}
    rows: list[FileOperationRow] = []
    for key, own in settings.items():
        level = [member for member in members if _key(member.result) == key]
        for op in OPS:
            cells = [cell for each in _configurations(level) if (cell := _cell(op, each)) is not None]
            if cells:
                rows.append({"op": op, "settings": own, "cells": cells})
    return {"title": title, "modelled": any(member.result.modelled for member in members), "rows": rows}


def _key(result: Result) -> str:
    return repr(sorted((result.place.get("settings") or {}).items()))


def _configurations(members: Sequence[Member]) -> list[list[Member]]:
    """Repeats together, by configuration."""
    found: dict[int, list[Member]] = {}
    for member in members:
        found.setdefault(member.configuration, []).append(member)
    return [found[configuration] for configuration in sorted(found)]


def _cell(op: Op, members: Sequence[Member]) -> FileOperationCell | None:
    results = [member.result for member in members]
    per_s, mean, p99 = (pooled_metric(results, op, name) for name in ("iops", "mean", "p99"))
    if per_s is None or not per_s.value:
        return None
    return {
        "configuration": members[0].configuration,
        "points": [member.index for member in members],
        "per_s": estimate_view(per_s),
        "mean": estimate_view(mean) if mean is not None else None,
        "p99": estimate_view(p99) if p99 is not None else None,
    }
