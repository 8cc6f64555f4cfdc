"""Points of analytics workflows made from numbers, with what their driver says at the end.

Model: all workflows of a point are alike: each computes for ``cpu_s``, takes ``real_s``, and goes through the six steps in equal times. What
the devices moved is given in MB per second of real time.

    ran("/mnt/a", 4, Workflows(cpu_s=5.0, real_s=20.0))
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from plimsoll.result import Estimate, Result
from support.made_results import Load, Setting, made

Json = dict[str, Any]
STEPS = ("data-step", "iterate", "format", "index", "sort", "summary")
MB = 1_000_000
BANNER = "analytics workflow, modelled on published descriptions of SAS jobs; not a SAS benchmark"
CPU = {"user_percent": 30.0, "system_percent": 10.0, "iowait_percent": 45.0, "idle_percent": 15.0}


@dataclass(frozen=True)
class Workflows:
    """What one iteration was. Rates are MB per second of the devices; None where none is counted."""

    cpu_s: float = 5.0
    real_s: float = 20.0
    read_mb_per_s: float | None = 40.0
    write_mb_per_s: float | None = 30.0
    cpu: Json | None = None
    util_percent: float = 97.0
    failed: int = 0
    wrong: int = 0
    rss_bytes: int = 200 << 20
    cores: int = 4
    settings: tuple[tuple[str, Any], ...] = ()


def ran(target: str, workflows: int, told: Workflows = Workflows(), repeat: int = 1) -> Result:
    """A whole point with one iteration of so many workflows."""
    setting = Setting("sas-analytics", "Analytics workflows", "files", target)
    moved = 0.0 if told.read_mb_per_s is None else (told.read_mb_per_s + (told.write_mb_per_s or 0.0)) * MB
    one = made(Load(moved / 65536, 1e6, block_bytes=65536), float(workflows), repeat, setting)
    records = [_workflow(number, told) for number in range(1, workflows + 1)]
    iteration = {
        "number": 1,
        "start_s": 0.0,
        "end_s": told.real_s,
        "real_s": told.real_s,
        "workflows": workflows,
        "failed": told.failed,
        "user_s": 0.8 * told.cpu_s * workflows,
        "system_s": 0.2 * told.cpu_s * workflows,
        "cpu_s": told.cpu_s * workflows,
        "cpu": dict(CPU if told.cpu is None else told.cpu),
        "device_read_bytes": None if told.read_mb_per_s is None else int(told.read_mb_per_s * MB * told.real_s),
        "device_written_bytes": None if told.write_mb_per_s is None else int(told.write_mb_per_s * MB * told.real_s),
    }
    section: Json = {
        "banner": BANNER,
        "engine": "native",
        "asked": {"workflows": workflows, "rows": 10_000_000},
        "row_bytes": 200,
        "data_bytes": 2_000_000_000,
        "cores": 2 * told.cores,
        "physical_cores": told.cores,
        "devices": ["sdb"],
        "workflows": records,
        "iterations": [iteration],
        "failed": told.failed,
        "wrong_data": told.wrong,
        "watching_cpu_s": 0.1,
        "whole": True,
    }
    stream = {"name": "workflows", "workflows": workflows, "threads": workflows, "operation": {"read": 55.0, "write": 45.0}, "passes": 1}
    definition = {"name": "sas-analytics", "driver": "analytics", "stream": [stream]}
    place = {**one.place, "kind": "scaling", "settings": {**dict(told.settings), "workflows": workflows}}
    return replace(
        one,
        job=replace(one.job, definition=definition, threads=workflows, queue_depth=1),
        estimates={"all": {"iops": Estimate(moved / 65536), "bytes_per_s": Estimate(moved)}},
        engine={"analytics": section, "end_ns": int(told.real_s * 1e9), "stopped_by": "amount"},
        host={**one.host, "memory": {"total_bytes": 64 << 30}, "cpu": {"cores": told.cores}},
        monitor={**one.monitor, "devices": {"sdb": {"util_percent": told.util_percent}}},
        place=place,
    )


def _workflow(number: int, told: Workflows) -> Json:
    failed = number <= told.failed
    wrong = told.failed < number <= told.failed + told.wrong
    each_s = told.real_s / len(STEPS)
    names = STEPS[:2] if failed else STEPS
    steps = [
        {
            "name": name,
            "start_s": index * each_s,
            "end_s": (index + 1) * each_s,
            "real_s": each_s,
            "rows": 10_000_000,
            "user_s": 0.8 * told.cpu_s / len(STEPS),
            "system_s": 0.2 * told.cpu_s / len(STEPS),
            "needed_read_bytes": 2_000_000_000,
            "needed_written_bytes": 2_000_000_000,
            "read_bytes": 0 if name == "iterate" else 2_000_000_000,
            "written_bytes": 0 if name in ("iterate", "summary") else 2_000_000_000,
            "stored_read_bytes": 1_500_000_000,
            "stored_written_bytes": 1_900_000_000,
            "device_read_bytes": None,
            "device_written_bytes": None,
            "passes": 1 if name == "sort" else None,
            "check": "row 17 is out of order" if wrong and name == "sort" else "ok",
            "device_share": 0.85,
        }
        for index, name in enumerate(names)
    ]
    return {
        "number": number,
        "iteration": 1,
        "status": "failed" if failed else "complete",
        "failure": "the disk is full" if failed else None,
        "start_s": 0.0,
        "end_s": told.real_s * len(names) / len(STEPS),
        "real_s": told.real_s * len(names) / len(STEPS),
        "user_s": 0.8 * told.cpu_s,
        "system_s": 0.2 * told.cpu_s,
        "max_rss_bytes": told.rss_bytes,
        "memory_bytes": 256 << 20,
        "check": "row 17 is out of order" if wrong else "ok",
        "steps": steps,
    }
