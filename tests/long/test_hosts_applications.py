"""Applications of which each host has its own: a database, a directory of workflows, files of the I/O test. Workers here, no Ray."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from support.gang import Gang

SMALL = ("--set", "warehouses=1", "--set", "customers=10", "--set", "items=100", "--set", "terminals=2", "-d", "300ms", "--warmup", "0s")


def began(host: dict[str, Any]) -> bool:
    """Whether its own result says when its threads began, and its skew is that: later than no time at all."""
    return host["skew_unknown"] is None and host["skew_ns"] > 0


def test_each_host_has_a_database_of_its_own_where_its_name_says_so(tmp_path: Path) -> None:
    gang = Gang(tmp_path)
    done = gang.run("run", "order-entry", "--hosts", "local:2", "--target", "sqlite:./{host}", *SMALL, "-q")
    assert done.returncode == 0, done.stderr
    point = gang.point()
    orders = point["engine"]["orders"]
    assert (orders["terminals"], orders["consistent"], orders["orders_before"]) == (4, True, 2 * 100)
    assert [host["target"] for host in point["hosts"]] == ["sqlite:./local1", "sqlite:./local2"]
    assert all(began(host) for host in point["hosts"])
    assert point["totals"]["new-order"]["count"] == sum(host["totals"]["new-order"]["count"] for host in point["hosts"])
    assert not list(tmp_path.glob("local*")), "what was made is removed"


@pytest.mark.parametrize(
    ("workload", "settings", "section", "figure"),
    [
        ("sas-analytics", ("--set", "rows=1000", "--set", "workflows=1"), "analytics", ("workflows", 2)),
        ("sas-iotest-write", ("--set", "streams=1", "--set", "total_size=1MiB"), None, ("write", 32)),
    ],
)
def test_each_host_works_in_a_directory_of_its_own(
    tmp_path: Path, workload: str, settings: tuple[str, ...], section: str | None, figure: tuple[str, int]
) -> None:
    gang = Gang(tmp_path)
    done = gang.run("run", workload, "--hosts", "local:2", "--target", "./{host}", *settings, "-q")
    assert done.returncode == 0, done.stderr
    point = gang.point()
    assert [host["status"] for host in point["hosts"]] == ["complete"] * 2
    assert all(began(host) for host in point["hosts"])
    name, count = figure
    if section is None:
        assert point["totals"][name]["count"] == sum(host["totals"][name]["count"] for host in point["hosts"]) > 0
    else:
        assert len(point["engine"][section][name]) == count
        assert point["totals"]["workflow"]["count"] == count
    assert not list(tmp_path.glob("local*")), "what was made is removed"


VERBS = {
    "check": ("check", "./{host}.dat", "--quick", "--size", "8MiB", "-d", "100ms"),
    "replay": ("replay", "trace.csv", "--target", "./{host}.dat", "--size", "8MiB", "--as-fast-as-possible"),
    "scale": ("scale", "random-read-4k", "--target", "null:", "--over", "hosts=1,2", "-d", "100ms", "-w", "0s"),
    "curve": ("curve", "random-read-4k", "--target", "null:", "--percent", "50", "-d", "100ms", "-w", "0s"),
    "steady": ("steady", "random-read-4k", "--target", "null:", "--rounds-max", "5", "-d", "100ms"),
    "matrix": (
        "matrix",
        "random-read-4k",
        "--target",
        "null:",
        "--over",
        "hosts=1,2",
        "--over",
        "queue_depth=1,2",
        "-d",
        "100ms",
        "-w",
        "0s",
    ),
    "ramp on slices": (
        *("ramp", "random-read-4k", "--target", "./one.dat", "--share", "slices", "--size", "8MiB", "--over", "hosts=1..2"),
        *("--objective", "mean <= 10s", "-d", "100ms", "-w", "0s"),
    ),
    "suite": ("suite", "mine.toml", "--target", "null:"),
}
MINE = """
[[experiment]]
name = "both"
kind = "matrix"
workloads = ["random-read-4k"]
over = { hosts = [1, 2] }
set = { duration = "100ms", warmup = "0s" }
"""


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_that_measures_goes_to_several_hosts(tmp_path: Path, verb: str) -> None:
    gang = Gang(tmp_path)
    (tmp_path / "mine.toml").write_text(MINE)
    fields = ("128166372003061629,hm,0,Read,0,4096,100", "128166372013061629,hm,0,Write,8192,4096,100")
    (tmp_path / "trace.csv").write_text("\n".join(fields) + "\n")
    done = gang.run(*VERBS[verb], "--hosts", "local:2", "-q")
    assert done.returncode == 0, done.stderr
    points = [json.loads(path.read_text()) for path in sorted(gang.results.glob("*/points/*/result.json"))]
    assert {point["status"] for point in points} == {"complete"}
    levels = [int(point["place"].get("settings", {}).get("hosts", 2)) for point in points]
    assert [len(point["hosts"]) for point in points] == levels
    for point in points:
        for op, total in point["totals"].items():
            assert total["count"] == sum(host["totals"][op]["count"] for host in point["hosts"] if op in host["totals"])
    assert not [path.name for path in tmp_path.glob("*.dat")], "what was made is removed"
