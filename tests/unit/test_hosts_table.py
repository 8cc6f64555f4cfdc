"""The terminal's table of hosts: a row for each, a lost one without figures, nothing where one host measured or points are many."""

from __future__ import annotations

from dataclasses import replace

from plimsoll.reports.terminal.hosts import hosts
from plimsoll.result import HostResult, Result
from support.made_results import Load, made


def shared(result: Result) -> Result:
    clock = {"offset_ns": -40, "offset_bound_ns": 250}
    first = HostResult("db1", "complete", totals=result.totals, skew_ns=1_200, **clock)
    lost = HostResult("db2", "lost", error="lost 0.3 s after the start: cut", **clock)
    return replace(result, hosts=[first, lost])


def test_each_host_has_a_row_and_a_lost_one_no_figures() -> None:
    lines = hosts([shared(made(Load(1000.0, 2.0)))]).splitlines()
    assert lines[0].split()[:4] == ["point", "host", "status", "operation"]
    complete, lost = lines[-2:]
    assert complete.split()[1:5] == ["db1", "complete", "read", "1,000"]
    assert "1.2 µs" in complete and "-0.0 ± 0.2 µs" in complete
    assert lost.split()[1:8] == ["db2", "lost", "–", "–", "–", "–", "–"]


def test_a_point_of_one_host_has_no_table() -> None:
    assert hosts([made(Load(1000.0, 2.0))]) == ""


def test_many_points_stand_in_the_report_alone() -> None:
    point = shared(made(Load(1000.0, 2.0)))
    assert hosts([point] * 4) != ""
    assert hosts([point] * 5) == ""
