"""Points of several hosts in the report: the hosts side by side with their sum, when each began, and a host that is lost without figures."""

import json

from plimsoll.cli import main
from report.browsing import open_point


def measured(folder, monkeypatch):
    """The report of a point whose stored result says that three hosts measured it."""
    monkeypatch.chdir(folder)
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
    assert main(["run", "random-read-4k", "-t", "queue:?service=const:200us&size=1GiB", "-d", "1s", "-w", "0s", "-q"]) == 0
    (path,) = folder.glob("results/*/points/*/result.json")
    result = json.loads(path.read_text())
    clock = {"offset_ns": -40, "offset_bound_ns": 250, "target": "/dev/sdb", "flags": [], "error": None}
    cost = {"cpu_ns": 25_000_000, "seconds": 2.0, "memory_bytes": 200 << 20, "processes": 5, "cores": [3]}
    part = {**result["totals"]["read"], "iops": result["totals"]["read"]["iops"] / 2}
    result["hosts"] = [
        {"name": "db1", "status": "complete", "totals": {"read": part}, "skew_ns": 1200, "gang": cost, **clock},
        {"name": "db2", "status": "complete", "totals": {"read": part}, "skew_ns": 95000, **clock},
        {**clock, "name": "db3", "status": "lost", "totals": {}, "skew_ns": None, "error": "lost 0.3 s after the start: cut"},
    ]
    path.write_text(json.dumps(result))
    assert main(["report", str(path.parents[2])]) == 0
    return path.parents[2] / "report.html"


def test_hosts_stand_side_by_side_with_their_sum(tmp_path, monkeypatch, opened):
    found = opened(measured(tmp_path, monkeypatch))
    point = found.page.locator("details.point").first
    open_point(point)
    table = point.locator("table", has=found.page.locator("caption", has_text="Hosts side by side"))
    rows = table.locator("tbody tr").evaluate_all("rows => rows.map(row => [...row.cells].map(cell => cell.innerText))")
    assert [row[:3] for row in rows] == [
        ["db1", "complete", "read"],
        ["db2", "complete", "read"],
        ["db3", "lost", "–"],
        ["all hosts", "complete", "read"],
    ]
    assert [row[5] for row in rows] == ["50", "50", "–", "100"]
    # Began after, clock ahead, and how well that is known, in microseconds.
    assert [row[10:13] for row in rows[:2]] == [["1.2", "-0.04", "0.25"], ["95", "-0.04", "0.25"]]
    assert [row[13:] for row in rows[:2]] == [["1.25", "200"], ["–", "–"]], "what carrying the gang cost each host"
    assert found.problems == []


def test_a_host_can_be_clicked_away_and_sum_and_skew_follow(tmp_path, monkeypatch, opened):
    found = opened(measured(tmp_path, monkeypatch))
    point = found.page.locator("details.point").first
    open_point(point)
    said = point.locator("p.hosts-said")
    assert said.inner_text() == "3 of 3 hosts count; began within 93.8\u202fµs."
    table = point.locator("table", has=found.page.locator("caption", has_text="Hosts side by side"))

    def cells():
        return table.locator("tbody tr").evaluate_all("rows => rows.map(row => [...row.cells].map(cell => cell.innerText))")

    alone = cells()[0][3]
    point.get_by_label("db2").uncheck()
    assert said.inner_text() == "2 of 3 hosts count."
    rows = cells()
    assert [row[0] for row in rows] == ["db1", "db2", "db3", "2 hosts"]
    assert (rows[-1][3], rows[-1][8]) == (alone, "–"), "a sum of rates, and no percentile that cannot be had"
    assert [row[5] for row in rows] == ["100", "–", "–", "100"]
    point.get_by_label("db2").check()
    assert cells()[-1][0] == "all hosts"
    assert found.problems == []
