"""The table of report 002: what each level cost the host, in CPU time, blocks and real time."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from plimsoll.analysis.point.host_use import BLOCK_BYTES, host_use, real_s
from plimsoll.monitor import counters
from plimsoll.reports.terminal.host_use import host_levels
from plimsoll.result import Result
from support.made_results import Load, failed, made
from support.said import Plimsoll
from support.scripted_engine import ScriptedEngine

CPU = {"user_percent": 12.0, "system_percent": 9.0, "idle_percent": 38.0, "iowait_percent": 41.0, "steal_percent": 0.0}
PAGING = {"blocks_in_per_s": 24310.4, "blocks_out_per_s": 8120.0}


def point(level: float | None, **changes: Any) -> Result:
    monitor = {"cpu": {**CPU, **changes.pop("cpu", {})}, "paging": PAGING}
    return replace(made(Load(100, 1e6), level), monitor=monitor, **changes)


def test_a_block_is_what_the_counters_count() -> None:
    assert BLOCK_BYTES == counters.BLOCK_BYTES


def test_a_row_per_level_in_their_order_with_the_size_of_a_block() -> None:
    lines = host_levels([point(4), point(1)]).splitlines()
    assert lines[0].split() == [
        "workload",
        "target",
        "level",
        "user",
        "system",
        "idle",
        "wait",
        "blocks",
        "in/s",
        "blocks",
        "out/s",
        "real",
        "time",
    ]
    rows = [line.split("  ")[-8:] for line in lines[2:4]]
    assert ["queue_depth 1" in lines[2], "queue_depth 4" in lines[3]] == [True, True]
    assert all("12 %     9 %  38 %  41 %       24,310         8,120     10.0 s" in line for line in lines[2:4]), rows
    assert "blocks of 4,096 bytes; real time of the measured phase." in lines[4]


def test_time_that_was_stolen_has_a_column_where_there_was_some() -> None:
    assert " steal " not in host_levels([point(1), point(2)])
    assert " steal " in host_levels([point(1), point(2, cpu={"steal_percent": 39.9})])


@pytest.mark.parametrize(
    "results",
    [
        [],
        [point(1)],
        [point(None), point(None)],
        [replace(point(1), modelled=True), replace(point(2), modelled=True)],
        [replace(point(1), monitor={}), replace(point(2), monitor={})],
    ],
    ids=["nothing", "one level", "no level", "modelled", "not counted"],
)
def test_without_levels_on_storage_there_is_no_table(results: list[Result]) -> None:
    assert host_levels(results) == ""


def test_what_the_kernel_does_not_count_is_a_dash() -> None:
    results = [replace(point(level), monitor={"cpu": CPU, "paging": None}) for level in (1, 2)]
    assert host_levels(results).splitlines()[2].split()[-4:] == ["–", "–", "10.0", "s"]


def test_real_time_is_that_of_the_work() -> None:
    # 1,000 requests at 100 per second.
    assert real_s(made(Load(iops=100, mean_ns=1e6))) == pytest.approx(10)
    assert real_s(failed(1)) is None
    use = host_use(point(1))
    assert use is not None and use["wait_percent"] == 41.0


def test_a_run_of_levels_shows_the_table_and_other_runs_do_not(
    plimsoll: Plimsoll, engine: ScriptedEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("plimsoll.reports.terminal.host_use.host_use", lambda result: host_use(point(1)))
    assert "blocks of 4,096 bytes" in plimsoll("scale", "small.toml", "-t", "null:", "--over", "threads=1,2", "-q").out
    assert "blocks of 4,096 bytes" not in plimsoll("run", "small.toml", "-t", "null:", "-q").out
