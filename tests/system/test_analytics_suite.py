"""The suite of analytics workflows on a directory, with rows so few that it takes seconds: every figure of report 002 at every level."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

SMALL = ("--quick", "--set", "rows=2000", "--set", "loops=5", "-t", "wf")


def test_the_suite_tells_the_reports_figures_of_every_level_and_removes_everything(plimsoll, tmp_path):
    ended = plimsoll("suite", "analytics", *SMALL, "--json")
    assert ended.returncode == 0, ended.stderr
    document = json.loads(ended.stdout)
    results = document["results"]
    assert [result["place"]["level"] for result in results] == [1, 2, 4, 8] * 2
    assert {result["status"] for result in results} == {"complete"}
    (side,) = document["analytics"]["sides"]
    assert [level["workflows"] for level in side["levels"]] == [1, 2, 4, 8]
    for level in side["levels"]:
        assert [one["number"] for one in level["iterations"]] == [1, 2]
        assert level["failed"] == level["wrong_data"] == 0
        assert level["total_cpu_s"] >= level["workflow_cpu_s"] > 0
        # All begin together, so the last end is no earlier than the mean one.
        assert level["total_real_s"] >= level["workflow_real_s"] > 0
        assert level["limited_by"]["what"] in ("memory", "processors", "own processor", "storage", "nothing seen")
        assert level["moved_in_per_s"] > 0 and level["moved_out_per_s"] > 0
    assert side["levels"][0]["stretch"] == 1.0
    assert document["conclusions"][0]["figures"]["rows"][-1]["throughput"] > 0
    assert "not a SAS benchmark" in document["answer"]
    assert not Path("wf").exists()
    # The same in a table and on the page.
    assert plimsoll("report", "latest", "-o", "x.csv").returncode == 0
    rows = [row for row in csv.DictReader(io.StringIO(Path("x.csv").read_text())) if row["operation"] == "all"]
    assert [row["workflows"] for row in rows] == ["1", "2", "4", "8"] * 2
    assert all(float(row["workflow_real_s"]) > 0 for row in rows)
    assert next(Path("results").glob("*/report.html")).stat().st_size > 100_000


def test_on_a_terminal_workflows_have_tables_of_their_own_and_no_book_of_steps(plimsoll):
    ended = plimsoll(
        "scale", "sas-analytics", "--set", "rows=2000", "--set", "loops=5", "--set", "memory=48MiB", "-t", "wf", "--over", "workflows=1,2,3"
    )
    assert ended.returncode == 0, ended.stderr
    assert "CPU per workflow" in ended.stdout and "blocks in" in ended.stdout and "stretch" in ended.stdout
    assert "data-step" not in ended.stdout
