"""The section of mail stores: the mark of each side, and the original report's tables, so that a partner's paper can be filled from it.

Model: a *mark* is that of the original's rule, whatever a run's own objective was: the highest transfers per second of a ramp over
threads whose mean read and mean write of databases took at most 20 ms. Sheets are shown of the points at marks; of all points where
there are few and no ramp. A sheet's parts have the names and the columns of the original.
Limits: points that have no sheet have their figures among all points.

    mail_stores(members)["workloads"][0]["marks"][0]["transfers_per_s"]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, TypedDict, cast

from plimsoll.analysis.derivation import MAILSTORE
from plimsoll.analysis.load_line.mark import Mark, mark_of
from plimsoll.analysis.mailstore.counters import Counters, counters, is_mailstore, section
from plimsoll.analysis.mailstore.mark import RULE, store_mark
from plimsoll.analysis.mailstore.verdict import verdict
from plimsoll.analysis.objective.judgement import parse_objective
from plimsoll.analysis.point.host_use import host_use, real_s
from plimsoll.experiments.kinds import seeks_mark
from plimsoll.reports.mailstore import came_to
from plimsoll.reports.view.experiments import Member
from plimsoll.reports.view.point import Settings
from plimsoll.result import Result
from plimsoll.units import binary, brief_duration

#: Points without a ramp that are shown.
_SHEETS_MAX = 4


class StoreMarkView(TypedDict):
    """What one configuration carries; ``at_least`` where no level was too much."""

    configuration: int
    transfers_per_s: float
    interval: tuple[float, float] | None
    threads: float
    crossed_first: str | None
    at_least: bool
    reads_per_s: float
    writes_per_s: float
    read_mean_ns: float | None
    write_mean_ns: float | None


class StoreRow(TypedDict):
    """The twelve columns of one database, or of all."""

    name: str
    read_mean_ns: float | None
    write_mean_ns: float | None
    reads_per_s: float
    writes_per_s: float
    read_bytes: float | None
    write_bytes: float | None
    log_read_mean_ns: float | None
    log_write_mean_ns: float | None
    log_reads_per_s: float
    log_writes_per_s: float
    log_read_bytes: float | None
    log_write_bytes: float | None


class BackgroundRow(TypedDict):
    """Reads in the background of one database, or of all."""

    name: str
    reads_per_s: float
    read_bytes: float | None


class StoreCheck(TypedDict):
    """One limit of the generation, and what was found."""

    database: str
    op: str
    figure: str
    limit_ns: float
    value_ns: float | None
    holds: bool


class StoreFact(TypedDict):
    """A name and a value in words."""

    name: str
    value: str


class StoreSheet(TypedDict):
    """One point as the original reports it."""

    configuration: int
    point: int
    settings: Settings
    passed: bool | None
    limits_source: str
    checks: list[StoreCheck]
    summary: list[StoreFact]
    sizing: list[StoreFact]
    parameters: list[StoreFact]
    transactional: list[StoreRow]
    maintenance: list[BackgroundRow]
    replication: list[BackgroundRow]
    together: list[StoreRow]
    host: list[StoreFact]
    #: What a recovery or tuning found.
    recovered: list[str]
    warnings: list[str]


class StoreWorkload(TypedDict):
    """One workload: its marks, a bar each, and its sheets."""

    title: str
    modelled: bool
    marks: list[StoreMarkView]
    sheets: list[StoreSheet]


class MailStores(TypedDict):
    """Mail stores, by workload."""

    derived: str
    rule: str
    workloads: list[StoreWorkload]


def mail_stores(members: Sequence[Member]) -> MailStores | None:
    """None where nothing was measured."""
    usable = [member for member in members if member.result.status != "failed" and is_mailstore(member.result)]
    titles = dict.fromkeys(member.result.job.title for member in usable)
    workloads = [_workload(title, [member for member in usable if member.result.job.title == title]) for title in titles]
    return {"derived": MAILSTORE, "rule": RULE, "workloads": workloads} if workloads else None


def _workload(title: str, members: Sequence[Member]) -> StoreWorkload:
    ramps: dict[int, list[Member]] = {}
    for member in members:
        if seeks_mark(member.result.place.get("kind")):
            ramps.setdefault(member.configuration, []).append(member)
    found = [(own, mark_of([member.result for member in own], parse_objective(RULE))) for _, own in sorted(ramps.items())]
    held = [(own, mark) for own, mark in found if mark is not None]
    marks = [_mark(own, mark) for own, mark in held]
    shown = [_at(own, mark) for own, mark in held] or (list(members) if len(members) <= _SHEETS_MAX else [])
    return {
        "title": title,
        "modelled": any(member.result.modelled for member in members),
        "marks": marks,
        "sheets": [_sheet(member) for member in shown],
    }


def _at(own: Sequence[Member], mark: Mark) -> Member:
    """The first point at the level of a mark."""
    return next(member for member in own if member.result.place.get("level") == mark.level)


def _mark(own: Sequence[Member], mark: Mark) -> StoreMarkView:
    member = _at(own, mark)
    total = counters(member.result).transactional[-1]
    told = store_mark(mark.to_json())
    return {
        "configuration": member.configuration,
        "transfers_per_s": told["transfers_per_s"],
        "interval": mark.interval,
        "threads": told["threads"],
        "crossed_first": told["crossed_first"],
        "at_least": mark.failed_by is None,
        "reads_per_s": total.reads_per_s,
        "writes_per_s": total.writes_per_s,
        "read_mean_ns": total.read_mean_ns,
        "write_mean_ns": total.write_mean_ns,
    }


def _sheet(member: Member) -> StoreSheet:
    result = member.result
    found, judged = counters(result), verdict(result)
    alone = len(found.databases) == 1
    return {
        "configuration": member.configuration,
        "point": member.index,
        "settings": result.place.get("settings") or {},
        "passed": None if judged is None else judged.passed,
        "limits_source": "" if judged is None else judged.source,
        "checks": [] if judged is None else [cast("StoreCheck", {**asdict(check), "holds": check.holds}) for check in judged.checks],
        "summary": _summary(result),
        "sizing": _sizing(found),
        "parameters": _parameters(result),
        "transactional": [cast("StoreRow", asdict(row)) for row in (found.transactional[:1] if alone else found.transactional)],
        "maintenance": _background(found.maintenance, alone=alone),
        "replication": _background(found.replication, alone=alone),
        "together": [cast("StoreRow", asdict(row)) for row in (found.together[:1] if alone else found.together)],
        "host": _host(result),
        "recovered": came_to(result),
        "warnings": [str(warning) for warning in section(result).get("warnings") or ()],
    }


def _background(rows: Sequence[Any], *, alone: bool) -> list[BackgroundRow]:
    """None where nothing was read."""
    return [cast("BackgroundRow", asdict(row)) for row in (rows[:1] if alone else rows)] if rows[-1].reads_per_s else []


def _summary(result: Result) -> list[StoreFact]:
    stress = "Stress" if "max" in str(section(result).get("limits")) and result.job.duration_s > 6 * 3600 else "Performance"
    kinds = {"operations": stress, "backup": "Database backup", "recovery": "Soft recovery", "tuning": "Tuning"}
    machine = (result.host.get("machine") or {}).get("name")
    return _facts(
        ("Machine", str(machine) if machine and not result.modelled else None),
        ("Test type", kinds.get(str(result.job.definition.get("test", "operations")))),
        ("Target", result.job.target),
        ("Start", str(result.started)[:16].replace("T", " ")),
        ("Measured", brief_duration((real_s(result) or result.job.duration_s) * 1e9)),
    )


def _sizing(found: Counters) -> list[StoreFact]:
    def bytes_of(key: str) -> str | None:
        known = [int(database[key]) for database in found.databases if key in database]
        return binary(sum(known)) if known else None

    return _facts(
        ("Achieved transactional I/O per second", f"{found.achieved_per_s:,.1f}"),
        ("Operations per second", f"{found.operations_per_s:,.1f}"),
        ("Target operations per second", None if found.asked_per_s is None else f"{found.asked_per_s:,.1f}"),
        ("Initial database size", bytes_of("initial_bytes")),
        ("Final database size", bytes_of("final_bytes")),
        ("Databases", str(len(found.databases))),
    )


def _parameters(result: Result) -> list[StoreFact]:
    definition: dict[str, Any] = dict(result.job.definition)
    databases: Sequence[dict[str, Any]] = section(result).get("databases") or ({},)
    shares = "/".join(f"{float(definition.get(f'{kind}_percent', 0)):g}" for kind in ("insert", "delete", "replace", "seek"))
    cache = databases[0].get("cache_bytes")
    maintenance = int(definition.get("maintenance") or 0)
    return _facts(
        ("Threads per database", str(definition.get("threads", 1))),
        ("Database cache, each", binary(int(cache)) if cache else None),
        ("Page", binary(int(definition["page_size"])) if definition.get("page_size") else None),
        ("Insert/delete/replace/read", f"{shares} %"),
        ("Lazy commits", f"{float(definition.get('lazy_commit_percent', 0)):g} %"),
        ("Log file", binary(int(definition["log_file_size"])) if definition.get("log_file_size") else None),
        ("Checkpoint depth", binary(int(definition["checkpoint_depth"])) if definition.get("checkpoint_depth") else None),
        ("Background maintenance, each", f"{maintenance / 1e6:g} MB/s" if maintenance else "off"),
        ("Copies of the log", str(definition.get("copies") or 0)),
    )


def _host(result: Result) -> list[StoreFact]:
    """Means over the measured time; none of a model."""
    use = host_use(result)
    if use is None:
        return []
    parts = [
        ("user", use["user_percent"]),
        ("system", use["system_percent"]),
        ("waiting for storage", use["wait_percent"]),
        ("idle", use["idle_percent"]),
    ]
    return _facts(*((f"CPU {name}", None if value is None else f"{value:.1f} %") for name, value in parts))


def _facts(*pairs: tuple[str, str | None]) -> list[StoreFact]:
    return [{"name": name, "value": value} for name, value in pairs if value is not None]
